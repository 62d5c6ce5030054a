//===- WinogradLayout.h - Filters of 3x3 convolutions, transformed while they are packed ----------------------------===//
//
// "winograd4<13>" of [filters, channels, 3, 3]: G w G^T for tiles of 4x4 results, 13 filters side by side:
// [group of filters][6 * 6][channel][13], the last group filled with zeros. Computed in double, rounded once.
//
//   std::unique_ptr<WeightLayout> layout = WeightLayout::named("winograd4<13>");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H
#define WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H

#include "compiler/artifact/WeightLayout.h"

namespace weft {

class WinogradLayout : public WeightLayout {
public:
  explicit WinogradLayout(llvm::StringRef name);
  uint64_t bytes(SymTensorType type) const override;
  /// Group by group.
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  int64_t m = 0;    ///< results of a tile's side: 2 or 4
  int64_t rows = 1; ///< filters side by side
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H
