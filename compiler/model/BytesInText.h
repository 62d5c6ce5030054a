//===- BytesInText.h - Weights that are part of a text ----------------------------------------===//
//
// Bytes that lie in no file stand behind a program, as resources of MLIR's text: hexadecimal digits
// by a key that spells the name which weights use for their file.
//
//   weft.weight @w from "#w" at 0 bytes 4 : !weft.tensor<[1], f32>
//   {-# external_resources: { weft_weights: { _$23w: "0000803F" } } #-}
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BYTESINTEXT_H
#define WEFT_COMPILER_MODEL_BYTESINTEXT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft {

constexpr const char *kBytesInText = "weft_weights";

/// Keys are identifiers of MLIR: an underscore, and the name with $XX for what none may have.
std::string keyOfBytes(llvm::StringRef name);
/// Nothing when the key spells no name.
std::optional<std::string> nameOfBytes(llvm::StringRef key);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BYTESINTEXT_H
