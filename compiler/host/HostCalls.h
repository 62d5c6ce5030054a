//===- HostCalls.h - Calls of kernels in the host program -------------------------------------------------===//
//
//   HostCalls calls(host);
//   calls.begin(frame, most);                      at the entry of run
//   calls.emit(kernels);                           where the builder stands: those of a region
//
// They go through the host table of the frame, or are `direct`: kernels one after the other, each as one piece.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_HOSTCALLS_H
#define WEFT_COMPILER_HOST_HOSTCALLS_H

#include "compiler/host/HostExpressions.h"

namespace weft {

/// What a kernel is called with.
struct EmittedKernel {
  llvm::StringRef symbol;
  unsigned row;
  llvm::SmallVector<mlir::Value> words;
  SymExpr units, grain, work;
  bool onDevice = false, isCounted = false; ///< isCounted: there its blocks count each other
};

/// Rows of a kernel, and how its units follow them (weft_row_tiles_v1).
struct EmittedRows {
  SymExpr rows, tiles;
  int64_t least, height;
  llvm::SmallVector<SymExpr> rowBytes; ///< of every address; with a height
  unsigned countWord = 0;
};

/// An exchange that goes on while kernels compute.
struct EmittedExchange {
  unsigned row;
  llvm::SmallVector<mlir::Value> words;
  bool comesFirst;
};

class HostCalls {
public:
  HostCalls(HostExpressions &host, bool isDirect);

  /// Room for the words of `most` kernels at a time, an exchange among them, in the block where the builder stands.
  void begin(mlir::Value frame, unsigned most, bool overlaps);
  /// One kernel alone, or several that run together.
  void emit(llvm::ArrayRef<EmittedKernel> kernels);
  void emitOverlap(llvm::ArrayRef<EmittedKernel> kernels, llvm::ArrayRef<EmittedRows> rows,
                   const EmittedExchange &exchange);
  /// A function of the host table that takes a row of the function's table for it, and words.
  void emit(size_t function, unsigned row, llvm::ArrayRef<mlir::Value> words);
  /// Whether all integers of `bits` at an address, which is followed by their dimensions, are positions in `sizes`; without the table.
  mlir::Value arePositions(llvm::ArrayRef<mlir::Value> place, llvm::ArrayRef<mlir::Value> sizes,
                           unsigned bits);

private:
  mlir::Value callee(size_t function);
  mlir::Value at(mlir::Value base, int64_t offset);
  void store(mlir::Value value, mlir::Value base, int64_t offset);
  mlir::Value address(const EmittedKernel &kernel);
  void launch(const EmittedKernel &kernel);
  void callItself(const EmittedKernel &kernel);
  mlir::Value storeWords(llvm::ArrayRef<mlir::Value> given, unsigned place);
  void storePart(const EmittedKernel &kernel, unsigned place);
  void storeRows(const EmittedRows &rows, unsigned place);
  void call(size_t function, mlir::ValueRange arguments);

  HostExpressions &host;
  mlir::ImplicitLocOpBuilder &b;
  bool isDirect;
  mlir::Type pointer, i64;
  mlir::Value frame, worker, words, parts, tiles, rowBytes,
      overlap; ///< of the function that is emitted
};

} // namespace weft

#endif
