// Each instruction with operands and the result that NVIDIA's description gives.
#include <catch2/catch.hpp>

#include <cmath>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

struct row {
  const char
      *text; ///< reads %r1 %r2 %r3, %rd1…, %f1…, %fd1…, %h1…, %p1…; writes register 0 of one kind
  uint64_t a, b, c, expected;
};

uint64_t f(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
uint64_t d(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// The operands are in registers of all kinds; the result is what kind of register 0 the text names.
std::string snippet(const std::string &text) {
  std::string body = "ld.param.u64 %rd20, [p0]; ld.param.u64 %rd21, [p1];\n";
  for (const char *n : {"1", "2", "3"}) {
    std::string k = n;
    body += "ld.global.u64 %rd" + k + ", [%rd20+" + std::to_string(8 * (n[0] - '1')) + "]; ";
    body += "cvt.u32.u64 %r" + k + ", %rd" + k + "; mov.b32 %f" + k + ", %r" + k + "; ";
    body += "mov.b64 %fd" + k + ", %rd" + k + "; cvt.u16.u64 %h" + k + ", %rd" + k + "; ";
    body += "setp.ne.u64 %p" + k + ", %rd" + k + ", 0;\n";
  }
  body += text + "\n";
  if (text.find("%rd0") != text.npos)
    body += "";
  else if (text.find("%r0") != text.npos)
    body += "cvt.u64.u32 %rd0, %r0;";
  else if (text.find("%fd0") != text.npos)
    body += "mov.b64 %rd0, %fd0;";
  else if (text.find("%f0") != text.npos)
    body += "mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;";
  else if (text.find("%h0") != text.npos)
    body += "cvt.u64.u16 %rd0, %h0;";
  else
    body += "selp.u64 %rd0, 1, 0, %p0;";
  return kernel(body + "\nst.global.u64 [%rd21], %rd0;", 2);
}

void check(const std::vector<row> &rows) {
  gpu device;
  for (const row &each : rows) {
    buffer<uint64_t> in({each.a, each.b, each.c}), out(1);
    INFO(each.text << " of " << each.a << ", " << each.b << ", " << each.c);
    REQUIRE(device.run(snippet(each.text), {in, out}, {1, 1}) == "");
    REQUIRE(out.data[0] == each.expected);
  }
}

constexpr uint64_t m = ~uint64_t(0);
constexpr uint32_t m32 = ~0u;

} // namespace

TEST_CASE("integers are added, multiplied and divided as their type says") {
  check({{"add.u32 %r0, %r1, %r2;", m32, 2, 0, 1},
         {"add.s64 %rd0, %rd1, %rd2;", m, 5, 0, 4},
         {"add.s16 %h0, %h1, %h2;", 0xffff, 3, 0, 2},
         {"add.s16x2 %r0, %r1, %r2;", 0xffff7fff, 0x00020001, 0, 0x00018000},
         {"add.u16x2 %r0, %r1, %r2;", 0x0001ffff, 0x00010001, 0, 0x00020000},
         {"min.s16x2 %r0, %r1, %r2;", 0xffff7fff, 0x0002fffe, 0, 0xfffffffe},
         {"max.u16x2 %r0, %r1, %r2;", 0xffff7fff, 0x0002fffe, 0, 0xfffffffe},
         {"max.s16x2 %r0, %r1, %r2;", 0xffff7fff, 0x0002fffe, 0, 0x00027fff},
         {"sub.s32 %r0, %r1, %r2;", 3, 5, 0, uint32_t(-2)},
         {"mul.lo.s32 %r0, %r1, %r2;", 0x10001, 0x10001, 0, 0x20001},
         {"mul.lo.u64 %rd0, %rd1, %rd2;", m, m, 0, 1},
         {"mul.lo.s16 %h0, %h1, %h2;", 300, 300, 0, 90000 & 0xffff},
         {"mul.hi.u32 %r0, %r1, %r2;", m32, m32, 0, m32 - 1},
         {"mul.hi.s32 %r0, %r1, %r2;", m32, m32, 0, 0},
         {"mul.hi.u64 %rd0, %rd1, %rd2;", m, m, 0, m - 1},
         {"mul.hi.s64 %rd0, %rd1, %rd2;", m, 2, 0, m},
         {"mul.wide.u32 %rd0, %r1, %r2;", m32, m32, 0, 0xfffffffe00000001},
         {"mul.wide.s32 %rd0, %r1, %r2;", m32, 2, 0, m - 1},
         {"mul.wide.u16 %r0, %h1, %h2;", 0xffff, 0xffff, 0, 0xfffe0001},
         {"mad.lo.s32 %r0, %r1, %r2, %r3;", 3, 4, 5, 17},
         {"mad.wide.s32 %rd0, %r1, %r2, %rd3;", m32, 4, 5, 1},
         {"mad.hi.u32 %r0, %r1, %r2, %r3;", m32, m32, 3, 1},
         {"div.u32 %r0, %r1, %r2;", 7, 2, 0, 3},
         {"div.s32 %r0, %r1, %r2;", uint32_t(-7), 2, 0, uint32_t(-3)},
         {"div.s32 %r0, %r1, %r2;", 0x80000000, m32, 0, 0x80000000},
         {"div.u64 %rd0, %rd1, %rd2;", m, 3, 0, m / 3},
         {"rem.s32 %r0, %r1, %r2;", uint32_t(-7), 2, 0, uint32_t(-1)},
         {"rem.u64 %rd0, %rd1, %rd2;", 100, 7, 0, 2},
         {"min.s32 %r0, %r1, %r2;", m32, 2, 0, m32},
         {"min.u32 %r0, %r1, %r2;", m32, 2, 0, 2},
         {"max.s64 %rd0, %rd1, %rd2;", m, 2, 0, 2},
         {"neg.s32 %r0, %r1;", 5, 0, 0, uint32_t(-5)},
         {"abs.s32 %r0, %r1;", uint32_t(-5), 0, 0, 5},
         {"abs.s64 %rd0, %rd1;", m, 0, 0, 1},
         {"sad.u32 %r0, %r1, %r2, %r3;", 3, 10, 1, 8},
         {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", 0x01ff0203, 0x02020202, 1, 1 + 2 * (1 - 1 + 2 + 3)},
         {"dp4a.u32.s32 %r0, %r1, %r2, %r3;", 0xff, 0xff, 0, uint32_t(-255)}});
}

TEST_CASE("bits are combined, shifted, extracted and counted") {
  check({{"and.b32 %r0, %r1, %r2;", 12, 10, 0, 8},
         {"or.b64 %rd0, %rd1, %rd2;", 12, 10, 0, 14},
         {"xor.b16 %h0, %h1, %h2;", 12, 10, 0, 6},
         {"not.b32 %r0, %r1;", 0, 0, 0, m32},
         {"cnot.b32 %r0, %r1;", 0, 0, 0, 1},
         {"and.pred %p0, %p1, %p2;", 1, 0, 0, 0},
         {"or.pred %p0, %p1, %p2;", 1, 0, 0, 1},
         {"not.pred %p0, %p1;", 1, 0, 0, 0},
         {"xor.pred %p0, %p1, !%p2;", 1, 1, 0, 1},
         {"shl.b32 %r0, %r1, %r2;", 1, 31, 0, 0x80000000},
         {"shl.b32 %r0, %r1, %r2;", 1, 32, 0, 0},
         {"shr.s32 %r0, %r1, %r2;", 0x80000000, 40, 0, m32},
         {"shr.u64 %rd0, %rd1, %r2;", m, 63, 0, 1},
         {"shr.s16 %h0, %h1, %r2;", 0x8000, 15, 0, 0xffff},
         {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 0x80000001, 0x1, 1, 3},
         {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 1, 2, 32, 2},
         {"bfe.u32 %r0, %r1, 4, 8;", 0xabcd, 0, 0, 0xbc},
         {"bfe.s32 %r0, %r1, 4, 8;", 0xabcd, 0, 0, uint32_t(int32_t(int8_t(0xbc)))},
         {"bfe.s64 %rd0, %rd1, 60, 8;", uint64_t(9) << 60, 0, 0, m - 6},
         {"bfi.b32 %r0, %r1, %r2, 8, 4;", 5, 0xffff, 0, 0xf5ff},
         {"bfind.u32 %r0, %r1;", 0x100, 0, 0, 8},
         {"bfind.shiftamt.u32 %r0, %r1;", 0x100, 0, 0, 23},
         {"bmsk.clamp.b32 %r0, %r1, %r2;", 4, 8, 0, 0xff0},
         {"lop3.b32 %r0, %r1, %r2, %r3, 0xE8;", 12, 10, 6, 14},
         {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 12, 10, 6, 0},
         {"prmt.b32 %r0, %r1, %r2, 0x5410;", 0x33221100, 0x77665544, 0, 0x55441100},
         {"prmt.b32 %r0, %r1, %r2, 0xF7;", 0x80000000, 0x80554433, 0, 0x0000ff80},
         {"popc.b32 %r0, %r1;", 0xf0f, 0, 0, 8},
         {"popc.b64 %r0, %rd1;", m, 0, 0, 64},
         {"clz.b32 %r0, %r1;", 1, 0, 0, 31},
         {"clz.b64 %r0, %rd1;", 0, 0, 0, 64},
         {"brev.b32 %r0, %r1;", 1, 0, 0, 0x80000000}});
}

TEST_CASE("reals are rounded once, and NaN is what it must be") {
  float nan = std::nanf("");
  check({{"add.rn.f32 %f0, %f1, %f2;", f(1), f(2), 0, f(3)},
         {"sub.f64 %fd0, %fd1, %fd2;", d(1), d(3), 0, d(-2)},
         {"mul.rn.f32 %f0, %f1, %f2;", f(3), f(-2), 0, f(-6)},
         {"mul.sat.f32 %f0, %f1, %f2;", f(3), f(2), 0, f(1)},
         {"add.ftz.f32 %f0, %f1, %f2;", 1, 1, 0, 0},
         {"fma.rn.f32 %f0, %f1, %f2, %f3;", f(1 + 0x1p-23f), f(1 + 0x1p-23f), f(-1),
          f(0x1p-22f + 0x1p-46f)},
         {"fma.rn.f64 %fd0, %fd1, %fd2, %fd3;", d(2), d(3), d(4), d(10)},
         {"div.rn.f32 %f0, %f1, %f2;", f(1), f(3), 0, f(1.f / 3)},
         {"min.f32 %f0, %f1, %f2;", f(nan), f(2), 0, f(2)},
         {"max.NaN.f32 %f0, %f1, %f2;", f(nan), f(2), 0, 0x7fffffff},
         {"min.f32 %f0, %f1, %f2;", f(0), f(-0.f), 0, f(-0.f)},
         {"neg.f32 %f0, %f1;", f(2), 0, 0, f(-2)},
         {"abs.f64 %fd0, %fd1;", d(-2), 0, 0, d(2)},
         {"rcp.rn.f32 %f0, %f1;", f(4), 0, 0, f(0.25f)},
         {"sqrt.rn.f32 %f0, %f1;", f(9), 0, 0, f(3)},
         {"rsqrt.approx.f32 %f0, %f1;", f(16), 0, 0, f(0.25f)},
         {"ex2.approx.ftz.f32 %f0, %f1;", f(3), 0, 0, f(8)},
         {"lg2.approx.f32 %f0, %f1;", f(8), 0, 0, f(3)},
         {"sin.approx.f32 %f0, %f1;", f(0), 0, 0, f(0)},
         {"cos.approx.f32 %f0, %f1;", f(0), 0, 0, f(1)},
         {"tanh.approx.f32 %f0, %f1;", f(0), 0, 0, f(0)},
         {"copysign.f32 %f0, %f1, %f2;", f(-1), f(3), 0, f(-3)},
         {"testp.notanumber.f32 %p0, %f1;", f(nan), 0, 0, 1},
         {"add.rn.f16 %h0, %h1, %h2;", 0x3c00, 0x4000, 0, 0x4200},
         {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", 0x3c00, 0xc000, 0, 0},
         {"fma.rn.f16x2 %r0, %r1, %r2, %r3;", 0x3c003c00, 0x40004400, 0x3c000000, 0x42004400},
         {"fma.rn.bf16 %h0, %h1, %h2, %h3;", 0x3f80, 0x4000, 0x3f80, 0x4040},
         {"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", 0x3f803f80, 0x40004080, 0, 0x40004080},
         {"max.f16x2 %r0, %r1, %r2;", 0x3c004000, 0x40003c00, 0, 0x40004000},
         {"neg.bf16x2 %r0, %r1;", 0x3f803f80, 0, 0, 0xbf80bf80},
         {"ex2.approx.f16 %h0, %h1;", 0x4000, 0, 0, 0x4400}});
}

TEST_CASE("conversions round, saturate and extend") {
  check({{"cvt.rzi.s32.f32 %r0, %f1;", f(-2.7f), 0, 0, uint32_t(-2)},
         {"cvt.rni.s32.f32 %r0, %f1;", f(2.5f), 0, 0, 2},
         {"cvt.rmi.f32.f32 %f0, %f1;", f(-2.5f), 0, 0, f(-3)},
         {"cvt.rpi.f32.f32 %f0, %f1;", f(2.1f), 0, 0, f(3)},
         {"cvt.rzi.s32.f32 %r0, %f1;", f(1e20f), 0, 0, 0x7fffffff},
         {"cvt.rzi.u32.f32 %r0, %f1;", f(-1), 0, 0, 0},
         {"cvt.rzi.s64.f64 %rd0, %fd1;", d(-1e3), 0, 0, uint64_t(-1000)},
         {"cvt.rn.f32.s32 %f0, %r1;", uint32_t(-3), 0, 0, f(-3)},
         {"cvt.rn.f32.u64 %f0, %rd1;", m, 0, 0, f(0x1p64f)},
         {"cvt.rn.f64.s64 %fd0, %rd1;", m, 0, 0, d(-1)},
         {"cvt.s64.s32 %rd0, %r1;", m32, 0, 0, m},
         {"cvt.u64.u32 %rd0, %r1;", m32, 0, 0, m32},
         {"cvt.s32.s8 %r0, %r1;", 0x1ff, 0, 0, m32},
         {"cvt.u32.u8 %r0, %r1;", 0x1ff, 0, 0, 0xff},
         {"cvt.sat.u8.s32 %r0, %r1;", 300, 0, 0, 255},
         {"cvt.sat.s8.s32 %r0, %r1;", uint32_t(-300), 0, 0, uint32_t(-128)},
         {"cvt.rn.f16.f32 %h0, %f1;", f(1 + 0x1p-11f), 0, 0, 0x3c00},
         {"cvt.rn.f16.f64 %h0, %fd1;", d(1 + 0x1p-11 + 0x1p-40), 0, 0, 0x3c01},
         {"cvt.f32.f16 %f0, %h1;", 0x3c00, 0, 0, f(1)},
         {"cvt.rn.bf16.f32 %h0, %f1;", 0x3f808000, 0, 0, 0x3f80},
         {"cvt.f32.bf16 %f0, %h1;", 0x3fc0, 0, 0, f(1.5f)},
         {"cvt.rn.bf16x2.f32 %r0, %f1, %f2;", f(1), f(2), 0, 0x3f804000},
         {"cvt.rn.f16x2.f32 %r0, %f1, %f2;", f(1), f(2), 0, 0x3c004000},
         {"cvt.rz.f32.f64 %f0, %fd1;", d(1 + 0x1.8p-23), 0, 0, f(1 + 0x1p-23f)},
         {"cvt.rna.tf32.f32 %r0, %f1;", 0x3f801000, 0, 0, 0x3f802000},
         {"cvt.f64.f32 %fd0, %f1;", f(1.5f), 0, 0, d(1.5)},
         {"cvt.sat.f32.f32 %f0, %f1;", f(-1), 0, 0, f(0)}});
}

TEST_CASE("comparisons know NaN and signs, and choose") {
  float nan = std::nanf("");
  check({{"setp.lt.s32 %p0, %r1, %r2;", m32, 1, 0, 1},
         {"setp.lt.u32 %p0, %r1, %r2;", m32, 1, 0, 0},
         {"setp.hi.u32 %p0, %r1, %r2;", m32, 1, 0, 1},
         {"setp.eq.f32 %p0, %f1, %f2;", f(nan), f(nan), 0, 0},
         {"setp.ne.f32 %p0, %f1, %f2;", f(nan), f(1), 0, 0},
         {"setp.neu.f32 %p0, %f1, %f2;", f(nan), f(1), 0, 1},
         {"setp.ltu.f32 %p0, %f1, %f2;", f(nan), f(1), 0, 1},
         {"setp.nan.f64 %p0, %fd1, %fd2;", d(nan), d(1), 0, 1},
         {"setp.num.f32 %p0, %f1, %f2;", f(2), f(1), 0, 1},
         {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", 1, 2, 0, 0},
         {"setp.lt.or.s32 %p0|%p5, %r1, %r2, !%p3;", 3, 2, 0, 1},
         {"setp.gt.f16 %p0, %h1, %h2;", 0x4000, 0x3c00, 0, 1},
         {"selp.b32 %r0, %r1, %r2, %p3;", 7, 8, 1, 7},
         {"selp.b64 %rd0, %rd1, %rd2, %p3;", 7, 8, 0, 8},
         {"set.lt.u32.s32 %r0, %r1, %r2;", 1, 2, 0, m32},
         {"slct.b32.s32 %r0, %r1, %r2, %r3;", 7, 8, m32, 8}});
}

TEST_CASE("registers are packed, unpacked and moved") {
  check({{"mov.b32 %r0, {%h1, %h2};", 0x1234, 0x5678, 0, 0x56781234},
         {"mov.b64 %rd0, {%r1, %r2};", 1, 2, 0, 0x200000001},
         {"mov.b32 {%h0, %h5}, %r1;", 0x56781234, 0, 0, 0x1234},
         {"mov.b64 {_, %r0}, %rd1;", 0x200000001, 0, 0, 2},
         {"mov.u32 %r0, %ntid.x;", 0, 0, 0, 1},
         {"mov.u32 %r0, WARP_SZ;", 0, 0, 0, 32},
         {"mov.f32 %f0, 0f3F800000;", 0, 0, 0, f(1)},
         {"mov.f64 %fd0, 0d3FF0000000000000;", 0, 0, 0, d(1)},
         {"mov.pred %p0, %p1;", 1, 0, 0, 1}});
}

TEST_CASE("functions are called with parameters, also by some lanes of a warp") {
  const std::string twice = R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result+0], %r2;
  ret;
}
)";
  std::string body = R"(
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r3, %r1;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra $L_done;
  { // callseq 0, 0
  .param .b32 param0;
  st.param.b32 [param0+0], %r1;
  .param .b32 retval0;
  call.uni (retval0), twice, (param0);
  ld.param.b32 %r3, [retval0+0];
  } // callseq 0
$L_done:
  st.global.u32 [%rd1], %r3;
)";
  buffer<uint32_t> y(32);
  gpu device;
  REQUIRE(device.run(kernel(body, 1, twice), {y}) == "");
  for (uint32_t i = 0; i < 32; ++i)
    REQUIRE(y.data[i] == (i & 1 ? 2 * i : i));
}

TEST_CASE("a branch through a table goes where its index says, and no further") {
  std::string body = R"(
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  rem.u32 %r2, %r1, MODULUS;
  $L_table: .branchtargets $L_a, $L_b, $L_c;
  brx.idx %r2, $L_table;
$L_a: mov.u32 %r3, 10; bra.uni $L_end;
$L_b: mov.u32 %r3, 20; bra.uni $L_end;
$L_c: mov.u32 %r3, 30;
$L_end:
  st.global.u32 [%rd1], %r3;
)";
  buffer<uint32_t> y(32);
  gpu device;
  REQUIRE(device.run(kernel(replaced(body, "MODULUS", "3"), 1), {y}) == "");
  for (uint32_t i = 0; i < 32; ++i)
    REQUIRE(y.data[i] == 10 * (i % 3 + 1));
  std::string told = device.run(kernel(replaced(body, "MODULUS", "4"), 1), {y});
  REQUIRE(told.find("thread 3: branches to entry 3 of a table of 3") != told.npos);
}

TEST_CASE("lanes exchange values, vote and reduce") {
  auto result = [](const std::string &text) {
    buffer<uint32_t> y(32);
    gpu device;
    std::string body = "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; "
                       "add.s64 %rd1, %rd1, %rd2; add.u32 %r2, %r1, 100; "
                       "setp.lt.u32 %p1, %r1, 3;\n";
    REQUIRE(device.run(kernel(body + text + "\nst.global.u32 [%rd1], %r0;", 1), {y}) == "");
    return y.data;
  };
  REQUIRE(result("shfl.sync.bfly.b32 %r0, %r2, 16, 31, -1;")[3] == 119);
  REQUIRE(result("shfl.sync.up.b32 %r0|%p2, %r2, 1, 0, -1;")[5] == 104);
  REQUIRE(result("shfl.sync.up.b32 %r0|%p2, %r2, 1, 0, -1;")[0] == 100);
  REQUIRE(result("shfl.sync.down.b32 %r0, %r2, 4, 31, -1;")[31] == 131);
  REQUIRE(result("shfl.sync.idx.b32 %r0, %r2, 7, 31, -1;")[31] == 107);
  REQUIRE(result("shfl.sync.idx.b32 %r0, %r2, 1, 0x181f, -1;")[9] == 109);
  REQUIRE(result("vote.sync.ballot.b32 %r0, %p1, -1;")[20] == 7);
  REQUIRE(result("vote.sync.any.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;")[20] == 1);
  REQUIRE(result("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;")[0] == 0);
  REQUIRE(result("redux.sync.add.u32 %r0, %r1, -1;")[4] == 496);
  REQUIRE(result("redux.sync.max.s32 %r0, %r1, -1;")[4] == 31);
  REQUIRE(result("and.b32 %r3, %r1, 3; match.any.sync.b32 %r0, %r3, -1;")[1] == 0x22222222);
  REQUIRE(result("activemask.b32 %r0;")[1] == m32);
}

TEST_CASE("atomic operations give what was there, and what they made stays") {
  buffer<uint32_t> sum(1), seen(64);
  gpu device;
  std::string body = R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r2, 5;
  add.u32 %r1, %r1, %r3;
  atom.global.add.u32 %r4, [%rd1], 1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r1;
)";
  REQUIRE(device.run(kernel(body, 2), {sum, seen}, {2}) == "");
  REQUIRE(sum.data[0] == 64);
  std::vector<int> count(64);
  for (uint32_t each : seen.data)
    ++count[each];
  REQUIRE(count == std::vector<int>(64, 1));
}
