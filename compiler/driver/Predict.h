//===- Predict.h - How long a program would take on a machine ---------------------------------------===//
//
//   Result<Prediction> prediction = predict(module, options, {machine, {{"seq", 128}}, /*threads=*/1});
//
// The plan says which kernels are called with which sizes, their schedules what that makes a core do, and the machine's data
// (compiler/machine) how long it takes. Nothing is compiled or run.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PREDICT_H
#define WEFT_COMPILER_DRIVER_PREDICT_H

#include "compiler/machine/MachineData.h"
#include "mlir/IR/BuiltinOps.h"
#include "weft/compiler.hpp"

namespace weft {

struct PredictionRequest {
  MachineData machine;
  std::map<std::string, int64_t> sizes; ///< of the signature's symbols
  int64_t threads = 1;
  std::string function; ///< empty: the only one, or main
};

/// All calls of a kernel.
struct PredictedKernel {
  std::string symbol, schedule, unit, loops;
  std::vector<std::string> nodes; ///< of the first call
  uint64_t calls = 0;
  double multiplyAdds = 0, operations = 0, bytes = 0;
  double nanoseconds = 0;
  TimeLimit limit = TimeLimit::Compute; ///< of the first call
};

struct Prediction {
  std::string target, function;
  std::vector<PredictedKernel> kernels; ///< those that take longest first
  double nanoseconds = 0;
  unsigned unknown = 0;  ///< calls whose sizes only data decide: they are not in it
  unsigned repeated = 0; ///< calls that data decide the number of, counted once
};

Result<Prediction> predict(const Module &module, const CompileOptions &options,
                           const PredictionRequest &request);

/// Shows the plan of the model for the best target; it goes when `read` returns.
Result<void> readPlan(const Module &module, const CompileOptions &options,
                      llvm::function_ref<void(mlir::ModuleOp plan)> read);
/// Of a plan. An error says in one line what cannot be priced.
llvm::Expected<Prediction> predictPlan(mlir::ModuleOp plan, const PredictionRequest &request);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PREDICT_H
