// Integers at the ends of their types: generated code against the evaluator, with every pair of the least, the largest and what lies
// beside them and beside zero.
#include "test/support/EmulatedCall.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

const char *const kIntegers[] = {"i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"};
const char *const kFunctions[] = {"abs %x",
                                  "neg %x",
                                  "sign %x",
                                  "not %x",
                                  "add %x, %y",
                                  "sub %x, %y",
                                  "mul %x, %y",
                                  "div %x, %y",
                                  "rem %x, %y",
                                  "rem %x, %y {floor}",
                                  "pow %x, %y",
                                  "minimum %x, %y",
                                  "maximum %x, %y",
                                  "and %x, %y",
                                  "or %x, %y",
                                  "xor %x, %y",
                                  "shift left %x, %y",
                                  "shift right %x, %y"};
const char *const kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
const char *const kCombiners[] = {"sum", "prod", "min", "max"};

std::string tensor(const std::string &dims, const std::string &element) {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// A function of x and y with one operator per result.
class Text {
public:
  explicit Text(std::string element, std::string dims)
      : element(std::move(element)), dims(std::move(dims)) {}

  void op(const std::string &what, const std::string &to, const std::string &toDims) {
    define(what, {tensor(toDims, to)});
  }

  void define(const std::string &what, const std::vector<std::string> &results) {
    std::string name = "%" + std::to_string(count++), own = tensor(dims, element), all;
    bool isBinary = what.find("%x, %y") != std::string::npos;
    for (size_t i = 0; i < results.size(); ++i) {
      all += (i ? ", " : "") + results[i];
      names +=
          (names.empty() ? "" : ", ") + name + (results.size() > 1 ? "#" + std::to_string(i) : "");
      types += (types.empty() ? "" : ", ") + results[i];
    }
    body += "  " + name + (results.size() > 1 ? ":" + std::to_string(results.size()) : "") +
            " = weft." + what + " : (" + own + (isBinary ? ", " + own : "") + ") -> (" + all +
            ")\n";
  }

  std::string str(const std::string &symbols) const {
    std::string own = tensor(dims, element);
    return "func.func @main(%x: " + own + ", %y: " + own + ") -> (" + types +
           ") attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n" + body + "  return " +
           names + " : " + types + "\n}\n";
  }

private:
  std::string element, dims, body, names, types;
  int count = 0;
};

std::vector<int64_t> ends(mlir::Type element) {
  unsigned bits = elementBits(element);
  bool u = element.isUnsignedInteger();
  int64_t low = u ? 0 : int64_t(-(uint64_t(1) << (bits - 1)));
  auto high = int64_t((~uint64_t(0)) >> (64 - bits + (u ? 0 : 1)));
  return {low,         low + 1,     low + 2,     high,
          high - 1,    high - 2,    high / 2,    high / 2 + 1,
          high / 3,    0,           1,           2,
          3,           7,           8,           31,
          u ? 32 : -1, u ? 63 : -2, u ? 64 : -3, u ? 100 : -7};
}

Tensor tensorOf(mlir::Type element, const std::vector<int64_t> &dims,
                const std::function<int64_t(int64_t)> &value) {
  RefTensor reference(element, dims);
  for (int64_t i = 0; i < reference.size(); ++i)
    reference.set(i, Scalar::of(value(i)));
  Tensor result{element, dims, std::vector<char>(elementBytes(element, reference.size()))};
  toBytes(reference, result.bytes.data());
  return result;
}

void agree(Program &program, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> got = program.run(inputs);
  INFO(program.error());
  std::vector<RefTensor> expected = program.evaluate(inputs);
  REQUIRE(got.size() == expected.size());
  REQUIRE_FALSE(got.empty());
  for (size_t r = 0; r < got.size(); ++r) {
    RefTensor values = got[r].reference();
    REQUIRE(values.dims == expected[r].dims);
    std::string different;
    for (int64_t i = 0; i < values.size() && different.empty(); ++i)
      if (values.at(i).asReal() != expected[r].at(i).asReal())
        different = "element " + std::to_string(i) + " is " +
                    std::to_string(values.at(i).asReal()) + ", expected " +
                    std::to_string(expected[r].at(i).asReal());
    INFO("result " << r);
    CHECK(different == "");
  }
}

using Fill = std::function<Text(const std::string &element)>;

/// Whatever the type, for tensors of these dimensions as the ends are listed.
void agreeForAll(Fill fill, const std::string &symbols, bool isMatrix) {
  for (const char *element : kIntegers)
    for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
      Program program(fill(element).str(symbols), target);
      INFO(element << " on " << target);
      INFO(program.error());
      REQUIRE(program.error().empty());
      mlir::Type type = program.generate({{"n", 1}, {"m", 1}}, 1)[0].element;
      std::vector<int64_t> values = ends(type);
      auto count = int64_t(values.size());
      std::vector<int64_t> dims{count * count};
      if (isMatrix)
        dims = {count, count};
      agree(program, {tensorOf(type, dims, [&](int64_t i) { return values[i / count]; }),
                      tensorOf(type, dims, [&](int64_t i) { return values[i % count]; })});
    }
}

} // namespace

TEST_CASE("functions of integers at the ends of their types") {
  agreeForAll(
      [](const std::string &element) {
        Text text(element, "n");
        for (const char *function : kFunctions)
          text.op(function, element, "n");
        for (const char *kind : kComparisons)
          text.op("compare " + std::string(kind) + " %x, %y", "i1", "n");
        for (const char *to : kIntegers)
          text.op("convert %x to " + std::string(to), to, "n");
        text.op("convert %x to f32", "f32", "n");
        return text;
      },
      "n", false);
}

TEST_CASE("lines of integers at the ends of their types") {
  agreeForAll(
      [](const std::string &element) {
        Text text(element, "m, n");
        for (std::string kind : kCombiners) {
          text.op("reduce " + kind + " %y [1]", element, "m");
          text.op("reduce " + kind + " %x [0]", element, "n");
          text.op("cumulate " + kind + " %y axis 1", element, "m, n");
          text.op("cumulate " + kind + " %y axis 0 {exclusive, reverse}", element, "m, n");
        }
        for (const char *kind : {"min", "max"}) {
          text.op("arg_reduce " + std::string(kind) + " %y axis 1", "i64", "m");
          text.op("arg_reduce " + std::string(kind) + " %x axis 0 {select_last}", "i64", "n");
        }
        for (const char *order : {"", " {smallest}"})
          text.define("top_k %y k [n] axis 1" + std::string(order),
                      {tensor("m, n", element), tensor("m, n", "i64")});
        text.op("pool max %y kernel [3] strides [1] dilations [1] low [1] high [1]", element,
                "m, n");
        return text;
      },
      "m, n", true);
}
