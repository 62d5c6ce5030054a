//===- FoldFactors.h - Channels are divided where they are made -------------------------------===//
//
//   before   y = Conv(x, w, b) ; z = Relu(y) ; Mul(z, 1 / factors)
//   after    y = Conv(x, w / factors, b / factors) ; z = Relu(y)
//
// Other engines fuse a convolution with what rounds its result, but not with a multiplication
// between. What stands between a value and what makes its channels has to commute with positive
// factors, and nothing else may read it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_FOLDFACTORS_H
#define WEFT_COMPILER_QUANTIZE_FOLDFACTORS_H

#include "compiler/quantize/OnnxNodes.h"

namespace weft {

/// A dimension of a value; the rank where it is known.
struct OnnxChannel {
  std::string value;
  int64_t axis;
  std::optional<int64_t> rank;
};

class FactorFold {
public:
  /// By name of a node that is written in integers, whether its columns may have any scales.
  FactorFold(OnnxDraft &draft, OnnxConstants &constants, std::map<std::string, bool> integers)
      : draft(draft), constants(constants), integers(std::move(integers)) {}

  /// Divides the channels where they are made. False where they are not made by constants, and
  /// everything stays as it was.
  bool fold(OnnxChannel channel, llvm::ArrayRef<float> factors);
  /// Whether so many could be divided, by whatever factors.
  bool canFold(OnnxChannel channel, size_t channels);
  /// Of a node that is written in integers: what the scales of its columns are divided by, or
  /// nothing.
  llvm::ArrayRef<float> columnsOf(const std::string &node) const;

private:
  /// A constant along one of whose dimensions channels lie.
  struct Part {
    unsigned input;
    int64_t dim; ///< counted from the last one where it is negative
    bool isInverse = false;
  };
  struct Edit {
    size_t node;
    unsigned input;
    FloatTensor tensor;
  };
  bool plan(OnnxChannel channel, llvm::ArrayRef<float> divisors);
  std::optional<std::vector<Part>> partsOf(const OnnxNode &node, const OnnxChannel &channel) const;
  std::optional<OnnxChannel> through(const OnnxNode &node, const OnnxChannel &channel) const;
  bool divide(size_t node, const Part &part);
  bool addendAt(size_t node, const OnnxChannel &channel);
  std::optional<size_t> makerOf(const std::string &value) const;
  bool isReadOnce(const std::string &value) const;
  void apply();

  OnnxDraft &draft;
  OnnxConstants &constants;
  const std::map<std::string, bool> integers;
  std::map<std::string, std::vector<float>> columns;
  llvm::ArrayRef<float> factors; ///< that are folded now
  std::vector<Edit> edits;       ///< for these
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_FOLDFACTORS_H
