// What no element comes before stands first, last or nowhere in a line: nan, infinities and the ends of integers. Operators that order lines name its
// place: a number that also means "none yet" must not hide it.
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;
using namespace weft::test;

namespace {

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// All operators of lines of `n` elements; few of them are selected, or all.
std::string program(const std::string &element) {
  std::string x = tensor("m, n", element), body, names, types;
  auto keep = [&](const std::string &name, const std::string &type) {
    names += (names.empty() ? "" : ", ") + name, types += (types.empty() ? "" : ", ") + type;
  };
  int count = 0;
  for (const char *order : {"", " {smallest}"})
    for (const char *k : {"1", "5", "n"}) {
      std::string own = "%t" + std::to_string(count++),
                  values = tensor(std::string("m, ") + k, element),
                  places = tensor(std::string("m, ") + k, "i64");
      body += "  " + own + ":2 = weft.top_k %x k [" + k + "] axis 1" + order + " : (" + x +
              ") -> (" + values + ", " + places + ")\n";
      keep(own + "#0", values), keep(own + "#1", places);
    }
  for (const char *kind : {"max", "min"})
    for (const char *which : {"", " {select_last}"}) {
      std::string own = "%a" + std::to_string(count++);
      body += "  " + own + " = weft.arg_reduce " + kind + " %x axis 1" + which + " : (" + x +
              ") -> " + tensor("m", "i64") + "\n";
      keep(own, tensor("m", "i64"));
    }
  return "func.func @main(%x: " + x + ") -> (" + types +
         ") attributes {weft.symbols = #weft.symbols<m, n>} {\n" + body + "  return " + names +
         " : " + types + "\n}\n";
}

/// What a line may have at a place, in one of whose ends no other comes before it.
std::vector<Scalar> endsOf(mlir::Type element) {
  if (isFloat(element)) {
    double least = element.isF64() ? -1e300 : element.isF32() ? -3e38 : -65504;
    return {Scalar::of(double(NAN)), Scalar::of(double(INFINITY)), Scalar::of(-double(INFINITY)),
            Scalar::of(least), Scalar::of(-least)};
  }
  unsigned bits = elementBits(element);
  bool u = element.isUnsignedInteger();
  return {Scalar::of(u ? int64_t(0) : int64_t(-(uint64_t(1) << (bits - 1)))),
          Scalar::of(int64_t((~uint64_t(0)) >> (64 - bits + (u ? 0 : 1))))};
}

/// Of each end four lines: it stands first, last, in both places, or everywhere; other elements are between.
Tensor linesOf(mlir::Type element, int64_t n) {
  std::vector<Scalar> ends = endsOf(element);
  RefTensor lines(element, {int64_t(ends.size()) * 4, n});
  for (int64_t line = 0; line < lines.dims[0]; ++line)
    for (int64_t i = 0; i < n; ++i) {
      int64_t where = line % 4;
      bool isEnd = (where != 1 && i == 0) || (where != 0 && i == n - 1) || where == 3;
      int64_t other = i * 7 % 11 + 1;
      lines.set(line * n + i, isEnd              ? ends[size_t(line / 4)]
                              : isFloat(element) ? Scalar::of(double(other))
                                                 : Scalar::of(other));
    }
  Tensor result{element,
                {lines.dims.begin(), lines.dims.end()},
                std::vector<char>(elementBytes(element, lines.size()))};
  toBytes(lines, result.bytes.data());
  return result;
}

} // namespace

TEST_CASE("lines that begin or end with what nothing comes before are ordered") {
  for (const char *element : {"f32", "f16", "bf16", "i8", "ui8", "i32", "i64"})
    for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
      Program compiled(program(element), target);
      INFO(element << " on " << target << ": " << compiled.error());
      REQUIRE(compiled.error().empty());
      mlir::Type type = compiled.generate({{"m", 1}, {"n", 5}}, 1)[0].element;
      for (int64_t n : {5, 8, 37, 300, 2051}) {
        std::vector<Tensor> inputs{linesOf(type, n)};
        double difference = compiled.difference(inputs, compiled.evaluate(inputs));
        INFO("lines of " << n << ": " << compiled.error());
        REQUIRE(difference == 0);
      }
    }
}
