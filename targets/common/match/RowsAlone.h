//===- RowsAlone.h - Kernels of which some rows are the same kernel with other words ---------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_ROWSALONE_H
#define WEFT_TARGETS_COMMON_MATCH_ROWSALONE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/KernelChoice.h"

namespace weft {

/// How units follow the rows of a kernel, tiles of which have `height`, that may be called for some of its rows: it gets the addresses of these and
/// their number. For schedules that compute a row alike however many there are. Nothing where an element depends on which row it is of, or the number of
/// rows is no symbol.
std::optional<RowTiles> rowsAlone(mlir::func::FuncOp spec, unsigned argument, SymExpr rows,
                                  int64_t height);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_ROWSALONE_H
