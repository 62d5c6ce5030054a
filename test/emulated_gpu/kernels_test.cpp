// Kernels that compilers made: right numbers, no alarm, and what they cost.
#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

std::string file(const std::string &name) {
  std::ifstream in(std::string(WEFT_EMULATED_KERNELS) + "/" + name);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Numbers that add up exactly.
template <class T> std::vector<T> numbers(size_t count, uint32_t seed) {
  std::vector<T> all;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all.push_back(T(float(int(seed >> 16) % 17 - 8) / 8));
  }
  return all;
}

/// nvcc's GEMM has a grid of two dimensions: blocks along x for the columns.
std::string flat_gemm(uint32_t columns) {
  std::string nx = std::to_string(columns), text = file("nvcc_gemm_softmax.ptx");
  text = replaced(text, "mov.u32 \t%r42, %ctaid.y;",
                  "mov.u32 %r42, %ctaid.x; div.u32 %r42, %r42, " + nx + ";");
  return replaced(text, "mov.u32 \t%r43, %ctaid.x;",
                  "mov.u32 %r43, %ctaid.x; rem.u32 %r43, %r43, " + nx + ";");
}

struct sizes {
  int64_t m, n, k;
};

/// The error of nvcc's GEMM, or what was found.
std::string run_gemm(gpu &device, const sizes &s, double &ms) {
  buffer<_Float16> a(numbers<_Float16>(size_t(s.m * s.k), 1));
  buffer<_Float16> b(numbers<_Float16>(size_t(s.n * s.k), 2));
  buffer<float> c(size_t(s.m * s.n), NAN);
  uint32_t nx = uint32_t(s.n + 127) / 128, ny = uint32_t(s.m + 127) / 128;
  std::string text = flat_gemm(nx);
  auto begin = std::chrono::steady_clock::now();
  std::string told =
      device.run(text, {a, b, c, s.m, s.n, s.k}, {nx * ny, 128, 3 * 2 * 8192}, "gemm");
  ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (int64_t i = 0; i < s.m && told.empty(); ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < s.k; ++k)
        sum += float(a.data[size_t(i * s.k + k)]) * float(b.data[size_t(j * s.k + k)]);
      if (std::fabs(sum - c.data[size_t(i * s.n + j)]) > 1e-4)
        return "wrong";
    }
  return told;
}

std::string run_softmax(gpu &device, int64_t rows, int64_t n, double &ms) {
  buffer<float> x(numbers<float>(size_t(rows * n), 3)), y(size_t(rows * n), NAN);
  std::string text = file("nvcc_gemm_softmax.ptx");
  auto begin = std::chrono::steady_clock::now();
  std::string told = device.run(text, {x, y, n}, {uint32_t(rows), 256}, "softmax");
  ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (int64_t r = 0; r < rows && told.empty(); ++r) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += std::exp(double(x.data[size_t(r * n + i)]));
    for (int64_t i = 0; i < n; ++i)
      if (!(std::fabs(std::exp(double(x.data[size_t(r * n + i)])) / sum -
                      double(y.data[size_t(r * n + i)])) < 1e-6))
        return "wrong";
  }
  return told;
}

double gelu(double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }

} // namespace

TEST_CASE("nvcc's GEMM on tensor cores is right, ragged or not, without a bank conflict") {
  double ms;
  for (const char *options : {"", "eager", "seed=7", "seed=3,blocks=random,threads=2"}) {
    gpu device(options);
    INFO(options);
    REQUIRE(run_gemm(device, {256, 256, 128}, ms) == "");
    REQUIRE(device.counters.tensor_products == 256 * 256 * 128);
    REQUIRE(device.counters.shared_wavefronts == device.counters.shared_ideal);
    REQUIRE(run_gemm(device, {200, 136, 96}, ms) == "");
  }
}

TEST_CASE("nvcc's softmax is right for any length of a row") {
  double ms;
  for (int64_t n : {1, 255, 256, 257, 1000}) {
    gpu device(n == 1000 ? "seed=9" : "");
    REQUIRE(run_softmax(device, 4, n, ms) == "");
  }
}

TEST_CASE("LLVM's code for gelu and for a softmax with a mask is right") {
  gpu device;
  int64_t m = 37;
  buffer<float> x(numbers<float>(size_t(m * 384), 5)), bias(numbers<float>(384, 6));
  buffer<float> r(numbers<float>(size_t(m * 384), 7)), y(size_t(m * 384), NAN);
  REQUIRE(device.run(file("llvm_gelu.ptx"), {x, bias, r, y, m},
                     {uint32_t((m * 96 + 255) / 256), 256}, "weft_k") == "");
  for (size_t i = 0; i < y.data.size(); ++i)
    REQUIRE(std::fabs(gelu(double(x.data[i]) + double(bias.data[i % 384])) + double(r.data[i]) -
                      double(y.data[i])) < 1e-5);
  REQUIRE(device.counters.sectors == device.counters.ideal_sectors);
  int64_t b = 2, q = 3, k = 132;
  buffer<float> s(numbers<float>(size_t(b * 12 * q * k), 8)),
      mask(numbers<float>(size_t(b * k), 9));
  buffer<float> p(size_t(b * 12 * q * k), NAN);
  REQUIRE(device.run(file("llvm_mask_softmax.ptx"), {s, mask, p, b, q, k / 4},
                     {uint32_t((b * 12 * q * 32 + 255) / 256), 256}, "weft_k") == "");
  for (int64_t line = 0; line < b * 12 * q; ++line) {
    double sum = 0;
    auto value = [&](int64_t i) {
      return std::exp(double(s.data[size_t(line * k + i)]) +
                      double(mask.data[size_t(line / (12 * q) * k + i)]));
    };
    for (int64_t i = 0; i < k; ++i)
      sum += value(i);
    for (int64_t i = 0; i < k; ++i)
      REQUIRE(std::fabs(value(i) / sum - double(p.data[size_t(line * k + i)])) < 1e-6);
  }
}

TEST_CASE("LLVM's code for a product of bf16 with gelu is right") {
  gpu device("seed=4");
  auto real = [](uint16_t bits) {
    uint32_t all = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &all, 4);
    return double(value);
  };
  auto brains = [](size_t count, uint32_t seed) { // exact: eighths have few bits
    std::vector<uint16_t> all;
    for (float value : numbers<float>(count, seed)) {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      all.push_back(uint16_t(bits >> 16));
    }
    return all;
  };
  int64_t m = 37;
  buffer<uint16_t> x(brains(size_t(m * 128), 1)), w(brains(64 * 128, 2)), bias(brains(64, 3));
  buffer<uint16_t> y(size_t(m * 64));
  REQUIRE(device.run(file("llvm_product.ptx"), {x, w, bias, y, m},
                     {uint32_t(((m + 15) / 16 * 8 * 32 + 255) / 256), 256}, "weft_k") == "");
  for (size_t i = 0; i < size_t(m) * 64; ++i) {
    double sum = real(bias.data[i % 64]);
    for (size_t k = 0; k < 128; ++k)
      sum += real(x.data[i / 64 * 128 + k]) * real(w.data[i % 64 * 128 + k]);
    REQUIRE(std::fabs(gelu(sum) - real(y.data[i])) <= 0.005 * (1 + std::fabs(gelu(sum))));
  }
}

TEST_CASE("how long kernels take", "[.][speed]") {
  for (const char *options : {"", "checks=off,counters=off", "threads=2"}) {
    double ms, best = 1e9, soft = 1e9, one = 1e9;
    for (int i = 0; i < 5; ++i) {
      gpu device(options);
      REQUIRE(run_gemm(device, {512, 512, 512}, ms) == "");
      best = std::min(best, ms);
      REQUIRE(run_gemm(device, {128, 128, 64}, ms) == "");
      one = std::min(one, ms);
      REQUIRE(run_softmax(device, 64, 8192, ms) == "");
      soft = std::min(soft, ms);
    }
    std::printf("%-26s gemm 512: %.1f ms, 128x128x64: %.2f ms, softmax 64 x 8192: %.1f ms\n",
                options, best, one, soft);
  }
}
