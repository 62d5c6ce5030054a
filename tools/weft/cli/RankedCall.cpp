//===- RankedCall.cpp -------------------------------------------------------------------------===//
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/GatherParts.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/Values.h"
#include "weft/sha256.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace weft::cli {

namespace {

constexpr int64_t kHashBytes = 32;

/// The CPUs of this process, parted among its ranks.
int32_t threadsOfRank(int64_t ranks) {
  return static_cast<int32_t>(std::max<int64_t>(cpusOfProcess() / ranks, 1));
}

/// Of dimensions and elements.
void hashOf(const weft_tensor_t &tensor, uint8_t *hash) {
  std::string bytes(reinterpret_cast<const char *>(tensor.dim), tensor.rank * sizeof(int64_t));
  Result<HostTensor> whole = withoutGaps(tensor, nullptr);
  if (whole)
    bytes.append(reinterpret_cast<const char *>(whole->data()), whole->bytes());
  weft_sha256(bytes.data(), bytes.size(), hash);
}

} // namespace

namespace {

/// "function 'main' is for 2 ranks (tp = 2)"
std::string sizeOf(const FunctionView &function) {
  int64_t ranks = ranksOf(function);
  std::string name = "function '" + function.signature.function + "' is for ";
  return function.mesh.empty() ? name + "one rank"
                               : name + std::to_string(ranks) + " rank" + (ranks == 1 ? "" : "s") +
                                     " (" + printMesh(function) + ")";
}

std::string commandOf(const ParsedOptions &options) {
  return "weft " + std::string(options.verb().name) + " " + options.positional()[0];
}

Result<Done> checkLaunch(const FunctionView &function, const ParsedOptions &options,
                         const Launch &launch) {
  int64_t ranks = ranksOf(function);
  if (ranks != launch.world)
    return Failure{ExitWrongUsage,
                   sizeOf(function) + ", but " + launch.launcher + " says that there are " +
                       std::to_string(launch.world),
                   ranks > 1 ? launch.command(ranks, commandOf(options))
                             : "start it alone, or compile with --mesh",
                   {}};
  return checkLaunched(options, launch);
}

} // namespace

Result<Done> checkLaunched(const ParsedOptions &options, const Launch &launch) {
  LocalRanks ranks = localRanks(options, launch.world);
  if (ranks.transport == "threads")
    return Failure{ExitWrongUsage,
                   "ranks that " + launch.launcher + " started are processes, not threads",
                   "leave out --transport",
                   {}};
  if (ranks.transport == "shm" && launch.neighbours != launch.world)
    return Failure{ExitWrongUsage,
                   std::to_string(launch.neighbours) + " of " + std::to_string(launch.world) +
                       " ranks are on this machine, and the transport 'shm' reaches no other",
                   "start them by mpirun, or say --transport mpi",
                   {}};
  return Done{};
}

/// Where nobody started this process as a rank.
static Result<Done> checkUnlaunched(const ParsedOptions &options, int64_t ranks) {
  if (options.value("transport") == "mpi")
    return Failure{ExitWrongUsage, "the transport 'mpi' is for ranks that mpirun started",
                   "mpirun -n " + std::to_string(ranks) + " " + commandOf(options), ""};
  for (const char *name : {"transport", "timeout", "link"})
    if (options.has(name) && !options.has("ranks") && options.verb().name == "run")
      return Failure{ExitWrongUsage,
                     "'--" + std::string(name) + "' has no effect without '--ranks'", "", ""};
  return Done{};
}

Result<Done> checkRanks(const FunctionView &function, const ParsedOptions &options) {
  int64_t ranks = ranksOf(function), given = options.number("ranks", 0);
  std::string command = commandOf(options) + " --ranks " + std::to_string(ranks);
  if (Result<Done> done = checkLink(options); !done)
    return done;
  if (std::optional<Launch> launch = launchOf(options))
    return checkLaunch(function, options, *launch);
  if (Result<Done> done = checkUnlaunched(options, ranks); !done)
    return done;
  if (ranks > 1 && given == ranks && options.value("transport") == "threads" &&
      !function.inPlace.empty())
    return Failure{ExitWrongUsage,
                   "ranks that are threads would change the same input in place",
                   "leave out --transport",
                   {}};
  if (given == ranks || (!given && ranks == 1))
    return Done{};
  std::string text = sizeOf(function);
  if (given)
    text += ", not for " + std::to_string(given);
  return Failure{ExitWrongUsage, text, function.mesh.empty() ? "leave out --ranks" : command, {}};
}

/// What one rank has while it calls.
struct RankedCall::Rank {
  weft_group_t *group;
  weft_context_t *context;
  std::vector<weft_tensor_t> &outputs;
  std::vector<weft_tensor_t> inputs = {};

  bool isFirst() const { return weft_group_rank(group) == 0; }
};

weft_status_t RankedCall::timedCall(Rank &rank, double *seconds, weft_error_t *error) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  weft_status_t status = weft_call_function(
      rank.context, function.index, rank.inputs.data(), static_cast<uint32_t>(rank.inputs.size()),
      rank.outputs.data(), static_cast<uint32_t>(rank.outputs.size()), error);
  *seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return status;
}

/// All ranks call as often as rank 0.
weft_status_t RankedCall::runRank(Rank &rank, weft_error_t *error) {
  Result<CallInputs> own = callInputsOfRank(function, inputs, weft_group_rank(rank.group));
  if (!own)
    return toError(own.failure(), error);
  rank.inputs = own->views;
  double first = 0, second = 0;
  if (weft_status_t status = timedCall(rank, &first, error))
    return status;
  uint8_t again = first < repeatBelow;
  if (weft_status_t status = tellRanks(rank.group, "the first call", &again, 1, error))
    return status;
  if (again)
    if (weft_status_t status = timedCall(rank, &second, error))
      return status;
  if (rank.isFirst()) {
    firstSeconds = first;
    secondSeconds = second;
  }
  for (size_t i = 0; i < rank.outputs.size(); ++i)
    if (weft_status_t status = partOfOutput(function, i)
                                   ? gatherParts(rank.group, rank.outputs[i],
                                                 rank.isFirst() ? &parts[i] : nullptr, error)
                                   : compare(rank, i, error))
      return status;
  return WEFT_OK;
}

weft_status_t RankedCall::compare(Rank &rank, size_t output, weft_error_t *error) {
  std::vector<uint8_t> own(kHashBytes), all;
  hashOf(rank.outputs[output], own.data());
  if (weft_status_t status = gatherBytes(rank.group, own, all, error))
    return status;
  int32_t world = weft_group_world(rank.group);
  bool isJudged = rank.isFirst() && mustAgree;
  for (int32_t other = 1; other < world && isJudged && difference.empty(); ++other)
    if (!std::equal(own.begin(), own.end(), all.begin() + other * kHashBytes))
      difference = "output '" + function.outputs[output].name + "' differs between ranks 0 and " +
                   std::to_string(other);
  return WEFT_OK;
}

Result<Done> RankedCall::run(const LocalRanks &ranks, weft_context_options_t wanted,
                             InterruptGuard &guard, std::vector<weft_tensor_t> &outputs,
                             Context &outContext) {
  if (!wanted.threads)
    wanted.threads = threadsOfRank(ranks.onThisMachine());
  auto body = [&](weft_group_t *group, weft_error_t *error) {
    weft_context_options_t options = wanted;
    options.group = group;
    weft_context_t *created = nullptr;
    if (weft_status_t status = weft_context_create(artifact.module(), &options, &created, error))
      return status;
    Context context(created, weft_context_release);
    if (weft_group_rank(group) == 0) {
      outContext = context;
      guard.watch(created);
      Rank first{group, created, outputs};
      weft_status_t status = runRank(first, error);
      guard.watch(nullptr);
      return status;
    }
    std::vector<weft_tensor_t> own(outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
    Rank other{group, created, own};
    if (ranks.launch)
      guard.watch(created);
    weft_status_t status = runRank(other, error);
    if (ranks.launch)
      guard.watch(nullptr);
    for (weft_tensor_t &output : own)
      weft_tensor_release(created, &output);
    return status;
  };
  Result<Done> done = runLocalRanks(ranks, body);
  if (done && !difference.empty())
    return Failure{ExitInputRefused, difference, "", "W0410"};
  return done;
}

} // namespace weft::cli
