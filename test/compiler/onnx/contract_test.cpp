// What the contract of a model says of sizes that meet: as much as its nodes need, and no more.
#include "compiler/import/onnx/Onnx.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"

using namespace weft;

namespace {

struct Value {
  std::string name;
  std::vector<std::string> dims;
  int element = 1; ///< f32
};

/// The facts of the model, or the error, one line each; `result` receives the first result's type.
std::string contractOf(const std::vector<WireWriter> &nodes, const std::vector<Value> &inputs,
                       std::string *result = nullptr) {
  WireWriter graph = WireWriter().text(2, "graph");
  for (const WireWriter &node : nodes)
    graph.message(1, node);
  for (const Value &input : inputs)
    graph.message(11, valueInfo(input.name, tensorType(input.element, input.dims)));
  graph.message(12, WireWriter().text(1, "y"));
  TemporaryFolder folder;
  Result<Module> module = importOnnx(folder.write("m.onnx", modelOf(graph).bytes), {});
  if (!module)
    return module.diagnostics().front().text + "\n";
  auto main = *module->get().module->getOps<mlir::func::FuncOp>().begin();
  if (result)
    llvm::raw_string_ostream(*result) << main.getResultTypes()[0];
  std::string text;
  for (const SymPred &fact : main->getAttrOfType<SymbolsAttr>(kSymbolsAttr).getFacts())
    text += fact.str() + "\n";
  return text;
}

WireWriter add(const std::string &a, const std::string &b, const std::string &to) {
  return simpleNode("Add", {a, b}, {to}, "add");
}

/// Without inputs of its own: one node that reads values from around it.
WireWriter bodyOf(const WireWriter &node, const std::string &output) {
  return WireWriter().message(1, node).text(2, "body").message(12, WireWriter().text(1, output));
}

} // namespace

TEST_CASE("sizes with two names are equal or one of them is 1") {
  std::string type;
  CHECK(contractOf({add("a", "b", "y")}, {{"a", {"n"}}, {"b", {"m"}}}, &type) ==
        "n == m or n == 1 or m == 1\n");
  CHECK(type == "!weft.tensor<[bcast(m, n)], f32>");
}

TEST_CASE("so are sizes without names") {
  CHECK(contractOf({add("a", "b", "y")}, {{"a", {"", "4"}}, {"b", {"", "4"}}}) ==
        "a_d0 == b_d0 or a_d0 == 1 or b_d0 == 1\n");
}

TEST_CASE("a size that is never 1 is not said to be 1") {
  CHECK(contractOf({add("a", "b", "y")}, {{"a", {"n"}}, {"b", {"4"}}}) == "n == 4 or n == 1\n");
  CHECK(contractOf({simpleNode("Concat", {"b", "b"}, {"c"}, "c").message(5, attributeOf("axis", 2)),
                    add("a", "c", "y")},
                   {{"a", {"n"}}, {"b", {"m"}}}) == "n == 2*m or n == 1\n");
}

TEST_CASE("what a later node needs takes the place of what an earlier one does") {
  std::string type;
  CHECK(contractOf({add("a", "b", "s"), simpleNode("MatMul", {"s", "w"}, {"y"}, "product")},
                   {{"a", {"3", "n"}}, {"b", {"m"}}, {"w", {"n", "5"}}},
                   &type) == "m == n or m == 1\n");
  CHECK(type == "!weft.tensor<[3, 5], f32>");
}

TEST_CASE("what both sizes have plays no part") {
  auto joined = [](const char *a, const char *b, const char *to) {
    return simpleNode("Concat", {a, b}, {to}, to).message(5, attributeOf("axis", 2));
  };
  CHECK(contractOf({add("a", "b", "s"), joined("past", "s", "t"), joined("past", "a", "u"),
                    simpleNode("MatMul", {"t", "u"}, {"y"}, "product")},
                   {{"a", {"n"}}, {"b", {"m"}}, {"past", {"p"}}}) == "m == n or m == 1\n");
}

TEST_CASE("the batches of a product broadcast") {
  std::string type;
  CHECK(contractOf({simpleNode("MatMul", {"a", "b"}, {"y"}, "product")},
                   {{"a", {"n", "2", "3"}}, {"b", {"m", "3", "4"}}},
                   &type) == "n == m or n == 1 or m == 1\n");
  CHECK(type == "!weft.tensor<[bcast(m, n), 2, 4], f32>");
}

TEST_CASE("sizes that can neither be equal nor 1 are refused while compiling") {
  CHECK(contractOf({simpleNode("Concat", {"a", "a"}, {"c"}, "c").message(5, attributeOf("axis", 2)),
                    add("c", "b", "y")},
                   {{"a", {"n"}}, {"b", {"3"}}}) ==
        "dimensions '2*n' and '3' cannot be broadcast together\n");
}

TEST_CASE("what only a branch needs is not needed at entry") {
  WireWriter branch = simpleNode("If", {"c"}, {"y"}, "if");
  WireWriter joined = simpleNode("Concat", {"a", "b"}, {"j"}, "j");
  joined.message(5, attributeOf("axis", 2).integer(3, 1));
  branch.message(5, attributeOf("then_branch", 5).message(6, bodyOf(joined, "j")));
  branch.message(5, attributeOf("else_branch", 5)
                        .message(6, bodyOf(simpleNode("Identity", {"b"}, {"k"}, "k"), "k")));
  CHECK(contractOf({branch}, {{"c", {}, 9}, {"a", {"n", "2"}}, {"b", {"m", "2"}}}).find("n == m") ==
        std::string::npos);
}

TEST_CASE("a step and axes that data decide are checked when the program runs") {
  CHECK(contractOf({simpleNode("Range", {"a", "b", "d"}, {"y"}, "range")},
                   {{"a", {}, 7}, {"b", {}, 7}, {"d", {}, 7}}) == "1 <= delta\n");
  CHECK(contractOf({simpleNode("Slice", {"x", "a", "b", "axes"}, {"y"}, "slice")},
                   {{"x", {"n", "4"}}, {"a", {"1"}, 7}, {"b", {"1"}, 7}, {"axes", {"1"}, 7}}) ==
        "slice <= 1\nslice_2 <= n\nslice_3 <= n\nslice_4 <= 4\nslice_5 <= 4\n");
}
