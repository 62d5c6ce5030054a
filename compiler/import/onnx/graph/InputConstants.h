//===- InputConstants.h - Contents that the caller gives to inputs of a model -----------------===//
//
// Axes, shapes and scales often are inputs of a model although they never change. Given their
// contents, they become constants of the program and leave its signature.
//
//   llvm::Expected<GivenConstants> given = readInputConstants(model, options.constants);
//   if (const GivenConstant *constant = given->find("axes")) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_INPUTCONSTANTS_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_INPUTCONSTANTS_H

#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/graph/Contract.h"
#include "weft/compiler.hpp"
#include <map>

namespace weft::onnx {

struct GivenConstant {
  OnnxTensor tensor; ///< name, element type and dimensions; the contents are in `bytes`
  TensorBytes bytes; ///< as raw_data has them
};

class GivenConstants {
public:
  /// Null when the input of that name has no given contents.
  const GivenConstant *find(llvm::StringRef name) const;
  void add(GivenConstant constant) {
    byName.emplace(constant.tensor.name.str(), std::move(constant));
  }

private:
  std::map<std::string, GivenConstant> byName;
};

/// Refuses names that are no input of the graph or occur twice, and contents of another element type
/// or shape than the input's.
llvm::Expected<GivenConstants> readInputConstants(mlir::MLIRContext *context,
                                                  const OnnxModel &model,
                                                  llvm::ArrayRef<InputConstant> constants);

/// Requires the dimensions that `input` declares to be those of its contents. False when they cannot
/// be.
bool requireShape(const OnnxValueInfo &input, const GivenConstant &constant, Contract &contract);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_INPUTCONSTANTS_H
