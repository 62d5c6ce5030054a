//===- Operators.h - Which ONNX operators are imported, and by what ---------------------------===//
//
// Each family file registers its operators with the opsets in which their meaning is the one it
// implements:
//
//   void addActivations(OperatorTable &table) {
//     table.add({"Elu", 6, kNewestOpset, convertElu});
//   }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_OPERATORS_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_OPERATORS_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

using Converter = void (*)(NodeImport &);

/// Versions above are not known, so nothing may be assumed about them.
constexpr int64_t kNewestOpset = 28;
/// Of the domain com.microsoft.
constexpr int64_t kNewestMicrosoftOpset = 1;

/// An operator between two versions of its operator set.
struct OnnxOperator {
  llvm::StringRef name;
  int64_t since, until; ///< both inclusive
  Converter convert;
  unsigned leastInputs = 1, mostInputs = 1, mostOutputs = 1;
  llvm::StringRef domain = ""; ///< of the operator set
  bool takesSequences = false; ///< its inputs may be sequences and optionals
};

constexpr unsigned kAnyNumber = ~0u;

class OperatorTable {
public:
  /// All operators: the standard operator set, and those of other domains that are known.
  static const OperatorTable &standard();

  void add(const OnnxOperator &entry) { entries[entry.name].push_back(entry); }
  /// Null when the operator is not imported at that version.
  const OnnxOperator *find(llvm::StringRef domain, llvm::StringRef name, int64_t opset) const;
  /// Every version of every operator, by name.
  std::vector<OnnxOperator> all() const;

private:
  llvm::StringMap<llvm::SmallVector<OnnxOperator, 2>> entries; ///< by name
};

//===-- Families, one file each ---------------------------------------------------------------===//

void addActivations(OperatorTable &table);
void addArithmetic(OperatorTable &table);
void addAttention(OperatorTable &table);
void addContractions(OperatorTable &table);
void addControl(OperatorTable &table);
void addConvolutions(OperatorTable &table);
void addCreation(OperatorTable &table);
void addDeterminant(OperatorTable &table);
void addEinsum(OperatorTable &table);
void addFused(OperatorTable &table);
void addFusedAttention(OperatorTable &table);
void addIndexing(OperatorTable &table);
void addLinearAttention(OperatorTable &table);
void addLogic(OperatorTable &table);
void addLosses(OperatorTable &table);
void addMoves(OperatorTable &table);
void addNormalizations(OperatorTable &table);
void addOrders(OperatorTable &table);
void addPools(OperatorTable &table);
void addQuantization(OperatorTable &table);
void addQuantizedOperators(OperatorTable &table);
void addQuantizedProducts(OperatorTable &table);
void addRandom(OperatorTable &table);
void addRecurrent(OperatorTable &table);
void addReductions(OperatorTable &table);
void addResampling(OperatorTable &table);
void addReshapes(OperatorTable &table);
void addSampling(OperatorTable &table);
void addScatters(OperatorTable &table);
void addSelections(OperatorTable &table);
void addSequences(OperatorTable &table);
void addSignals(OperatorTable &table);
void addSlices(OperatorTable &table);
void addUnique(OperatorTable &table);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_OPERATORS_H
