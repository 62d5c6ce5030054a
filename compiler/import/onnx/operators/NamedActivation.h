//===- NamedActivation.h - Functions that an operator's attributes name ------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_NAMEDACTIVATION_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_NAMEDACTIVATION_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

/// "LeakyRelu" with its constants, as recurrent and fused operators say it.
struct NamedActivation {
  /// Takes from the front of both lists what the function needs; a default where a list is empty.
  static NamedActivation take(llvm::StringRef name, llvm::ArrayRef<double> &alphas,
                              llvm::ArrayRef<double> &betas);
  /// Refuses the node when there is no such function.
  mlir::Value apply(NodeImport &n, mlir::Value x) const;

  std::string name; ///< in small letters
  double alpha = 0, beta = 0;
};

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_NAMEDACTIVATION_H
