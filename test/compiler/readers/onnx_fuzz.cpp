// Any bytes: the ONNX reader gives an error of one line, or a model whose parts and tensors can all
// be read.
#include "compiler/import/readers/OnnxReader.h"
#include "compiler/import/readers/OnnxTensorData.h"
#include "test/compiler/readers/FuzzTarget.h"
#include "test/compiler/readers/SampleFiles.h"

using namespace weft;

std::vector<std::string> weft::fuzzSeeds() {
  WireWriter node = simpleNode("If", {"c"}, {"y"}, "if");
  node.message(5, attributeOf("then_branch", 5).message(6, sampleGraph()));
  return {sampleModel(), modelOf(WireWriter().message(1, node)).bytes, modelOf(WireWriter()).bytes};
}

static void checkText(const OnnxModel &model, llvm::StringRef text) {
  if (!text.empty())
    fuzzRequire(model.file->contains(llvm::ArrayRef<char>(text.data(), text.size())),
                "names point into the file");
}

static void checkTensor(const OnnxModel &model, const OnnxTensor &tensor) {
  checkText(model, tensor.name);
  OnnxTensorData reader(model);
  if (tensor.elementType == OnnxElementType::String) {
    if (auto strings = reader.readStrings(tensor)) {
      fuzzRequire(strings->size() == elementCount(tensor.dims), "strings agree with the shape");
      for (llvm::StringRef text : *strings)
        checkText(model, text);
    } else {
      llvm::consumeError(strings.takeError());
    }
    return;
  }
  auto data = reader.read(tensor);
  if (!data) {
    fuzzCheckError(llvm::toString(data.takeError()), "m");
    return;
  }
  auto needed = rawByteCount(tensor.elementType, *elementCount(tensor.dims));
  fuzzRequire(needed && data->bytes.size() == *needed, "bytes agree with type and shape");
  fuzzRequire(!data->file || data->file->contains(data->bytes), "bytes lie in their file");
  fuzzRequire(bool(data->file) != bool(data->owned), "bytes are either mapped or owned");
  unsigned sum = 0;
  for (char byte : data->bytes)
    sum += static_cast<unsigned char>(byte);
  fuzzRequire(sum <= 255 * data->bytes.size(), "every byte can be read");
}

static void checkGraph(const OnnxModel &model, const OnnxGraph &graph);

static void checkNode(const OnnxModel &model, const OnnxNode &node) {
  checkText(model, node.opType);
  fuzzRequire(!node.opType.empty(), "a node names its operator");
  fuzzRequire(node.fileOffset < model.file->size(), "a node lies in the file");
  for (llvm::StringRef input : node.inputs)
    checkText(model, input);
  for (const OnnxAttribute &attribute : node.attributes) {
    checkText(model, attribute.s);
    fuzzRequire(node.attribute(attribute.name) == &attribute, "attribute names are distinct");
    for (const OnnxTensor &tensor : attribute.tensors)
      checkTensor(model, tensor);
    for (const OnnxGraph &graph : attribute.graphs)
      checkGraph(model, graph);
    for (const OnnxSparseTensor &sparse : attribute.sparseTensors)
      checkTensor(model, sparse.values);
  }
}

static void checkGraph(const OnnxModel &model, const OnnxGraph &graph) {
  for (const OnnxNode &node : graph.nodes)
    checkNode(model, node);
  for (const OnnxTensor &tensor : graph.initializers)
    checkTensor(model, tensor);
  for (const OnnxValueInfo &info : graph.inputs)
    for (const OnnxDim &dim : info.type.dims)
      fuzzRequire(dim.value >= 0, "declared sizes are not negative");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  auto model = readOnnx(MappedFile::view("m", bytes));
  if (!model) {
    fuzzCheckError(llvm::toString(model.takeError()), "m");
    return 0;
  }
  ++fuzzAccepted;
  checkGraph(*model, model->graph);
  for (const OnnxFunction &function : model->functions)
    for (const OnnxNode &node : function.nodes)
      checkNode(*model, node);
  return 0;
}
