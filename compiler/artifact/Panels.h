//===- Panels.h - Weights packed into panels of columns -------------------------------------------===//
//
// A panel holds [k][columns] f32, padded with zeros. Narrower forms hold two bf16, or eight values of 4 bits, that follow each other in k in
// one word per column, the first in the lowest bits; or one f16 or byte per column. Values of 4 bits are unsigned, signed ones with 8 added, and
// the first four are the low halves of the word's bytes, the others the high ones: a mask makes bytes. Words that follow each other in k may
// lie side by side, column by column.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_PANELS_H
#define WEFT_COMPILER_ARTIFACT_PANELS_H

#include "compiler/artifact/WeightPacker.h"

namespace weft {

class PanelPacker : public WeightPacker {
public:
  explicit PanelPacker(const WeightLayout &layout);
  uint64_t bytes(SymTensorType type) const override;
  llvm::Error pack(SymTensorType type, const char *bytes, Write write) const override;

private:
  const WeightLayout layout;
  const int64_t columns;
  unsigned bits;   ///< of a packed value
  int64_t perWord; ///< values of a column, which follow each other in k
  int64_t wordBytes() const { return perWord * bits / 8; }
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_PANELS_H
