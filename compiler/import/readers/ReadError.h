//===- ReadError.h - One-line errors about hostile text ---------------------------------------===//
//
// Names in a model file may be long, binary or made to forge terminal output; errors show them
// through `quotedText`.
//
//   return readError(file.path() + ": tensor " + quotedText(name) + " has no data");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_READERS_READERROR_H
#define WEFT_COMPILER_IMPORT_READERS_READERROR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace weft {

/// An error whose text is one line, "place: reason".
llvm::Error readError(const llvm::Twine &text);

/// At most 100 bytes of `text`; what is not printable UTF-8 becomes \xNN.
std::string printableText(llvm::StringRef text);
/// The same between single quotes.
std::string quotedText(llvm::StringRef text);

/// "[2, 3]", at most 8 dimensions of it.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_READERROR_H
