// A malformed or excessive ONNX file gives one line that names the place, and never a crash.
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/readers/ReadError.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"
#include <set>

using namespace weft;

static std::string refusal(const std::string &text, const OnnxLimits &limits = {}) {
  return errorOf(readOnnx(MappedFile::view("model.onnx", asBytes(text)), limits));
}

/// The error without "model.onnx: byte N: ", after a check that it starts so.
static std::string reasonFor(const std::string &text, const OnnxLimits &limits = {}) {
  std::string error = refusal(text, limits);
  std::string prefix = "model.onnx: byte ";
  REQUIRE(error.substr(0, prefix.size()) == prefix);
  return error.substr(error.find(": ", prefix.size()) + 2);
}

static std::string ofGraph(const WireWriter &graph, const OnnxLimits &limits = {}) {
  return reasonFor(modelOf(graph).bytes, limits);
}
static std::string ofTensor(const WireWriter &tensor) {
  return ofGraph(WireWriter().message(5, tensor));
}
static std::string ofAttribute(const WireWriter &attribute) {
  WireWriter node = simpleNode("Op", {"x"}, {"y"}, "/a/b");
  std::string reason = ofGraph(WireWriter().message(1, node.message(5, attribute)));
  std::string prefix = "node 0 ('/a/b'): ";
  REQUIRE(reason.substr(0, prefix.size()) == prefix);
  return reason.substr(prefix.size());
}

TEST_CASE("every truncation is refused or ends between two fields of the model") {
  std::string text = sampleModel();
  // After the operator sets the model is complete; only metadata and functions follow.
  WireWriter upTo = modelOf(sampleGraph());
  std::set<size_t> complete = {upTo.bytes.size()};
  complete.insert(upTo.message(8, opsetOf("my", 1)).bytes.size());
  complete.insert(upTo.message(14, WireWriter().text(1, "author").text(2, "us")).bytes.size());
  for (size_t length = 0; length < text.size(); ++length) {
    std::string error = refusal(text.substr(0, length));
    CAPTURE(length, error);
    CHECK((error == "") == (complete.count(length) == 1));
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("what is no ONNX model is refused") {
  CHECK(refusal("") == "'model.onnx' is not an ONNX model: it is empty");
  CHECK(refusal(WireWriter().integer(1, 8).bytes) ==
        "model.onnx: has no graph, so it is not a whole ONNX model");
  CHECK(refusal(WireWriter().integer(1, 8).message(7, WireWriter()).bytes) ==
        "model.onnx: states no operator set version; is the file truncated?");
  CHECK(refusal("hello world, this is text") == "'model.onnx' is not an ONNX model: it is text");
  CHECK(refusal(std::string(1000, '\0')) ==
        "'model.onnx' is not an ONNX model: byte 0: not a protobuf field");
}

TEST_CASE("the message names byte, node and attribute") {
  WireWriter bad = simpleNode("Op", {"x"}, {"y"}, "/a/b");
  bad.message(5, attributeOf("axis", 2).text(3, "no number"));
  WireWriter graph = WireWriter().message(1, simpleNode("Neg", {}, {}, "first")).message(1, bad);
  std::string text = modelOf(graph).bytes;
  size_t at = text.find("no number") - 2;
  CHECK(refusal(text) == "model.onnx: byte " + std::to_string(at) +
                             ": node 1 ('/a/b'): attribute 'axis': field 3 is encoded as bytes, "
                             "but must be an integer");
}

TEST_CASE("names are shown without control characters and not at full length") {
  WireWriter bad = simpleNode("", {}, {}, "a\n\x1b[31m\xff\xc3\xa9" + std::string(5000, 'b'));
  std::string error = refusal(modelOf(WireWriter().message(1, bad)).bytes);
  CHECK(error.find("('a\\x0A\\x1B[31m\\xFF\xc3\xa9") != std::string::npos);
  CHECK(error.size() < 250);
}

TEST_CASE("broken wire format is refused") {
  auto modelWith = [](const std::string &bytes) {
    return WireWriter().integer(1, 8).raw(bytes).bytes; // something that models have comes first
  };
  std::string tooLong = "a number is cut off or longer than 64 bits";
  CHECK(reasonFor(modelWith("\x08" + std::string(10, '\xff') + "\x01")) == tooLong);
  CHECK(reasonFor(modelWith("\x08" + std::string(9, '\xff') + "\x02")) == tooLong);
  CHECK(reasonFor(modelWith("\x08\x80")) == tooLong);
  CHECK(reasonFor(modelWith(std::string(9, '\xff') + "\x01")) ==
        "a field key is cut off or longer than 32 bits");
  CHECK(reasonFor(modelWith("\x3b\x3c")) == "a protobuf group, which ONNX does not use");
  CHECK(reasonFor(modelWith("\x0e\x01")) == "not a protobuf field");
  CHECK(reasonFor(modelWith("\x0d\x01\x02")) == "a number is cut off");
  CHECK(reasonFor(modelWith("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")) ==
        "a field reaches beyond the end of what contains it; is the file truncated?");
  // A varint may carry useless zero bits, as every protobuf reader accepts.
  WireWriter padded = WireWriter().raw(std::string("\x08\x88\x80\x00", 4)).message(7, WireWriter());
  CHECK(refusal(padded.message(8, opsetOf("", 17)).bytes) == "");
}

TEST_CASE("a message that must be single is refused twice") {
  WireWriter model = modelOf(WireWriter());
  CHECK(reasonFor(model.message(7, WireWriter()).bytes) == "the model has two graphs");
  WireWriter sets = modelOf(WireWriter()).message(8, opsetOf("", 17));
  CHECK(refusal(sets.bytes) == "");
  CHECK(reasonFor(sets.message(8, opsetOf("ai.onnx", 18)).bytes) ==
        "two versions of the operator set ''");
}

TEST_CASE("attributes that contradict themselves are refused") {
  CHECK(ofAttribute(WireWriter().integer(20, 2)) == "attribute '': the attribute has no name");
  CHECK(ofAttribute(WireWriter().text(1, "a")) ==
        "attribute 'a': the attribute has neither a type nor a value");
  CHECK(ofAttribute(attributeOf("a", 2).number(2, 1.0f)) ==
        "attribute 'a': the attribute says it is of type int, but carries a value of type float");
  CHECK(ofAttribute(attributeOf("a", 2).number(2, 1.0f).integer(3, 1)) ==
        "attribute 'a': the attribute carries values of two types");
  CHECK(ofAttribute(attributeOf("a", 15)) ==
        "attribute 'a': the attribute has the unknown type 15");
  CHECK(ofAttribute(attributeOf("a", -1)) ==
        "attribute 'a': the attribute has the unknown type -1");
  CHECK(ofAttribute(attributeOf("a", 4)) == "attribute 'a': the attribute must carry one tensor");
  CHECK(ofAttribute(attributeOf("a", 5).message(6, WireWriter()).message(6, WireWriter())) ==
        "attribute 'a': the attribute must carry one graph");
  CHECK(ofAttribute(attributeOf("a", 2).integer(3, 1).text(21, "b")) ==
        "attribute 'a': the attribute refers to 'b', but carries a value as well");
  WireWriter node = simpleNode("Op", {}, {}, "");
  node.message(5, attributeOf("a", 2)).message(5, attributeOf("a", 2));
  CHECK(ofGraph(WireWriter().message(1, node)) == "node 0: the attribute 'a' is given twice");
}

TEST_CASE("tensors whose data and shape disagree are refused") {
  auto floats = [](const std::vector<int64_t> &dims, size_t bytes) {
    return rawTensor("w", 1, dims, std::string(bytes, 'x'));
  };
  std::string place = "initializer 0 ('w'): ";
  CHECK(ofTensor(floats({2, 3}, 20)) ==
        place + "the tensor holds 20 bytes, but float [2, 3] needs 24");
  CHECK(ofTensor(floats({-1}, 4)) == place + "the tensor has the dimension -1");
  CHECK(ofTensor(floats({int64_t(1) << 40, int64_t(1) << 40}, 4)) ==
        place + "the shape [1099511627776, 1099511627776] has more elements than can be counted");
  CHECK(ofTensor(floats({INT64_MAX}, 4)) ==
        place + "the tensor holds 4 bytes, but float [9223372036854775807] needs more than can be "
                "counted");
  CHECK(ofTensor(floats(std::vector<int64_t>(65, 1), 4)) ==
        place + "the tensor has 65 dimensions, but the reader's limit is 64");
  CHECK(ofTensor(WireWriter().packed(1, {3}).integer(2, 1).text(8, "w")) ==
        place + "the tensor of type float [3] has no data");
  CHECK(ofTensor(WireWriter().integer(2, 7).text(8, "w").packed(7, {1, 2})) ==
        place + "the tensor holds 2 numbers or strings, but int64 [] needs 1");
  CHECK(ofTensor(WireWriter().integer(2, 7).text(8, "w").packed(5, {1})) ==
        place + "data of type int64 cannot be stored in field 5");
  CHECK(ofTensor(WireWriter().integer(2, 8).text(8, "w").text(9, "x")) ==
        place + "strings cannot be stored as raw data");
  CHECK(ofTensor(floats({1}, 4).packedFixed<float>(4, {1})) ==
        place + "the tensor stores its data twice");
  CHECK(ofTensor(floats({1}, 4).text(9, "abcd")) == place + "the tensor stores its data twice");
  CHECK(ofTensor(floats({1}, 4).integer(14, 1)) ==
        place + "the tensor's data is both inline and in another file");
  CHECK(ofTensor(floats({1}, 4).integer(14, 2)) ==
        place + "the tensor's data location 2 is unknown");
  CHECK(ofTensor(floats({1}, 4).message(3, WireWriter())) ==
        place + "the tensor is stored in segments, which is not supported");
  CHECK(ofTensor(WireWriter().text(8, "w").integer(2, 1).text(4, "abc")) ==
        place + "the tensor's data ends within a number");
  CHECK(ofTensor(WireWriter().text(8, "w").integer(2, 7).text(7, "\x80")) ==
        place + "a number of the tensor's data is cut off or longer than 64 bits");
  CHECK(ofTensor(WireWriter().text(8, "w").integer(2, int64_t(1) << 40)) ==
        place + "field 2 is 1099511627776, but must fit 32 bits");
  WireWriter entry = WireWriter().text(1, "offset").text(2, "-8");
  CHECK(ofTensor(WireWriter().text(8, "w").message(13, entry)) ==
        place + "the external data's offset is '-8', but must be a number of bytes");
}

TEST_CASE("sparse tensors must be whole") {
  CHECK(ofGraph(WireWriter().message(15, WireWriter().packed(3, {5}))) ==
        "sparse initializer 0: the sparse tensor lacks its values or its indices");
}

TEST_CASE("types that contradict themselves are refused") {
  auto ofType = [](const WireWriter &type) {
    return ofGraph(WireWriter().message(11, valueInfo("x", type)));
  };
  WireWriter tensor = tensorType(1, {"2"});
  CHECK(ofType(WireWriter().raw(tensor.bytes).raw(tensor.bytes)) ==
        "input 0 ('x'): a value has two types");
  CHECK(ofType(tensorType(1, {"-7"})) == "input 0 ('x'): a dimension is -7");
  CHECK(ofType(tensorType(1, std::vector<std::string>(65, "1"))) ==
        "input 0 ('x'): a shape has more than 64 dimensions, the reader's limit");
}

TEST_CASE("nesting is limited") {
  auto nested = [](unsigned levels) {
    WireWriter graph;
    for (unsigned i = 1; i < levels; ++i) {
      WireWriter node = simpleNode("If", {}, {}, "");
      graph = WireWriter().message(1, node.message(5, attributeOf("g", 5).message(6, graph)));
    }
    return modelOf(graph).bytes;
  };
  std::string limit = "graphs or types are nested more than 200 levels deep, the limit (raise it "
                      "with --limit nesting=N)";
  CHECK(refusal(nested(200)) == "");
  CHECK(refusal(nested(201)).find(limit) != std::string::npos);
  CHECK(refusal(nested(2000)).find(limit) != std::string::npos);
  WireWriter type = tensorType(1, {});
  for (int i = 0; i < 1000; ++i)
    type = WireWriter().message(i % 2 ? 4 : 9, WireWriter().message(1, type));
  CHECK(ofGraph(WireWriter().message(11, valueInfo("x", type))) == "input 0 ('x'): " + limit);
}

TEST_CASE("each limit is refused by name") {
  std::string text = sampleModel();
  auto with = [&](auto change) {
    OnnxLimits limits;
    change(limits);
    std::string reason = refusal(text, limits);
    CHECK(reason.find("limit") != std::string::npos);
    size_t at = reason.find("more than");
    return at == std::string::npos ? reason : reason.substr(at);
  };
  CHECK(refusal(text) == "");
  using L = OnnxLimits;
  CHECK(with([](L &l) { l.nodes = 1; }) ==
        "more than 1 nodes, the limit (raise it with --limit nodes=N)");
  CHECK(with([](L &l) { l.attributes = 3; }) == "more than 3 attributes, the reader's limit");
  CHECK(with([](L &l) { l.tensors = 2; }) == "more than 2 tensors, the reader's limit");
  CHECK(with([](L &l) { l.values = 1; }) == "more than 1 values, the reader's limit");
  CHECK(with([](L &l) { l.functions = 0; }) == "more than 0 functions, the reader's limit");
  CHECK(with([](L &l) { l.listItems = 5; }) == "more than 5 list items, the reader's limit");
  CHECK(with([](L &l) { l.opsets = 1; }) == "more than 1 operator sets, the reader's limit");
  CHECK(with([](L &l) { l.nodeAttributes = 2; }) ==
        "more than 2 attributes in one place, the reader's limit");
  CHECK(with([](L &l) { l.nameLength = 5; }).find("a name is longer than 5 bytes") !=
        std::string::npos);
  CHECK(with([](L &l) { l.depth = 1; }) ==
        "more than 1 levels deep, the limit (raise it with --limit nesting=N)");
}

TEST_CASE("what a file may have grows with the nodes that the caller allows, and never shrinks") {
  Limits limits;
  OnnxLimits usual(limits);
  CHECK(usual.attributes == OnnxLimits().attributes);
  limits.nodes = 3 * limits.nodes;
  limits.nesting = 7;
  OnnxLimits large(limits);
  CHECK(large.nodes == limits.nodes);
  CHECK(large.depth == 7);
  CHECK(large.tensors == 3 * usual.tensors);
  CHECK(large.rank == usual.rank);
  limits.nodes = 5;
  CHECK(OnnxLimits(limits).nodes == 5);
  CHECK(OnnxLimits(limits).listItems == usual.listItems);
  limits.nodes = UINT64_MAX;
  CHECK(OnnxLimits(limits).values > usual.values);
}

TEST_CASE("limits of the caller are told apart from what is wrong with a file") {
  OnnxLimits limits;
  limits.nodes = 1;
  llvm::Expected<OnnxModel> model =
      readOnnx(MappedFile::view("m.onnx", asBytes(sampleModel())), limits);
  llvm::Error error = model.takeError();
  CHECK(isOverLimit(error));
  llvm::consumeError(std::move(error));
  model = readOnnx(MappedFile::view("m.onnx", asBytes("x")), limits);
  error = model.takeError();
  CHECK(!isOverLimit(error));
  llvm::consumeError(std::move(error));
}

TEST_CASE("a file of a million empty messages meets a limit instead of filling the memory") {
  std::string many;
  for (int i = 0; i < 1'200'000; ++i)
    many += std::string("\x2a\x00", 2); // attribute ''
  WireWriter node = simpleNode("Op", {}, {}, "n").raw(many);
  CHECK(refusal(modelOf(WireWriter().message(1, node)).bytes) != "");
  WireWriter inputs;
  inputs.raw(many); // as fields of a graph these are initializers
  CHECK(ofGraph(inputs).find("has no data") != std::string::npos);
}
