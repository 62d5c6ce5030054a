//===- AffineIndex.h - Integers that are functions of their position --------------------------===//
//
// Masks and positions are built from ranges: element [i, j] of such a tensor is offset + a*i + b*j.
// Reading a tensor at such indices needs no index data: it is a slice, a reshape and a broadcast.
//
//   if (std::optional<AffineIndex> index = affineIndex(builder, indices)) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_AFFINEINDEX_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_AFFINEINDEX_H

#include "compiler/import/onnx/graph/GraphBuilder.h"

namespace weft::onnx {

/// offset + sum(coefficients[d] * position[d]); coefficients of dimensions of size 1 are 0.
struct AffineIndex {
  Dims coefficients;
  SymExpr offset;
};

/// Nothing when the value is not known to have this form.
std::optional<AffineIndex> affineIndex(GraphBuilder &g, Value value);

/// The smallest (`sign` 1) or the largest (-1) element; null when it is not known.
SymExpr affineBound(GraphBuilder &g, const AffineIndex &index, Value value, int sign);

/// True when no element is negative.
bool neverNegative(GraphBuilder &g, Value indices);

/// `x` read along `axis` at `indices` by slicing and reshaping; null when that is not possible.
Value gatherByPosition(GraphBuilder &g, Value x, Value indices, unsigned axis);

/// Whether the relation holds for all elements (true), for none (false), or neither is known.
std::optional<bool> compareByPosition(GraphBuilder &g, CompareKind kind, Value a, Value b);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_AFFINEINDEX_H
