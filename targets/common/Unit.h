//===- Unit.h - What a processor multiplies with ------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_UNIT_H
#define WEFT_TARGETS_COMMON_UNIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

namespace weft {

/// How many products of which numbers an instruction sums in each lane, or that it multiplies small
/// matrices of them, which lie in vectors or in tiles.
enum class Unit {
  Reals,
  HalfPairs,
  ShortPairs,
  BytePairs,
  ByteQuads,
  ByteMatrices,
  HalfTiles,
  ByteTiles
};

/// As users read it, and manifests name it.
inline llvm::StringRef nameOf(Unit unit) {
  switch (unit) {
  case Unit::Reals:
    return "f32";
  case Unit::HalfPairs:
    return "pairs of bf16";
  case Unit::ShortPairs:
    return "pairs of i16";
  case Unit::BytePairs:
    return "pairs of i8";
  case Unit::ByteQuads:
    return "quads of i8";
  case Unit::ByteMatrices:
    return "matrices of i8";
  case Unit::HalfTiles:
    return "tiles of bf16";
  case Unit::ByteTiles:
    return "tiles of i8";
  }
  llvm_unreachable("all units are above");
}

/// How many products take the time of one of f32, in the vectors of the same processor or its tiles.
inline unsigned productsOf(Unit unit) {
  switch (unit) {
  case Unit::Reals:
    return 1;
  case Unit::HalfPairs:
  case Unit::ShortPairs:
    return 2;
  case Unit::BytePairs: // of several groups, whose sums are widened together
    return 3;
  case Unit::ByteQuads:
    return 4;
  case Unit::ByteMatrices:
  case Unit::HalfTiles: // of whole products: of operands in registers twice that
    return 8;
  case Unit::ByteTiles:
    return 16;
  }
  llvm_unreachable("all units are above");
}

} // namespace weft

#endif // WEFT_TARGETS_COMMON_UNIT_H
