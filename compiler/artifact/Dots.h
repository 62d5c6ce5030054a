//===- Dots.h - Bytes of a weight whose products one instruction adds up -----------------------------===//
//
// Of [k, n], or of a filter [n, c, taps…]: panels of bytes [n / columns][run][group][columns][in group], each run padded with zeros to
// whole groups. A run is `taps` taps of a filter, all channels of each; [k, n] is one run. Where the layout has a shift, so many times the sum
// of each column stands behind the panel, [columns] of i32.
//
// Numbers of 6 bits are in words of 32 bits, [n / columns][k / 16][word of three][columns]: two words of four lower bits each, and one of upper
// bits. Those of 5 bits [n / columns][k / 32][word of five][columns].
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_DOTS_H
#define WEFT_COMPILER_ARTIFACT_DOTS_H

#include "compiler/artifact/WeightPacker.h"

namespace weft {

class DotPacker : public WeightPacker {
public:
  explicit DotPacker(const WeightLayout &layout) : layout(layout) {}
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  /// What a column of a weight consists of.
  struct Column {
    int64_t width, channels, taps, runs, groups; ///< columns, …, groups of a run
  };
  Column columnOf(SymTensorType type) const;
  void addShifts(SymTensorType type, std::string &panel) const;
  llvm::Error packFewBits(SymTensorType type, const char *bytes, Write write) const;
  void addFewBits(uint8_t number, int64_t k, char *column) const;

  const WeightLayout layout;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_DOTS_H
