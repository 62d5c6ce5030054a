// What a machine's data say, and how long a kernel takes by them.
#include "compiler/machine/MachineData.h"
#include "targets/common/Registry.h"
#include <catch2/catch.hpp>

using namespace weft;

namespace {

const std::string kSmall = R"({
  "schema": "weft.machine/1", "name": "small", "about": "a machine of round figures", "target": "x86:v3",
  "cores": 4, "clock_ghz": 1, "multiply_adds_per_cycle": {"f32": 8}, "operations_per_cycle": 2,
  "reached": {"products": 0.5},
  "caches": [{"bytes": 1000, "bytes_per_cycle": 32}, {"bytes": 8000, "bytes_per_cycle": 16, "shared": true}],
  "memory_gb_per_s": 4, "memory_gb_per_s_of_all": 6, "start_ns": 100, "share_ns": 10, "reached_together": 0.5,
  "sources": {"clock_ghz": "chosen"}})";

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

MachineData small() {
  llvm::Expected<MachineData> data = parseMachine(kSmall, "m");
  REQUIRE(bool(data));
  return *data;
}

std::string errorOf(const std::string &what, const std::string &by) {
  llvm::Expected<MachineData> data = parseMachine(replaced(kSmall, what, by), "m");
  return data ? "" : llvm::toString(data.takeError());
}

KernelNeed products(double multiplyAdds, double bytes = 0, double pieces = 1) {
  KernelNeed need;
  need.unit = "f32";
  need.loops = "products";
  need.multiplyAdds = multiplyAdds;
  need.bytes = bytes;
  need.pieces = pieces;
  return need;
}

} // namespace

TEST_CASE("every machine that comes with Weft is read, is compiled for a target that there is, and "
          "says where its figures come from") {
  std::vector<DataText> all = allMachines();
  REQUIRE(all.size() >= 2);
  for (const DataText &text : all) {
    INFO(text.name);
    llvm::Expected<MachineData> data = parseMachine(text.json, text.name);
    if (!data)
      FAIL(llvm::toString(data.takeError()));
    CHECK(data->name == text.name);
    auto targets = findTargets(data->target);
    CHECK(bool(targets));
    llvm::consumeError(targets.takeError());
    for (const char *key : {"cores", "clock_ghz", "multiply_adds_per_cycle", "operations_per_cycle",
                            "reached", "caches", "memory_gb_per_s", "memory_gb_per_s_of_all",
                            "start_ns", "share_ns", "reached_together"})
      CHECK_FALSE(data->sources[key].empty());
    for (LoopKind kind : kLoopsOfProducts)
      CHECK(data->reached.count(nameOf(kind).str()));
  }
}

TEST_CASE("a kernel takes the longer of what it computes and what it reads, and its start") {
  MachineData machine = small();
  KernelTime computes = machine.time(products(4000), 1);
  CHECK(computes.all() == 1000 + 100);
  CHECK(computes.limit() == TimeLimit::Compute);
  KernelNeed reads = products(4000, 8000);
  reads.bytesAroundIt = 1e6;
  CHECK(machine.time(reads, 1).all() == 2000 + 100);
  CHECK(machine.time(reads, 1).limit() == TimeLimit::Memory);
  CHECK(machine.time(products(0), 1).limit() == TimeLimit::Start);
}

TEST_CASE("what all kernels of a call touch says which memory they read from") {
  MachineData machine = small();
  auto memory = [&](double around, int64_t threads) {
    KernelNeed need = products(0, 3200, 100);
    need.bytesAroundIt = around;
    return machine.time(need, threads).memory;
  };
  CHECK(memory(1000, 1) == 100);
  CHECK(memory(1001, 1) == 200);
  CHECK(memory(8001, 1) == 800);
  CHECK(memory(4000, 4) == 25);        // every core has a cache of its own
  CHECK(memory(1e6, 4) == 3200 / 6.0); // all cores together get less than four times what one gets
}

TEST_CASE("workers have whole pieces, and one waits for the other") {
  MachineData machine = small();
  CHECK(machine.time(products(4000, 0, 3), 2).compute == Approx(1000 * 2 / 3.0 / 0.5));
  CHECK(machine.time(products(4000, 0, 1), 4).all() == 1100);            // nothing to part
  CHECK(machine.time(products(4000, 0, 4), 64).start == 100 / 4.0 + 10); // it has four cores
}

TEST_CASE("a machine lacks a unit that its data do not name") {
  KernelNeed need = products(1);
  CHECK(small().lacks(need) == "");
  need.unit = "tiles of bf16";
  CHECK(small().lacks(need) == "multiply_adds_per_cycle of 'tiles of bf16'");
  need.multiplyAdds = 0;
  CHECK(small().lacks(need) == "");
  need = products(1);
  need.loops = "attention";
  CHECK(small().lacks(need) == "the share reached of 'attention'");
}

TEST_CASE("what is no machine is refused in one line") {
  CHECK(errorOf("weft.machine/1", "weft.machine/2") == "m: 'schema' must be \"weft.machine/1\"");
  CHECK(errorOf("\"clock_ghz\": 1,", "") == "m: 'clock_ghz' is missing, but must be a number");
  CHECK(errorOf("\"clock_ghz\": 1,", "\"clock_ghz\": 0,") ==
        "m: 'clock_ghz' must be above 0 and at most 100");
  CHECK(errorOf("\"clock_ghz\": 1,", "\"clock_ghz\": \"fast\",") ==
        "m: 'clock_ghz' must be a number, but is \"fast\"");
  CHECK(errorOf("\"cores\": 4", "\"cores\": -4") == "m: 'cores' must be above 0 and at most 4096");
  CHECK(errorOf("\"cores\": 4", "\"cores\": 4, \"pipes\": 2") ==
        "m: 'pipes' is no field of a machine");
  CHECK(errorOf("{\"f32\": 8}", "{\"f32\": \"8\"}") ==
        "m: 'multiply_adds_per_cycle' of 'f32' must be a number");
  CHECK(errorOf("{\"f32\": 8}", "{}") ==
        "m: 'multiply_adds_per_cycle' must be an object with fields");
  CHECK(errorOf("\"bytes\": 8000", "\"bytes\": 800") == "m: 'caches' must begin with the smallest");
  CHECK(errorOf("\"bytes\": 8000", "\"size\": 8000") ==
        "m: 'caches' 2: 'bytes' is missing, but must be a number");
  CHECK(errorOf("\"memory_gb_per_s_of_all\": 6", "\"memory_gb_per_s_of_all\": 3") ==
        "m: 'memory_gb_per_s_of_all' is less than 'memory_gb_per_s' of one core");
  CHECK(errorOf("\"clock_ghz\": \"chosen\"", "\"clock\": \"chosen\"") ==
        "m: 'sources' speaks of 'clock', which is no field");
  CHECK(errorOf("a machine of round", "a machine\\nof round") ==
        "m: 'about' must be a line of text");
  CHECK(errorOf("\"name\": \"small\",", "\"name\": \"small\"")
            .find("m: is not valid JSON at line 2") == 0);
}
