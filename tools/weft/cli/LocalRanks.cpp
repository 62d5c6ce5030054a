//===- LocalRanks.cpp -------------------------------------------------------------------------===//
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/FlightRecorder.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/link/SlowTransport.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weft::cli {

namespace {

/// A rank, and where it meets the others.
struct Meeting {
  std::string rendezvous;
  int32_t rank;
  const int32_t *processes = nullptr; ///< of all ranks, where this one started them
};

weft_status_t runRank(const LocalRanks &ranks, const Meeting &meeting, const RankBody &body,
                      FlightRecorder &recorder, weft_error_t *error) {
  int32_t rank = meeting.rank;
  weft_group_options_t options = {};
  options.struct_size = sizeof options;
  options.rank = rank;
  options.world = ranks.world;
  options.timeout_ms = ranks.timeout;
  options.transport = ranks.transport.c_str();
  options.rendezvous = meeting.rendezvous.c_str();
  options.records = ranks.records;
  options.processes = meeting.processes;
  if (ranks.link) {
    // Outlives all groups, also those of contexts that outlive this call. A command has one link.
    static const SlowTransport slow(*sharedMemoryTransport(ranks.transport), *ranks.link);
    options.table = slow.table();
  }
  weft_group_t *group = nullptr;
  weft_status_t status = weft_group_open(recorder.env(rank), &options, &group, error);
  recorder.opened(rank, group);
  if (!status)
    status = body(group, error);
  recorder.closing(rank, status ? error : nullptr);
  weft_group_release(group);
  return status;
}

/// Ranks in processes of their own. None outlives this object, nor this process.
class Children {
public:
  ~Children() { end(true); }

  /// False when the system has no process left.
  template <typename Main> bool start(Main &&childMain) {
    pid_t parent = getpid();
    fflush(nullptr);
    sigset_t termination, before;
    sigemptyset(&termination);
    sigaddset(&termination, SIGTERM);
    // What comes before the child has its own way to take it waits: this process's way only notes it.
    pthread_sigmask(SIG_BLOCK, &termination, &before);
    pid_t child = fork();
    if (child == 0)
      signal(SIGTERM, SIG_DFL); // meant for this rank, which has nothing to say
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == parent)
        childMain();
      _exit(0);
    }
    if (child > 0)
      byRank.push_back(child);
    return child > 0;
  }

  /// The first is no child: this process is rank 0.
  const pid_t *processes() const { return byRank.data(); }

  void end(bool byForce) {
    for (size_t rank = 1; rank < byRank.size(); ++rank) {
      pid_t child = byRank[rank];
      if (byForce)
        kill(child, SIGKILL);
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
        ;
    }
    byRank.resize(1);
  }

private:
  std::vector<pid_t> byRank{getpid()};
};

/// What ranks failed with, in memory that they share.
class RankErrors {
public:
  explicit RankErrors(int32_t world) : world(world) {
    void *memory =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    errors = memory == MAP_FAILED ? nullptr : static_cast<weft_error_t *>(memory);
    for (int32_t rank = 0; errors && rank < world; ++rank)
      errors[rank] = WEFT_ERROR_INIT;
  }
  RankErrors(const RankErrors &) = delete;
  ~RankErrors() {
    if (errors)
      munmap(errors, bytes());
  }

  weft_error_t *of(int32_t rank) const { return errors ? &errors[rank] : nullptr; }

  /// Why all failed: not what ranks say that miss another one.
  Failure reason(const weft_error_t &first) const {
    for (int32_t rank = 1; first.status == WEFT_LOST_PEER && errors && rank < world; ++rank)
      if (errors[rank].status && errors[rank].status != WEFT_LOST_PEER) {
        Failure failure = failureOf(errors[rank]);
        failure.message = "rank " + std::to_string(rank) + ": " + failure.message;
        return failure;
      }
    return failureOf(first);
  }

private:
  size_t bytes() const { return size_t(world) * sizeof(weft_error_t); }

  int32_t world;
  weft_error_t *errors;
};

} // namespace

/// Writes what ranks did last, and says where it is.
static Failure withHistory(Failure failure, const std::string &folder, FlightRecorder &recorder) {
  Result<int> written = recorder.write("it did not end by itself");
  if (!written)
    failure.hint = written.failure().message;
  else if (*written && failure.hint.empty())
    failure.hint = "'weft ranks " + folder + "' says how far each rank was";
  return failure;
}

int64_t cpusOfProcess() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

LocalRanks localRanks(const ParsedOptions &options, int64_t world) {
  LocalRanks ranks{"shm", static_cast<int32_t>(world)};
  ranks.launch = launchOf(options);
  ranks.isChosen = options.has("transport");
  ranks.transport = options.value("transport", ranks.launch && ranks.launch->isMpi ? "mpi" : "shm");
  if (hasOption(options.verb(), "flight"))
    ranks.flight = options.value("flight");
  if (std::optional<double> seconds = parseDuration(options.value("timeout")))
    ranks.timeout = static_cast<int32_t>(std::clamp(*seconds * 1000, 1.0, 1e9));
  ranks.link = readLinkSpeed(options.value("link"));
  return ranks;
}

Result<Done> checkLink(const ParsedOptions &options) {
  if (!options.has("link"))
    return Done{};
  std::string text = options.value("link");
  if (text.find('=') != std::string::npos && readLinkSpeed(text.substr(text.find('=') + 1)))
    return Failure{ExitWrongUsage,
                   "link '" + text + "' is of one axis, but ranks have the same link for all", "",
                   ""};
  if (!readLinkSpeed(text))
    return Failure{ExitWrongUsage,
                   "link '" + text + "' is no bandwidth with a latency, such as 2GB/s,20us", "",
                   ""};
  std::string transport = localRanks(options, 1).transport;
  if (!sharedMemoryTransport(transport))
    return Failure{ExitWrongUsage,
                   "--link needs ranks that share memory; transport '" + transport + "' has none",
                   "--transport shm, for ranks on one machine", ""};
  return Done{};
}

int64_t ranksAsked(const ParsedOptions &options) {
  if (std::optional<Launch> launch = launchOf(options))
    return launch->world;
  return options.number("ranks", 0);
}

weft_status_t toError(const Failure &failure, weft_error_t *error) {
  // Of the runtime's codes, those of ranks say their status; what else there is has no other meaning for ranks than that one failed.
  error->status = failure.code == "W0605"                ? WEFT_LOST_PEER
                  : failure.code == "W0606"              ? WEFT_TIMEOUT
                  : failure.code == "W0604"              ? WEFT_MISMATCH
                  : failure.exitCode == ExitMachineLacks ? WEFT_OUT_OF_MEMORY
                                                         : WEFT_INVALID;
  snprintf(error->code, sizeof error->code, "%s", failure.code.c_str());
  snprintf(error->message, sizeof error->message, "%s", failure.message.c_str());
  snprintf(error->hint, sizeof error->hint, "%s", failure.hint.c_str());
  return static_cast<weft_status_t>(error->status);
}

weft_status_t tellRanks(weft_group_t *group, const char *node, void *bytes, int64_t count,
                        weft_error_t *error) {
  weft_collective_t collective = {};
  collective.struct_size = sizeof collective;
  collective.kind = WEFT_BROADCAST;
  collective.element = WEFT_U8;
  collective.node = node;
  collective.send = collective.receive = bytes;
  collective.outer = collective.inner = 1;
  collective.first = count;
  return weft_group_collective(group, &collective, error);
}

namespace {

/// The rank that this process is.
Result<Done> runLaunched(LocalRanks ranks, const RankBody &body) {
  const Launch &launch = *ranks.launch;
  FlightRecorder recorder(ranks.flight, ranks.world, ranks.records);
  if (Result<Done> done = recorder.prepare(launch.rank); !done)
    return done;
  recorder.watchSignal();
  weft_error_t error = WEFT_ERROR_INIT;
  weft_status_t status = runRank(ranks, {launch.rendezvous, launch.rank}, body, recorder, &error);
  bool isMissing = status == WEFT_NOT_FOUND && ranks.transport == "mpi" && !ranks.isChosen;
  if (isMissing && launch.neighbours == launch.world) {
    ranks.transport = "shm";
    status = runRank(ranks, {launch.rendezvous, launch.rank}, body, recorder, &error);
  }
  if (interrupted())
    return Failure{ExitInterrupted, "interrupted", "", ""};
  if (!status)
    return Done{};
  Failure failure = failureOf(error);
  if (status == WEFT_BUSY) {
    failure.exitCode = ExitRanksFailed;
    failure.hint = "WEFT_RENDEZVOUS gives the ranks of a job a name of their own";
  }
  return withHistory(failure, ranks.flight, recorder);
}

} // namespace

Result<Done> runLocalRanks(const LocalRanks &ranks, const RankBody &body) {
  if (ranks.launch)
    return runLaunched(ranks, body);
  std::string rendezvous = "command-" + std::to_string(getpid());
  RankErrors errors(ranks.world);
  Children children;
  std::vector<std::thread> threads;
  FlightRecorder recorder(ranks.flight, ranks.world, ranks.records);
  if (Result<Done> done = recorder.prepare(); !done)
    return done;
  if (ranks.transport == "threads")
    recorder.watchSignal(); // before there are threads that it could end
  for (int32_t rank = 1; rank < ranks.world; ++rank) {
    auto otherRank = [&, rank] {
      runRank(ranks, {rendezvous, rank}, body, recorder, errors.of(rank));
    };
    if (ranks.transport == "threads")
      threads.emplace_back(otherRank);
    else if (!children.start(otherRank))
      return Failure{ExitMachineLacks,
                     "rank " + std::to_string(rank) + " cannot be started: " + strerror(errno), "",
                     ""};
  }
  if (ranks.transport != "threads")
    recorder.watchSignal(); // behind all forks
  InterruptGuard guard(nullptr);
  weft_error_t error = WEFT_ERROR_INIT;
  const int32_t *processes = ranks.transport == "threads" ? nullptr : children.processes();
  weft_status_t status = runRank(ranks, {rendezvous, 0, processes}, body, recorder, &error);
  for (std::thread &thread : threads)
    thread.join();
  children.end(status != WEFT_OK);
  // Ctrl-C reaches the children, too: who ends first decides what rank 0 is told.
  if (interrupted())
    return withHistory({ExitInterrupted, "interrupted", "", ""}, ranks.flight, recorder);
  if (status)
    return withHistory(errors.reason(error), ranks.flight, recorder);
  return Done{};
}

Result<Done> runLedRanks(const LocalRanks &ranks,
                         const std::function<Result<Done>(weft_group_t *)> &lead,
                         const RankBody &follow) {
  std::optional<Failure> failure;
  Result<Done> done = runLocalRanks(ranks, [&](weft_group_t *group, weft_error_t *error) {
    if (weft_group_rank(group) != 0)
      return follow(group, error);
    Result<Done> led = lead(group);
    if (led)
      return WEFT_OK;
    weft_status_t status = toError(led.failure(), error);
    if (status != WEFT_LOST_PEER) // the one that was lost says itself why
      failure = led.failure();
    weft_group_abort(group);
    return status;
  });
  if (failure && !done && failure->hint.empty())
    failure->hint = done.failure().hint;
  return failure ? *failure : done;
}

} // namespace weft::cli
