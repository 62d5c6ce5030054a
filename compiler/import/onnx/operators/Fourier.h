//===- Fourier.h - Discrete Fourier transforms ------------------------------------------------===//

#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_FOURIER_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_FOURIER_H

#include "compiler/import/onnx/operators/Operators.h"

namespace weft::onnx {

constexpr double kTurn = 6.283185307179586476925;

struct Transform {
  SymExpr length; ///< of a whole period
  bool inverse = false, oneSided = false;
};

/// x [.., t, parts] as [.., k, parts]: parts are 1 for real numbers and 2 for complex ones.
mlir::Value transformLast(NodeImport &n, mlir::Value x, const Transform &t);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_FOURIER_H
