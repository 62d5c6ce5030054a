//===- Collective.cpp - Reference semantics of what ranks give each other ------------------------===//
//
// Calls are in the order of places. What is counted follows the pieces that go from one rank to another: results are combined where
// their part lies, and sent from there.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Collective.h"

using namespace mlir;

namespace weft {
namespace {

using Calls = MutableArrayRef<ReferenceCall>;
using Counts = MutableArrayRef<Sent>;

const RefTensor &inputOf(const ReferenceCall &call) { return *call.inputs[0]; }

int64_t product(ArrayRef<int64_t> dims) {
  int64_t elements = 1;
  for (int64_t dim : dims)
    elements *= dim;
  return elements;
}

void count(Sent &sent, Type element, int64_t elements) {
  sent.bytes += elementBytes(element, elements);
  ++sent.messages;
}

RefTensor withExtent(const RefTensor &like, int64_t dim, int64_t extent) {
  SmallVector<int64_t, 4> dims = like.dims;
  dims[dim] = extent;
  return RefTensor(like.element, dims);
}

/// Lines [from, from + lines) along a dimension become those from `at` on.
void copyLines(int64_t dim, const RefTensor &source, int64_t from, int64_t lines, RefTensor &to,
               int64_t at) {
  int64_t outer = product(ArrayRef(source.dims).take_front(dim)),
          inner = product(ArrayRef(source.dims).drop_front(dim + 1));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < lines * inner; ++i)
      to.set((o * to.dims[dim] + at) * inner + i,
             source.at((o * source.dims[dim] + from) * inner + i));
}

RefTensor linesOf(int64_t dim, const RefTensor &source, Part part) {
  RefTensor lines = withExtent(source, dim, part.size());
  copyLines(dim, source, part.begin, part.size(), lines, 0);
  return lines;
}

/// In the order of places. `CombinerKind` lists the same as `Combiner`.
RefTensor combineAll(CombinerKind kind, Calls calls) {
  RefTensor total = inputOf(calls.front());
  for (const ReferenceCall &call : calls.drop_front())
    for (int64_t i = 0; i < total.size(); ++i)
      total.set(i, combineScalars(Combiner(kind), total.element, total.at(i), inputOf(call).at(i)));
  return total;
}

} // namespace

LogicalResult AllReduceOp::exchange(Calls calls, Counts sent) {
  RefTensor total = combineAll(getKind(), calls);
  int64_t ranks = calls.size();
  for (int64_t p = 0; p < ranks; ++p) {
    calls[p].outputs.push_back(total);
    for (int64_t q = 0; q < ranks; ++q)
      if (q != p) {
        count(sent[p], total.element, partOf(total.size(), ranks, q).size()); // to be combined
        count(sent[p], total.element, partOf(total.size(), ranks, p).size()); // combined
      }
  }
  return success();
}

LogicalResult AllGatherOp::exchange(Calls calls, Counts sent) {
  FailureOr<int64_t> extent = calls.front().value(getExtent()[0]);
  if (failed(extent))
    return failure();
  int64_t dim = getDim(), ranks = calls.size();
  RefTensor whole = withExtent(inputOf(calls.front()), dim, *extent);
  for (int64_t p = 0; p < ranks; ++p) {
    const RefTensor &part = inputOf(calls[p]);
    copyLines(dim, part, 0, part.dims[dim], whole, partOf(*extent, ranks, p).begin);
    for (int64_t q = 0; q < ranks; ++q)
      if (q != p)
        count(sent[p], part.element, part.size());
  }
  for (ReferenceCall &call : calls)
    call.outputs.push_back(whole);
  return success();
}

LogicalResult ReduceScatterOp::exchange(Calls calls, Counts sent) {
  RefTensor total = combineAll(getKind(), calls);
  int64_t dim = getDim(), ranks = calls.size();
  for (int64_t q = 0; q < ranks; ++q) {
    RefTensor part = linesOf(dim, total, partOf(total.dims[dim], ranks, q));
    for (int64_t p = 0; p < ranks; ++p)
      if (p != q)
        count(sent[p], total.element, part.size());
    calls[q].outputs.push_back(std::move(part));
  }
  return success();
}

LogicalResult AllToAllOp::exchange(Calls calls, Counts sent) {
  FailureOr<int64_t> extent = calls.front().value(getExtent()[0]);
  if (failed(extent))
    return failure();
  int64_t split = getSplit(), join = getJoin(), ranks = calls.size();
  for (int64_t q = 0; q < ranks; ++q) {
    Part lines = partOf(inputOf(calls[q]).dims[split], ranks, q);
    RefTensor joined =
        withExtent(withExtent(inputOf(calls[q]), split, lines.size()), join, *extent);
    for (int64_t p = 0; p < ranks; ++p) {
      RefTensor piece = linesOf(split, inputOf(calls[p]), lines);
      copyLines(join, piece, 0, piece.dims[join], joined, partOf(*extent, ranks, p).begin);
      if (p != q)
        count(sent[p], piece.element, piece.size());
    }
    calls[q].outputs.push_back(std::move(joined));
  }
  return success();
}

LogicalResult BroadcastOp::exchange(Calls calls, Counts sent) {
  size_t root = getRoot();
  const RefTensor &given = inputOf(calls[root]);
  for (auto [p, call] : llvm::enumerate(calls)) {
    call.outputs.push_back(given);
    if (p != root)
      count(sent[root], given.element, given.size());
  }
  return success();
}

LogicalResult PermuteOp::exchange(Calls calls, Counts sent) {
  for (size_t p = 0; p < calls.size(); ++p) {
    size_t to = placeThatGets(*this, p);
    calls[to].outputs.push_back(inputOf(calls[p]));
    if (to != p)
      count(sent[p], inputOf(calls[p]).element, inputOf(calls[p]).size());
  }
  return success();
}

} // namespace weft
