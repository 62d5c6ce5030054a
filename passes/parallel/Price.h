//===- Price.h - What a program over ranks costs one of them ------------------------------------------===//
//
//   FailureOr<SizeGuess> sizes = guessSizes(function, {{"seq", 128}});
//   Price price = priceOf(function, sizes->values, Links());   // of rank 0, whose parts are the largest
//   if (price.better(best, limit)) …
//
// The same arithmetic prices a program before it is split and every plan that a search looks at.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_PRICE_H
#define WEFT_PASSES_PARALLEL_PRICE_H

#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/Link.h"
#include <map>

namespace weft {

/// Of one call by one rank.
struct Price {
  double kernels = 0, exchanges = 0; ///< nanoseconds
  double
      weights = 0,
      values =
          0; ///< bytes: that the rank reads of constants, and the most that lie in memory at once

  double time() const { return kernels + exchanges; }
  double memory() const { return weights + values; }
  /// Whether it is a better one than another; what needs more than `limit` bytes is worse than all that do not. 0: no limit.
  bool isBetter(const Price &other, double limit) const;
  Price &operator+=(const Price &other);
};

/// Of a function of the graph, at these sizes. Operations whose location says so count several times (see Layers.h).
Price priceOf(mlir::func::FuncOp function, SymValues sizes, const Links &links);

/// How often an operation stands for itself and its like.
int64_t timesOf(mlir::Location location);
mlir::Location withTimes(mlir::Location location, int64_t times);

/// Sizes at which a program is priced: those that are given, and of others a guess that its facts allow: 1 for what leads an
/// input, such as a batch, and 128 for others. Fails, and says why, for a symbol that there is not and for sizes that facts exclude.
mlir::FailureOr<SymValues> guessSizes(mlir::func::FuncOp function,
                                      const std::map<std::string, int64_t> &given);

/// Of texts SYMBOL=NUMBER.
std::map<std::string, int64_t> readSizes(llvm::ArrayRef<std::string> texts);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_PRICE_H
