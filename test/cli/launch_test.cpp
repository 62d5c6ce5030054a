// Who a rank is, by the variables of launchers.
#include <catch2/catch.hpp>

#include <map>

#include "tools/weft/cli/Launch.h"

using namespace weft::cli;

namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<Launch>> read(const Variables &variables) {
  return readLaunch([&](const char *name) {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

/// "launcher rank/world, neighbours here, shm or mpi, rendezvous", "alone", or the failure.
std::string said(const Variables &variables) {
  Result<std::optional<Launch>> launch = read(variables);
  if (!launch) {
    CHECK(launch.failure().exitCode == ExitWrongUsage);
    return launch.failure().message;
  }
  if (!*launch)
    return "alone";
  const Launch &l = **launch;
  bool byParent = l.rendezvous.rfind("parent-", 0) == 0;
  return l.launcher + " " + std::to_string(l.rank) + "/" + std::to_string(l.world) + ", " +
         std::to_string(l.neighbours) + " here, " + (l.isMpi ? "mpi" : "shm") + ", " +
         (byParent ? "parent" : l.rendezvous);
}

const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};

Variables operator+(Variables some, const Variables &more) {
  some.insert(more.begin(), more.end());
  return some;
}

} // namespace

TEST_CASE("every launcher's variables say who a rank is") {
  CHECK(said({}) == "alone");
  CHECK(said(kMpirun) == "mpirun 1/4, 2 here, mpi, parent");
  CHECK(said({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}) == "mpiexec 0/2, 2 here, mpi, parent");
  CHECK(said({{"RANK", "3"},
              {"WORLD_SIZE", "4"},
              {"LOCAL_RANK", "1"},
              {"LOCAL_WORLD_SIZE", "2"},
              {"MASTER_PORT", "29500"},
              {"TORCHELASTIC_RUN_ID", "a/b"},
              {"TORCHELASTIC_RESTART_COUNT", "1"}}) ==
        "torchrun 3/4, 2 here, shm, port-29500-a_b-1");
  CHECK(said({{"SLURM_PROCID", "5"},
              {"SLURM_NTASKS", "8"},
              {"SLURM_LOCALID", "1"},
              {"SLURM_STEP_NUM_NODES", "2"},
              {"SLURM_JOB_ID", "77"},
              {"SLURM_STEP_ID", "0"}}) == "srun 5/8, 4 here, shm, slurm-77.0");
  CHECK(said({{"WEFT_RANK", "0"}, {"WEFT_WORLD_SIZE", "2"}}) ==
        "WEFT_RANK 0/2, 2 here, shm, parent");
  CHECK(said({{"WEFT_RANK", "0"}, {"WEFT_WORLD_SIZE", "2"}, {"WEFT_RENDEZVOUS", "/run/x"}}) ==
        "WEFT_RANK 0/2, 2 here, shm, /run/x");
}

TEST_CASE("one rank of one is alone, and so is a variable that others use, too") {
  CHECK(said({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}) == "alone");
  CHECK(said({{"RANK", "private"}}) == "alone");
  CHECK(said({{"SLURM_NTASKS", "4"}}) == "alone");
  CHECK(said({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"ENVIRONMENT", "BATCH"}}) == "alone");
}

TEST_CASE("launchers that agree are one, and those that contradict each other are refused") {
  Variables torch = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "1"}};
  CHECK(said(kMpirun + torch) == "torchrun 1/4, 2 here, mpi, port-1--");
  torch["RANK"] = "0";
  CHECK(said(kMpirun + torch) ==
        "RANK = 0 of WORLD_SIZE = 4, but OMPI_COMM_WORLD_RANK = 1 of OMPI_COMM_WORLD_SIZE = 4");
  CHECK(said(Variables{{"WEFT_RANK", "1"}, {"WEFT_WORLD_SIZE", "2"}} + kMpirun) ==
        "WEFT_RANK = 1 of WEFT_WORLD_SIZE = 2, but OMPI_COMM_WORLD_RANK = 1 of "
        "OMPI_COMM_WORLD_SIZE = 4");
  CHECK(
      said({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}) ==
      "PMI_RANK = 0 of PMI_SIZE = 2, but SLURM_PROCID = 1 of SLURM_NTASKS = 2");
  // Under mpirun Slurm's variables are its daemon's.
  CHECK(said(kMpirun + Variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}) ==
        "mpirun 1/4, 2 here, mpi, parent");
  // Slurm sets PMI's variables without an MPI that reads them.
  CHECK(
      said({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}) ==
      "mpiexec 1/2, 2 here, shm, parent");
}

TEST_CASE("what no launcher would say is refused") {
  CHECK(said({{"WEFT_RANK", "0"}}) ==
        "the variable WEFT_WORLD_SIZE is missing, but WEFT_RANK is set");
  CHECK(said({{"WEFT_WORLD_SIZE", "2"}}) ==
        "the variable WEFT_RANK is missing, but WEFT_WORLD_SIZE is set");
  for (const char *text : {"-1", "two", "1x", "99999999999999999999", "2000000"})
    CHECK(said({{"WEFT_RANK", text}, {"WEFT_WORLD_SIZE", "2"}}) ==
          "the variable WEFT_RANK is '" + std::string(text) + "', which is no number of ranks");
  CHECK(said({{"RANK", "2"}, {"WORLD_SIZE", "2"}}) ==
        "RANK = 2 of WORLD_SIZE = 2: ranks are counted from 0");
  CHECK(said({{"RANK", "0"}, {"WORLD_SIZE", "0"}}) ==
        "RANK = 0 of WORLD_SIZE = 0: ranks are counted from 0");
  CHECK(
      said({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "3"}}) ==
      "LOCAL_RANK = 0 of LOCAL_WORLD_SIZE = 3 cannot be, of 2 ranks");
}

TEST_CASE("the command that starts another number of ranks is the launcher's") {
  CHECK((**read(kMpirun)).command(2, "weft run x.weft") == "mpirun -n 2 weft run x.weft");
  CHECK((**read({{"WEFT_RANK", "0"}, {"WEFT_WORLD_SIZE", "2"}})).command(3, "weft run x.weft") ==
        "WEFT_WORLD_SIZE=3 WEFT_RANK=0 weft run x.weft");
}
