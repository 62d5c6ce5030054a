//===- Launch.cpp -----------------------------------------------------------------------------===//
#include "tools/weft/cli/Launch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace weft::cli {

namespace {

/// How a launcher tells its ranks who they are.
struct Source {
  const char *launcher, *rank, *world, *localRank, *localWorld;
  const char *start; ///< a command, without the number of ranks
};

/// The first one that is there counts; the others must not contradict it.
constexpr Source kSources[] = {
    {"WEFT_RANK", "WEFT_RANK", "WEFT_WORLD_SIZE", "WEFT_LOCAL_RANK", "WEFT_LOCAL_WORLD_SIZE", ""},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
     "torchrun --no-python --nproc-per-node "},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "mpirun -n "},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "mpiexec -n "},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", "srun -n "}};

/// What one launcher says.
struct Claim {
  const Source *source;
  int64_t rank, world, localRank, localWorld; ///< of this machine; -1: it does not say

  std::string text() const {
    return std::string(source->rank) + " = " + std::to_string(rank) + " of " + source->world +
           " = " + std::to_string(world);
  }
};

Failure wrong(const std::string &text, const std::string &hint = "") {
  return {ExitWrongUsage, text, hint, ""};
}

class Reader {
public:
  explicit Reader(const Environment &environment) : environment(environment) {}

  Result<std::optional<Launch>> read() {
    std::vector<Claim> claims;
    for (const Source &source : kSources) {
      if (!speaks(source))
        continue;
      Result<Claim> claim = readClaim(source);
      if (!claim)
        return claim.failure();
      claims.push_back(*claim);
    }
    for (const Claim &claim : claims)
      if (claim.rank != claims[0].rank || claim.world != claims[0].world)
        return wrong(claims[0].text() + ", but " + claim.text(),
                     "unset those of one launcher, or say '--ranks' for local ranks");
    if (claims.empty() || claims[0].world == 1)
      return std::optional<Launch>();
    return std::optional<Launch>(launch(claims));
  }

private:
  std::string value(const std::string &name) const {
    const char *text = name.empty() ? nullptr : environment(name.c_str());
    return text ? text : "";
  }
  bool has(const char *name) const { return !value(name).empty(); }

  bool speaks(const Source &source) const {
    std::string launcher = source.launcher;
    if (launcher == "WEFT_RANK")
      return has("WEFT_RANK") || has("WEFT_WORLD_SIZE");
    if (!has(source.rank) || !has(source.world))
      return false;
    // Under mpirun they speak of its own daemons; in a batch script, of a step that is not begun.
    bool isAround =
        has("OMPI_COMM_WORLD_RANK") || (value("ENVIRONMENT") == "BATCH" && !has("SLURM_STEP_ID"));
    return launcher != "srun" || !isAround;
  }

  Result<int64_t> number(const std::string &name, int64_t fallback) const {
    std::string text = value(name);
    if (text.empty())
      return fallback;
    int64_t result = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < 0 || result > 1 << 20)
      return wrong("the variable " + name + " is '" + text + "', which is no number of ranks");
    return result;
  }

  Result<Claim> readClaim(const Source &source) const {
    for (const char *name : {source.rank, source.world})
      if (!has(name))
        return wrong("the variable " + std::string(name) + " is missing, but " +
                     (name == source.rank ? source.world : source.rank) + " is set");
    Claim claim{&source, 0, 0, -1, -1};
    const std::pair<const char *, int64_t *> parts[] = {{source.rank, &claim.rank},
                                                        {source.world, &claim.world},
                                                        {source.localRank, &claim.localRank},
                                                        {source.localWorld, &claim.localWorld}};
    for (auto [name, part] : parts) {
      Result<int64_t> read = number(name, *part);
      if (!read)
        return read.failure();
      *part = *read;
    }
    if (claim.rank >= claim.world)
      return wrong(claim.text() + ": ranks are counted from 0");
    if (claim.localWorld > claim.world ||
        (claim.localWorld >= 0 && claim.localRank >= claim.localWorld))
      return wrong(std::string(source.localRank) + " = " + std::to_string(claim.localRank) +
                   " of " + source.localWorld + " = " + std::to_string(claim.localWorld) +
                   " cannot be, of " + std::to_string(claim.world) + " ranks");
    return claim;
  }

  Launch launch(const std::vector<Claim> &claims) const {
    Launch result{claims[0].source->launcher,
                  static_cast<int32_t>(claims[0].rank),
                  static_cast<int32_t>(claims[0].world),
                  static_cast<int32_t>(claims[0].world),
                  false,
                  rendezvous(claims)};
    bool isSlurm = false;
    for (const Claim &claim : claims)
      isSlurm = isSlurm || claim.source->launcher == std::string("srun");
    for (auto claim = claims.rbegin(); claim != claims.rend(); ++claim) {
      std::string launcher = claim->source->launcher;
      // Slurm sets MPICH's variables, too, whether or not there is an MPI that reads them.
      result.isMpi = result.isMpi || launcher == "mpirun" || (launcher == "mpiexec" && !isSlurm);
      if (launcher == "srun")
        result.neighbours = perNode(*claim);
      else if (claim->localWorld > 0)
        result.neighbours = static_cast<int32_t>(claim->localWorld);
    }
    return result;
  }

  /// Slurm says how many nodes there are.
  int32_t perNode(const Claim &claim) const {
    int64_t nodes = 1;
    for (const char *name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"})
      if (has(name)) {
        Result<int64_t> said = number(name, 1);
        nodes = said ? std::max<int64_t>(*said, 1) : 1;
        break;
      }
    return static_cast<int32_t>((claim.world + nodes - 1) / nodes);
  }

  /// The same for all ranks of a job, and for no other job.
  std::string rendezvous(const std::vector<Claim> &claims) const {
    if (has("WEFT_RENDEZVOUS"))
      return value("WEFT_RENDEZVOUS");
    std::string name;
    if (has("MASTER_PORT"))
      name = "port-" + value("MASTER_PORT") + "-" + value("TORCHELASTIC_RUN_ID").substr(0, 40) +
             "-" + value("TORCHELASTIC_RESTART_COUNT");
    else if (claims.back().source->launcher == std::string("srun") && has("SLURM_JOB_ID"))
      name = "slurm-" + value("SLURM_JOB_ID") + "." + value("SLURM_STEP_ID");
    else
      name = "parent-" + std::to_string(getppid());
    std::replace(name.begin(), name.end(), '/', '_'); // no path
    return name;
  }

  const Environment &environment;
};

} // namespace

std::string Launch::command(int64_t ranks, const std::string &what) const {
  for (const Source &source : kSources)
    if (launcher == source.launcher && *source.start)
      return source.start + std::to_string(ranks) + " " + what;
  return "WEFT_WORLD_SIZE=" + std::to_string(ranks) + " WEFT_RANK=0 " + what;
}

Result<std::optional<Launch>> readLaunch(const Environment &environment) {
  return Reader(environment).read();
}

std::optional<Launch> launchOf(const ParsedOptions &options) {
  if (options.has("ranks"))
    return std::nullopt;
  Result<std::optional<Launch>> launch = readLaunch(getenv);
  return launch ? *launch : std::nullopt;
}

} // namespace weft::cli
