//===- WeightLayout.h - How kernels want weights to lie -------------------------------------------===//
//
//   WeightLayout layout = WeightLayout::panels(32, WeightLayout::WidthByDepth);
//   layout.str();                                   // "panels_t<32>", as artifacts name it
//   *WeightLayout::parse("panels_t<32>") == layout
//
// Schedules name layouts; compiler/artifact packs weights as they say while it copies them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_PLAN_WEIGHTLAYOUT_H
#define WEFT_DIALECTS_PLAN_WEIGHTLAYOUT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft {

struct WeightLayout {
  enum Kind {
    Rows,   ///< row-major, as the model stores it; has no numbers
    Panels, ///< columns are cut into panels, which hold [k][columns], padded with zeros
    Dots, ///< panels of bytes [run][group][columns][in group]: one instruction adds a group's products; `shift` says what is behind
    Winograd, ///< filters transformed for tiles of `tile` x `tile` results, in panels for each product
    RoundedRows ///< row-major, f32 rounded to floats of 16 bits; has no numbers
  };
  /// Of a packed value. OfBF16 and OfF16: f32 of what f32 are rounded to.
  enum Form { F32, BF16, F16, I16, Bytes, Nibbles, OfBF16, OfF16, Fives, Sixes };
  enum Order {
    DepthByWidth, ///< the weight is stored as [k, n]
    WidthByDepth, ///< as [n, k], or as filters [n, c, taps…] whose inner dimensions count as one
    TapByTap ///< as filters, of which k counts all channels of the first tap, then of the second
  };
  Kind kind = Rows;
  Form form = F32; ///< of Dots: bytes, or Fives and Sixes, which are numbers of 5 and 6 bits
  Order order = DepthByWidth;
  int64_t columns = 0; ///< side by side
  int64_t
      group = 1,
      taps =
          1; ///< of Dots: products of an instruction, and taps of a filter that are summed in one run
  /// Of Panels of 4 bits: words of a column that lie side by side.
  int64_t words = 1;
  /// Of Dots: behind each panel, in i32, so many times the sum of each column. What is multiplied by a column may then be as much too small; too large where it is below 0.
  int64_t shift = 0;
  int64_t tile = 0; ///< of Winograd: 2 or 4
  /// Of Panels: they hold so many rows, and the weight is a part of these; 0: it has all.
  int64_t depth = 0;

  static WeightLayout rounded(Form form);
  static WeightLayout panels(int64_t columns, Order order, Form form = F32);
  /// Of 4 bits.
  static WeightLayout nibbles(int64_t columns, Order order, int64_t words);
  static WeightLayout dots(int64_t columns, Order order, int64_t group, int64_t taps,
                           int64_t shift = 0);
  /// Dots in groups of four, of numbers of 5 or 6 bits.
  static WeightLayout fewBits(int64_t columns, Order order, int64_t bits);
  static WeightLayout winograd(int64_t tile, int64_t columns, Form form = F32);

  /// Empty for rows. Else the kind, the side of a tile, then form and order where they are not the first, then numbers:
  /// "rows_bf16", "panels_bf16_t<32>", "panels_w<32>", "panels_t<32 of 768>", "dots_t<16,4,1>",
  /// "panels_4_t<8,2>" with two words side by side, "dots_t<8,4,1,128>" with a shift, "dots_6_t<32,4,1>", "winograd4_i16<32>", "winograd4_of_bf16<32>".
  std::string str() const;
  /// Nothing when `text` is not what str() gives of some layout.
  static std::optional<WeightLayout> parse(llvm::StringRef text);

  bool isRows() const { return kind == Rows; }
  unsigned bits() const;   ///< of a packed value
  int64_t perWord() const; ///< values of a column, which follow each other in k
  int64_t wordBytes() const { return perWord() * bits() / 8; }
  /// Of Fives and Sixes: numbers of a column whose bits above the fourth fill one word, behind the words of their lower bits.
  bool hasFewBits() const { return form == Fives || form == Sixes; }
  int64_t perHighWord() const { return 32 / (bits() - 4); }
  int64_t perColumn() const { return perWord() * words; } ///< of Panels: values that lie together
  int64_t shiftBytes() const { return shift ? 4 * columns : 0; } ///< behind a panel
  /// That of the whole, where the weight is a part.
  WeightLayout ofWhole() const;
  bool operator==(const WeightLayout &other) const { return str() == other.str(); }
};

} // namespace weft

#endif // WEFT_DIALECTS_PLAN_WEIGHTLAYOUT_H
