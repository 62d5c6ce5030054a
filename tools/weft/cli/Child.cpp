//===- Child.cpp ------------------------------------------------------------------------------===//

#include "tools/weft/cli/Child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr int kTickMs = 20;
constexpr size_t kMostText = 16 << 20; ///< of either stream; a child that talks on is not heard

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void closeEnd(int i) {
    if (ends[i] >= 0)
      close(ends[i]);
    ends[i] = -1;
  }
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }

  /// Appends what is there; waits for at most a tick.
  static void drain(Pipe &a, std::string &aText, Pipe &b, std::string &bText) {
    pollfd files[2] = {{a.ends[0], POLLIN, 0}, {b.ends[0], POLLIN, 0}};
    poll(files, 2, kTickMs);
    a.take(files[0].revents, aText);
    b.take(files[1].revents, bText);
  }

private:
  void take(short events, std::string &text) {
    if (!events)
      return;
    char buffer[1 << 16];
    ssize_t length = read(ends[0], buffer, sizeof buffer);
    if (length == 0 || (length < 0 && errno != EINTR))
      closeEnd(0);
    else if (length > 0 && text.size() < kMostText)
      text.append(buffer, size_t(length));
  }
};

[[noreturn]] void becomeChild(const std::function<int(int)> &work, const std::string &temporaries,
                              Pipe &errors, Pipe &report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
  setenv("TMPDIR", temporaries.c_str(), 1);
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, 0);
  dup2(nowhere, 1);
  dup2(errors.ends[1], 2);
  int exitCode = work(report.ends[1]);
  fflush(nullptr);
  _exit(exitCode); // the caller's objects are not the child's to destroy
}

} // namespace

ChildEnd runChild(const std::function<int(int)> &work, double seconds,
                  const std::string &temporaries, const std::function<bool()> &stop) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  ChildEnd end;
  Pipe errors, report;
  fflush(nullptr); // what is buffered would be written twice
  pid_t child = errors.open() && report.open() ? fork() : -1;
  if (child == 0)
    becomeChild(work, temporaries, errors, report);
  if (child < 0) {
    end.exitCode = 4; // the machine lacks memory or processes
    end.said = "error: no process can be started\n";
    return end;
  }
  errors.closeEnd(1);
  report.closeEnd(1);
  int status = 0;
  for (bool killed = false; waitpid(child, &status, WNOHANG) == 0;) {
    Pipe::drain(errors, end.said, report, end.report);
    if (killed)
      continue;
    end.stopped = stop && stop();
    end.timedOut = !end.stopped && elapsed() > seconds;
    killed = end.stopped || end.timedOut;
    if (killed && kill(-child, SIGKILL) != 0)
      kill(child, SIGKILL); // not a group yet
  }
  for (size_t before = ~size_t(0); before != end.said.size() + end.report.size();) {
    before = end.said.size() + end.report.size();
    Pipe::drain(errors, end.said, report, end.report);
  }
  end.seconds = elapsed();
  if (WIFSIGNALED(status) && !end.stopped && !end.timedOut)
    end.signal = WTERMSIG(status);
  end.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

} // namespace weft::cli
