//===- OnnxLayers.h - Where the layers of a program stand in its ONNX file --------------------===//
//
//   OnnxLayers inFile(draft, module, layers);
//   size_t at;
//   if (std::optional<std::string> why = inFile.find(layer, at)) …       // it cannot be written
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ONNXLAYERS_H
#define WEFT_COMPILER_QUANTIZE_ONNXLAYERS_H

#include "compiler/quantize/OnnxNodes.h"
#include "passes/quant/IntegerLayers.h"
#include "weft/compiler.hpp"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

namespace weft {

class OnnxLayers {
public:
  OnnxLayers(const OnnxDraft &draft, const Module &module, const std::vector<IntegerLayer> &layers);

  /// The position of a layer's node, or what it is or does that keeps it from being written.
  std::optional<std::string> find(const IntegerLayer &layer, size_t &at) const;
  /// Why what else reads the input cannot read it rounded: nodes of the file that do are those of
  /// the program's operators that do, unless nodes in between stand for nothing there.
  std::optional<std::string> otherReader(const IntegerLayer &layer, size_t at) const;
  /// Nodes that read a value and are no layers.
  std::vector<size_t> othersReading(const std::string &value) const;
  std::vector<float> weightOf(const IntegerLayer &layer) const;

  /// How many operators behind a layer its results have to be rounded for other engines to compute
  /// it in integers: behind an activation that they fuse, too, and behind a sum of bytes whose mean
  /// is read. Nothing for what they also compute without, and where all that reads a result, be it
  /// moved or pooled, are layers of `integers`, which round it.
  std::vector<unsigned> resultsToRound(const IntegerLayer &layer,
                                       const std::set<std::string> &integers) const;
  /// The value of the file that is computed so many operators behind a layer; empty where the node
  /// or what is behind it in resultNodes computes none there.
  std::string valueBehind(const IntegerLayer &layer, unsigned operators) const;
  /// Whether engines make a value of bytes where layers are in integers: a convolution, or the sum
  /// of two such, be it activated, moved or pooled.
  bool isOfBytes(const std::string &value) const;

private:
  std::optional<std::string> otherWeight(const OnnxDraftNode &node,
                                         const IntegerLayer &layer) const;
  std::optional<size_t> onlyReader(size_t at, llvm::ArrayRef<llvm::StringLiteral> types) const;
  std::vector<size_t> withActivation(size_t at) const;
  std::optional<size_t> sumOf(size_t at) const;
  std::vector<size_t> resultNodes(size_t at) const;
  bool isAveraged(const std::string &value) const;
  std::vector<size_t> readersOf(const std::string &value) const;
  bool isRoundedByLayers(const std::string &value, const std::set<std::string> &integers) const;

  const OnnxDraft &draft;
  const Module &module;
  llvm::SmallPtrSet<mlir::Operation *, 32> operations; ///< all layers
  std::set<std::string> names;                         ///< of their nodes
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ONNXLAYERS_H
