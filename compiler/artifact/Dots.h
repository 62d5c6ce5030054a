//===- Dots.h - Bytes of a weight whose products one instruction adds up -----------------------------===//
//
// "dots<columns,group,apart>" of [k, n], or "dots_t<…>" of [n, k]: panels of bytes [n / columns][k / group / apart][apart][columns][group],
// padded with zeros. Rows of k that are `apart` apart make a group.
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
  /// Groups of one column.
  int64_t groups(const MatrixSize &size) const {
    return int64_t(llvm::divideCeil(size.depth / apart, group)) * apart;
  }

  int64_t columns = 0, group = 1, apart = 1;
  bool transposed;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_DOTS_H
