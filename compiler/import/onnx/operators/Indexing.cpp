//===- Indexing.cpp - Gather, GatherElements, GatherND, OneHot, ReverseSequence ---------------===//

#include "compiler/import/onnx/graph/AffineIndex.h"
#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// The index when it is one constant.
std::optional<int64_t> singleIndex(NodeImport &n, Value indices) {
  const RefTensor *tensor = n.known(indices);
  if (!tensor || tensor->size() != 1 || rankOf(indices) > 1 || tensor->kind != Scalar::Integer)
    return std::nullopt;
  return tensor->integers[0];
}

/// One constant position is a slice: a view without loads of indices.
Value gatherOne(NodeImport &n, Value x, unsigned axis, int64_t index, bool keepsDim) {
  SymExpr size = typeOf(x).getDim(axis);
  SymExpr start = index < 0 ? size + index : n.constant(index);
  if (!n.requireAtMost(n.constant(0), start, "index " + Twine(index)) ||
      !n.requireAtMost(start + 1, size, "index " + Twine(index)))
    return {};
  Value part = n.sliceDim(x, axis, start, n.constant(1));
  if (keepsDim || !part)
    return part;
  Dims dims(typeOf(part).getDims());
  dims.erase(dims.begin() + axis);
  return n.reshape(part, dims);
}

/// Refuses constant indices that lie outside of a constant dimension.
bool checkIndices(NodeImport &n, Value indices, SymExpr size) {
  const RefTensor *tensor = n.known(indices);
  std::optional<int64_t> most = size.asConstant();
  if (!tensor || !most || tensor->kind != Scalar::Integer)
    return true;
  for (int64_t index : tensor->integers)
    if (index < -*most || index >= *most) {
      n.wrong("index " + Twine(index) + " is outside of a dimension of " + Twine(*most));
      return false;
    }
  return true;
}

Value toIndex(NodeImport &n, Value indices) {
  if (indices && (elementOf(indices).isInteger(32) || elementOf(indices).isInteger(64)) &&
      !elementOf(indices).isUnsignedInteger())
    return indices;
  return n.convert(indices, n.i64());
}

void convertGather(NodeImport &n) {
  Value x = n.input(0), indices = toIndex(n, n.input(1));
  unsigned axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  if (!x || !indices || n.refused() || !checkIndices(n, indices, typeOf(x).getDim(axis)))
    return;
  if (std::optional<int64_t> index = singleIndex(n, indices))
    return n.result(gatherOne(n, x, axis, *index, rankOf(indices) == 1));
  n.result(n.gather(x, indices, axis));
}

/// Negative positions count from the end.
Value wrapIndex(NodeImport &n, Value indices, SymExpr size) {
  if (indices && neverNegative(n, indices))
    return indices;
  Value negative = n.compare(CompareKind::Less, indices, n.numberLike(indices, 0));
  return n.select(negative, n.add(indices, n.number(n.i64(), size)), indices);
}

void convertGatherElements(NodeImport &n) {
  Value x = n.input(0), indices = toIndex(n, n.input(1));
  unsigned axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  if (!x || !indices || n.refused() || !checkIndices(n, indices, typeOf(x).getDim(axis)))
    return;
  if (rankOf(indices) != rankOf(x))
    return (void)n.wrong("data and indices have different ranks");
  for (unsigned d = 0; d < rankOf(x); ++d)
    if (d != axis && !n.requireAtMost(typeOf(indices).getDim(d), typeOf(x).getDim(d),
                                      "dimension " + Twine(d) + " of the indices"))
      return;
  n.result(n.emit<GatherElementsOp>({x, indices},
                                    n.attribute("axis", n.attributes().getI64IntegerAttr(axis))));
}

/// Index tuples that are functions of their position, as exporters write for masks, are one position
/// in the elements addressed by them: then the tensor is read as it lies. Null when they are not.
Value gatherTuplesByPosition(NodeImport &n, Value x, Value indices, unsigned depth) {
  Dims dims(typeOf(x).getDims()), outer(ArrayRef<SymExpr>(typeOf(indices).getDims()).drop_back());
  ArrayRef<SymExpr> all(dims);
  Value position;
  for (unsigned k = 0; k < depth; ++k) {
    Value column =
        n.reshape(n.sliceDim(indices, outer.size(), n.constant(k), n.constant(1)), outer);
    if (!column || !neverNegative(n, column))
      return {};
    Value term = n.mul(column, n.number(n.i64(), n.product(all.slice(k + 1, depth - k - 1))));
    position = position ? n.add(position, term) : term;
  }
  Dims flat = {n.product(all.take_front(depth))};
  llvm::append_range(flat, all.drop_front(depth));
  return gatherByPosition(n, n.reshape(x, flat), position, 0);
}

/// The last dimension of the indices holds positions in the dimensions behind the batch ones.
void convertGatherND(NodeImport &n) {
  Value x = n.input(0), indices = toIndex(n, n.input(1));
  int64_t batch = n.intAttribute("batch_dims", 0);
  if (!x || !indices)
    return;
  std::optional<int64_t> depth;
  if (rankOf(indices) > 0)
    depth = typeOf(indices).getDim(rankOf(indices) - 1).asConstant();
  if (!depth)
    return (void)n.refuse("the last dimension of the indices is not constant");
  if (batch < 0 || batch >= rankOf(indices) || *depth < 1 || batch + *depth > rankOf(x))
    return (void)n.wrong("indices of depth " + Twine(*depth) + " do not fit data of rank " +
                         Twine(rankOf(x)));
  if (Value read = batch == 0 ? gatherTuplesByPosition(n, x, indices, *depth) : Value())
    return n.result(read);
  for (unsigned d = 0; d < batch; ++d)
    if (n.requireEqual(typeOf(indices).getDim(d), typeOf(x).getDim(d),
                       "batch dimension " + Twine(d)))
      indices = n.refine(indices, d, typeOf(x).getDim(d));
  n.result(n.emit<GatherNdOp>({x, indices},
                              n.attribute("batch", n.attributes().getI64IntegerAttr(batch))));
}

void convertOneHot(NodeImport &n) {
  Value indices = n.convert(n.input(0), n.i64()), values = n.input(2);
  std::optional<SymExpr> depth;
  if (!n.hasInput(1) || !isFloat(n.element(1)))
    depth = n.sizeScalar(1);
  else if (const RefTensor *known = n.known(n.input(1)); known && known->reals.size() == 1)
    depth = n.constant(int64_t(known->reals[0]));
  else
    depth = n.bindOnce(1, 0, kItself, {},
                       [&] { return n.convert(n.reshape(n.input(1), {}), n.i64()); });
  unsigned axis = n.axis(n.intAttribute("axis", -1), n.rank(0) + 1);
  if (!indices || !values || !depth || !*depth || n.refused())
    return;
  if (rankOf(values) != 1)
    return (void)n.wrong("the values must be a list: one for the others, one for the hits");
  Dims line(rankOf(indices) + 1, n.constant(1));
  line[axis] = *depth;
  Value wrapped = n.unsqueeze(wrapIndex(n, indices, *depth), int64_t(axis));
  Value hit = n.compare(CompareKind::Equal, wrapped, n.iota(line, axis, n.i64()));
  Value off = n.reshape(n.sliceDim(values, 0, n.constant(0), n.constant(1)), {});
  Value on = n.reshape(n.sliceDim(values, 0, n.constant(1), n.constant(1)), {});
  n.result(n.select(hit, on, off));
}

/// The first elements of each line in reverse, as many as its length says.
void convertReverseSequence(NodeImport &n) {
  Value x = n.input(0), lengths = n.input(1);
  int64_t rank = n.rank(0), batch = n.axis(n.intAttribute("batch_axis", 1), rank),
          time = n.axis(n.intAttribute("time_axis", 0), rank);
  if (!x || !lengths || n.refused())
    return;
  if (batch == time || rankOf(lengths) != 1)
    return (void)n.wrong("batch and time must be two dimensions, and the lengths a list");
  Dims dims = n.dims(0), line(rank, n.constant(1)), perBatch = line;
  line[time] = dims[time];
  perBatch[batch] = dims[batch];
  if (!n.requireEqual(typeOf(lengths).getDim(0), dims[batch], "the number of lengths"))
    return;
  lengths = n.convert(n.refine(lengths, 0, dims[batch]), n.i64());
  n.requireInside(lengths, dims[time] + 1);
  lengths = n.reshape(lengths, perBatch);
  Value at = n.iota(line, time, n.i64()), last = n.sub(lengths, n.number(n.i64(), 1.0));
  at = n.select(n.compare(CompareKind::LessEqual, at, last), n.sub(last, at), at);
  n.result(n.emit<GatherElementsOp>(
      {x, n.expandTo(at, dims)},
      {n.attribute("axis", n.attributes().getI64IntegerAttr(time)), n.clamped()}));
}

} // namespace

void addIndexing(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Gather", 1, newest, convertGather, 2, 2});
  table.add({"GatherElements", 11, newest, convertGatherElements, 2, 2});
  table.add({"GatherND", 11, newest, convertGatherND, 2, 2});
  table.add({"OneHot", 9, newest, convertOneHot, 3, 3});
  table.add({"ReverseSequence", 10, newest, convertReverseSequence, 2, 2});
}

} // namespace weft::onnx
