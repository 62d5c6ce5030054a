//===- Onnx.h - The ONNX front end ------------------------------------------------------------===//
//
//   Result<Module> module = importOnnx("model.onnx", {});
//   Result<std::vector<UnsupportedGroup>> missing = checkOnnx("model.onnx", {});   // all of them at once
//
// Shape arithmetic is folded while importing: what is left computes values.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_ONNX_H
#define WEFT_COMPILER_IMPORT_ONNX_ONNX_H

#include "dialects/weft/Weft.h"
#include "weft/compiler.hpp"

namespace weft {

struct OnnxImportOptions {
  std::vector<std::string>
      facts; ///< predicates about symbols that the caller promises: "seq <= 512"
  std::vector<InputConstant> constants; ///< contents of inputs, which then are none
  std::vector<OperatorFile> operators;  ///< functions for operators
  Limits limits;
  /// Told of the main graph's inputs and values as they get types: also of a model that is refused
  /// further on. Later types of one name are better.
  std::function<void(const std::string &name, SymTensorType type)> onValue;
};

/// Nodes of one operator that are refused for one reason; an empty reason: the operator is not supported at all.
struct UnsupportedGroup {
  std::string domain, op;
  int64_t opset = 0;
  uint64_t count = 0;
  std::vector<std::string> firstNodes; ///< at most 3
  std::string reason;
};

/// What to do about an operator that is not supported; empty for one of ONNX's own.
std::string operatorHint(const std::string &domain, const std::string &op);

/// Reads, checks and imports a model. Refuses with one diagnostic per kind of problem.
Result<Module> importOnnx(const std::string &path, const OnnxImportOptions &options);

/// Every group of nodes that importOnnx refuses; empty when it refuses none.
Result<std::vector<UnsupportedGroup>> checkOnnx(const std::string &path,
                                                const OnnxImportOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_ONNX_H
