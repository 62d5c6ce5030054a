//===- X86Tiles.h - Tiles of x86-64: AMX ------------------------------------------------------------===//
#ifndef WEFT_TARGETS_X86_X86TILES_H
#define WEFT_TARGETS_X86_X86TILES_H

#include "targets/cpu/machine/TileUnit.h"

namespace weft {

/// Of AMX-TILE, AMX-BF16 and AMX-INT8.
const TileUnit &x86Tiles();

} // namespace weft

#endif // WEFT_TARGETS_X86_X86TILES_H
