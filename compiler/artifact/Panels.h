//===- Panels.h - Weights packed into panels of columns -------------------------------------------===//
//
// A layout is named "panels<32>", or "panels_t<32>" when the weight is stored as [n, k]: columns are cut into panels of 32, and a panel
// holds [k][32] f32, padded with zeros. Between "panels" and the ending a form may stand: `_f16` and `_bf16` hold two, `_4` eight values
// that follow each other in k in one word per column, the first in the lowest bits; `_8` one byte per column. Values of 4 bits are
// unsigned, signed ones with 8 added.
//
//   PanelLayout layout("panels_4_t<32>");
//   layout.pack(type, bytes, [&](StringRef panel) { return stream.write(panel); });
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_PANELS_H
#define WEFT_COMPILER_ARTIFACT_PANELS_H

#include "dialects/weft/Weft.h"
#include "llvm/Support/Error.h"

namespace weft {

class PanelLayout {
public:
  explicit PanelLayout(llvm::StringRef text);
  bool isPanels() const { return columns > 0; }
  uint64_t bytes(SymTensorType type) const;
  llvm::Error pack(SymTensorType type, const char *bytes, llvm::function_ref<llvm::Error(llvm::StringRef)> write) const;

private:
  int64_t depth(llvm::ArrayRef<int64_t> dims) const;
  int64_t width(llvm::ArrayRef<int64_t> dims) const { return dims[transposed ? 0 : 1]; }
  int64_t panelBytes(int64_t depth) const;

  int64_t columns = 0;
  bool transposed = false;
  unsigned bits = 32;     ///< of a packed value
  llvm::StringRef form;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_PANELS_H
