//===- RemoteConnection.cpp ---------------------------------------------------------------------===//

#include "tools/weft/tune/RemoteConnection.h"
#include "tools/weft/cli/Options.h"
#include "weft/runtime.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr size_t kMostBefore = 1 << 16; ///< bytes in front of the greeting, such as a shell's
constexpr int kEndMs = 500;             ///< that it may take to end by itself
constexpr off_t kErrorsRead = 4096;
constexpr double kBytesPerSecond = 2e7; ///< that the slowest remote hashes and copies

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  int take(int end) { return std::exchange(ends[end], -1); }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0)
        close(end);
  }
};

} // namespace

Result<std::unique_ptr<RemoteConnection>> RemoteConnection::open(const std::string &command,
                                                                 double silence) {
  std::unique_ptr<RemoteConnection> connection(new RemoteConnection(command, silence));
  if (Result<Done> done = connection->start(); !done)
    return done.failure();
  if (Result<Done> done = connection->readGreeting(); !done)
    return done.failure();
  return connection;
}

void RemoteConnection::becomeShell(const std::string &command, int in, int out, int errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGINT, SIGTERM, SIGPIPE})
    std::signal(signal, SIG_DFL);
  dup2(in, 0);
  dup2(out, 1);
  dup2(errors, 2);
  execl("/bin/sh", "sh", "-c", (command + " weft bench --answer").c_str(), nullptr);
  _exit(127);
}

Result<Done> RemoteConnection::start() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipeSignal);
  Pipe to, from;
  const char *folder = getenv("TMPDIR");
  errors = ::open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (errors < 0 || !to.open() || !from.open() || (process = fork()) < 0)
    return Failure{ExitMachineLacks,
                   "the remote '" + command + "' cannot be started: " + strerror(errno), "", ""};
  if (process == 0)
    becomeShell(command, to.ends[0], from.ends[1], errors);
  setpgid(process, process); // whoever is first
  in = from.take(0);
  out = to.take(1);
  fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
  channel = std::make_unique<Channel>(in, out);
  return Done{};
}

RemoteConnection::~RemoteConnection() {
  for (int descriptor : {in, out})
    if (descriptor >= 0)
      close(descriptor);
  for (int waited = 0; process > 0; waited += 10) {
    if (waitpid(process, nullptr, WNOHANG) != 0)
      break;
    if (waited >= kEndMs) {
      kill(-process, SIGKILL);
      waitpid(process, nullptr, 0);
      break;
    }
    usleep(10000);
  }
  if (process > 0)
    kill(-process, SIGKILL); // what it left behind
  if (errors >= 0)
    close(errors);
  sigaction(SIGPIPE, &pipeSignal, nullptr);
}

std::string RemoteConnection::lastError() const {
  off_t size = lseek(errors, 0, SEEK_END), begin = std::max<off_t>(0, size - kErrorsRead);
  std::string text(size_t(std::max<off_t>(0, size - begin)), '\0');
  ssize_t length = pread(errors, text.data(), text.size(), begin);
  text.resize(size_t(std::max<ssize_t>(0, length)));
  text.resize(text.find_last_not_of(" \r\n") + 1);
  // A hint stands behind the error that it belongs to.
  for (size_t hint; (hint = text.rfind("\n  hint: ")) != std::string::npos;)
    text.resize(hint);
  return asLine(text.substr(text.rfind('\n') + 1));
}

Failure RemoteConnection::lost(const Failure &failure, const std::string &when) const {
  if (failure.exitCode == ExitInterrupted)
    return failure;
  std::string said = lastError();
  return {ExitMachineLacks,
          "the remote '" + command + "' " + when + ": " + failure.message +
              (said.empty() ? "" : ", with '" + said + "'"),
          "", ""};
}

Result<Done> RemoteConnection::readGreeting() {
  std::string line;
  for (size_t before = 0; line.rfind(kTrialsGreeting, 0) != 0; before += line.size() + 1) {
    Result<std::string> next = before > kMostBefore
                                   ? Failure{ExitMachineLacks, "much else came", "", ""}
                                   : channel->receiveLine(silence);
    if (!next) {
      Failure failure = lost(next.failure(), "did not answer as 'weft bench --answer' does");
      if (failure.exitCode != ExitInterrupted)
        failure.hint = "'" + command + " weft version' has to print " + weft_version();
      return failure;
    }
    line = *next;
  }
  if (line != std::string(kTrialsGreeting) + std::to_string(kTrialsVersion))
    return Failure{ExitMachineLacks,
                   "the remote '" + command + "' says '" + asLine(line) + "', not '" +
                       std::string(kTrialsGreeting) + std::to_string(kTrialsVersion) + "'",
                   "install weft " + std::string(weft_version()) + " there", ""};
  Result<Message> about = channel->receive(silence);
  if (!about || about->word != "about" || about->arguments.size() < 2)
    return lost(about ? Failure{ExitMachineLacks, "'" + asLine(about->word) + "' came", "", ""}
                      : about.failure(),
                "did not say what it is");
  if (about->arguments[0] != weft_version())
    return Failure{ExitMachineLacks,
                   "the remote '" + command + "' has weft " + about->arguments[0] +
                       ", but this is " + weft_version(),
                   "install the same version there", ""};
  machineName = about->arguments[1];
  processors = about->payload;
  return Done{};
}

Result<Message> RemoteConnection::ask(const Message &message, const std::string &wanted,
                                      double patience) {
  if (Result<Done> done = channel->send(message, silence); !done)
    return lost(done.failure(), "was lost");
  Result<Message> answer = channel->receive(silence + patience);
  if (!answer)
    return lost(answer.failure(), "was lost");
  if (answer->word != wanted && answer->word != "failed")
    return lost(
        {ExitMachineLacks, "'" + asLine(answer->word) + "' came, not '" + wanted + "'", "", ""},
        "answers wrongly");
  return answer;
}

Result<Done> RemoteConnection::give(const std::string &path, const Pieces &pieces) {
  if (held.count(pieces.hash))
    return Done{};
  double patience = double(pieces.bytes) / kBytesPerSecond;
  Result<Message> lacks =
      ask({"file", {pieces.hash, std::to_string(pieces.bytes)}, pieces.digests}, "lacks", patience);
  if (!lacks)
    return lacks.failure();
  if (lacks->word == "failed" || lacks->payload.size() != pieces.count())
    return lost({ExitMachineLacks,
                 lacks->word == "failed" ? asLine(lacks->payload) : "other pieces", "", ""},
                "takes no file");
  for (size_t piece = 0; piece < pieces.count(); ++piece) {
    if (lacks->payload[piece] == '0')
      continue;
    Result<std::string> bytes = readPiece(path, pieces, piece);
    if (!bytes)
      return bytes.failure();
    if (Result<Done> done = channel->send({"piece", {std::to_string(piece)}, *bytes}, silence);
        !done)
      return lost(done.failure(), "was lost");
  }
  Result<Message> stored = ask({"end", {}, ""}, "stored", patience);
  if (!stored)
    return stored.failure();
  if (stored->word == "failed")
    return lost({ExitMachineLacks, asLine(stored->payload), "", ""}, "takes no file");
  held.insert(pieces.hash);
  return Done{};
}

void RemoteConnection::drop(const std::string &hash) {
  if (held.erase(hash))
    channel->send({"drop", {hash}, ""}, silence); // the next request finds out what is wrong
}

} // namespace weft::cli
