//===- UnicodeText.h - What BERT's tokenizer must know of Unicode -----------------------------===//
//
//   for (size_t at = 0; at < text.size();) {
//     char32_t code = decodeUtf8(text, at);
//     for (char32_t clean : foldForBert(code)) appendUtf8(clean, out);
//   }
//
//===------------------------------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sentence_search {

/// The code point at `position`, which moves behind it. A malformed sequence gives U+FFFD and is
/// as long as Unicode advises (the longest start of a valid sequence, at least one byte).
char32_t decodeUtf8(std::string_view text, size_t &position);
void appendUtf8(char32_t code, std::string &out);

/// Up to three code points.
struct CodePoints {
  char32_t code[3] = {0, 0, 0};
  int count = 0;

  const char32_t *begin() const { return code; }
  const char32_t *end() const { return code + count; }
};

/// What cleaning, removing accents and lower case leave of a code point: nothing for control
/// characters and accents, U+0020 for every kind of space. Knows all scripts of Unicode 14 except
/// CJK compatibility ideographs, which stay what they are.
CodePoints foldForBert(char32_t code);

/// Punctuation, and all ASCII signs such as '$'. Asked after folding.
bool isPunctuation(char32_t code);
/// A code point of the blocks that hold Han ideographs, each a word of its own. Asked before
/// folding.
bool isIdeograph(char32_t code);

} // namespace sentence_search
