// Tiles of wgmma m64n32 with depth along rows, for every swizzle and type, A from shared memory or from registers. Sums are stated by
// strides of a column-major tile.
#include <catch2/catch.hpp>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

constexpr int columns = 32;

struct tile_case {
  std::string type, sum;
  int element, swizzle;
  bool is_a_in_registers;
  int depth() const { return 32 / element; } ///< of one instruction
  int steps() const { return swizzle / 32; }
};

std::string number(int64_t value) { return std::to_string(value); }

/// Copies both tiles in bulk, waits for them, and multiplies in steps.
std::string text_of(const tile_case &c) {
  int s = c.swizzle, mode = s == 128 ? 1 : s == 64 ? 2 : 3;
  std::string flags = c.element == 1        ? ""
                      : c.element == 4      ? ", 1, 1"
                      : c.is_a_in_registers ? ", 1, 1, 0"
                                            : ", 1, 1, 0, 0";
  std::string layout = number(int64_t(uint64_t(mode) << 62 | uint64_t(8 * s / 16) << 32));
  std::string t = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 ma, .param .u64 mb, .param .u64 fa, .param .u64 out)
{
.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<4>; .reg .)" +
                  c.sum + " %f<16>;\n" + ".shared .align 1024 .b8 sa[" + number(64 * s) +
                  "]; .shared .align 1024 .b8 sb[" + number(columns * s) +
                  "]; .shared .align 8 .b8 bar[8];\n" + R"(
ld.param.u64 %d1, [ma]; ld.param.u64 %d2, [mb]; ld.param.u64 %d3, [fa]; ld.param.u64 %d4, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, sa; mov.u32 %r3, sb; mov.u32 %r4, bar; mov.b32 %r5, 0;
setp.eq.s32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [%r4], 1;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], )" +
                  number((64 + columns) * s) + R"(;
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1, {%r5, %r5}], [%r4];
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d2, {%r5, %r5}], [%r4];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
@!%p2 bra W;
setp.ne.s32 %p3, %r5, %r5;
)";
  t += "cvt.u64.u32 %d5, %r2; shr.u64 %d5, %d5, 4; or.b64 %d5, %d5, " + layout + ";\n";
  t += "cvt.u64.u32 %d6, %r3; shr.u64 %d6, %d6, 4; or.b64 %d6, %d6, " + layout + ";\n";
  t += "mul.wide.u32 %d7, %r1, " + number(c.steps() * 16) + "; add.s64 %d3, %d3, %d7;\n";
  std::string d;
  for (int i = 0; i < 16; ++i) {
    t += "mov.b32 %f" + number(i) + ", 0;\n";
    d += (i ? ", %f" : "{%f") + number(i);
  }
  for (int k = 0; k < c.steps(); ++k) {
    for (int r = 0; c.is_a_in_registers && r < 4; ++r)
      t += "ld.global.u32 %r" + number(10 + r) + ", [%d3+" + number(k * 16 + 4 * r) + "];\n";
    t += "add.s64 %d8, %d5, " + number(2 * k) + "; add.s64 %d9, %d6, " + number(2 * k) +
         ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n32k" + number(c.depth()) +
         "." + c.sum + "." + c.type + "." + c.type + " " + d + "}, " +
         (c.is_a_in_registers ? "{%r10, %r11, %r12, %r13}" : "%d8") + ", %d9, " + (k ? "1" : "0") +
         flags + ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  }
  t += "mul.wide.u32 %d7, %r1, 64; add.s64 %d4, %d4, %d7;\n";
  for (int i = 0; i < 16; ++i)
    t += "st.global.b32 [%d4+" + number(4 * i) + "], %f" + number(i) + ";\n";
  return t + "ret;\n}\n";
}

template <class E, class D> void check(const tile_case &c) {
  const int k = c.swizzle / c.element, per = 4 / c.element;
  buffer<E> a(size_t(64 * k)), b(size_t(columns * k)), fragments(size_t(64 * k));
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i] = E(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.data.size(); ++i)
    b.data[i] = E(int(i * 5 % 13) - 6);
  for (int t = 0; t < 128; ++t)
    for (int s = 0; s < c.steps(); ++s)
      for (int r = 0; r < 4; ++r)
        for (int x = 0; x < per; ++x)
          fragments.data[size_t(((t * c.steps() + s) * 4 + r) * per + x)] =
              a.data[size_t((t / 32 * 16 + t % 32 / 4 + 8 * (r & 1)) * k + s * c.depth() +
                            t % 4 * per + x + 4 * per * (r >> 1))];
  buffer<D> out(128 * 16);
  uint32_t width = uint32_t(k), e = uint32_t(c.element), s = uint32_t(c.swizzle);
  weft_emulated_tensor_t ma = {nullptr, e, 2, {width, 64}, {width, 64}, {s}, s};
  weft_emulated_tensor_t mb = {nullptr, e, 2, {width, columns}, {width, columns}, {s}, s};
  gpu device("sm=90a");
  INFO(c.type << ", swizzle " << c.swizzle << (c.is_a_in_registers ? ", A in registers" : ""));
  REQUIRE(device.run(text_of(c), {{a, ma}, {b, mb}, fragments, out}, {1, 128}) == "");
  for (int t = 0; t < 128; ++t)
    for (int v = 0; v < 16; ++v) {
      int at = t % 4 * 128 + t / 4 % 8 + t / 32 * 16 + v % 2 * 64 + v / 2 % 2 * 8 + v / 4 * 512;
      float sum = 0;
      for (int x = 0; x < k; ++x)
        sum += float(a.data[size_t(at % 64 * k + x)]) * float(b.data[size_t(at / 64 * k + x)]);
      REQUIRE(out.data[size_t(t * 16 + v)] == D(sum));
    }
}

} // namespace

TEST_CASE("tiles of every swizzle and type lie as NVIDIA's layouts say") {
  for (int swizzle : {32, 64, 128})
    for (bool is_a_in_registers : {false, true}) {
      check<_Float16, float>({"f16", "f32", 2, swizzle, is_a_in_registers});
      check<float, float>({"tf32", "f32", 4, swizzle, is_a_in_registers});
      check<int8_t, int32_t>({"s8", "s32", 1, swizzle, is_a_in_registers});
    }
}
