//===- EvaluatePlan.h - The reference evaluator on what stands behind kernels -----------------===//
//
// A launch evaluates its kernel's specification on the tensors in its buffers. Memory is bytes that
// lie where the plan places them (PlanBuffers.h), so that a wrong plan gives what it would give on
// a machine, or an error: bytes that nothing wrote, or that another launch wrote over, are not
// read.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_EVALUATEPLAN_H
#define WEFT_COMPILER_EVAL_EVALUATEPLAN_H

#include "compiler/eval/Evaluate.h"
#include "dialects/plan/Plan.h"

namespace weft {

/// Of every rank, in the order of arguments.
using RankInputs = std::vector<std::vector<std::shared_ptr<RefTensor>>>;

/// With the symbols of the signature on every rank, which gives results by rank. Values are not
/// observed.
llvm::Expected<std::vector<std::vector<RefTensor>>> evaluatePlan(plan::FuncOp function,
                                                                 const RankInputs &inputs,
                                                                 std::vector<SymValues> symbols,
                                                                 const EvaluateOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_EVAL_EVALUATEPLAN_H
