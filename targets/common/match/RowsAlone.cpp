//===- RowsAlone.cpp ------------------------------------------------------------------------------------------===//
//
//   rows: the first dimension of arguments and results, and of what stands between; no other dimension, and no number, depends on them
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/RowsAlone.h"
#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {
namespace {

bool mentions(SymExpr expr, StringAttr symbol) {
  return llvm::is_contained(expr.symbols(), symbol);
}

/// Whether only the first dimension has to do with the symbol, and is it.
class Rows {
public:
  explicit Rows(StringAttr symbol) : symbol(symbol), rows(SymExpr::symbol(symbol)) {}

  bool isIn(Type type) const {
    auto tensor = cast<SymTensorType>(type);
    return llvm::any_of(tensor.getDims(), [&](SymExpr dim) { return mentions(dim, symbol); });
  }
  bool areFirst(Type type) const {
    auto tensor = cast<SymTensorType>(type);
    SmallVector<SymExpr> dims = tensor.getDims();
    return !dims.empty() && dims.front() == rows &&
           llvm::none_of(ArrayRef(dims).drop_front(),
                         [&](SymExpr dim) { return mentions(dim, symbol); });
  }
  bool areFirstOrNowhere(Type type) const { return areFirst(type) || !isIn(type); }

  /// Whether how many rows there are is a number of the operation, as of 'dims_value'.
  bool isSaid(Operation *op) const {
    return llvm::any_of(op->getAttrs(), [&](NamedAttribute each) {
      auto dims = dyn_cast<DimsAttr>(each.getValue());
      return dims &&
             llvm::any_of(dims.getDims(), [&](SymExpr dim) { return mentions(dim, symbol); });
    });
  }

  /// Whether the operation computes a row of its results from that row of operands.
  bool areAlone(Operation *op) const {
    auto isIn = [&](Type type) { return this->isIn(type); };
    if (llvm::none_of(op->getResultTypes(), isIn) && llvm::none_of(op->getOperandTypes(), isIn))
      return !isSaid(op);
    if (!isa<RuleOpInterface>(op) || op->getNumRegions())
      return false;
    IterationRule rule = IterationRule::of(op);
    if (!rule.seesExtentsOnly())
      return false;
    std::optional<unsigned> factor;
    for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
      ArrayRef<Access> accesses = rule.result(i);
      if (!areFirst(type) || accesses.front().kind != AccessKind::Point ||
          (factor && *factor != accesses.front().factor()))
        return false;
      factor = accesses.front().factor();
    }
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      if (!areFirstOrNowhere(type) || areFirst(type) != follow(rule.operand(i), *factor))
        return false;
    return true;
  }

private:
  /// Whether the operand is read at the row that is computed.
  static bool follow(ArrayRef<Access> accesses, unsigned factor) {
    return !accesses.empty() && accesses.front().kind == AccessKind::Point &&
           accesses.front().factor() == factor;
  }

  StringAttr symbol;
  SymExpr rows;
};

} // namespace

std::optional<RowTiles> rowsAlone(func::FuncOp spec, unsigned argument, SymExpr count,
                                  int64_t height) {
  StringAttr symbol = count.asSymbol();
  if (!symbol)
    return std::nullopt;
  Rows rows(symbol);
  auto fit = [&](Type type) {
    return rows.areFirstOrNowhere(type) &&
           (!rows.isIn(type) || elementBits(cast<SymTensorType>(type).getElementType()) >= 8);
  };
  Operation *end = spec.front().getTerminator();
  if (!rows.areFirst(spec.getArgument(argument).getType()) ||
      !llvm::all_of(spec.getArgumentTypes(), fit) ||
      !llvm::all_of(end->getOperandTypes(),
                    [&](Type type) { return rows.areFirst(type) && fit(type); }))
    return std::nullopt;
  for (Operation &op : spec.front().without_terminator())
    if (!rows.areAlone(&op))
      return std::nullopt;
  return RowTiles{argument, count, SymExpr::ceildiv(count, height), 1, height};
}

} // namespace weft
