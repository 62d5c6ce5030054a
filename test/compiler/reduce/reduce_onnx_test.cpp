// ONNX files with parts taken away: what stays is what the file had, unknown fields included.
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/reduce/ReduceOnnx.h"
#include "test/compiler/readers/WireWriter.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <unistd.h>

using namespace weft;

static WireWriter valueOf(const std::string &name) {
  WireWriter shape, tensor, type;
  shape.message(1, WireWriter().text(2, "n"));
  tensor.integer(1, 1).message(2, shape);
  type.message(1, tensor);
  return WireWriter().text(1, name).message(2, type);
}

/// The draft of a file with this graph.
static OnnxDraft draftOf(const WireWriter &graph) {
  char name[] = P_tmpdir "/weft-test-XXXXXX";
  int file = mkstemp(name);
  REQUIRE(file >= 0);
  std::string bytes = modelOf(graph).integer(900, 7).bytes; // a field that nobody knows
  REQUIRE(write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  close(file);
  llvm::Expected<OnnxDraft> draft = OnnxDraft::read(name);
  unlink(name);
  REQUIRE(bool(draft));
  return *draft;
}

/// What reads back from the draft; `bytes` keeps it alive.
static OnnxModel modelOf(const OnnxDraft &draft, std::string &bytes) {
  llvm::Expected<std::string> written = draft.serialize();
  REQUIRE(bool(written));
  bytes = *written;
  llvm::Expected<OnnxModel> model =
      readOnnx(MappedFile::view("test", {bytes.data(), bytes.size()}));
  REQUIRE(bool(model));
  return std::move(*model);
}

static OnnxDraft reduceWhile(const OnnxDraft &draft, const OnnxTypes &types,
                             const std::function<bool(const OnnxModel &)> &fails) {
  return reduce<OnnxDraft>(draft, onnxReductions(types),
                           [&](const OnnxDraft &candidate) {
                             std::string bytes;
                             return fails(modelOf(candidate, bytes));
                           },
                           {});
}

static bool hasNode(const OnnxModel &model, llvm::StringRef op) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                     [&](const OnnxNode &node) { return node.opType == op; });
}

/// x -> Relu -> a -> Exp -> b -> Add with a -> y, and w as a large tensor that Mul reads.
static WireWriter chain() {
  WireWriter graph;
  graph.message(1, simpleNode("Relu", {"x"}, {"a"}, "n0"));
  graph.message(1, simpleNode("Exp", {"a"}, {"b"}, "n1").integer(77, 5));
  graph.message(1, simpleNode("Add", {"b", "a"}, {"c"}, "n2"));
  graph.message(1, simpleNode("Mul", {"c", "w"}, {"y"}, "n3"));
  graph.message(1, simpleNode("Abs", {"x"}, {"unread"}, "n4"));
  graph.message(5, rawTensor("w", 1, {20}, std::string(80, 'x')));
  return graph.message(11, valueOf("x")).message(12, valueOf("y"));
}

static OnnxTypes typesOf(const OnnxDraft &draft) {
  OnnxTypes types = declaredTypes(draft);
  for (const char *name : {"a", "b", "c"})
    types[name] = types["x"];
  return types;
}

TEST_CASE("what no output needs is gone at once, and unknown fields stay") {
  OnnxDraft draft = draftOf(chain());
  CHECK(draft.nodes.size() == 4);
  std::string bytes;
  OnnxModel model = modelOf(draft, bytes);
  CHECK(model.graph.nodes.size() == 4);
  CHECK(model.graph.initializers.size() == 1);
  CHECK(bytes.find(WireWriter().integer(900, 7).bytes) != std::string::npos);
  CHECK(bytes.find(WireWriter().integer(77, 5).bytes) != std::string::npos);
}

TEST_CASE("one guilty node is left, between an input and an output") {
  OnnxDraft draft = draftOf(chain());
  OnnxDraft small = reduceWhile(draft, typesOf(draft),
                                [](const OnnxModel &model) { return hasNode(model, "Exp"); });
  std::string bytes;
  OnnxModel model = modelOf(small, bytes);
  REQUIRE(model.graph.nodes.size() == 1);
  REQUIRE(model.graph.inputs.size() == 1);
  CHECK(model.graph.inputs[0].name == "a");
  CHECK(model.graph.inputs[0].type.dims[0].param == "n");
  REQUIRE(model.graph.outputs.size() == 1);
  CHECK(model.graph.outputs[0].name == "b");
  CHECK(model.graph.initializers.empty());
}

TEST_CASE("a value of unknown type cannot be cut") {
  OnnxDraft draft = draftOf(chain());
  OnnxDraft small = reduceWhile(draft, declaredTypes(draft),
                                [](const OnnxModel &model) { return hasNode(model, "Exp"); });
  CHECK(small.nodes.size() == 2); // Relu and Exp
}

TEST_CASE("a tensor becomes an input, or all zeros where it must be one") {
  OnnxDraft draft = draftOf(chain());
  std::string bytes;
  OnnxDraft free = reduceWhile(draft, typesOf(draft),
                               [](const OnnxModel &model) { return hasNode(model, "Mul"); });
  CHECK(modelOf(free, bytes).graph.initializers.empty());
  OnnxDraft tied = reduceWhile(draft, typesOf(draft), [](const OnnxModel &model) {
    return hasNode(model, "Mul") && model.graph.initializers.size() == 1;
  });
  OnnxModel model = modelOf(tied, bytes);
  REQUIRE(model.graph.initializers.size() == 1);
  llvm::ArrayRef<char> raw = model.graph.initializers[0].raw;
  CHECK(raw.size() == 80);
  CHECK(std::all_of(raw.begin(), raw.end(), [](char c) { return c == 0; }));
}

TEST_CASE("nodes that only fail together stay connected without those between") {
  OnnxDraft draft = draftOf(chain());
  OnnxDraft small = reduceWhile(draft, typesOf(draft), [](const OnnxModel &model) {
    std::map<std::string, std::string> makers;
    bool found = false;
    for (const OnnxNode &node : model.graph.nodes) {
      for (llvm::StringRef input : node.inputs)
        found |= node.opType == "Mul" && makers[input.str()] != "" &&
                 (makers[input.str()] == "Exp" || makers[input.str()] == "Exp+");
      makers[node.outputs[0].str()] =
          node.opType == "Exp" || (node.opType == "Add" && makers[node.inputs[0].str()] == "Exp")
              ? "Exp+"
              : node.opType.str();
    }
    return found;
  });
  CHECK(small.nodes.size() == 2);
}

TEST_CASE("a branch takes the place of its condition") {
  WireWriter branch, node, attribute, other, otherAttribute, graph;
  branch.message(1, simpleNode("Sin", {"x"}, {"s"}, "inner")).text(2, "then");
  branch.message(12, valueOf("s"));
  other.message(1, simpleNode("Cos", {"x"}, {"t"}, "inner")).text(2, "else");
  other.message(12, valueOf("t"));
  attribute = attributeOf("then_branch", 5).message(6, branch);
  otherAttribute = attributeOf("else_branch", 5).message(6, other);
  node = simpleNode("If", {"c"}, {"y"}, "if").message(5, attribute).message(5, otherAttribute);
  graph.message(1, node).message(11, valueOf("x")).message(11, valueOf("c"));
  OnnxDraft draft = draftOf(graph.message(12, valueOf("y")));
  CHECK(draft.nodes[0].captured == std::vector<std::string>{"x"});
  for (const char *op : {"Sin", "Cos"}) {
    OnnxDraft small = reduceWhile(draft, declaredTypes(draft), [&](const OnnxModel &model) {
      return hasNode(model, op) ||
             std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                         [&](const OnnxNode &each) {
                           return each.opType == "If" && each.attributes.size() == 2;
                         });
    });
    std::string bytes;
    OnnxModel model = modelOf(small, bytes);
    INFO(op);
    CHECK(hasNode(model, op));
    CHECK(model.graph.inputs.size() == 1);
  }
}
