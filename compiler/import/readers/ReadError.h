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
/// The same about a limit that the caller chose (weft::Limits), which isOverLimit tells apart.
llvm::Error limitError(const llvm::Twine &text);
bool isOverLimit(const llvm::Error &error);
/// The same about what the system refused with the errno `code`.
llvm::Error systemError(const llvm::Twine &text, int code);
/// Whether a file or folder does not exist.
bool isMissing(const llvm::Error &error);

/// ", the limit (raise it with --limit nodes=N)", to be said behind "the model has more than 100 nodes". `flag` is "nodes=N".
std::string limitText(llvm::StringRef flag);

/// At most 100 bytes of `text`; what is not printable UTF-8 becomes \xNN.
std::string printableText(llvm::StringRef text);
/// The same between single quotes.
std::string quotedText(llvm::StringRef text);

/// True when a file that begins with `bytes` is lines of printable text.
bool isText(llvm::StringRef bytes);

/// "[2, 3]", at most 8 dimensions of it.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_READERROR_H
