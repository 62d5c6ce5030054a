//===- RemoteTrials.h - Candidates on another machine -------------------------------------------===//
//
//   Result<std::unique_ptr<RemoteTrials>> remote = RemoteTrials::connect("ssh board", 30, console);
//   Result<std::string> target = (*remote)->targetFor("host");     // "arm:v8.2"
//   TuneSearch search(…, **remote, …);
//
// A connection that breaks is made anew, and the trial repeated; a candidate with which it breaks again has failed. So has one that crashes,
// hangs, or of which the remote says what cannot be.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_REMOTETRIALS_H
#define WEFT_TOOLS_WEFT_TUNE_REMOTETRIALS_H

#include "tools/weft/cli/Console.h"
#include "tools/weft/tune/RemoteConnection.h"
#include "tools/weft/tune/Trials.h"

namespace weft::cli {

class RemoteTrials : public Trials {
public:
  static Result<std::unique_ptr<RemoteTrials>> connect(const std::string &command, double silence,
                                                       Console &console);

  /// What to compile for: `asked`, if the remote runs that, or for "host" what asks most of the remote.
  Result<std::string> targetFor(const std::string &asked);

  std::string processor() const override { return processorName; }
  Result<std::unique_ptr<Candidate>> open(const std::string &path,
                                          const TimedSetup &setup) override;
  Result<Tried> timeAlone(Candidate &candidate, double seconds) override;
  Result<Tried> timeTogether(Candidate &base, Candidate &other) override;

private:
  class RemoteCandidate;
  struct SentFile {
    std::string path;
    Pieces pieces;
  };

  RemoteTrials(std::string command, double silence, Console &console, TemporaryFolder folder)
      : command(std::move(command)), silence(silence), console(console), folder(std::move(folder)) {
  }
  Result<Done> connectAgain();
  Result<std::vector<std::string>> having(const std::vector<std::string> &features);
  Result<Done> prepareInputFiles(const TimedSetup &setup);
  /// `other` null: base alone.
  Result<Tried> trial(RemoteCandidate &base, RemoteCandidate *other, double seconds);
  /// A failure is the connection's: it may be tried again.
  Result<Tried> trialOnce(RemoteCandidate &base, RemoteCandidate *other, double seconds);
  Result<Done> take(const Message &times, RemoteCandidate &base, RemoteCandidate *other);
  void forget(const std::string &hash);

  const std::string command;
  const double silence;
  Console &console;
  InterruptGuard guard{nullptr};
  TemporaryFolder folder;
  std::unique_ptr<RemoteConnection> connection;
  std::string processorName, machineName;
  std::vector<SentFile> inputs;      ///< by size
  std::map<std::string, int> owners; ///< candidates of files, by hash
  unsigned made = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_REMOTETRIALS_H
