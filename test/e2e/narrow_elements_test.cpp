// Elements of at most 16 bits: generated code against the evaluator, for all bits and around every tie.
#include "dialects/weft/types/FloatFormat.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;
using namespace weft::test;

namespace {

const char *const kTargets[] = {"x86:host", "x86:v3", "x86:v2"};
const char *const kFloats[] = {"f16",        "bf16",       "f8E4M3FN",        "f8E5M2",
                               "f8E4M3FNUZ", "f8E5M2FNUZ", "!weft.f8E8M0FNU", "!weft.f4E2M1FN"};

std::string tensor(const std::string &element) { return "!weft.tensor<[n], " + element + ">"; }

/// y = convert(x), for vectors.
std::string conversion(const std::string &from, const std::string &to) {
  return "func.func @main(%x: " + tensor(from) + ") -> " + tensor(to) +
         " attributes {weft.symbols = #weft.symbols<n>} {\n  %y = weft.convert %x to " + to +
         " : (" + tensor(from) + ") -> " + tensor(to) + "\n  return %y : " + tensor(to) + "\n}\n";
}

/// The type of the program's only input.
mlir::Type inputElement(Program &program) { return program.generate({{"n", 1}}, 1)[0].element; }

Tensor asInput(mlir::Type element, const std::vector<double> &values) {
  RefTensor reference(element, {int64_t(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    reference.set(i, Scalar::of(value));
  Tensor input{element, {int64_t(values.size())}, {}};
  input.bytes.resize(elementBytes(element, reference.size()));
  toBytes(reference, input.bytes.data());
  return input;
}

/// Compiled and evaluated results are the same values, with the same sign of zero.
void agree(Program &program, const Tensor &input) {
  std::vector<Tensor> got = program.run({input});
  std::vector<RefTensor> expected = program.evaluate({input});
  REQUIRE(got.size() == 1);
  REQUIRE(expected.size() == 1);
  std::vector<double> values = got[0].reference().reals;
  REQUIRE(values.size() == expected[0].reals.size());
  std::string different; // one assertion for all: there are many elements
  for (size_t i = 0; i < values.size() && different.empty(); ++i) {
    double a = values[i], e = expected[0].reals[i];
    bool same = std::isnan(e) ? std::isnan(a) : a == e && std::signbit(a) == std::signbit(e);
    if (!same)
      different = std::to_string(input.reference().at(i).asReal()) + " gives " + std::to_string(a) +
                  ", not " + std::to_string(e);
  }
  CHECK(different == "");
}

/// All numbers of a format, the middles between neighbours, what lies beside those, and what is no number.
std::vector<double> hardValues(const FloatFormat &format) {
  std::vector<double> values = {0, HUGE_VAL, NAN, 1e30, 1e-30, 1e-40, 1e-45};
  uint32_t step = format.bits() > 8 ? 7 : 1;
  for (uint32_t i = 0; i < format.largest(); i += step) {
    float low = float(format.decode(i)), middle = float((low + format.decode(i + 1)) / 2);
    values.insert(values.end(),
                  {low, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e38f)});
  }
  float top = float(format.decode(format.largest()));
  values.insert(values.end(), {top, top * 1.03, top * 1.07, top * 1.3});
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  for (double &value : values)
    value = float(value);
  return values;
}

} // namespace

TEST_CASE("every pattern of bits of a narrow float") {
  for (const char *from : kFloats)
    for (const char *target : kTargets) {
      INFO(from << " on " << target);
      Program program(conversion(from, "f32"), target);
      INFO(program.error());
      REQUIRE(program.error().empty());
      mlir::Type element = inputElement(program);
      unsigned bits = floatFormatOf(element)->bits();
      Tensor input{element, {int64_t(1) << bits}, {}};
      for (uint32_t i = 0; i < 1u << bits; ++i)
        if (bits == 16)
          input.bytes.insert(input.bytes.end(), {char(i & 255), char(i >> 8)});
        else if (bits == 8)
          input.bytes.push_back(char(i));
        else if (i % 2)
          input.bytes.push_back(char(i << 4 | (i - 1)));
      agree(program, input);
    }
}

TEST_CASE("rounding to a narrow float") {
  for (const char *to : kFloats)
    for (const char *target : kTargets) {
      INFO(to << " on " << target);
      Program program(conversion("f32", to), target), back(conversion(to, "f32"));
      INFO(program.error());
      REQUIRE(program.error().empty());
      agree(program,
            asInput(inputElement(program), hardValues(*floatFormatOf(inputElement(back)))));
    }
}

TEST_CASE("elements that share a byte are moved one by one") {
  const std::pair<const char *, const char *> elements[] = {
      {"i2", "-1 : i2"}, {"ui2", "3 : ui2"}, {"i4", "-3 : i4"}, {"!weft.f4E2M1FN", "1.5 : f32"}};
  for (auto [element, number] : elements) {
    auto type = [e = std::string(element)](const std::string &dims) {
      return "!weft.tensor<[" + dims + "], " + e + ">";
    };
    std::string text =
        "func.func @main(%x: " + type("m, n") + ", %y: " + type("m, 3") + ") -> " +
        type("n + 5, m + 2") + " attributes {weft.symbols = #weft.symbols<m, n>} {\n" +
        "  %c = weft.fill " + number + " -> " + type("") + "\n" +
        "  %0 = weft.concat %x, %y dim 1 : (" + type("m, n") + ", " + type("m, 3") + ") -> " +
        type("m, n + 3") + "\n" + "  %1 = weft.pad %0 with %c low [1, 2] high [1, 0] : (" +
        type("m, n + 3") + ", " + type("") + ") -> " + type("m + 2, n + 5") + "\n" +
        "  %2 = weft.transpose %1 [1, 0] : (" + type("m + 2, n + 5") + ") -> " +
        type("n + 5, m + 2") + "\n  return %2 : " + type("n + 5, m + 2") + "\n}\n";
    for (const char *target : {"x86:host", "x86:v2"}) {
      INFO(element << " on " << target);
      Program program(text, target);
      INFO(program.error());
      REQUIRE(program.error().empty());
      for (auto [m, n] : {std::pair(3, 29), {1, 1}, {0, 4}, {5, 6}})
        CHECK(program.difference({{"m", m}, {"n", n}}) == 0);
    }
  }
}
