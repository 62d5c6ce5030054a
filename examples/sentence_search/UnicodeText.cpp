#include "examples/sentence_search/UnicodeText.h"

#include <algorithm>
#include <iterator>

namespace sentence_search {

namespace {
struct Range {
  uint32_t first, last;
};
/// Every step-th code point from first to last becomes target + advance * (code - first).
struct Run {
  uint32_t first, last, step, target, advance;
};
struct Several {
  uint32_t code, first, second, third; ///< third 0: becomes two
};
} // namespace

#include "examples/sentence_search/UnicodeTables.inc"

static constexpr char32_t replacement = 0xFFFD;

/// The row whose first..last contains `code`, or null. Rows are sorted and do not overlap.
template <class Row, size_t N> static const Row *findRow(const Row (&rows)[N], char32_t code) {
  const Row *after = std::upper_bound(std::begin(rows), std::end(rows), code,
                                      [](char32_t c, const Row &row) { return c < row.first; });
  return after != rows && code <= after[-1].last ? after - 1 : nullptr;
}

char32_t decodeUtf8(std::string_view text, size_t &position) {
  unsigned char lead = text[position++];
  if (lead < 0x80)
    return lead;
  // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
  unsigned char low = 0x80, high = 0xBF;
  int following;
  char32_t code;
  if (lead >= 0xC2 && lead <= 0xDF) {
    following = 1, code = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    following = 2, code = lead & 0x0F;
    low = lead == 0xE0 ? 0xA0 : 0x80;
    high = lead == 0xED ? 0x9F : 0xBF;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    following = 3, code = lead & 0x07;
    low = lead == 0xF0 ? 0x90 : 0x80;
    high = lead == 0xF4 ? 0x8F : 0xBF;
  } else {
    return replacement;
  }
  for (; following > 0; --following) {
    if (position == text.size())
      return replacement;
    unsigned char byte = text[position];
    if (byte < low || byte > high)
      return replacement;
    code = code << 6 | (byte & 0x3F);
    low = 0x80, high = 0xBF;
    ++position;
  }
  return code;
}

void appendUtf8(char32_t code, std::string &out) {
  if (code < 0x80) {
    out += char(code);
  } else if (code < 0x800) {
    out += char(0xC0 | code >> 6);
    out += char(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += char(0xE0 | code >> 12);
    out += char(0x80 | (code >> 6 & 0x3F));
    out += char(0x80 | (code & 0x3F));
  } else {
    out += char(0xF0 | code >> 18);
    out += char(0x80 | (code >> 12 & 0x3F));
    out += char(0x80 | (code >> 6 & 0x3F));
    out += char(0x80 | (code & 0x3F));
  }
}

static bool isSpace(char32_t code) {
  return code == ' ' || code == '\t' || code == '\n' || code == '\r' || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

/// A Hangul syllable as its two or three letters (Unicode, section 3.12).
static CodePoints decomposeHangul(char32_t code) {
  char32_t index = code - 0xAC00, last = index % 28;
  CodePoints letters = {{0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + last}, 2};
  if (last != 0)
    letters.count = 3;
  return letters;
}

CodePoints foldForBert(char32_t code) {
  if (isSpace(code))
    return {{' '}, 1};
  if (code == replacement || findRow(removedRanges, code))
    return {};
  if (code >= 0xAC00 && code <= 0xD7A3)
    return decomposeHangul(code);
  if (const Run *run = findRow(foldedRuns, code); run && (code - run->first) % run->step == 0)
    return {{run->target + run->advance * (code - run->first)}, 1};
  for (const Several &row : foldedSeveral)
    if (row.code == code)
      return {{row.first, row.second, row.third}, row.third ? 3 : 2};
  return {{code}, 1};
}

bool isPunctuation(char32_t code) { return findRow(punctuationRanges, code) != nullptr; }

bool isIdeograph(char32_t code) {
  static const Range blocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                 {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                 {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return findRow(blocks, code) != nullptr;
}

} // namespace sentence_search
