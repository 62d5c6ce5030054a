//===- Dots.h - Bytes of a weight whose products one instruction adds up -----------------------------===//
//
// "dots<columns,group,taps>" of [k, n], or "dots_t<…>" of a filter [n, c, taps…]: panels of bytes [n / columns][run][group][columns][in group],
// each run padded with zeros to whole groups. A run is `taps` taps of a filter, all channels of each; [k, n] is one run.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_DOTS_H
#define WEFT_COMPILER_ARTIFACT_DOTS_H

#include "compiler/artifact/WeightLayout.h"

namespace weft {

class DotLayout : public WeightLayout {
public:
  explicit DotLayout(llvm::StringRef name);
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  /// What a column of a weight consists of.
  struct Column {
    int64_t width, channels, taps, runs, groups; ///< columns, …, groups of a run
  };
  Column columnOf(SymTensorType type) const;

  int64_t columns = 0, group = 1, tapsOfRun = 1;
  bool transposed;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_DOTS_H
