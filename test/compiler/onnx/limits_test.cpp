// Limits of the caller, through the library: what each counts, and that no more is refused.
#include "compiler/driver/Import.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"

using namespace weft;

namespace {

/// "W0203 where: text" of the last error, or nothing.
std::string refusal(const Result<Module> &module) {
  if (module)
    return "";
  const Diagnostic &last = module.diagnostics().back();
  return last.code + " " + last.where + ": " + last.text;
}

struct Files : TemporaryFolder {
  std::string import(const std::string &name, const std::string &bytes, const Limits &limits) {
    ImportOptions options;
    options.limits = limits;
    std::string text = refusal(Compiler().importFile(write(name, bytes), options));
    for (size_t at; (at = text.find(path + "/")) != std::string::npos;)
      text.erase(at, path.size() + 1);
    return text;
  }
};

WireWriter graphOf(const std::vector<WireWriter> &nodes) {
  WireWriter graph;
  for (const WireWriter &node : nodes)
    graph.message(1, node);
  return graph.text(2, "g")
      .message(11, valueInfo("x", tensorType(1, {"n", "4"})))
      .message(12, WireWriter().text(1, "y"));
}

WireWriter call(const std::string &function, const std::string &from, const std::string &to) {
  return simpleNode(function, {from}, {to}, to).text(7, "my");
}

/// A model that calls `Twice` two times, which calls `Neg` two times.
std::string calls() {
  WireWriter function = WireWriter()
                            .text(1, "Twice")
                            .text(4, "x")
                            .text(5, "y")
                            .message(7, simpleNode("Neg", {"x"}, {"z"}, "first"))
                            .message(7, simpleNode("Neg", {"z"}, {"y"}, "second"))
                            .message(9, opsetOf("", 17))
                            .text(10, "my");
  WireWriter model = modelOf(graphOf({call("Twice", "x", "a"), call("Twice", "a", "y")}));
  return model.message(8, opsetOf("my", 1)).message(25, function).bytes;
}

std::string program(const std::string &body) {
  return "func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> attributes "
         "{weft.symbols = #weft.symbols<n>} {\n" +
         body + "}\n";
}
const std::string kNeg =
    " = weft.neg %x : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>\n";
const std::string kReturn = "  return %a : !weft.tensor<[n, 4], f32>\n";

} // namespace

TEST_CASE("nodes count in the file, and again where functions are inlined") {
  Files files;
  Limits limits;
  limits.nodes = 6; // two calls, and two nodes for each
  CHECK(files.import("m.onnx", calls(), limits) == "");
  limits.nodes = 5;
  CHECK(files.import("m.onnx", calls(), limits) ==
        "W0203 m.onnx: the model has more than 5 nodes after its functions are inlined, the limit "
        "(raise it with --limit nodes=N)");
  limits.nodes = 3;
  CHECK_THAT(files.import("m.onnx", calls(), limits),
             Catch::Matchers::Contains("the model has more than 3 nodes, the limit") &&
                 Catch::Matchers::StartsWith("W0203 "));
}

TEST_CASE("operations of a text count, with results or without") {
  Files files;
  Limits limits;
  std::string text = program("  %a" + kNeg + "  %b" + kNeg + kReturn);
  limits.nodes = 4; // the function and its end count
  CHECK(files.import("p.mlir", text, limits) == "");
  std::string why = "W0203 p.mlir: the text has more than 3 operations, the limit (raise it with "
                    "--limit nodes=N)";
  limits.nodes = 3;
  CHECK(files.import("p.mlir", text, limits) == why);
  // Long before they are parsed, too.
  CHECK(files.import(
            "p.mlir",
            program("  %a" + kNeg + "  %b" + kNeg + "  %c" + kNeg + "  %d" + kNeg + "  nonsense"),
            limits) == why);
}

TEST_CASE("levels of a text are its brackets") {
  Files files;
  Limits limits;
  std::string text = program("  %a" + kNeg + kReturn);
  limits.nesting = 4; // { ( < [
  CHECK(files.import("p.mlir", text, limits) == "");
  limits.nesting = 3;
  CHECK(files.import("p.mlir", text, limits) ==
        "W0203 p.mlir:2:37: brackets are nested deeper than 3, the limit (raise it with --limit "
        "nesting=N)");
  limits.nesting = Limits::mostNesting + 1;
  CHECK(files.import("p.mlir", text, limits) ==
        "W0203 : a limit of 501 for nesting is more than the 500 that are safe");
}

TEST_CASE("tensors of constant size are held against the limit, others are not") {
  Files files;
  Limits limits;
  auto with = [&](const std::string &dims) {
    std::string type = "!weft.tensor<[" + dims + "], f32>";
    return files.import(
        "p.mlir", program("  %a" + kNeg + "  %f = weft.fill 1.0 : f32 -> " + type + "\n" + kReturn),
        limits);
  };
  limits.tensorBytes = 4096;
  CHECK(with("32, 32") == "");
  CHECK(with("n, 2147483647") == "");
  CHECK(with("0, 2147483647, 2147483647, 2147483647") == "");
  CHECK(with("32, 33") ==
        "W0203 p.mlir:3:8: a tensor of '!weft.tensor<[32, 33], f32>' has more than 4096 "
        "bytes, the limit (raise it with --limit tensor-bytes=SIZE)");
  CHECK_THAT(with("2147483647, 2147483647, 2147483647"), Catch::Matchers::StartsWith("W0203 "));
}

TEST_CASE("constants that were made count together, those that lie in the file do not") {
  Files files;
  Limits limits;
  limits.tensorBytes = 500; // x and its sum have symbols
  auto with = [&](bool decoded) {
    std::vector<int64_t> numbers(100, 7);
    WireWriter tensor = WireWriter().packed(1, {100, 1}).integer(2, 7).text(8, "c");
    decoded ? tensor.packed(7, numbers) : tensor.text(9, std::string(800, '\1'));
    WireWriter graph;
    graph.message(1, simpleNode("Add", {"x", "c"}, {"y"}, "n")).text(2, "g").message(5, tensor);
    graph.message(11, valueInfo("x", tensorType(7, {"100", "n"})))
        .message(12, WireWriter().text(1, "y"));
    return files.import("m.onnx", modelOf(graph).bytes, limits);
  };
  CHECK(with(false) == "");
  CHECK(with(true) ==
        "W0203 m.onnx: the constants of the model take 800 bytes, more than 500, the limit "
        "(raise it with --limit tensor-bytes=SIZE)");
  limits.tensorBytes = 800;
  CHECK(with(true) == "");
}
