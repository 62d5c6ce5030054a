//===- Constants.h - Tensors of the file as constants and weights -----------------------------===//
//
// Small tensors become constants in the program. Large ones stay where they lie: a `weft.weight`
// names their bytes in the mapped file, and equal ranges are one weight.
//
//   llvm::Expected<Value> w = constants.create(state, tensor, "w");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONSTANTS_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONSTANTS_H

#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/graph/GraphBuilder.h"
#include "compiler/model/ModuleImpl.h"
#include "llvm/Support/Path.h"

namespace weft::onnx {

class Constants {
public:
  Constants(const OnnxModel &model, Module::Impl &impl, mlir::ModuleOp module)
      : data(model), folder(llvm::sys::path::parent_path(model.file->path())), impl(impl),
        module(module), symbols(module) {}

  /// At the builder's position. `name` is for a weight. Fails when the element type is not supported
  /// or the data cannot be read.
  llvm::Expected<Value> create(BuildState &state, const OnnxTensor &tensor, llvm::StringRef name);
  /// The same for contents that do not lie in the file.
  llvm::Expected<Value> create(BuildState &state, const OnnxTensor &tensor,
                               const TensorBytes &bytes, llvm::StringRef name);

  /// The bytes of a constant as elements of another type; as many bytes. Null when it is no constant.
  Value reinterpret(BuildState &state, Value constant, SymTensorType type);

private:
  static llvm::Expected<SymTensorType> typeOf(mlir::MLIRContext *context, const OnnxTensor &tensor);
  Value createWeight(BuildState &state, llvm::StringRef wish, SymTensorType type,
                     const TensorBytes &bytes);
  Value nameWeight(BuildState &state, llvm::StringRef wish, SymTensorType type,
                   const std::string &file, uint64_t offset, uint64_t size);
  std::string fileOf(llvm::StringRef tensorName, const TensorBytes &bytes, uint64_t &offset);

  OnnxTensorData data;
  std::string folder; ///< of the model
  Module::Impl &impl;
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  mlir::Operation *last = nullptr; ///< weight
  std::map<std::tuple<std::string, uint64_t, const void *>, std::string> names;
};

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONSTANTS_H
