// Any bytes: the ONNX reader gives an error of one line, or a model whose parts and tensors can all
// be read.
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "test/compiler/readers/SampleFiles.h"
#include "test/fuzz/ModelText.h"
#include "test/fuzz/Target.h"

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return onnxFormat(); }

/// The models of model_fuzz, and messages that no operator needs.
std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  WireWriter node = simpleNode("If", {"c"}, {"y"}, "if");
  node.message(5, attributeOf("then_branch", 5).message(6, sampleGraph()));
  std::vector<std::string> seeds = modelsOf(corpus);
  seeds.push_back(sampleModel());
  seeds.push_back(modelOf(WireWriter().message(1, node)).bytes);
  seeds.push_back(modelOf(WireWriter()).bytes);
  return seeds;
}

static void checkText(const OnnxModel &model, llvm::StringRef text) {
  if (!text.empty())
    require(model.file->contains(llvm::ArrayRef<char>(text.data(), text.size())),
            "names point into the file");
}

static void checkTensor(const OnnxModel &model, const OnnxTensor &tensor) {
  checkText(model, tensor.name);
  OnnxTensorData reader(model);
  if (tensor.elementType == OnnxElementType::String) {
    if (auto strings = reader.readStrings(tensor)) {
      require(strings->size() == elementCount(tensor.dims), "strings agree with the shape");
      for (llvm::StringRef text : *strings)
        checkText(model, text);
    } else {
      llvm::consumeError(strings.takeError());
    }
    return;
  }
  auto data = reader.read(tensor);
  if (!data) {
    requireError(llvm::toString(data.takeError()), "m");
    return;
  }
  auto needed = rawByteCount(tensor.elementType, *elementCount(tensor.dims));
  require(needed && data->bytes.size() == *needed, "bytes agree with type and shape");
  require(!data->file || data->file->contains(data->bytes), "bytes lie in their file");
  require(bool(data->file) != bool(data->owned), "bytes are either mapped or owned");
  unsigned sum = 0;
  for (char byte : data->bytes)
    sum += static_cast<unsigned char>(byte);
  require(sum <= 255 * data->bytes.size(), "every byte can be read");
}

static void checkGraph(const OnnxModel &model, const OnnxGraph &graph);

static void checkNode(const OnnxModel &model, const OnnxNode &node) {
  checkText(model, node.opType);
  require(!node.opType.empty(), "a node names its operator");
  require(node.fileOffset < model.file->size(), "a node lies in the file");
  for (llvm::StringRef input : node.inputs)
    checkText(model, input);
  for (const OnnxAttribute &attribute : node.attributes) {
    checkText(model, attribute.s);
    require(node.attribute(attribute.name) == &attribute, "attribute names are distinct");
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
      require(dim.value >= 0, "declared sizes are not negative");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  auto model = readOnnx(MappedFile::view("m", bytes));
  if (!model) {
    requireError(llvm::toString(model.takeError()), "m");
    return 0;
  }
  ++fuzz::accepted;
  checkGraph(*model, model->graph);
  for (const OnnxFunction &function : model->functions)
    for (const OnnxNode &node : function.nodes)
      checkNode(*model, node);
  return 0;
}
