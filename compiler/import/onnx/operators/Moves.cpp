//===- Moves.cpp - Transpose, Concat, DepthToSpace, Trilu -------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

void convertTranspose(NodeImport &n) {
  int64_t rank = n.rank(0);
  SmallVector<int64_t> order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (auto given = n.intsAttribute("perm")) {
    order.clear();
    for (int64_t axis : *given)
      order.push_back(n.axis(axis, rank));
  }
  SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, rank)))
    return (void)n.wrong("the permutation does not name each dimension once");
  n.result(n.transpose(n.input(0), order));
}

void convertConcat(NodeImport &n) {
  ArrayRef<Value> parts = n.allInputs();
  std::optional<int64_t> axis = n.opset < 4 ? n.intAttribute("axis", 1) : n.intAttribute("axis");
  if (!axis)
    return (void)n.wrong("attribute 'axis' is missing");
  if (parts.empty())
    return;
  unsigned dim = n.axis(*axis, rankOf(parts[0]));
  if (!n.refused())
    n.result(n.concat(parts, dim));
}

/// d = b*q, required.
SymExpr quotient(NodeImport &n, SymExpr d, int64_t b) {
  SymExpr q = n.simplify(SymExpr::floordiv(d, b));
  n.requireEqual(d, q * b, "a dimension that is divided into blocks");
  return q;
}

bool readBlocks(NodeImport &n, int64_t &block) {
  block = n.intAttribute("blocksize", 0);
  if (block < 1 || block > 1 << 15)
    n.wrong("attribute 'blocksize' is " + Twine(block));
  else if (n.rank(0) != 4)
    n.wrong("the input must have rank 4");
  return !n.refused();
}

void convertDepthToSpace(NodeImport &n) {
  int64_t b;
  std::string mode = n.textAttribute("mode", "DCR");
  if (!readBlocks(n, b))
    return;
  Dims d = n.dims(0);
  SymExpr block = n.constant(b), channels = quotient(n, d[1], b * b);
  bool depthFirst = mode == "DCR";
  if (!depthFirst && mode != "CRD")
    return (void)n.refuse("mode '" + mode + "' is not supported");
  Value x = n.input(0);
  if (depthFirst)
    x = n.transpose(n.reshape(x, {d[0], block, block, channels, d[2], d[3]}), {0, 3, 4, 1, 5, 2});
  else
    x = n.transpose(n.reshape(x, {d[0], channels, block, block, d[2], d[3]}), {0, 1, 4, 2, 5, 3});
  n.result(n.reshape(x, {d[0], channels, d[2] * block, d[3] * block}));
}

void convertSpaceToDepth(NodeImport &n) {
  int64_t b;
  std::string mode = n.textAttribute("mode", "DCR");
  if (!readBlocks(n, b))
    return;
  if (mode != "DCR" && mode != "CRD")
    return (void)n.refuse("mode '" + mode + "' is not supported");
  Dims d = n.dims(0);
  SymExpr block = n.constant(b), rows = quotient(n, d[2], b), columns = quotient(n, d[3], b);
  Value x = n.reshape(n.input(0), {d[0], d[1], rows, block, columns, block});
  x = mode == "DCR" ? n.transpose(x, {0, 3, 5, 1, 2, 4}) : n.transpose(x, {0, 1, 3, 5, 2, 4});
  n.result(n.reshape(x, {d[0], d[1] * block * block, rows, columns}));
}

/// Keeps elements on one side of a diagonal: column - row against k.
void convertTrilu(NodeImport &n) {
  Value x = n.input(0);
  bool upper = n.intAttribute("upper", 1) != 0;
  if (!x)
    return;
  if (rankOf(x) < 2)
    return (void)n.wrong("the input must have rank 2 or more");
  Value k = n.hasInput(1) ? n.reshape(n.convert(n.input(1), n.i64()), {}) : n.number(n.i64(), 0.0);
  Value row = n.iota({n.dim(0, rankOf(x) - 2), n.constant(1)}, 0, n.i64());
  Value column = n.iota({n.constant(1), n.dim(0, rankOf(x) - 1)}, 1, n.i64());
  Value kept =
      n.compare(upper ? CompareKind::GreaterEqual : CompareKind::LessEqual, column, n.add(row, k));
  n.result(n.select(kept, x, n.numberLike(x, 0)));
}

} // namespace

void addMoves(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Transpose", 1, newest, convertTranspose});
  table.add({"Concat", 1, newest, convertConcat, 1, kAnyNumber});
  table.add({"DepthToSpace", 1, newest, convertDepthToSpace});
  table.add({"SpaceToDepth", 1, newest, convertSpaceToDepth});
  table.add({"Trilu", 14, newest, convertTrilu, 1, 2});
}

} // namespace weft::onnx
