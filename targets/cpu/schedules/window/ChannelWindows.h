//===- ChannelWindows.h - Windows that move over pixels whose channels are last -------------------------------===//
//
// What the schedules of pools and depthwise convolutions with channels last share. Vectors run along channels; a tile is some neighbours of
// one or two rows of the result by one vector of channels, or of one row by two, so that an element of the operand is loaded once for all
// windows of the tile that it lies in:
//
//   for image, block of rows, tile of columns { for vector of channels { for element of the operand under the tile { load, add } } }
//
// Tiles inside the image read at constant distances from one pointer per row. At the border, every element has a pointer of its own, which
// is that of a line of neutral elements in scratch when the element lies outside; they are found once for all vectors of channels. Where a
// tile has more vectors, these pointers would not stay in registers: all columns that no tile has outside the image share their row's, which
// is that of a row of neutral elements when the row lies outside.
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
  /// The same to what sums of this vector of channels begin with.
  virtual mlir::Value start(KernelContext &, IndexValue channel, mlir::Value x,
                            mlir::Value weights) {
    (void)channel, (void)weights;
    return x;
  }
  /// What sums are when all is added.
  virtual mlir::Value summed() const { return s.result; }
  virtual mlir::Value finish(KernelContext &, mlir::Value sum, mlir::Value row,
                             mlir::Value column) {
    (void)row, (void)column;
    return sum;
  }

  /// Whether sums begin by start(), and not with the neutral element in a register.
  bool startsSums() const;
  /// Whether tiles have two vectors of channels, which are stored together.
  bool storesPairs() const { return tileVectors > 1; }

  const ChannelWindows s;
  const ConvolutionWindow &rows, &columns;

private:
  /// What one function of the kernel computes.
  struct Tile {
    int64_t rows;
    bool isBorder;
    bool isWhole; ///< all its columns are the result's
    mlir::func::FuncOp function;
  };
  class Pixels;
  /// A row of the operand adds row `tap` of the window to the sums of row `row` of a tile.
  struct RowUse {
    int64_t row;
    mlir::Value tap;
  };
  /// Some of a row's.
  struct Taps {
    mlir::Value y; ///< from the tile's first row
    llvm::ArrayRef<RowUse> uses;
    mlir::Value first;
    int64_t count;
  };
  /// Columns of a row of tiles.
  struct Strip {
    mlir::Value image, row, from, to;
  };
  /// A pixel of the result.
  struct Place {
    mlir::Value image, row, column;
  };

  void declareTiles();
  void emitUnit(mlir::Value unit);
  void callTile(Tile tile, const Strip &strip);
  mlir::Value least(mlir::Value a, mlir::Value d);
  void fillNeutralLine();
  llvm::SmallVector<mlir::Value> parameters(KernelContext &c);
  void choose(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  mlir::Value isInside(mlir::Value row);
  std::pair<mlir::Value, mlir::Value> tilesInside(mlir::Value from, mlir::Value to);
  void emitTile(Tile tile);
  void fetchRow(KernelContext &c, const Pixels &pixels, int64_t y, IndexValue channel);
  void walkChannels(KernelContext &c, llvm::function_ref<void(llvm::ArrayRef<IndexValue>)> body);
  llvm::SmallVector<mlir::Value> sum(KernelContext &c, Tile tile, const Pixels &pixels,
                                     llvm::ArrayRef<IndexValue> channels);
  void addTaps(KernelContext &c, const Pixels &pixels, llvm::ArrayRef<IndexValue> channels,
               llvm::ArrayRef<mlir::Value> restoring, const Taps &taps,
               llvm::MutableArrayRef<mlir::Value> sums);
  void storeTile(KernelContext &c, Tile tile, mlir::Value column,
                 llvm::ArrayRef<IndexValue> channels, llvm::ArrayRef<mlir::Value> sums);
  void storePixel(KernelContext &c, const Place &place, llvm::ArrayRef<IndexValue> channels,
                  llvm::ArrayRef<mlir::Value> sums);
  bool storeTogether(KernelContext &c, llvm::ArrayRef<IndexValue> index,
                     llvm::ArrayRef<llvm::SmallVector<mlir::Value>> data);

  KernelContext &kernel;
  int64_t tileRows, tileColumns, tileVectors;
  Tile inner, border, lastColumns, lastRow;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_CHANNELWINDOWS_H
