//===- StrategyLines.h - What every layer becomes, as lines of text ---------------------------===//
//
//   weft-strategy 1 | 00003 | /first/MatMul | 8b1d33a0c2f4e596 | rows | 0.8: 1.5 0.75 …
//
// One line for each layer, in program order, then for each table, and for products of two values.
// Any bytes are read into lines or an error; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_STRATEGYLINES_H
#define WEFT_COMPILER_QUANTIZE_STRATEGYLINES_H

#include "compiler/tuning/RecordLines.h"
#include "passes/quant/ByteRounding.h"

namespace weft {

struct StrategyLine {
  enum Form {
    F32,
    Static,
    Everywhere,
    Rows,
    WideRows,
    Blocks,
    ByteBlocks,
    ByteBlocks5, ///< numbers of 5 bits; of the others with blocks 4
    ByteBlocks6,
    Half,
    Bytes
  };
  int64_t layer;      ///< its position in the program; tables and products of values follow
  std::string node;   ///< asField of its name
  std::string weight; ///< a key of the weight's type and elements
  Form form =
      F32; ///< its name, of one with a scale " scale=S zero=Z", of blocks perhaps " rounded=KEY"
  float scale = 1;  ///< of a static one, also everywhere
  int64_t zero = 0; ///< 0 to 255
  /// Behind the form where it is not the usual one: "signed", "weight<=64", "one_scale",
  /// "powers_of_two", in this order.
  ByteRounding rounding;
  /// Of one with a scale, behind all that: " gives scale=S zero=Z behind=N", as RoundedResult;
  /// each farther than the one before.
  struct Result {
    float scale;
    int64_t zero, behind;
  };
  std::vector<Result> results;
  double strength = 0;        ///< of the equalisation, for people; none without factors
  std::vector<float> factors; ///< what channels are divided by; "-" when there are none
  std::string
      rounded; ///< of blocks: a key of the numbers that stand beside (RoundedWeights.h); empty:
               ///< to nearest

  bool hasBlocks() const { return form >= Blocks && form <= ByteBlocks6; }
  bool hasRowScales() const { return form == Rows || form == WideRows; }
  std::string text() const;
};

/// "f32", "static", "everywhere", "rows", "rows16", "blocks4", "blocks4x8", "blocks5x8",
/// "blocks6x8", "bf16"; of a table "bytes".
llvm::StringRef nameOf(StrategyLine::Form form);

/// Limits of what is read.
constexpr size_t kMostStrategyLineBytes = 1 << 20, kMostStrategyLayers = 100000;

/// "00003"
std::string layerText(int64_t layer);

/// By layer; none is there twice.
llvm::Expected<std::vector<StrategyLine>> parseStrategy(llvm::StringRef text, llvm::StringRef name);
llvm::Expected<std::vector<StrategyLine>> readStrategy(const std::string &path);
std::string printStrategy(const std::vector<StrategyLine> &lines);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_STRATEGYLINES_H
