//===- small_float_test.cpp - f16 and bf16 conversions and functions --------------------------===//

#include "JitModule.h"
#include "Samples.h"
#include "Ulp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "targets/cpu/math/VectorMath.h"
#include "targets/x86/X86Machine.h"

#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

/// The value of an encoding with the given exponent and significand bits.
double decode(uint16_t encoded, int exponentBits, int mantissaBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = encoded >> mantissaBits & ((1 << exponentBits) - 1);
  double mantissa = encoded & ((1 << mantissaBits) - 1);
  double sign = encoded >> 15 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

/// The encoding nearest to x, ties to even, by stepping from the truncated one.
uint16_t encode(double x, int exponentBits, int mantissaBits) {
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint16_t infinity = ((1 << exponentBits) - 1) << mantissaBits;
  if (std::isinf(x))
    return sign | infinity;
  int exponent = x == 0 ? 1 - bias : std::max(std::ilogb(x), 1 - bias);
  double units = std::nearbyint(std::ldexp(std::fabs(x), mantissaBits - exponent));
  int encoded = static_cast<int>(units) + ((exponent + bias - 1) << mantissaBits);
  return sign | static_cast<uint16_t>(std::min<int>(encoded, infinity));
}

struct Format {
  const char *name;
  int exponentBits, mantissaBits;
};
const Format formats[] = {{"f16", 5, 10}, {"bf16", 8, 7}};

template <typename From>
void checkNarrowing(const JitModule &module, const char *name, Format format) {
  std::vector<From> in = unarySamples<From>(100000, -70000, 70000);
  std::mt19937_64 random(3);
  // Exact ties and their neighbours.
  for (int i = 0; i < 20000; ++i) {
    double low = decode(random() & 0x7bff, format.exponentBits, format.mantissaBits);
    From tie = static_cast<From>(low * (1 + std::ldexp(1.0, -format.mantissaBits - 1)));
    for (From x : {tie, std::nextafter(tie, From(0)), std::nextafter(tie, From(1e30))})
      in.push_back(x);
  }
  // What rounding up would make infinities or zeros of.
  if constexpr (sizeof(From) == 4)
    for (uint32_t nan : {0x7f800001u, 0xff80ffffu, 0x7fffffffu, 0xffffffffu})
      in.insert(in.begin(), llvm::bit_cast<float>(nan));
  in.resize(in.size() / 16 * 16);
  std::vector<uint16_t> out(in.size());
  module.call(name, in.data(), nullptr, out.data(), in.size());
  size_t wrong = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    bool right = std::isnan(in[i])
                     ? std::isnan(decode(out[i], format.exponentBits, format.mantissaBits))
                     : out[i] == encode(in[i], format.exponentBits, format.mantissaBits);
    if (!right && wrong++ == 0)
      UNSCOPED_INFO(in[i] << " became " << out[i]);
  }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("conversions to and from f16 and bf16 round to nearest even") {
  for (const Machine &machine : machines())
    for (Format format : formats) {
      INFO(machine.cpu << " " << format.name);
      JitModule module({{"extend", "%r = arith.extf %a : $A to $T", "f32", format.name},
                        {"truncate", "%r = arith.truncf %a : $A to $T", format.name, "f32"},
                        {"truncate64", "%r = arith.truncf %a : $A to $T", format.name, "f64"}},
                       machine, machine.lanes);
      CHECK(module.undefinedSymbols() == std::vector<std::string>{});
      std::vector<uint16_t> in(65536);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<uint16_t>(i);
      std::vector<float> out(in.size());
      module.call("extend", in.data(), nullptr, out.data(), in.size());
      size_t wrong = 0;
      for (size_t i = 0; i < in.size(); ++i)
        wrong += ulpError(out[i], decode(in[i], format.exponentBits, format.mantissaBits)) != 0;
      CHECK(wrong == 0);
      checkNarrowing<float>(module, "truncate", format);
      checkNarrowing<double>(module, "truncate64", format);
    }
}

TEST_CASE("functions of f16 and bf16 are right to the last place but one") {
  for (const Machine &machine : machines())
    for (Format format : formats) {
      const char *type = format.name;
      JitModule module({{"exp", "%r = math.exp %a : $T", type, type},
                        {"sin", "%r = math.sin %a : $T", type, type},
                        {"sqrt", "%r = math.sqrt %a : $T", type, type}},
                       machine, machine.lanes);
      CHECK(module.undefinedSymbols() == std::vector<std::string>{});
      std::vector<uint16_t> in(65536), out(65536);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<uint16_t>(i);
      for (auto [name, function] : {std::pair<const char *, double (*)(double)>{"exp", std::exp},
                                    {"sin", std::sin},
                                    {"sqrt", std::sqrt}}) {
        module.call(name, in.data(), nullptr, out.data(), in.size());
        int worst = 0, wrongNan = 0;
        for (size_t i = 0; i < in.size(); ++i) {
          double expected = function(decode(in[i], format.exponentBits, format.mantissaBits));
          double got = decode(out[i], format.exponentBits, format.mantissaBits);
          wrongNan += std::isnan(got) != std::isnan(expected);
          if (!std::isnan(expected) && !std::isnan(got))
            worst = std::max(worst, std::abs(out[i] - encode(expected, format.exponentBits,
                                                             format.mantissaBits)));
        }
        INFO(name << " of " << type << " on " << machine.cpu);
        CHECK(wrongNan == 0);
        CHECK(worst <= 1);
      }
    }
}

TEST_CASE("types without an expansion are refused with a reason") {
  using namespace mlir;
  DialectRegistry registry;
  weft::insertVectorMathDialects(registry);
  registry.insert<func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string message;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  for (const char *type : {"vector<4x4xf32>", "vector<[4]xf32>", "f80"}) {
    std::string text = std::string("func.func @f(%a: ") + type + ") -> " + type +
                       " {\n%r = math.exp %a : " + type + "\nreturn %r : " + type + "\n}";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    CHECK(failed(weft::expandVectorMath(*module, weft::x86Machine("v3"))));
    CHECK(message.find("no vector expansion") != std::string::npos);
    CHECK(message.find(type) != std::string::npos);
  }
}

TEST_CASE("the patterns reach a fixed point under the greedy driver") {
  using namespace mlir;
  DialectRegistry registry;
  weft::insertVectorMathDialects(registry);
  registry.insert<func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: vector<8xf32>, %b: vector<8xbf16>) -> (vector<8xf64>, vector<8xbf16>) {
      %exp = math.exp %a : vector<8xf32>
      %root = math.sqrt %exp : vector<8xf32>
      %fma = math.fma %root, %a, %exp : vector<8xf32>
      %wide = arith.extf %fma : vector<8xf32> to vector<8xf64>
      %small = math.absf %b : vector<8xbf16>
      return %wide, %small : vector<8xf64>, vector<8xbf16>
    })",
                                                             &context);
  REQUIRE(module);
  RewritePatternSet patterns(&context);
  weft::populateVectorMathPatterns(patterns, weft::x86Machine("v3"));
  CHECK(succeeded(applyPatternsAndFoldGreedily(*module, std::move(patterns))));
  int exps = 0, roots = 0, smallFloats = 0;
  module->walk([&](Operation *op) {
    llvm::StringRef name = op->getName().getStringRef();
    exps += name == "math.exp";
    roots += name == "math.sqrt";
    smallFloats += name == "math.absf" && getElementTypeOrSelf(op->getOperand(0)).isBF16();
  });
  CHECK(exps == 0);
  CHECK(roots == 1);
  CHECK(smallFloats == 0);
}
