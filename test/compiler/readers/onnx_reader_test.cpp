// A well-formed ONNX file becomes structs that point into it.
#include "compiler/import/onnx/file/OnnxReader.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"

using namespace weft;
using Kind = OnnxAttribute::Kind;

static llvm::Expected<OnnxModel> readText(const std::string &text) {
  return readOnnx(MappedFile::view("model.onnx", asBytes(text)));
}

TEST_CASE("a model carries versions, metadata and its graph") {
  std::string text = sampleModel();
  OnnxModel model = valueOf(readText(text));
  CHECK(model.irVersion == 8);
  CHECK(model.producerName == "test");
  CHECK(model.opsetVersion("") == 17);
  CHECK(model.opsetVersion("my") == 1);
  CHECK_FALSE(model.opsetVersion("other"));
  REQUIRE(model.metadata.size() == 1);
  CHECK(model.metadata[0].first == "author");
  CHECK(model.metadata[0].second == "us");
  CHECK(model.graph.name == "main");
  CHECK(model.graph.nodes.size() == 2);
  CHECK(model.graph.initializers.size() == 5);
  CHECK(model.file->contains(asBytes(model.graph.name)));
}

TEST_CASE("a node carries names, omitted inputs and its place in the file") {
  std::string text = sampleModel();
  OnnxModel model = valueOf(readText(text));
  const OnnxNode &node = model.graph.nodes[0];
  CHECK(node.opType == "Twice");
  CHECK(node.domain == "my");
  CHECK(node.overload == "v2");
  CHECK(node.name == "/layer/Twice");
  CHECK(node.inputs == std::vector<llvm::StringRef>{"x", "", "w"});
  CHECK(node.outputs == std::vector<llvm::StringRef>{"y"});
  CHECK(node.fileOffset < text.find("/layer/Twice"));
  CHECK(model.graph.nodes[1].fileOffset > node.fileOffset);
  CHECK(model.graph.nodes[1].attributes.empty());
  CHECK(node.attribute("absent") == nullptr);
}

TEST_CASE("attributes of every kind keep their values") {
  std::string text = sampleModel();
  OnnxModel model = valueOf(readText(text));
  const OnnxNode &node = model.graph.nodes[0];
  CHECK(node.attributes.size() == 15);
  auto get = [&](const char *name, Kind kind) -> const OnnxAttribute & {
    const OnnxAttribute *attribute = node.attribute(name);
    REQUIRE(attribute);
    CHECK(attribute->kind == kind);
    return *attribute;
  };
  CHECK(get("f", Kind::Float).f == 0.5f);
  CHECK(get("i", Kind::Int).i == -3);
  CHECK(get("s", Kind::String).s == "text");
  CHECK(get("t", Kind::Tensor).tensors.at(0).dims == std::vector<int64_t>{2});
  CHECK(get("g", Kind::Graph).graphs.at(0).nodes.at(0).opType == "Neg");
  CHECK(get("fs", Kind::Floats).floats == std::vector<float>{1.5f, 2.5f, 3.5f});
  CHECK(get("is", Kind::Ints).ints == std::vector<int64_t>{1, -2, int64_t(1) << 40});
  CHECK(get("ss", Kind::Strings).strings == std::vector<llvm::StringRef>{"a", ""});
  CHECK(get("ts", Kind::Tensors).tensors.size() == 2);
  CHECK(get("gs", Kind::Graphs).graphs.size() == 1);
  CHECK(get("sp", Kind::SparseTensor).sparseTensors.at(0).dims == std::vector<int64_t>{5});
  CHECK(get("sps", Kind::SparseTensors).sparseTensors.at(0).values.name == "sv");
  CHECK(get("tp", Kind::Type).types.at(0).kind == OnnxType::Kind::Sequence);
  CHECK(get("tps", Kind::Types).types.at(0).inner.at(0).elementType == OnnxElementType::Float);
  CHECK(get("r", Kind::Float).refName == "alpha");
}

TEST_CASE("a declared shape keeps numbers, names and unknown sizes apart") {
  std::string text = sampleModel();
  OnnxModel model = valueOf(readText(text));
  const OnnxType &type = model.graph.inputs.at(0).type;
  CHECK(type.kind == OnnxType::Kind::Tensor);
  CHECK(type.elementType == OnnxElementType::Float);
  REQUIRE(type.dims.size() == 4);
  CHECK(type.dims[0].kind == OnnxDim::Kind::Param);
  CHECK(type.dims[0].param == "batch");
  CHECK(type.dims[1].kind == OnnxDim::Kind::Value);
  CHECK(type.dims[1].value == 3);
  CHECK(type.dims[2].kind == OnnxDim::Kind::Unknown);
  CHECK(type.dims[3].kind == OnnxDim::Kind::Unknown); // stored as -1
  CHECK(model.graph.outputs.at(0).type.hasShape);     // a scalar
  CHECK(model.graph.valueInfo.at(0).type.kind == OnnxType::Kind::None);
}

TEST_CASE("a function carries parameters, defaults and its own operator sets") {
  std::string text = sampleModel();
  OnnxModel model = valueOf(readText(text));
  const OnnxFunction &function = model.functions.at(0);
  CHECK(function.name == "Twice");
  CHECK(function.domain == "my");
  CHECK(function.overload == "v2");
  CHECK(function.attributes == std::vector<llvm::StringRef>{"alpha"});
  CHECK(function.attributeDefaults.at(0).f == 2.0f);
  CHECK(function.nodes.at(0).name == "add");
  CHECK(function.opsets.at(0).domain == ""); // stored as ai.onnx
  CHECK(function.valueInfo.size() == 1);
}

TEST_CASE("lists may be packed, unpacked or both, and unknown fields are passed over") {
  WireWriter node = simpleNode("Pad", {"x"}, {"y"}, "");
  node.message(5, attributeOf("pads", 7).integer(8, 1).packed(8, {2, 3}).integer(8, 4));
  node.integer(1000, 1).text(1001, "new").number(1002, 1.0f).number(1003, 1.0);
  std::string text = modelOf(WireWriter().message(1, node)).bytes;
  OnnxModel model = valueOf(readText(text));
  CHECK(model.graph.nodes[0].attributes[0].ints == std::vector<int64_t>{1, 2, 3, 4});
}

TEST_CASE("an attribute without a type, as in old files, takes that of its value") {
  WireWriter node = simpleNode("Concat", {"x"}, {"y"}, "");
  node.message(5, WireWriter().text(1, "axis").integer(3, 2));
  std::string text = modelOf(WireWriter().message(1, node)).bytes;
  OnnxModel model = valueOf(readText(text));
  CHECK(model.graph.nodes[0].attribute("axis")->kind == Kind::Int);
}

TEST_CASE("a list left out is empty, a number left out is 0") {
  WireWriter node = simpleNode("Op", {}, {"y"}, "");
  node.message(5, attributeOf("axes", 7)).message(5, attributeOf("axis", 2));
  std::string text = modelOf(WireWriter().message(1, node)).bytes;
  OnnxModel model = valueOf(readText(text));
  CHECK(model.graph.nodes[0].attribute("axes")->ints.empty());
  CHECK(model.graph.nodes[0].attribute("axis")->i == 0);
}

TEST_CASE("files are read by path") {
  TemporaryFolder folder;
  OnnxModel model = valueOf(readOnnxFile(folder.write("m.onnx", sampleModel())));
  CHECK(model.file->path() == folder.path + "/m.onnx");
  CHECK(model.graph.nodes.size() == 2);
  CHECK(errorOf(readOnnxFile(folder.path + "/none.onnx")) ==
        folder.path + "/none.onnx: cannot be opened: no such file or directory");
}
