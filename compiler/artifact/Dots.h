//===- Dots.h - Bytes of a weight whose products one instruction adds up -----------------------------===//
//
// Of [k, n], or of a filter [n, c, taps…]: panels of bytes [n / columns][run][group][columns][in group], each run padded with zeros to
// whole groups. A run is `taps` taps of a filter, all channels of each; [k, n] is one run. Where the layout has a shift, so many times the sum
// of each column stands behind the panel, [columns] of i32.
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

  const WeightLayout layout;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_DOTS_H
