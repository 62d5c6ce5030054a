// Fragments of mma.sync, stated in another way than the emulator does: a lane's element is at an offset of a column-major tile, by strides.
#include <catch2/catch.hpp>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

uint16_t brain_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t(bits >> 16);
}

template <class E> E element_of(int value, bool is_brain) {
  return is_brain ? E(brain_of(float(value))) : E(value);
}

struct shape_of {
  std::string type, sum;
  int k;
  bool is_brain = false;
  std::string other = {}; ///< the type of B, where it is not that of A

  std::string second() const { return other.empty() ? type : other; }
};

/// Loads fragments as they lie, multiplies, and stores the sums as they lie.
std::string product(const shape_of &s, int a_registers, int b_registers) {
  std::string body = "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2]; "
                     "mov.u32 %r39, %tid.x;\n",
              a, b, t = s.sum == "s32" ? "%r3" : "%f";
  auto move = [&](const char *pointer, int bytes) {
    body += "mul.wide.u32 %rd9, %r39, " + std::to_string(bytes) + "; add.s64 " + pointer + ", " +
            pointer + ", %rd9;\n";
  };
  move("%rd1", 4 * a_registers);
  move("%rd2", 4 * b_registers);
  move("%rd3", 16);
  auto load = [&](int count, int first, const char *pointer) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      std::string name = "%r" + std::to_string(first + i);
      body += "ld.global.b32 " + name + ", [" + pointer + "+" + std::to_string(4 * i) + "];\n";
      list += (i ? ", " : "{") + name;
    }
    return list + "}";
  };
  a = load(a_registers, 0, "%rd1");
  b = load(b_registers, 10, "%rd2");
  std::string d = "{" + t + "0, " + t + "1, " + t + "2, " + t + "3}";
  for (int i = 0; i < 4; ++i)
    body += "mov.b32 " + t + std::to_string(i) + ", 0;\n";
  body += "mma.sync.aligned.m16n8k" + std::to_string(s.k) + ".row.col." + s.sum + "." + s.type +
          "." + s.second() + "." + s.sum + " " + d + ", " + a + ", " + b + ", " + d + ";\n";
  for (int i = 0; i < 4; ++i)
    body += "st.global.b32 [%rd3+" + std::to_string(4 * i) + "], " + t + std::to_string(i) + ";\n";
  return kernel(body, 3);
}

template <class E, class D, class F = E> void check(const shape_of &s) {
  const int per = 4 / int(sizeof(E)), k = s.k;
  const int a_registers = 16 * k / 32 / per, b_registers = 8 * k / 32 / per;
  std::vector<int> a(size_t(16 * k)), b(size_t(8 * k));
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = E(-1) < E(0) || sizeof(E) > 1 ? int(i * 7 % 11) - 5 : int(i * 7 % 256);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = F(-1) < F(0) || sizeof(F) > 1 ? int(i * 5 % 13) - 6 : int(i * 5 % 256);
  buffer<E> fa(a.size());
  buffer<F> fb(b.size());
  buffer<D> sums(128);
  for (int lane = 0; lane < 32; ++lane) {
    int t = lane % 4, g = lane / 4;
    for (int v = 0; v < a_registers * per; ++v) {
      int at = t * 16 * per + g + v % per * 16 + v / per % 2 * 8 + v / per / 2 * 64 * per;
      fa.data[size_t(lane * a_registers * per + v)] =
          element_of<E>(a[size_t(at % 16 * k + at / 16)], s.is_brain);
    }
    for (int v = 0; v < b_registers * per; ++v) {
      int at = t * 8 * per + g + v % per * 8 + v / per * 32 * per;
      fb.data[size_t(lane * b_registers * per + v)] =
          element_of<F>(b[size_t(at % 8 * k + at / 8)], s.is_brain);
    }
  }
  gpu device;
  INFO(s.type << " by " << s.second() << " k" << k);
  REQUIRE(device.run(product(s, a_registers, b_registers), {fa, fb, sums}) == "");
  for (int lane = 0; lane < 32; ++lane)
    for (int v = 0; v < 4; ++v) {
      int at = lane % 4 * 32 + lane / 4 + v % 2 * 16 + v / 2 * 8, sum = 0;
      for (int x = 0; x < k; ++x)
        sum += a[size_t(at % 16 * k + x)] * b[size_t(at / 16 * k + x)];
      REQUIRE(sums.data[size_t(lane * 4 + v)] == D(sum));
    }
  REQUIRE(device.counters.tensor_products == uint64_t(128 * k));
}

} // namespace

TEST_CASE("fragments of every type lie as NVIDIA's layouts say") {
  check<_Float16, float>({"f16", "f32", 16});
  check<_Float16, float>({"f16", "f32", 8});
  check<uint16_t, float>({"bf16", "f32", 16, true});
  check<uint16_t, float>({"bf16", "f32", 8, true});
  check<float, float>({"tf32", "f32", 8});
  check<float, float>({"tf32", "f32", 4});
  check<int8_t, int32_t>({"s8", "s32", 32});
  check<int8_t, int32_t>({"s8", "s32", 16});
  check<uint8_t, int32_t>({"u8", "s32", 32});
  check<uint8_t, int32_t, int8_t>({"u8", "s32", 32, false, "s8"});
  check<int8_t, int32_t, uint8_t>({"s8", "s32", 32, false, "u8"});
}

TEST_CASE("shapes and types that do not exist are refused") {
  gpu device;
  auto told = [&](const std::string &opcode) {
    return device.load(kernel(opcode + " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
                                       "{%f0, %f1, %f2, %f3};",
                              0));
  };
  REQUIRE(told("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32").find("not supported") !=
          std::string::npos);
  REQUIRE(told("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32").find("this shape") !=
          std::string::npos);
  REQUIRE(told("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32").find("satfinite") !=
          std::string::npos);
}
