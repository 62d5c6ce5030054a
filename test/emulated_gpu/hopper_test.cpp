// sm_90a: bulk copies of boxes, barriers in memory, and products of warpgroups. The kernel is MLIR's, and was emitted with a fault.
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

std::string emitted() {
  std::ifstream in(std::string(WEFT_EMULATED_KERNELS) + "/mlir_wgmma.ptx");
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string sound() {
  return replaced(emitted(), "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 0;",
                  0);
}

/// C = A B for 128 x 128 x K of f16, one block.
std::string run(const std::string &options, const std::string &text) {
  constexpr int64_t n = 128, k = 256;
  buffer<_Float16> a(size_t(n * k)), b(size_t(n * k));
  for (size_t i = 0; i < a.data.size(); ++i) {
    a.data[i] = _Float16(float(i * 7 % 17) / 8 - 1);
    b.data[i] = _Float16(float(i * 5 % 13) / 8 - 1);
  }
  buffer<float> c(size_t(n * n), NAN);
  weft_emulated_tensor_t map_a = {nullptr, 2, 2, {k, n}, {64, 128}, {k * 2}, 128};
  weft_emulated_tensor_t map_b = {nullptr, 2, 2, {n, k}, {64, 64}, {n * 2}, 128};
  gpu device("sm=90a," + options);
  std::string told = device.run(
      text, {{a, map_a}, {b, map_b}, k, c, c, int64_t(0), n, n, n, int64_t(1)}, {1, 128}, "mm");
  for (int64_t i = 0; i < n && told.empty(); ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t x = 0; x < k; ++x)
        sum += float(a.data[size_t(i * k + x)]) * float(b.data[size_t(x * n + j)]);
      if (!(std::fabs(sum - c.data[size_t(i * n + j)]) < 1e-3f))
        return "wrong";
    }
  return told;
}

} // namespace

TEST_CASE("a product of warpgroups from boxes that are copied in bulk is right") {
  for (const char *options : {"lazy", "eager", "seed=7", "seed=8,eager"}) {
    INFO(options);
    REQUIRE(run(options, sound()) == "");
  }
}

TEST_CASE("a wait that leaves the last product in flight is found") {
  INFO(run("lazy", emitted()));
  REQUIRE(run("lazy", emitted()).find("wgmma in flight") != std::string::npos);
}

TEST_CASE("faults of bulk copies and products of warpgroups are found") {
  struct {
    const char *what, *from, *to;
    int nth;
    const char *expected;
  } all[] = {
      {"no fence", "wgmma.fence.sync.aligned;", "", 1, "no wgmma.fence"},
      {"no wait for the copies", "bra.uni     LAB_WAIT;", "", 1, "reads what a copy in bulk wrote"},
      {"a barrier that expects too many bytes", "mov.b32 \t%r10, 32768;", "mov.b32 \t%r10, 32784;",
       1, "a deadlock"},
  };
  for (const auto &each : all) {
    std::string told = run("lazy", replaced(sound(), each.from, each.to, each.nth));
    INFO(each.what << ": " << told);
    CHECK(told.find(each.expected) != std::string::npos);
  }
}

TEST_CASE("code for another architecture is refused") {
  gpu device;
  REQUIRE(device.load(emitted(), "mm") ==
          "PTX: line 1: it is for sm_90a, and this device is sm_80");
}
