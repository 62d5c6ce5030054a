//===- RemoteConnection.h - A command that runs weft elsewhere ----------------------------------===//
//
//   Result<std::unique_ptr<RemoteConnection>> remote = RemoteConnection::open("ssh board", 30);
//   Result<Message> answer = (*remote)->ask({"features", {"dotprod"}, ""}, "features");
//
// It ends with the object, and with everything it started. Any failure but an answer "failed" says that it is of no more use.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_REMOTECONNECTION_H
#define WEFT_TOOLS_WEFT_TUNE_REMOTECONNECTION_H

#include "tools/weft/trials/FileStore.h"
#include "tools/weft/trials/Message.h"

#include <csignal>
#include <memory>
#include <set>
#include <sys/types.h>

namespace weft::cli {

class RemoteConnection {
public:
  /// Starts COMMAND weft bench --answer and reads who answers. `silence`: seconds that it may say nothing for, then and later.
  static Result<std::unique_ptr<RemoteConnection>> open(const std::string &command, double silence);
  RemoteConnection(const RemoteConnection &) = delete;
  RemoteConnection &operator=(const RemoteConnection &) = delete;
  ~RemoteConnection();

  /// As the system there calls its processors: "aarch64"; and what it says of them.
  const std::string &machine() const { return machineName; }
  const std::string &processorText() const { return processors; }

  /// An answer of that name, or one that says why not. `patience`: seconds that it may take besides.
  Result<Message> ask(const Message &message, const std::string &wanted, double patience = 0);
  /// Makes the remote have a file; what it has of it is not sent.
  Result<Done> give(const std::string &path, const Pieces &pieces);
  void drop(const std::string &hash);
  /// Whether a failure was that it ended, not that it said nothing or what cannot be.
  bool isLost() const { return channel->isLost(); }

private:
  RemoteConnection(std::string command, double silence)
      : command(std::move(command)), silence(silence) {}
  Result<Done> start();
  [[noreturn]] static void becomeShell(const std::string &command, int in, int out, int errors);
  Result<Done> readGreeting();
  /// With what it wrote to stderr last.
  Failure lost(const Failure &failure, const std::string &when) const;
  std::string lastError() const;

  const std::string command;
  const double silence;
  pid_t process = -1;
  int in = -1, out = -1, errors = -1; ///< its stdout, its stdin, and a file with its stderr
  struct sigaction pipeSignal {};
  std::unique_ptr<Channel> channel;
  std::string machineName, processors;
  std::set<std::string> held; ///< hashes of files that it has
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_REMOTECONNECTION_H
