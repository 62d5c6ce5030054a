//===- ReadError.cpp - One-line errors about hostile text -------------------------------------===//

#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace weft {

Error readError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), "%s", text.str().c_str());
}

static std::error_code overLimit() { return std::make_error_code(std::errc::value_too_large); }

Error limitError(const Twine &text) {
  return createStringError(overLimit(), "%s", text.str().c_str());
}

static bool hasCode(const Error &error, std::error_code code) {
  bool found = false;
  visitErrors(error,
              [&](const ErrorInfoBase &each) { found |= each.convertToErrorCode() == code; });
  return found;
}

bool isOverLimit(const Error &error) { return hasCode(error, overLimit()); }

Error systemError(const Twine &text, int code) {
  return createStringError(std::error_code(code, std::generic_category()), "%s",
                           text.str().c_str());
}

bool isMissing(const Error &error) {
  return hasCode(error, std::make_error_code(std::errc::no_such_file_or_directory));
}

std::string limitText(StringRef flag) {
  return (", the limit (raise it with --limit " + flag + ")").str();
}

/// Length of the valid multi-byte character at the front of `text`, 0 when there is none.
static unsigned characterLength(StringRef text) {
  auto lead = static_cast<unsigned char>(text.front());
  unsigned length = getNumBytesForUTF8(lead);
  if (lead < 0x80 || length > text.size())
    return 0;
  auto *begin = reinterpret_cast<const UTF8 *>(text.data());
  // U+0080 to U+009F are control characters as well.
  bool control = lead == 0xC2 && begin[1] < 0xA0;
  return !control && isLegalUTF8Sequence(begin, begin + length) ? length : 0;
}

std::string printableText(StringRef text) {
  constexpr size_t maxLength = 100;
  std::string out;
  while (!text.empty() && out.size() < maxLength) {
    unsigned length = isPrint(text.front()) ? 1 : characterLength(text);
    if (length)
      out += text.take_front(length);
    else
      out += "\\x" + toHex(text.take_front(1));
    text = text.drop_front(length ? length : 1);
  }
  return out + (text.empty() ? "" : "...");
}

std::string quotedText(StringRef text) { return "'" + printableText(text) + "'"; }

bool isText(StringRef bytes) {
  return all_of(bytes.take_front(512), [](char c) {
    return (unsigned char)c >= 32 || c == '\n' || c == '\t' || c == '\r';
  });
}

std::string shapeText(ArrayRef<int64_t> shape) {
  constexpr size_t maxShown = 8;
  std::string out = "[";
  for (size_t i = 0; i < shape.size() && i < maxShown; ++i)
    out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() > maxShown ? ", ...]" : "]");
}

} // namespace weft
