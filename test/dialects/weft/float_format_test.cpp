// The table of narrow floats against LLVM's own arithmetic, and what LLVM has no type for against values worked out by hand.
#include "dialects/weft/Weft.h"
#include "dialects/weft/types/FloatFormat.h"
#include "llvm/ADT/APFloat.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;
using llvm::APFloat;

namespace {

mlir::MLIRContext &context() {
  static mlir::MLIRContext context;
  context.loadDialect<WeftDialect>();
  return context;
}

struct Known {
  mlir::Type element;
  const llvm::fltSemantics &semantics;
};

std::vector<Known> knownFormats() {
  mlir::Builder b(&context());
  return {{b.getF16Type(), APFloat::IEEEhalf()},
          {b.getBF16Type(), APFloat::BFloat()},
          {b.getFloat8E5M2Type(), APFloat::Float8E5M2()},
          {b.getFloat8E4M3FNType(), APFloat::Float8E4M3FN()},
          {b.getFloat8E5M2FNUZType(), APFloat::Float8E5M2FNUZ()},
          {b.getFloat8E4M3FNUZType(), APFloat::Float8E4M3FNUZ()},
          {Float4E2M1FNType::get(&context()), APFloat::Float4E2M1FN()}};
}

double wide(APFloat number) {
  bool lost;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

uint64_t rounded(double value, const llvm::fltSemantics &semantics) {
  APFloat number(value);
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

} // namespace

TEST_CASE("all bits mean what LLVM says") {
  for (const Known &known : knownFormats()) {
    const FloatFormat &format = *floatFormatOf(known.element);
    unsigned bits = format.bits();
    REQUIRE(bits == APFloat::getSizeInBits(known.semantics));
    for (uint32_t i = 0; i < 1u << bits; ++i) {
      double expected = wide(APFloat(known.semantics, llvm::APInt(bits, i))),
             got = format.decode(i);
      INFO(bits << " bits: " << i);
      REQUIRE(std::isnan(got) == std::isnan(expected));
      if (!std::isnan(expected)) {
        REQUIRE(got == expected);
        REQUIRE(std::signbit(got) == std::signbit(expected));
        REQUIRE(format.encode(got) == i);
      }
    }
  }
}

TEST_CASE("rounding is LLVM's, at ties and beside them") {
  for (const Known &known : knownFormats()) {
    const FloatFormat &format = *floatFormatOf(known.element);
    double top = format.decode(format.largest());
    std::vector<double> values = {top * 1.01, top * 1.2, top * 1.3, top * 4, 1e300, HUGE_VAL, 0};
    for (uint32_t i = 0; i < format.largest(); ++i) {
      double middle = (format.decode(i) + format.decode(i + 1)) / 2;
      values.insert(values.end(), {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e9)});
    }
    for (double value : values)
      for (double x : {value, -value}) {
        if (std::isinf(x) && format.specials == FloatFormat::Nothing)
          continue; // LLVM has no number for it, ours is the largest
        INFO(format.bits() << " bits: " << x);
        REQUIRE(format.encode(x) == rounded(x, known.semantics));
      }
    CHECK(std::isnan(format.decode(format.encode(NAN))) ==
          (format.specials != FloatFormat::Nothing));
    if (format.specials == FloatFormat::Nothing)
      CHECK(format.decode(format.encode(-HUGE_VAL)) == -top);
  }
}

TEST_CASE("powers of two") {
  const FloatFormat &format = *floatFormatOf(Float8E8M0FNUType::get(&context()));
  REQUIRE(format.bits() == 8);
  for (uint32_t i = 0; i < 255; ++i) {
    REQUIRE(format.decode(i) == std::ldexp(1, int(i) - 127));
    REQUIRE(format.encode(format.decode(i)) == i);
    double tie = 1.5 * format.decode(i); // goes up; from the last one to nan
    REQUIRE(format.encode(tie) == i + 1);
    REQUIRE(format.encode(std::nextafter(tie, 0)) == i);
  }
  CHECK(std::isnan(format.decode(255)));
  for (double none : {0.0, -0.0, -1.0, std::ldexp(0.99, -127), HUGE_VAL, -HUGE_VAL, double(NAN)})
    CHECK(format.encode(none) == 255);
}

TEST_CASE("integers and wide floats have no row in the table") {
  mlir::Builder b(&context());
  for (mlir::Type type : {mlir::Type(b.getF32Type()), mlir::Type(b.getF64Type()),
                          mlir::Type(b.getI8Type()), mlir::Type(b.getIntegerType(4))})
    CHECK_FALSE(floatFormatOf(type));
}
