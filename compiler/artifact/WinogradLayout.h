//===- WinogradLayout.h - Filters of 3x3 convolutions, transformed while they are packed ----------------------------===//
//
// "winograd4<13>" of [filters, channels, 3, 3]: G w G^T for tiles of 4x4 results, 13 filters side by side:
// [group of filters][6 * 6][channel][13], the last group filled with zeros. Computed in double, rounded once.
//
//   if (auto layout = WinogradLayout::parse(text)) … layout->bytes(dims) … layout->pack(dims, source, write);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H
#define WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace weft {

struct WinogradLayout {
  int64_t m;    ///< results of a tile's side: 2 or 4
  int64_t rows; ///< filters side by side

  static std::optional<WinogradLayout> parse(llvm::StringRef text);
  uint64_t bytes(llvm::ArrayRef<int64_t> dims) const;
  /// Writes the packed filters group by group. `source`: f32, row-major.
  llvm::Error pack(llvm::ArrayRef<int64_t> dims, const char *source, llvm::function_ref<llvm::Error(llvm::StringRef)> write) const;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_WINOGRADLAYOUT_H
