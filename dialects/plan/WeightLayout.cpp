//===- WeightLayout.cpp - Layouts as text -----------------------------------------------------------===//

#include "dialects/plan/WeightLayout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {
namespace {

// By the numbers of the enums.
constexpr StringLiteral kKinds[] = {"", "panels", "dots", "winograd", "rows"};
constexpr StringLiteral kForms[] = {"",   "_bf16",    "_f16",    "_i16", "_8",
                                    "_4", "_of_bf16", "_of_f16", "_5",   "_6"};
constexpr StringLiteral kOrders[] = {"", "_t", "_w"};

/// Takes one of the words, which are empty or begin alike with none of the others; the number of an empty one when there is none.
template <typename Enum> Enum takeWord(StringRef &text, ArrayRef<StringLiteral> words) {
  for (auto [i, word] : enumerate(words))
    if (!word.empty() && text.consume_front(word))
      return Enum(i);
  return Enum(0);
}

/// Takes a number of at least 1 behind the sign.
bool takeNumber(StringRef &text, StringRef sign, int64_t &number) {
  return text.consume_front(sign) && !text.consumeInteger(10, number) && number > 0;
}

/// Takes a number but 0 behind a comma.
bool takeShift(StringRef &text, int64_t &shift) {
  return text.consume_front(",") && !text.consumeInteger(10, shift) && shift != 0;
}

/// Whether the kind has such forms, orders and tiles.
bool exists(const WeightLayout &layout) {
  switch (layout.kind) {
  case WeightLayout::Rows:
    return false;
  case WeightLayout::RoundedRows:
    return (layout.form == WeightLayout::BF16 || layout.form == WeightLayout::F16) &&
           layout.order == WeightLayout::DepthByWidth && !layout.columns;
  case WeightLayout::Panels:
    return layout.form != WeightLayout::I16 && !layout.hasFewBits() &&
           (layout.words == 1 || layout.form == WeightLayout::Nibbles) &&
           (!layout.depth || layout.order != WeightLayout::TapByTap);
  case WeightLayout::Dots:
    if (layout.hasFewBits() && (layout.group != 4 || layout.taps != 1 || layout.shift != 0))
      return false;
    return (layout.form == WeightLayout::F32 || layout.hasFewBits()) &&
           layout.order != WeightLayout::TapByTap && !layout.depth;
  case WeightLayout::Winograd:
    return layout.order == WeightLayout::DepthByWidth && !layout.depth &&
           (layout.form == WeightLayout::F32 || layout.form == WeightLayout::I16 ||
            layout.form == WeightLayout::OfBF16 || layout.form == WeightLayout::OfF16) &&
           (layout.tile == 2 || layout.tile == 4);
  }
  llvm_unreachable("all kinds are above");
}

} // namespace

WeightLayout WeightLayout::rounded(Form form) { return {RoundedRows, form}; }
WeightLayout WeightLayout::panels(int64_t columns, Order order, Form form) {
  return {Panels, form, order, columns};
}
WeightLayout WeightLayout::nibbles(int64_t columns, Order order, int64_t words) {
  WeightLayout layout = panels(columns, order, Nibbles);
  layout.words = words;
  return layout;
}
WeightLayout WeightLayout::dots(int64_t columns, Order order, int64_t group, int64_t taps,
                                int64_t shift) {
  return {Dots, F32, order, columns, group, taps, /*words=*/1, shift};
}
WeightLayout WeightLayout::fewBits(int64_t columns, Order order, int64_t bits) {
  WeightLayout layout = dots(columns, order, 4, 1);
  layout.form = bits == 5 ? Fives : Sixes;
  return layout;
}
WeightLayout WeightLayout::winograd(int64_t tile, int64_t columns, Form form) {
  return {Winograd, form, DepthByWidth, columns, 1, 1, 1, 0, tile};
}

unsigned WeightLayout::bits() const {
  switch (form) {
  case F32:
  case OfBF16:
  case OfF16:
    return kind == Dots ? 8 : 32;
  case BF16:
  case F16:
  case I16:
    return 16;
  case Bytes:
    return 8;
  case Sixes:
    return 6;
  case Fives:
    return 5;
  case Nibbles:
    return 4;
  }
  llvm_unreachable("all forms are above");
}

int64_t WeightLayout::perWord() const { return form == F16 || bits() == 8 ? 1 : 32 / bits(); }

WeightLayout WeightLayout::ofWhole() const {
  WeightLayout whole = *this;
  whole.depth = 0;
  return whole;
}

std::string WeightLayout::str() const {
  if (kind == Rows)
    return "";
  std::string text = kKinds[kind].str();
  if (kind == RoundedRows)
    return text + kForms[form].str();
  if (kind == Winograd)
    text += std::to_string(tile);
  text += (kForms[form] + kOrders[order] + "<").str() + std::to_string(columns);
  if (words > 1)
    text += "," + std::to_string(words);
  if (depth)
    text += " of " + std::to_string(depth);
  if (kind == Dots)
    text += "," + std::to_string(group) + "," + std::to_string(taps);
  if (shift)
    text += "," + std::to_string(shift);
  return text + ">";
}

std::optional<WeightLayout> WeightLayout::parse(StringRef text) {
  WeightLayout layout;
  if (text.empty())
    return layout;
  StringRef rest = text;
  layout.kind = takeWord<Kind>(rest, kKinds);
  if (layout.kind == Winograd && !takeNumber(rest, "", layout.tile))
    return std::nullopt;
  layout.form = takeWord<Form>(rest, kForms);
  layout.order = takeWord<Order>(rest, kOrders);
  bool hasNumbers = layout.kind != RoundedRows;
  if ((hasNumbers && !takeNumber(rest, "<", layout.columns)) ||
      (layout.kind == Panels && rest.starts_with(",") && !takeNumber(rest, ",", layout.words)) ||
      (rest.starts_with(" of ") && !takeNumber(rest, " of ", layout.depth)) ||
      (layout.kind == Dots &&
       (!takeNumber(rest, ",", layout.group) || !takeNumber(rest, ",", layout.taps) ||
        (rest.starts_with(",") && !takeShift(rest, layout.shift)))) ||
      !exists(layout) || layout.str() != text)
    return std::nullopt;
  return layout;
}

} // namespace weft
