//===- Operators.cpp - The table of ONNX operators --------------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

namespace weft::onnx {

const OperatorTable &OperatorTable::standard() {
  static const OperatorTable table = [] {
    OperatorTable result;
    for (auto add : {
             addActivations,
             addArithmetic,
             addAttention,
             addContractions,
             addControl,
             addConvolutions,
             addCreation,
             addDeterminant,
             addEinsum,
             addFused,
             addFusedAttention,
             addIndexing,
             addLinearAttention,
             addLogic,
             addLosses,
             addMoves,
             addNormalizations,
             addOrders,
             addPools,
             addQuantization,
             addQuantizedOperators,
             addQuantizedProducts,
             addRandom,
             addRecurrent,
             addReductions,
             addResampling,
             addReshapes,
             addSampling,
             addScatters,
             addSelections,
             addSequences,
             addSignals,
             addSlices,
             addUnique,
         })
      add(result);
    return result;
  }();
  return table;
}

const OnnxOperator *OperatorTable::find(llvm::StringRef domain, llvm::StringRef name,
                                        int64_t opset) const {
  auto found = entries.find(name);
  if (found == entries.end())
    return nullptr;
  for (const OnnxOperator &entry : found->second)
    if (entry.domain == domain && entry.since <= opset && opset <= entry.until)
      return &entry;
  return nullptr;
}

std::vector<OnnxOperator> OperatorTable::all() const {
  std::map<llvm::StringRef, llvm::ArrayRef<OnnxOperator>> sorted;
  for (const auto &each : entries)
    sorted[each.getKey()] = each.getValue();
  std::vector<OnnxOperator> list;
  for (const auto &[name, versions] : sorted)
    list.insert(list.end(), versions.begin(), versions.end());
  return list;
}

} // namespace weft::onnx
