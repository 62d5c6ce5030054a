//===- WeightPacker.h - Packs weights as kernels want them to lie -----------------------------------===//
//
//   std::unique_ptr<WeightPacker> packer = WeightPacker::of(*WeightLayout::parse("panels_t<32>"));
//   packer->pack(type, bytes, [&](StringRef piece) { return stream.write(piece); });
//
// The writer packs a weight while it copies it from its file, so that no weight is ever whole in memory.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WEIGHTPACKER_H
#define WEFT_COMPILER_ARTIFACT_WEIGHTPACKER_H

#include "dialects/plan/WeightLayout.h"
#include "dialects/weft/Weft.h"
#include "dialects/weft/types/FloatFormat.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace weft {

class WeightPacker {
public:
  using Write = llvm::function_ref<llvm::Error(llvm::StringRef)>;

  /// For any layout but rows.
  static std::unique_ptr<WeightPacker> of(const WeightLayout &layout);

  virtual ~WeightPacker() = default;
  /// Of a packed weight of this type.
  virtual uint64_t bytes(SymTensorType type) const = 0;
  /// Panel by panel.
  virtual llvm::Error pack(SymTensorType type, const char *bytes, Write write) const = 0;
};

/// Sizes of a weight as [k, n], or as [n, k] where k may be several dimensions.
struct MatrixSize {
  int64_t depth, width;
  static MatrixSize of(SymTensorType type, WeightLayout::Order order);
};

/// What f32 of such a weight are rounded to before they are packed as f32; null: they stay as they are.
const FloatFormat *roundingOf(const WeightLayout &layout, SymTensorType type);

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_WEIGHTPACKER_H
