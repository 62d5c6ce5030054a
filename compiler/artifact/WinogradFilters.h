//===- WinogradFilters.h - Filters of 3x3 convolutions, transformed while they are packed ----------------------------===//
//
// "winograd4<13>" of [filters, channels, 3, 3]: G w G^T for tiles of 4x4 results, 13 filters side by side:
// [group of filters][6 * 6][channel][13], the last group filled with zeros. Computed in double, rounded to f32 once, whatever the floats.
// "winograd4_of_bf16<13>" of f32: these are rounded to bf16 first.
// "winograd4_i16<32>" of bytes: G without fractions, which is exact; [group][6 * 6][two channels][32][2], an odd channel beside zeros.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WINOGRADFILTERS_H
#define WEFT_COMPILER_ARTIFACT_WINOGRADFILTERS_H

#include "compiler/artifact/WeightPacker.h"

namespace weft {

class WinogradPacker : public WeightPacker {
public:
  explicit WinogradPacker(const WeightLayout &layout)
      : layout(layout), m(layout.tile), columns(layout.columns),
        integers(layout.form == WeightLayout::I16) {}
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  static constexpr int64_t kWordBytes = 4;
  /// Of a filter's channels: a float, or two integers.
  int64_t words(int64_t channels) const {
    return integers ? llvm::divideCeil(channels, 2) : channels;
  }
  /// `decode` makes a real of a tap.
  template <typename T, typename Tap, typename Decode>
  llvm::Error packPanels(SymTensorType type, const char *source, const double (*g)[3],
                         Decode decode, Write write) const;

  const WeightLayout layout;
  const int64_t m;       ///< results of a tile's side
  const int64_t columns; ///< filters side by side
  const bool integers;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_WINOGRADFILTERS_H
