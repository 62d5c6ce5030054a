// What the simplest kernels do, and what is found in them.
#include <catch2/catch.hpp>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

/// y[i] = x[i] + 1 for i < n, 32 threads a block.
const std::string add_one = kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd5, [p2];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd3, %r4;
  setp.ge.u64 %p1, %rd3, %rd5;
  @%p1 bra $L_end;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd4, %r4, 4;
  add.s64 %rd1, %rd1, %rd4;
  add.s64 %rd2, %rd2, %rd4;
  ld.global.nc.f32 %f1, [%rd1];
  add.rn.f32 %f1, %f1, 0f3F800000;
  st.global.f32 [%rd2], %f1;
$L_end:
)",
                                   3);

/// y[i] = x[i] for 32 threads, of which the first half commits one group more and so need not wait for all.
const std::string uneven_groups = kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p1, %r1, 16;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.commit_group;
  @%p1 cp.async.commit_group;
  cp.async.wait_group 1;
  @%p1 ld.shared.f32 %f1, [%r2];
  cp.async.wait_all;
  @!%p1 ld.shared.f32 %f1, [%r2];
  st.global.f32 [%rd2], %f1;
)",
                                         2, ".shared .align 16 .b8 tile[128];");

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a kernel computes its elements") {
  buffer<float> x(100, 2.f), y(100, 0.f);
  gpu device;
  REQUIRE(device.run(add_one, {x, y, 100}, {4}) == "");
  REQUIRE(y.data == std::vector<float>(100, 3.f));
  REQUIRE(device.counters.blocks == 4);
  REQUIRE(device.counters.sectors == device.counters.ideal_sectors);
}

TEST_CASE("a guard that is one too weak is found, with the buffer and the distance") {
  buffer<float> x(100, 2.f), y(100, 0.f);
  gpu device;
  std::string told = device.run(replaced(add_one, "setp.ge.u64", "setp.gt.u64"), {x, y, 100}, {4});
  INFO(told);
  REQUIRE(has(told, "kernel 'k', line "));
  REQUIRE(has(told, "(ld.global.nc.f32), block 3, thread 4: reads 4 bytes out of bounds, 0 bytes "
                    "behind the buffer of parameter 0 (400 bytes)"));
}

TEST_CASE("unknown instructions and modifiers are refused by their line") {
  gpu device;
  REQUIRE(device.load(kernel("frobnicate.u32 %r1, %r2;", 0)) ==
          "PTX: kernel 'k': line 8: 'frobnicate.u32': the emulated GPU does not know this "
          "instruction");
  REQUIRE(device.load(kernel("add.funny.u32 %r1, %r2, 1;", 0)) ==
          "PTX: kernel 'k': line 8: 'add.funny.u32': the modifier '.funny' is not supported");
  REQUIRE(has(device.load(kernel("add.u32 %r1, %rd2, 1;", 0)), "not a register of 32 bits"));
}

TEST_CASE("each lane waits for the groups of copies that it committed itself") {
  buffer<float> x(32, 2.f), y(32, 0.f);
  for (const char *options : {"lazy", "eager", "seed=5"}) {
    gpu device(options);
    REQUIRE(device.run(uneven_groups, {x, y}) == "");
    REQUIRE(y.data == x.data);
    std::string all_read = replaced(uneven_groups, "@%p1 ld.shared", "ld.shared");
    std::string told = device.run(all_read, {x, y});
    INFO(told);
    REQUIRE(has(told, "thread 16: reads what an asynchronous copy writes, and has not waited"));
  }
}

TEST_CASE("a register that nobody wrote is found") {
  gpu device;
  buffer<uint32_t> y(32);
  std::string told =
      device.run(kernel("ld.param.u64 %rd1, [p0]; st.global.u32 [%rd1], %r7;", 1), {y});
  INFO(told);
  REQUIRE(has(told, "reads a register that was never written"));
}

TEST_CASE(
    "what debuggers read is passed over, and what the compiler leaves undefined is no finding") {
  buffer<uint32_t> y(32);
  gpu device;
  std::string text = kernel("// implicit-def: %r7\nld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; "
                            "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; .loc 1 2 3\n"
                            "st.global.u32 [%rd1], %r7;",
                            1) +
                     "\n.section .debug_str { .b8 1, 2 }\n";
  REQUIRE(device.run(text, {y}) == "");
}

TEST_CASE("threads of the host change nothing but the time") {
  for (const char *options : {"threads=3", "threads=2,seed=4,blocks=random"}) {
    buffer<float> x(3000, 2.f), y(3000, 0.f);
    gpu device(options);
    REQUIRE(device.run(add_one, {x, y, 3000}, {94}) == "");
    REQUIRE(y.data == std::vector<float>(3000, 3.f));
    REQUIRE(device.counters.blocks == 94);
  }
}
