//===- PlaneWindows.h - Windows that move over one plane at a time -------------------------------------------===//
//
// What the schedules of pools and depthwise convolutions share. Vectors run along columns; rows of the result whose windows lie inside are
// computed four at a time, so that a row of the operand is loaded once for all of them. Columns outside are switched off in the loads,
// rows outside only at the top and the bottom:
//
//   for plane { for vector of columns { rows at the top, one by one; rows by four; the rest, one by one } }
//
// A schedule derives from PlaneEmitter and says what becomes of the elements under a window.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PLANEWINDOWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PLANEWINDOWS_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct PlaneWindows {
  mlir::Value result; ///< of the root
  unsigned input;     ///< argument of the specification
  llvm::SmallVector<SymExpr> outer;
  bool isLine;                 ///< one dimension with windows
  ConvolutionWindow window[2]; ///< rows, columns

  mlir::Type element() const; ///< of the operand
  /// What the emitter can do: columns up to two apart, so few taps that they are written out.
  Decline decline() const;
  Launch launch() const;
};

class PlaneEmitter {
public:
  PlaneEmitter(KernelContext &c, const PlaneWindows &s)
      : c(c), s(s), rows(this->s.window[0]), columns(this->s.window[1]) {}
  virtual ~PlaneEmitter() = default;
  void emit();

protected:
  /// Before anything of a plane.
  virtual void startPlane(mlir::Value) {}
  /// Before anything of a vector of columns; `first` is the operand's column that the first tap of lane 0 meets.
  virtual void startColumns(mlir::Value first) { (void)first; }
  /// Stands for elements outside: does nothing to a sum. Sums begin with it.
  virtual mlir::Value identity() = 0;
  /// What of a row's elements, one vector per tap, the sums need.
  virtual llvm::SmallVector<mlir::Value> prepare(llvm::SmallVector<mlir::Value> taps) {
    return taps;
  }
  /// Adds row `i` of the window.
  virtual mlir::Value add(mlir::Value sum, llvm::ArrayRef<mlir::Value> prepared, int64_t i) = 0;
  virtual mlir::Value finish(mlir::Value sum, mlir::Value row) {
    (void)row;
    return sum;
  }

  mlir::Value number(int64_t value) { return constantI64(c.b, value); }
  mlir::VectorType vectorType() {
    return mlir::VectorType::get({c.machine.lanes()}, c.b.getF32Type());
  }
  /// Lanes x, x + 1, … and so on by `stride` that lie in [0, limit).
  mlir::Value inside(mlir::Value x, int64_t stride, mlir::Value limit);

  KernelContext &c;
  PlaneWindows s;
  const ConvolutionWindow &rows, &columns;

private:
  mlir::Value atLeast(mlir::Value a, mlir::Value d);
  mlir::Value both(mlir::Value a, mlir::Value d);
  void emitColumns(mlir::Value column);
  llvm::SmallVector<int64_t> loadsOf(int64_t offset);
  void makeMasks();
  llvm::SmallVector<mlir::Value> readRow(mlir::Value row, mlir::Value inside);
  void emitRows(mlir::Value first, mlir::Value column, int64_t count);
  void storeRow(mlir::Value row, mlir::Value column, mlir::Value sum);

  mlir::Value width, inHeight, outWidth, height, source;
  mlir::Value inner, rest; ///< rows that windows inside begin and end with
  mlir::Value x;           ///< column of the operand that the first tap of lane 0 reads
  mlir::Value tail;        ///< lanes inside the result; null for all
  bool useMasks = false;
  llvm::SmallVector<IndexValue> plane;  ///< index of it
  std::map<int64_t, mlir::Value> masks; ///< lanes inside the operand, by where a vector begins
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINDOW_PLANEWINDOWS_H
