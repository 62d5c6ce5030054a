//===- Evaluate.h - The reference evaluator: operator by operator, in double and integers -----===//
//
//   EvaluateOptions options;
//   options.weight = [&](StringRef name) { return impl.weightBytes(name); };
//   auto results = evaluateFunction(function, inputs, options);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_EVALUATE_H
#define WEFT_COMPILER_EVAL_EVALUATE_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Error.h"

namespace weft {

/// What ranks sent to each other along some axes of their mesh.
struct Traffic {
  std::string axes; ///< "tp", or "dp, tp" for groups along both
  std::vector<Sent> ranks;
};

struct EvaluateOptions {
  std::function<const char *(llvm::StringRef)> weight;
  /// Sees every operation's results as they are computed, those of the first rank.
  std::function<void(mlir::Operation *, llvm::ArrayRef<RefTensor>)> observe;
  /// What ranks sent, when somebody wants to know; in the order in which axes are met.
  std::vector<Traffic> *traffic = nullptr;
};

/// Checks the inputs as a call does, binds symbols and evaluates a function of the graph or of the
/// plan. One with a mesh is evaluated on all ranks in lockstep; each gets the inputs, and gives the
/// same results. The error names the node that failed.
llvm::Expected<std::vector<RefTensor>> evaluateFunction(mlir::FunctionOpInterface function,
                                                        llvm::ArrayRef<RefTensor> inputs,
                                                        const EvaluateOptions &options);

/// A function of the graph with the values of its symbols, such as a kernel's specification.
/// Nothing is checked.
llvm::Expected<std::vector<RefTensor>> evaluateBody(mlir::func::FuncOp function,
                                                    std::vector<RefTensor> inputs,
                                                    const SymValues &symbols,
                                                    const EvaluateOptions &options);

} // namespace weft

#endif
