//===- ChannelWindows.h - Windows that move over pixels whose channels are last -------------------------------===//
//
// What the schedules of pools and depthwise convolutions with channels last share. Vectors run along channels; a tile is some neighbours of
// one or two rows of the result by one vector of channels, so that an element of the operand is loaded once for all windows of the tile
// that it lies in:
//
//   for image, block of rows, tile of columns { for vector of channels { for element of the operand under the tile { load, add } } }
//
// Tiles inside the image read at constant distances from one pointer per row. At the border, every element has a pointer of its own, which
// is that of a line of neutral elements in scratch when the element lies outside; they are found once for all vectors of channels.
//
// A schedule derives from ChannelEmitter and says what becomes of the elements under a window.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CHANNELWINDOWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CHANNELWINDOWS_H

#include "dialects/weft/ops/Quantize.h"
#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct ChannelWindows {
  mlir::Value result;          ///< of the root
  mlir::BlockArgument input;   ///< of the specification; its elements may be narrower than sums
  bool isLine;                 ///< one dimension with windows
  ConvolutionWindow window[2]; ///< rows, columns
  bool hasWeights;             ///< one vector for every tap
  mutable DequantizeOp
      restored{}; ///< of the input, by one scale and zero point; null: windows are over the input itself

  SymTensorType type() const { return llvm::cast<SymTensorType>(result.getType()); }
  SymExpr batch() const { return type().getDim(0); }
  SymExpr channels() const { return type().getDim(type().getRank() - 1); }
  /// In memory.
  mlir::Type element() const { return llvm::cast<SymTensorType>(input.getType()).getElementType(); }
  /// Of sums, and of elements in registers.
  mlir::Type computedElement() const;
  /// One pixel of the operand.
  SymTensorType lineType() const;
  Launch launch(const VectorMachine &machine) const;
};

class ChannelEmitter {
public:
  ChannelEmitter(KernelContext &c, const ChannelWindows &s);
  virtual ~ChannelEmitter() = default;
  void emit();

protected:
  /// Stands for elements outside: does nothing to a sum. Sums begin with it.
  virtual mlir::TypedAttr identity() = 0;
  /// The weights of tap number `tap` of the window, for the vector of channels; asked for when there are some.
  virtual mlir::Value weights(KernelContext &, IndexValue channel, mlir::Value tap) {
    (void)channel, (void)tap;
    return {};
  }
  virtual mlir::Value add(KernelContext &, mlir::Value sum, mlir::Value x, mlir::Value weights) = 0;
  /// The same to the neutral element.
  virtual mlir::Value start(KernelContext &, mlir::Value x, mlir::Value weights) {
    (void)weights;
    return x;
  }
  virtual mlir::Value finish(KernelContext &, mlir::Value sum, mlir::Value row,
                             mlir::Value column) {
    (void)row, (void)column;
    return sum;
  }

  const ChannelWindows s;
  const ConvolutionWindow &rows, &columns;

private:
  /// What one function of the kernel computes.
  struct Tile {
    int64_t rows;
    bool isBorder;
    mlir::func::FuncOp function;
  };
  class Pixels;

  void emitUnit(mlir::Value unit);
  mlir::Value least(mlir::Value a, mlir::Value d);
  void fillNeutralLine();
  llvm::SmallVector<mlir::Value> parameters(KernelContext &c);
  void choose(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  mlir::Value isInside(mlir::Value row);
  std::pair<mlir::Value, mlir::Value> tilesInside(mlir::Value from, mlir::Value to);
  void emitTile(Tile tile);
  void fetchRow(KernelContext &c, const Pixels &pixels, int64_t y, IndexValue channel);
  llvm::SmallVector<mlir::Value> sum(KernelContext &c, Tile tile, const Pixels &pixels,
                                     IndexValue channel);
  void storeTile(KernelContext &c, Tile tile, mlir::Value column, IndexValue channel,
                 llvm::ArrayRef<mlir::Value> sums);

  KernelContext &kernel;
  int64_t tileRows, tileColumns;
  Tile inner, border, lastRow;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CHANNELWINDOWS_H
