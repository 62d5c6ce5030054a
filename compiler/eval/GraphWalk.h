//===- GraphWalk.h - Operations of a graph in order, on all ranks in lockstep -----------------===//
//
//   GraphWalk walk(function, {values of symbols, by rank}, options);
//   walk.set(argument, rank, tensor);
//   if (llvm::Error error = walk.run(body, walk.all())) …
//
// Ranks that come to an operation together are a list. Where a condition differs between ranks the
// list is split; verified programs have no collective there.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_GRAPHWALK_H
#define WEFT_COMPILER_EVAL_GRAPHWALK_H

#include "compiler/eval/CallSymbols.h"
#include "compiler/eval/ExchangeRanks.h"

namespace weft {

class GraphWalk {
public:
  using Tensor = std::shared_ptr<RefTensor>;
  using Ranks = llvm::SmallVector<unsigned>;

  GraphWalk(mlir::func::FuncOp function, std::vector<SymValues> symbols,
            const EvaluateOptions &options);

  Ranks all() const;
  void set(mlir::Value value, unsigned rank, Tensor tensor) {
    states[rank].values[value] = std::move(tensor);
  }
  Tensor get(mlir::Value value, unsigned rank) const { return states[rank].values.lookup(value); }
  llvm::Error run(mlir::Block &block, const Ranks &ranks);

private:
  /// What one rank knows.
  struct State {
    explicit State(CallSymbols symbols) : symbols(std::move(symbols)) {}
    llvm::DenseMap<mlir::Value, Tensor> values;
    CallSymbols symbols;
  };
  /// A loop as one rank runs it.
  struct Turns {
    int64_t most, count = 0;
    bool goOn;
    std::vector<Tensor> carried;
    std::vector<std::vector<Tensor>> stacks;
  };

  llvm::Error evaluate(mlir::Operation &op, const Ranks &ranks);
  llvm::Error evaluateOn(mlir::Operation &op, unsigned rank);
  llvm::Error evaluateByReference(mlir::Operation &op, unsigned rank);
  llvm::Error evaluateKernel(KernelOp kernel, const Ranks &ranks);
  llvm::Error evaluateIf(IfOp branch, const Ranks &ranks);
  llvm::Error evaluateLoop(LoopOp loop, const Ranks &ranks);
  llvm::Expected<Turns> beginLoop(LoopOp loop, State &state);
  llvm::Error beginTurn(LoopOp loop, State &state, const Turns &turns);
  void endTurn(LoopOp loop, State &state, Turns &turns);
  llvm::Error endLoop(LoopOp loop, State &state, Turns &turns);
  llvm::Error evaluateTogether(CollectiveOpInterface op, const Ranks &ranks);
  void forget(mlir::Operation &op, const Ranks &ranks);

  std::vector<State> states; ///< by rank
  const EvaluateOptions &options;
  ExchangeRanks exchange;
};

} // namespace weft

#endif // WEFT_COMPILER_EVAL_GRAPHWALK_H
