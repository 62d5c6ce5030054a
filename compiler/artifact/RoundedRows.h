//===- RoundedRows.h - Weights as the model stores them, in 16 bits ------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_ROUNDEDROWS_H
#define WEFT_COMPILER_ARTIFACT_ROUNDEDROWS_H

#include "compiler/artifact/WeightPacker.h"

namespace weft {

class RoundedRowPacker : public WeightPacker {
public:
  explicit RoundedRowPacker(const WeightLayout &layout) : layout(layout) {}
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  const WeightLayout layout;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_ROUNDEDROWS_H
