//===- ExchangeRanks.h - Collectives, with the values of all ranks beside each other ----------===//
//
//   ExchangeRanks exchange(mesh, options);
//   exchange.run(collective, ranks, {read, symbols, write});
//
// Whoever walks a program says where a rank's operand is and where its result goes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_EXCHANGERANKS_H
#define WEFT_COMPILER_EVAL_EXCHANGERANKS_H

#include "compiler/eval/Evaluate.h"
#include "dialects/weft/Mesh.h"

namespace weft {

struct RankAccess {
  llvm::function_ref<llvm::Expected<std::shared_ptr<RefTensor>>(unsigned rank)> read;
  llvm::function_ref<const SymValues &(unsigned rank)> symbols;
  llvm::function_ref<llvm::Error(unsigned rank, RefTensor result)> write;
};

class ExchangeRanks {
public:
  ExchangeRanks(MeshAttr mesh, const EvaluateOptions &options) : mesh(mesh), options(options) {}

  /// In every group of which some of `ranks` are; all of them must be.
  llvm::Error run(CollectiveOpInterface op, llvm::ArrayRef<unsigned> ranks,
                  const RankAccess &access);

private:
  llvm::Error runIn(CollectiveOpInterface op, llvm::ArrayRef<int64_t> members,
                    const RankAccess &access, std::vector<Sent> &sent);
  std::vector<Sent> &trafficOf(MeshAttr group);

  MeshAttr mesh;
  const EvaluateOptions &options;
  std::vector<Traffic> uncounted; ///< where nobody wants to know
};

} // namespace weft

#endif // WEFT_COMPILER_EVAL_EXCHANGERANKS_H
