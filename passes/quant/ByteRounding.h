//===- ByteRounding.h - Which bytes stand for what a layer multiplies -----------------------------===//
//
//   choice.rounding.hasPowersOfTwo = true;         // what hardware asks for (compiler/hardware)
//
// Without hardware that asks for something else, what is read becomes unsigned bytes, and columns of weights signed ones of up to 127.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_BYTEROUNDING_H
#define WEFT_PASSES_QUANT_BYTEROUNDING_H

#include <cstdint>

namespace weft {

struct ByteRounding {
  bool isSigned = false; ///< what is read: bytes and zero point are those of unsigned ones less 128
  int64_t mostWeight = 127;    ///< the largest magnitude of a weight's bytes
  bool hasOneScale = false;    ///< the weight as a whole; else each column has a scale
  bool hasPowersOfTwo = false; ///< scales of weights are

  /// Some kernels are faster with them.
  bool hasSmallWeights() const { return mostWeight < ByteRounding().mostWeight; }
  bool operator==(const ByteRounding &other) const {
    return isSigned == other.isSigned && mostWeight == other.mostWeight &&
           hasOneScale == other.hasOneScale && hasPowersOfTwo == other.hasPowersOfTwo;
  }
};

} // namespace weft

#endif // WEFT_PASSES_QUANT_BYTEROUNDING_H
