//===- LayerChoice.h - How a layer could be computed with integers --------------------------------===//
//
//   layer.op->setAttr(kChoicesAttr, choicesAttr(context, {choice, …}));
//   Value result = buildChoice(b, layer, choice, constantScales(b, choice), numbers);
//
// Where integers are chosen, the program says so with operators that it has anyway, and everything behind is the pipeline's.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_LAYERCHOICE_H
#define WEFT_PASSES_QUANT_LAYERCHOICE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/quant/ByteRounding.h"
#include "passes/quant/IntegerLayers.h"

namespace weft {

/// On a layer: what it may become, an array of dictionaries.
constexpr llvm::StringLiteral kChoicesAttr = "weft.choices";
/// On a layer with choices: the one to take, counted from 1; 0 leaves it as it is.
constexpr llvm::StringLiteral kChosenAttr = "weft.chosen";

/// A weight in blocks that was rounded already: what constants of its numbers, scales and zero points say.
struct RoundedConstants {
  mlir::Attribute numbers, scales, zeros;
};

/// What a layer gives is rounded, too, behind so many operators that each are the only reader of what is before them, as an activation or a sum.
struct RoundedResult {
  unsigned behind;
  float scale;
  int64_t zero; ///< 0 to 255; signed bytes have this less 128
};
constexpr unsigned kMostBehind = 8;
/// Where it is rounded; null where no such operators are behind a layer.
mlir::Value valueGivenBehind(mlir::Operation *layer, unsigned operators);

struct LayerChoice {
  enum Form {
    Static,   ///< the whole input is rounded, by `scale` and `zero`
    Rows,     ///< rows are rounded to signed bytes, each by a scale that is computed from it
    WideRows, ///< the same with 16 bits, times bytes
    Blocks, ///< the input stays, and only the weight is rounded, in blocks of few bits (BlockWeight.h)
    ByteBlocks, ///< the same, and the input is rounded to bytes in blocks alike, each by a step that is computed from it
    Half,       ///< both are rounded to bf16, and products are summed in f32
  };
  bool hasBytes() const { return form == Static || form == Rows; }
  bool hasBlocks() const { return form == Blocks || form == ByteBlocks; }
  bool hasRowScales() const { return form == Rows || form == WideRows; }
  Form form = Static;
  int64_t bits = kBlockBits; ///< of a number in blocks, at most kMostBlockBits
  float scale = 1;
  int64_t zero = 0;      ///< 0 to 255
  ByteRounding rounding; ///< of bytes
  /// Of a static one: whatever else reads the input reads it rounded, too, so that it is stored as bytes only. There are no factors then.
  bool everywhere = false;
  /// Of a static one, in bytes like those of the input; the nearest first.
  std::vector<RoundedResult> results = {};
  /// What each channel of the input is divided by before it is rounded, and of the weight multiplied by. Empty: nothing.
  std::vector<float> factors;
  /// Of blocks; nothing where they are rounded to nearest.
  std::optional<RoundedConstants> rounded = std::nullopt;
};

mlir::ArrayAttr choicesAttr(mlir::MLIRContext *context, llvm::ArrayRef<LayerChoice> choices);
/// An error at the layer when its attribute is not understood.
mlir::FailureOr<std::vector<LayerChoice>> choicesOf(const IntegerLayer &layer);
/// Whether a layer may take a form. Units multiply pairs of channels in bf16, which convolutions in groups have none of; rows are rounded in blocks
/// where each is a line of whole blocks.
bool canHave(const IntegerLayer &layer, LayerChoice::Form form);

/// Signed bytes, one scale per column, or for all: `weight` is about bytes * scale, its channels multiplied by the factors.
struct ByteWeight {
  std::vector<int8_t> bytes;
  std::vector<float> scales;
};
/// The least power of two that is no smaller.
float powerOfTwoFrom(double scale);
ByteWeight roundWeight(const IntegerLayer &layer, llvm::ArrayRef<float> weight,
                       llvm::ArrayRef<float> factors, const ByteRounding &rounding = {});

/// Where constants come from and go to.
struct WeightFiles {
  std::function<const char *(llvm::StringRef)> read; ///< the bytes of a named weight, or null
  /// Keeps bytes under a name and gives what a constant of the type says; null: constants are written in the program.
  std::function<mlir::Attribute(SymTensorType, std::vector<int8_t>)> add;
};

/// A constant of signed bytes.
mlir::Value byteConstant(mlir::ImplicitLocOpBuilder &b, SymTensorType type,
                         std::vector<int8_t> bytes, const WeightFiles &files);

/// Scale and zero point of a static choice as values.
struct StaticScale {
  mlir::Value scale, zero;
};
StaticScale constantScale(mlir::ImplicitLocOpBuilder &b, const LayerChoice &choice);

/// The input as bytes, restored.
mlir::Value restored(mlir::ImplicitLocOpBuilder &b, mlir::Value input, StaticScale scale);

/// `choiceOf` gives by position how a layer rounds its input everywhere, or null. Of each such input whatever is no layer, nor gives a
/// result, then reads what `build` makes behind it; of several layers that read one the first counts.
void roundEverywhere(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<IntegerLayer> layers,
                     llvm::function_ref<const LayerChoice *(size_t)> choiceOf,
                     llvm::function_ref<mlir::Value(size_t, const LayerChoice &)> build);

/// The first layer that rounds a value as its input everywhere; `choiceOf` as above.
std::optional<size_t> roundsEverywhere(llvm::ArrayRef<IntegerLayer> layers, mlir::Value input,
                                       llvm::function_ref<const LayerChoice *(size_t)> choiceOf);

/// Where the choice with a number, from 1 on, of the layer at a position rounds what is given, and by what.
struct GivenResult {
  size_t layer;
  unsigned choice;
  mlir::Value value;
  LayerChoice rounded; ///< a static one
};
/// Of all choices, by layer; while nothing is rounded, as what rounds is an operator behind a layer, too.
std::vector<GivenResult> givenResults(llvm::ArrayRef<IntegerLayer> layers,
                                      llvm::ArrayRef<std::vector<LayerChoice>> choices);
/// Whatever reads a value then reads what `build` makes of it. What is rounded everywhere is not to be rounded so before.
void roundResult(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                 llvm::function_ref<mlir::Value(mlir::Value)> build);

/// The layer's result as the choice computes it; null where the weight's elements are not known.
mlir::Value buildChoice(mlir::ImplicitLocOpBuilder &b, const IntegerLayer &layer,
                        const LayerChoice &choice, StaticScale scale, const WeightFiles &files);

} // namespace weft

#endif // WEFT_PASSES_QUANT_LAYERCHOICE_H
