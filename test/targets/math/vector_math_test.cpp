//===- vector_math_test.cpp - Accuracy and special values of the vector math functions --------===//
//
// Compiles every function for each processor level the host has and compares with libm in double.
// WEFT_MATH_SAMPLES=n tries n arguments. `vector_math_test [exhaustive]` tries every f32 (minutes
// for each function); WEFT_MATH_ONLY="sin cos" names the functions, WEFT_MATH_STRIDE=n takes one
// argument in n, and WEFT_MATH_FIRST and WEFT_MATH_END limit the bit patterns.
//
//===------------------------------------------------------------------------------------------===//

#include "JitModule.h"
#include "Samples.h"
#include "Ulp.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstring>
#include <map>

using namespace weft::test;

namespace {

/// The double and the long double function of libm.
#define REFERENCES(name) [](double x) { return name(x); }, [](long double x) { return name(x); }

struct Unary {
  const char *name;
  double (*reference)(double);
  long double (*referenceLong)(long double);
  /// Where the function of f32 is neither constant nor NaN, sampled densely, and by how much that
  /// interval is longer for f64.
  double low, high, stretch;

  double operator()(float x) const { return reference(x); }
  long double operator()(double x) const { return referenceLong(x); }
};

template <typename T> T reciprocalRoot(T x) { return 1 / std::sqrt(x); }

const Unary unaryFunctions[] = {
    {"exp", REFERENCES(std::exp), -105, 90, 8},
    {"exp2", REFERENCES(std::exp2), -150, 129, 8},
    {"expm1", REFERENCES(std::expm1), -20, 90, 8},
    {"sinh", REFERENCES(std::sinh), -90, 90, 8},
    {"cosh", REFERENCES(std::cosh), -90, 90, 8},
    {"tanh", REFERENCES(std::tanh), -10, 10, 2},
    {"erf", REFERENCES(std::erf), -5, 5, 1.5},
    {"log", REFERENCES(std::log), 0, 4, 1},
    {"log2", REFERENCES(std::log2), 0, 4, 1},
    {"log10", REFERENCES(std::log10), 0, 4, 1},
    {"log1p", REFERENCES(std::log1p), -1, 3, 1},
    {"asinh", REFERENCES(std::asinh), -5, 5, 1},
    {"acosh", REFERENCES(std::acosh), 1, 5, 1},
    {"atanh", REFERENCES(std::atanh), -1, 1, 1},
    {"sin", REFERENCES(std::sin), -100, 100, 1},
    {"cos", REFERENCES(std::cos), -100, 100, 1},
    {"tan", REFERENCES(std::tan), -100, 100, 1},
    {"asin", REFERENCES(std::asin), -1, 1, 1},
    {"acos", REFERENCES(std::acos), -1, 1, 1},
    {"atan", REFERENCES(std::atan), -5, 5, 1},
    {"cbrt", REFERENCES(std::cbrt), -100, 100, 1},
    {"sqrt", REFERENCES(std::sqrt), 0, 100, 1},
    {"floor", REFERENCES(std::floor), -100, 100, 1},
    {"ceil", REFERENCES(std::ceil), -100, 100, 1},
    {"trunc", REFERENCES(std::trunc), -100, 100, 1},
    {"round", REFERENCES(std::round), -100, 100, 1},
    {"roundeven", REFERENCES(std::nearbyint), -100, 100, 1},
    {"absf", REFERENCES(std::fabs), -100, 100, 1},
    {"rsqrt", REFERENCES(reciprocalRoot), 0, 100, 1},
};

struct Binary {
  const char *name, *body;
  double (*reference)(double, double);
  long double (*referenceLong)(long double, long double);

  double operator()(float x, float y) const { return reference(x, y); }
  long double operator()(double x, double y) const { return referenceLong(x, y); }
};

const Binary binaryFunctions[] = {
    {"atan2", "%r = math.atan2 %a, %b : $T", std::atan2, std::atan2},
    {"powf", "%r = math.powf %a, %b : $T", std::pow, std::pow},
    {"copysign", "%r = math.copysign %a, %b : $T", std::copysign, std::copysign},
    {"remf", "%r = arith.remf %a, %b : $T", std::fmod, std::fmod},
};

std::vector<Snippet> allSnippets(const std::string &type) {
  std::vector<Snippet> snippets;
  auto add = [&](const char *name, std::string body) {
    snippets.push_back({name, std::move(body), type, type, type});
  };
  for (const Unary &f : unaryFunctions)
    add(f.name, std::string("%r = math.") + f.name + " %a : $T");
  for (const Binary &f : binaryFunctions)
    add(f.name, f.body);
  return snippets;
}

/// The largest error and where it was.
struct Worst {
  double ulp = 0, a = 0, b = 0;

  void see(double error, double x, double y = 0) {
    if (error > ulp)
      *this = {error, x, y};
  }
};

/// What a result of type T is compared with.
template <typename T> using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

/// Results of one function on `a` (and `b`) against precomputed references.
template <typename T>
Worst measure(const JitModule &module, const char *name, const std::vector<T> &a,
              const std::vector<T> *b, const std::vector<Wide<T>> &expected) {
  std::vector<T> got(expected.size());
  module.call(name, a.data(), b ? b->data() : nullptr, got.data(), got.size());
  Worst worst;
  for (size_t i = 0; i < got.size(); ++i)
    worst.see(ulpError(got[i], expected[i]), a[i], b ? (*b)[i] : 0);
  return worst;
}

struct Compiled {
  std::string label;
  std::unique_ptr<JitModule> module;
};

/// Every function for each machine, with full registers or with all other lane counts.
std::vector<Compiled> compileAll(const std::string &type, bool others) {
  std::vector<Compiled> all;
  for (const Machine &machine : machines())
    for (int lanes : {0, 1, 4, 8, 16})
      if ((lanes == machine.lanes) != others)
        all.push_back({machine.cpu + " x" + std::to_string(lanes),
                       std::make_unique<JitModule>(allSnippets(type), machine, lanes)});
  return all;
}

/// Full registers; compiled once per process.
const std::vector<Compiled> &fullRegisters(const std::string &type) {
  static std::map<std::string, std::vector<Compiled>> cache;
  auto [entry, isNew] = cache.try_emplace(type);
  if (isNew)
    entry->second = compileAll(type, /*others=*/false);
  return entry->second;
}

void report(const char *name, const Compiled &compiled, Worst worst) {
  std::printf("  %-9s %-13s %6.3f ulp at %a, %a\n", name, compiled.label.c_str(), worst.ulp,
              worst.a, worst.b);
  std::fflush(stdout);
  INFO(name << " on " << compiled.label << " at " << worst.a << ", " << worst.b);
  CHECK(worst.ulp <= 4);
}

/// Runs every function on `count` samples in every module; each must stay within 4 ulp.
template <typename T> void checkAccuracy(const std::vector<Compiled> &modules, size_t count) {
  for (const Unary &f : unaryFunctions) {
    double stretch = sizeof(T) == 8 ? f.stretch : 1;
    auto a = unarySamples<T>(count, f.low * stretch, f.high * stretch);
    std::vector<Wide<T>> expected;
    for (T x : a)
      expected.push_back(f(x));
    for (const Compiled &compiled : modules)
      report(f.name, compiled, measure<T>(*compiled.module, f.name, a, nullptr, expected));
  }
  for (const Binary &f : binaryFunctions) {
    auto pairs = binarySamples<T>(count);
    std::vector<Wide<T>> expected;
    for (size_t i = 0; i < pairs.a.size(); ++i)
      expected.push_back(f(pairs.a[i], pairs.b[i]));
    for (const Compiled &compiled : modules)
      report(f.name, compiled, measure<T>(*compiled.module, f.name, pairs.a, &pairs.b, expected));
  }
}

} // namespace

TEST_CASE("f32 functions are within 4 ulp with full registers") {
  checkAccuracy<float>(fullRegisters("f32"), sampleCount(100000));
}

TEST_CASE("f32 functions are within 4 ulp with every lane count") {
  checkAccuracy<float>(compileAll("f32", /*others=*/true), 5000);
}

TEST_CASE("f64 functions are within 4 ulp with full registers") {
  checkAccuracy<double>(fullRegisters("f64"), sampleCount(20000));
}

TEST_CASE("1 + erf does not cancel where erf is near -1") {
  // In any order of the sum, with scalars and vectors of all machines.
  const Snippet snippet{
      "gate",
      "%e = math.erf %a : $T\n%one = arith.constant ONE : $T\n%r = arith.addf %e, %one : $T"};
  std::vector<float> x;
  for (int i = -8000; i <= 8000; ++i)
    x.push_back(float(i) / 1600);
  x.resize(x.size() / 16 * 16);
  for (const Machine &machine : machines())
    for (int lanes : {0, machine.lanes}) {
      Snippet here = snippet;
      here.body.replace(here.body.find("ONE"), 3, lanes ? "dense<1.0>" : "1.0");
      JitModule module({here}, machine, lanes);
      std::vector<float> out(x.size());
      module.call("gate", x.data(), nullptr, out.data(), x.size());
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        double exact = std::erfc(-double(x[i]));
        // Relative to the result down to 2^-15, and in all cases far below the last place of 1.
        worst = std::max(worst, std::abs(out[i] - exact) / (exact * 0x1p-15 + 2e-8));
        if (x[i] > -2)
          CHECK(std::abs(out[i] - exact) <= 4 * 0x1p-24 * std::max(exact, 0.25));
      }
      INFO(machine.cpu << " x" << lanes);
      CHECK(worst <= 2);
    }
}

TEST_CASE("generated code calls no library") {
  for (const char *type : {"f32", "f64"})
    for (const Compiled &compiled : fullRegisters(type)) {
      INFO(type << " on " << compiled.label);
      CHECK(compiled.module->undefinedSymbols() == std::vector<std::string>{});
    }
}

TEST_CASE("f32 functions are within 4 ulp everywhere", "[.][exhaustive]") {
  auto number = [](const char *name, uint64_t standard) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 0) : standard;
  };
  const uint64_t stride = number("WEFT_MATH_STRIDE", 1), first = number("WEFT_MATH_FIRST", 0),
                 end = number("WEFT_MATH_END", uint64_t(1) << 32);
  const char *only = std::getenv("WEFT_MATH_ONLY");
  const std::vector<Compiled> &modules = fullRegisters("f32");
  for (const Unary &f : unaryFunctions) {
    if (only &&
        (" " + std::string(only) + " ").find(" " + std::string(f.name) + " ") == std::string::npos)
      continue;
    std::vector<Worst> worst(modules.size());
    std::vector<float> in(4096);
    std::vector<double> expected(in.size());
    for (uint64_t next = first; next < end;) {
      for (size_t i = 0; i < in.size(); ++i, next += stride) {
        uint32_t pattern = static_cast<uint32_t>(next);
        std::memcpy(&in[i], &pattern, sizeof pattern);
        expected[i] = f.reference(in[i]);
      }
      for (size_t m = 0; m < modules.size(); ++m) {
        Worst here = measure<float>(*modules[m].module, f.name, in, nullptr, expected);
        worst[m].see(here.ulp, here.a);
      }
    }
    for (size_t m = 0; m < modules.size(); ++m) {
      std::printf("  %-9s %-13s %6.3f ulp at %a\n", f.name, modules[m].label.c_str(), worst[m].ulp,
                  worst[m].a);
      std::fflush(stdout);
      CHECK(worst[m].ulp <= 4);
    }
  }
}

//===- Values that must be exact --------------------------------------------------------------===//

TEST_CASE("special values are exact") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float tiny = std::numeric_limits<float>::denorm_min();
  struct Row {
    const char *name;
    float x, expected;
  };
  const Row rows[] = {
      {"exp", 0, 1},           {"exp", -inf, 0},        {"exp", inf, inf},
      {"exp", -1000, 0},       {"exp", 1000, inf},      {"exp", tiny, 1},
      {"exp", nan, nan},       {"exp2", -149, tiny},    {"exp2", 10, 1024},
      {"exp2", 127, 0x1p127f}, {"expm1", -0.0f, -0.0f}, {"expm1", tiny, tiny},
      {"expm1", -inf, -1},     {"expm1", inf, inf},     {"tanh", 100, 1},
      {"tanh", -inf, -1},      {"tanh", -0.0f, -0.0f},  {"tanh", tiny, tiny},
      {"tanh", nan, nan},      {"erf", inf, 1},         {"erf", -5, -1},
      {"erf", -0.0f, -0.0f},   {"erf", nan, nan},       {"log", 1, 0},
      {"log", 0, -inf},        {"log", -0.0f, -inf},    {"log", -1, nan},
      {"log", -inf, nan},      {"log", inf, inf},       {"log", nan, nan},
      {"log2", 1024, 10},      {"log2", tiny, -149},    {"log10", 1, 0},
      {"log1p", -1, -inf},     {"log1p", -0.0f, -0.0f}, {"log1p", -2, nan},
      {"log1p", inf, inf},     {"sin", -0.0f, -0.0f},   {"sin", tiny, tiny},
      {"sin", inf, nan},       {"cos", 0, 1},           {"cos", -inf, nan},
      {"tan", -0.0f, -0.0f},   {"tan", nan, nan},       {"asin", 1.5f, nan},
      {"acos", 1, 0},          {"acos", -2, nan},       {"atan", -0.0f, -0.0f},
      {"sinh", -inf, -inf},    {"cosh", -inf, inf},     {"atanh", 1, inf},
      {"atanh", -2, nan},      {"acosh", 1, 0},         {"acosh", 0.5f, nan},
      {"asinh", -0.0f, -0.0f}, {"cbrt", -27, -3},       {"cbrt", -0.0f, -0.0f},
      {"rsqrt", 0.25f, 2},     {"rsqrt", 0, inf},       {"rsqrt", -1, nan},
      {"sqrt", -0.0f, -0.0f},  {"roundeven", 2.5f, 2},  {"roundeven", -0.5f, -0.0f}};
  auto check = [&](const Compiled &compiled) {
    for (const Row &row : rows) {
      std::vector<float> in(16, row.x), out(16);
      compiled.module->call(row.name, in.data(), nullptr, out.data(), in.size());
      INFO(row.name << "(" << row.x << ") = " << out[15] << " on " << compiled.label);
      if (std::isnan(row.expected))
        CHECK(std::isnan(out[15]));
      else
        CHECK((out[15] == row.expected && std::signbit(out[15]) == std::signbit(row.expected)));
    }
  };
  for (const Compiled &compiled : fullRegisters("f32"))
    check(compiled);
}

TEST_CASE("division by a constant rounds as a division does, for every mantissa") {
  const float constants[] = {0x1.6a09e6p0f, 3, -7, 0.1f, 0x1.fffffep0f, 0x1.000002p20f, 11.3137f};
  std::vector<Snippet> snippets;
  for (float c : constants) {
    char text[64];
    std::snprintf(text, sizeof text, "%.9e", double(c));
    snippets.push_back(
        {"by" + std::to_string(snippets.size()),
         "%c = arith.constant dense<" + std::string(text) + "> : $T\n%r = arith.divf %a, %c : $T"});
  }
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> in{0, -0.0f, inf, -inf, std::nanf(""), 0x1p-60f, -0x1p100f, 1};
  in.resize(16, 3);
  for (uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
    uint32_t bits = 0x3f800000 | mantissa;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    in.push_back(x);
  }
  const size_t exact = in.size(); // behind these, what is missing of a quotient may be lost
  for (uint32_t bits = 0; bits < 0x0d000000; bits += 12345) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    in.push_back(x);
  }
  in.resize((in.size() + 15) / 16 * 16, 3);
  std::vector<float> out(in.size());
  for (const Machine &machine : machines()) {
    JitModule module(snippets, machine, machine.lanes);
    for (size_t k = 0; k < std::size(constants); ++k) {
      module.call(snippets[k].name, in.data(), nullptr, out.data(), in.size());
      size_t wrong = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        float expected = in[i] / constants[k];
        bool same = std::isnan(expected)
                        ? std::isnan(out[i])
                        : expected == out[i] && std::signbit(expected) == std::signbit(out[i]);
        bool near = i >= exact && out[i] == std::nextafter(expected, out[i]);
        wrong += !same && !near;
      }
      INFO(machine.cpu << " / " << constants[k]);
      CHECK(wrong == 0);
    }
  }
}

/// sin, cos and tan of `in` and its negation.
template <typename T> void checkTrigonometric(const char *type, std::vector<T> in) {
  for (size_t i = 0, count = in.size(); i < count; ++i)
    in.push_back(-in[i]);
  in.resize((in.size() + 15) / 16 * 16);
  for (const Compiled &compiled : fullRegisters(type))
    for (const Unary &f : unaryFunctions)
      if (std::string("sin cos tan").find(f.name) != std::string::npos) {
        std::vector<Wide<T>> expected;
        for (T x : in)
          expected.push_back(f(x));
        report(f.name, compiled, measure<T>(*compiled.module, f.name, in, nullptr, expected));
      }
}

TEST_CASE("huge arguments and near multiples of pi reduce exactly") {
  // The numbers nearest to a multiple of pi/2, the ends of the fast path and the largest exponents.
  checkTrigonometric<float>("f32", {0x1.6ac5b2p+16f, 0x1.9b0104p+17f, 0x1.f7ad2p+103f,
                                    16367173.0f * 0x1p72f, 0x1p127f, 0x1.fffffep16f, 0x1p17f,
                                    std::numeric_limits<float>::max(), 0x1.921fb6p+1f});
  checkTrigonometric<double>("f64",
                             {6381956970095103.0 * 0x1p797, 0x1p1023, 0x1p20, 0x1.fffffffffffffp19,
                              0x1.921fb54442d18p+1, 1e22, std::numeric_limits<double>::max()});
}

//===- Integer powers -------------------------------------------------------------------------===//

TEST_CASE("integer powers wrap and float powers take integer exponents") {
  std::vector<Snippet> snippets = {
      {"ipowi", "%r = math.ipowi %a, %b : $T", "i32", "i32", "i32"},
      {"ipowi64", "%r = math.ipowi %a, %b : $T", "i64", "i64", "i64"},
      {"fpowi", "%r = math.fpowi %a, %b : $A, $B", "f32", "f32", "i32"},
      {"fpowi64", "%r = math.fpowi %a, %b : $A, $B", "f32", "f32", "i64"}};
  const int64_t base[] = {0, 0, 1, -1, -1, 2, 2, 3, -3, 7, 2, 5, -2, 1, 10, 3};
  const int64_t power[] = {0, 3, -5, -5, -4, -1, 31, 20, 3, 41, 33, -2, 31, 1 << 30, 9, 1 << 30};
  std::vector<int32_t> a32(base, base + 16), b32(power, power + 16), out32(16);
  std::vector<int64_t> a64(base, base + 16), b64(power, power + 16), out64(16);
  std::vector<float> real(16);
  for (int i = 0; i < 16; ++i)
    real[i] = static_cast<float>(base[i]) * 1.25f;
  auto expected = [](uint64_t base, int64_t power) -> uint64_t {
    if (power < 0)
      return base == 1 ? 1 : base == uint64_t(-1) ? (power % 2 ? -1 : 1) : 0;
    uint64_t result = 1;
    for (; power; power >>= 1, base *= base)
      result *= power & 1 ? base : 1;
    return result;
  };
  for (const Machine &machine : machines())
    for (int lanes : {0, machine.lanes}) {
      JitModule module(snippets, machine, lanes);
      CHECK(module.undefinedSymbols() == std::vector<std::string>{});
      module.call("ipowi", a32.data(), b32.data(), out32.data(), 16);
      module.call("ipowi64", a64.data(), b64.data(), out64.data(), 16);
      for (int i = 0; i < 16; ++i) {
        INFO(base[i] << "^" << power[i] << " on " << machine.cpu);
        CHECK(out32[i] == static_cast<int32_t>(expected(base[i], power[i])));
        CHECK(out64[i] == static_cast<int64_t>(expected(base[i], power[i])));
      }
      std::vector<float> out(16), outLong(16);
      module.call("fpowi", real.data(), b32.data(), out.data(), 16);
      module.call("fpowi64", real.data(), b64.data(), outLong.data(), 16);
      for (int i = 0; i < 16; ++i) {
        INFO(real[i] << "^" << power[i] << " on " << machine.cpu);
        CHECK(ulpError(out[i], std::pow(double(real[i]), double(power[i]))) <= 4);
        CHECK(ulpError(outLong[i], std::pow(double(real[i]), double(power[i]))) <= 4);
      }
    }
}
