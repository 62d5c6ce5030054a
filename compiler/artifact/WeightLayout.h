//===- WeightLayout.h - How kernels want weights to lie -------------------------------------------===//
//
//   std::unique_ptr<WeightLayout> layout = WeightLayout::named("panels_t<32>");
//   layout->pack(type, bytes, [&](StringRef piece) { return stream.write(piece); });
//
// Schedules name layouts; the writer packs a weight while it copies it from its file, so that no weight is ever whole in memory.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WEIGHTLAYOUT_H
#define WEFT_COMPILER_ARTIFACT_WEIGHTLAYOUT_H

#include "dialects/weft/Weft.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace weft {

class WeightLayout {
public:
  using Write = llvm::function_ref<llvm::Error(llvm::StringRef)>;

  /// Every name that a schedule gives is one of these.
  static std::unique_ptr<WeightLayout> named(llvm::StringRef name);

  virtual ~WeightLayout() = default;
  /// Of a packed weight of this type.
  virtual uint64_t bytes(SymTensorType type) const = 0;
  virtual llvm::Error pack(SymTensorType type, const char *bytes, Write write) const = 0;
};

/// Sizes of a weight as [k, n], or as [n, k] where k may be several dimensions.
struct MatrixSize {
  int64_t depth, width;
  static MatrixSize of(SymTensorType type, bool transposed);
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_WEIGHTLAYOUT_H
