//===- PlainTiles.h - A unit for tiles in plain vector code ------------------------------------------===//
#ifndef WEFT_TEST_TARGETS_PLAIN_PLAINTILES_H
#define WEFT_TEST_TARGETS_PLAIN_PLAINTILES_H

#include "targets/cpu/machine/TileUnit.h"

namespace weft::test {

/// Tiles lie in memory. Results are those of AMX, but for which NaN they are; where AMX would stop a
/// program, because sizes do not fit one another, this does, too.
const TileUnit &plainTiles();

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_PLAIN_PLAINTILES_H
