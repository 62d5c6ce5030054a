//===- Panels.h - Weights packed into panels of columns -------------------------------------------===//
//
// A layout is named "panels<32>", "panels_t<32>" when the weight is stored as [n, k], or "panels_w<32>" when it is filters [n, c, taps…] of
// which k counts channels of the first tap, then of the second: columns are cut into panels of 32, and a panel
// holds [k][32] f32, padded with zeros. Between "panels" and the ending a form may stand: `_f16` and `_bf16` hold two, `_4` eight values
// that follow each other in k in one word per column, the first in the lowest bits; `_8` one byte per column. Values of 4 bits are
// unsigned, signed ones with 8 added, and the first four are the low halves of the word's bytes, the others the high ones: a mask makes bytes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_PANELS_H
#define WEFT_COMPILER_ARTIFACT_PANELS_H

#include "compiler/artifact/WeightLayout.h"

namespace weft {

class PanelLayout : public WeightLayout {
public:
  explicit PanelLayout(llvm::StringRef name);
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  int64_t panelBytes(int64_t depth) const;

  int64_t columns = 0;
  bool transposed = false, tapByTap = false;
  unsigned bits = 32; ///< of a packed value
  llvm::StringRef form;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_PANELS_H
