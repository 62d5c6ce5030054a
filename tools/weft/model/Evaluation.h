//===- Evaluation.h - A model's answers from the reference evaluator --------------------------===//
//
//   Result<std::vector<NamedTensor>> outputs = evaluateModel(module, function, inputs);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MODEL_EVALUATION_H
#define WEFT_TOOLS_WEFT_MODEL_EVALUATION_H

#include "compiler/eval/Evaluate.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/TensorFile.h"
#include "weft/compiler.hpp"

#include <functional>

namespace weft::cli {

using ObserveValues = std::function<void(mlir::Operation *, llvm::ArrayRef<RefTensor>)>;

/// All outputs in their element types. `observe` sees what every operation of a graph computes;
/// `traffic` gets what ranks sent to each other.
Result<std::vector<NamedTensor>>
evaluateModel(const Module &module, mlir::FunctionOpInterface function, const Inputs &inputs,
              const ObserveValues &observe = {}, std::vector<Traffic> *traffic = nullptr);

/// The values rounded to the tensor's element type.
Result<HostTensor> toHostTensor(const RefTensor &tensor);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_MODEL_EVALUATION_H
