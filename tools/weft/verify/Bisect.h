//===- Bisect.h - The first operator whose compiled value differs from the evaluator's --------===//
//
//   Bisection bisection(module, function, inputs, tolerance);
//   evaluateModel(module, function, inputs, bisection.observer());
//   Result<std::optional<Difference>> first = bisection.run(options, folder, guard, progress);
//
// A prefix of the program is compiled so that it returns what the rest would read from it. When
// one of these values differs, the fault lies in the prefix; halving finds the shortest one. Up to
// its end a prefix is fused as the whole program is.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERIFY_BISECT_H
#define WEFT_TOOLS_WEFT_VERIFY_BISECT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/weft/cli/Compare.h"
#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/model/Evaluation.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace weft::cli {

struct Difference {
  std::string node, operation; ///< "/encoder/MatMul", "weft.contract"
  size_t position, operators;  ///< the operator is the position-th, from 1, of so many
  uint32_t element;
  std::vector<int64_t> dims;
  std::string trouble; ///< "its shape is …" when there is nothing to compare
  Comparison comparison;
};

class Bisection {
public:
  using Progress = std::function<void(const std::string &line)>;

  /// All must outlive this. `tolerance` as compareTensors takes it.
  Bisection(const Module &module, mlir::func::FuncOp function, const Inputs &inputs,
            double tolerance);

  /// Keeps what an evaluation computes; without one, nothing can be compared.
  ObserveValues observer();

  /// Who computes the prefixes. Of a program for ranks, what the first one computes is compared.
  void runOn(Caller wanted) { caller = std::move(wanted); }
  /// Nothing when the program as compiled here does not differ. The function's results are changed.
  Result<std::optional<Difference>> run(const CompileOptions &options,
                                        const TemporaryFolder &folder, InterruptGuard &guard,
                                        const Progress &progress);

private:
  std::vector<mlir::Value> liveAfter(size_t prefix) const;
  void returnValues(llvm::ArrayRef<mlir::Value> values);
  Result<std::optional<Difference>> firstWrong(size_t prefix);
  Result<std::optional<Difference>> compare(llvm::ArrayRef<mlir::Value> values);
  std::optional<Difference> difference(mlir::Value value, const HostTensor &got) const;
  const HostTensor *expected(mlir::Value value) const;

  const Module &module;
  mlir::func::FuncOp function;
  const Inputs &inputs;
  double tolerance;
  std::vector<mlir::Operation *> operators; ///< that compute something, in program order
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  llvm::DenseMap<mlir::Operation *, std::vector<HostTensor>> observed;
  std::optional<Failure> trouble; ///< of the observer

  CompileOptions options;
  const TemporaryFolder *folder = nullptr;
  InterruptGuard *guard = nullptr;
  Caller caller;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERIFY_BISECT_H
