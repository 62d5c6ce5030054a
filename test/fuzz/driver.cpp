//===- driver.cpp - Runs a fuzz target on seeded mutations, without libFuzzer --------------------===//
//
// Input N is a function of the seed and N, and runs in a child process: an input that crashes it, or that takes too long or too much
// memory, is written to a file, and the next child goes on behind it.
//
//   onnx_fuzz_seeded                         the seeds and 20,000 mutations
//   onnx_fuzz_seeded --seconds 600           as many as that time allows
//   onnx_fuzz_seeded --runs 100 --seed 7     other ones
//   onnx_fuzz_seeded FILE…                   just these inputs, in this process
//   onnx_fuzz_seeded --write-seeds FOLDER    the seeds, as a corpus for libFuzzer
//
// Exits with 1 when there was a finding.
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/Target.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_HAS_ASAN 1 // its shadow memory is no leak
#endif
#endif

using namespace weft::fuzz;

namespace {

constexpr size_t kMostBytes = 1 << 16;
constexpr unsigned kMostFindings = 10;
constexpr double kHangSeconds = 20;   ///< of processor time
constexpr unsigned kIdleTicks = 1200; ///< of a tenth of a second in which nothing is computed
constexpr rlim_t kMostMemory = rlim_t(6) << 30;

struct Arguments {
  uint64_t runs = 20000, seed = 1;
  double seconds = 0; ///< 0: by runs
  std::string seedFolder;
  std::vector<std::string> files;
};

/// What the child tells while it runs.
struct Shared {
  std::atomic<uint64_t> round, done, accepted;
};

[[noreturn]] void quit(const std::string &why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(2);
}

Arguments readArguments(int count, char **texts) {
  Arguments arguments;
  bool hasRuns = false;
  for (int i = 1; i < count; ++i) {
    std::string text = texts[i];
    if (text.rfind("--", 0) != 0) {
      arguments.files.push_back(text);
      continue;
    }
    if (i + 1 == count)
      quit("'" + text + "' needs a value");
    const char *value = texts[++i];
    if (text == "--runs")
      arguments.runs = std::strtoull(value, nullptr, 10), hasRuns = true;
    else if (text == "--seed")
      arguments.seed = std::strtoull(value, nullptr, 10);
    else if (text == "--seconds")
      arguments.seconds = std::strtod(value, nullptr);
    else if (text == "--write-seeds")
      arguments.seedFolder = value;
    else
      quit("unknown option '" + text + "'");
  }
  if (arguments.seconds > 0 && !hasRuns)
    arguments.runs = UINT64_MAX;
  return arguments;
}

/// Sanitizers see reads behind an input only when it is an allocation of exactly its size.
void run(const std::string &input) {
  std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

class Campaign {
public:
  explicit Campaign(const Arguments &arguments)
      : arguments(arguments), good(seeds()), mutator(&targetFormat(), good), begin(Clock::now()) {
    if (good.empty())
      quit("the target has no seeds");
    void *memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      quit("no memory");
    shared = new (memory) Shared();
  }

  int run() {
    uint64_t next = 0;
    unsigned findings = 0;
    while (next < end() && !isOver() && findings < kMostFindings) {
      std::string why = runChild(next);
      next = shared->round + 1;
      if (why.empty())
        break;
      ++findings;
      report(shared->round, why);
    }
    uint64_t inputs = shared->done, accepted = shared->accepted;
    std::printf("%llu inputs from %zu seeds of seed %llu, %llu accepted, %u findings\n",
                (unsigned long long)inputs, good.size(), (unsigned long long)arguments.seed,
                (unsigned long long)accepted, findings);
    // A target that accepts hardly any seed tests little. On a busy machine not all have their turn.
    bool isIdle = 2 * accepted < std::min<uint64_t>(inputs, good.size());
    if (isIdle)
      std::printf("too few inputs are accepted\n");
    return findings || isIdle;
  }

private:
  using Clock = std::chrono::steady_clock;

  uint64_t end() const {
    return arguments.runs == UINT64_MAX ? UINT64_MAX : good.size() + arguments.runs;
  }
  bool isOver() const {
    return arguments.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - begin).count() > arguments.seconds;
  }

  /// The seeds, then mutations of them.
  std::string input(uint64_t round) const {
    if (round < good.size())
      return good[round];
    Random random(arguments.seed << 40 ^ round);
    const std::string &from = good[random() % good.size()];
    if (random() % 4 == 0)
      return mutator.cross(from, good[random() % good.size()], random, kMostBytes);
    return mutator.mutate(from, random, kMostBytes);
  }

  /// Runs inputs from `first` on. Empty when all is done, else how input `shared->round` ended the child.
  std::string runChild(uint64_t first) {
    shared->round = first;
    std::fflush(stdout);
    pid_t child = fork();
    if (child < 0)
      quit(std::string("no process: ") + std::strerror(errno));
    if (child == 0)
      runInputs(first);
    int status = 0;
    if (!waitFor(child, status))
      return "takes too long";
    if (WIFSIGNALED(status))
      return strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) ? "exit code " + std::to_string(WEXITSTATUS(status)) : "";
  }

  [[noreturn]] void runInputs(uint64_t first) {
#ifndef WEFT_HAS_ASAN
    rlimit limit = {kMostMemory, kMostMemory};
    setrlimit(RLIMIT_AS, &limit);
#endif
    rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    size_t before = shared->accepted;
    for (uint64_t round = first; round < end() && !isOver(); ++round) {
      shared->round = round;
      ::run(input(round));
      ++shared->done;
      shared->accepted = before + accepted;
    }
    std::exit(0);
  }

  static double processorSeconds(pid_t child) {
    clockid_t clock;
    timespec time = {};
    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &time))
      return 0;
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }

  /// False when the child had to be ended. Time counts only while the child computes, or while this process is awake.
  bool waitFor(pid_t child, int &status) {
    uint64_t round = UINT64_MAX;
    double since = 0;
    unsigned ticks = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (shared->round != round) {
        round = shared->round;
        since = processorSeconds(child);
        ticks = 0;
      }
      if (processorSeconds(child) - since > kHangSeconds || ++ticks > kIdleTicks) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return false;
      }
      usleep(100000);
    }
    return true;
  }

  void report(uint64_t round, const std::string &why) {
    std::string path =
        std::string("crash-") + program_invocation_short_name + "-" + std::to_string(round);
    std::ofstream(path, std::ios::binary) << input(round);
    std::printf("FINDING: input %llu: %s; it is in %s\n", (unsigned long long)round, why.c_str(),
                path.c_str());
  }

  const Arguments arguments;
  const std::vector<std::string> good;
  const Mutator mutator;
  const Clock::time_point begin;
  Shared *shared;
};

} // namespace

int main(int count, char **texts) {
  Arguments arguments = readArguments(count, texts);
  if (!arguments.seedFolder.empty())
    return writeSeeds(arguments.seedFolder), 0;
  for (const std::string &path : arguments.files) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      quit("cannot open " + path);
    run(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return arguments.files.empty() ? Campaign(arguments).run() : 0;
}
