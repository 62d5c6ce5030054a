//===- ProductWalk.h - How a product walks over its operands and its result -----------------------------===//
#ifndef WEFT_PASSES_GRAPH_PRODUCTWALK_H
#define WEFT_PASSES_GRAPH_PRODUCTWALK_H

#include "dialects/weft/Weft.h"

namespace weft {

inline bool allPoints(llvm::ArrayRef<Access> accesses) {
  return llvm::all_of(accesses,
                      [](const Access &access) { return access.kind == AccessKind::Point; });
}

/// The rule of a product, dimension by dimension, as a list of factors per tensor.
struct ProductWalk {
  llvm::SmallVector<unsigned> lhs, rhs, result;

  /// Nothing when a dimension is anything but a factor. Rules with `...` stay as they are: what they leave open may be merged later.
  static std::optional<ProductWalk> of(ContractOp op) {
    IterationRule rule = IterationRule::of(op);
    if (rule.hasEllipsis() || !allPoints(rule.operand(0)) || !allPoints(rule.operand(1)) ||
        !allPoints(rule.result(0)))
      return std::nullopt;
    auto factors = [](llvm::ArrayRef<Access> accesses) {
      return llvm::map_to_vector(accesses, [](const Access &a) { return a.factor(); });
    };
    return ProductWalk{factors(rule.operand(0)), factors(rule.operand(1)), factors(rule.result(0))};
  }

  std::string text() const {
    auto names = [](llvm::ArrayRef<unsigned> factors) {
      std::string text;
      for (unsigned factor : factors)
        text += (text.empty() ? "d" : " d") + std::to_string(factor);
      return text;
    };
    return names(lhs) + ", " + names(rhs) + " -> " + names(result);
  }
};

} // namespace weft

#endif // WEFT_PASSES_GRAPH_PRODUCTWALK_H
