//===- AttentionParts.h - What the operators of attention are made of -----------------------===//
//
// Queries, keys and values in heads and a mask become scores, a softmax and a product:
//
//   AttentionInputs in = ...;
//   in.measure(n);
//   Mask mask;
//   mask.restrict(n, isCausal(n, in));
//   n.result(mergeHeads(n, attend(n, in, mask, {}).y));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_ATTENTIONPARTS_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_ATTENTIONPARTS_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

/// [b, s, h*d] as [b, h, s, d].
Value splitHeads(NodeImport &n, Value x, int64_t heads);
/// [b, h, s, d] as [b, s, h*d].
Value mergeHeads(NodeImport &n, Value x);
/// Each head of keys or values for `heads` heads of queries.
Value repeatHeads(NodeImport &n, Value x, SymExpr heads);

/// Which keys a query sees: what is added to the scores, and where they count at all. Null: nothing.
struct Mask {
  Value bias, allowed;
  bool mayHideAll = false; ///< all keys of some query

  void add(NodeImport &n, Value more) { bias = bias ? n.add(bias, more) : more; }
  void restrict(NodeImport &n, Value where) {
    allowed = allowed ? n.binary<AndOp>(allowed, where) : where;
  }
};

struct AttentionInputs {
  Value query, key, value; ///< [b, heads, s, d]
  SymExpr past;            ///< keys before the first query, unless `start` tells it per batch
  Value start = {};        ///< [b, 1, 1, 1]
  Value valid = {};        ///< how many keys count per batch as [b, 1, 1, 1]; null for all
  SymExpr queries = {}, keys = {}; ///< lengths, from measure

  /// Reads the lengths; false and refused when those of keys and values differ.
  bool measure(NodeImport &n);
};

/// The position of each query among the keys minus that of each key, as [.., queries, keys].
Value distances(NodeImport &n, const AttentionInputs &in);
/// `key <= query + past`, written so that it is known for ranges.
Value isCausal(NodeImport &n, const AttentionInputs &in);

struct AttentionForm {
  std::optional<double> scale; ///< of the scores; otherwise 1/sqrt(d)
  double cap = 0;              ///< of the scores; 0 for none
  Type softmax;                ///< at least; null for the type in which products are summed
};

/// The result as [b, heads, s, d], and what stands on the way.
struct Attended {
  Value plain, capped, masked, weights, y;
};
/// All null when refused.
Attended attend(NodeImport &n, const AttentionInputs &in, const Mask &mask,
                const AttentionForm &form);

/// Pairs of elements of the first `size` ones of each head of [b, h, s, d] turned by an angle: the
/// halves of these, or neighbours when `interleaved`. The caches hold cosines and sines by position
/// and pair; `positions` are [b, s], null when the caches are [b, s, pair] already.
struct Rotation {
  Value cosines, sines, positions;
  SymExpr size; ///< null for whole heads
  bool interleaved = false;
};
Value rotateHeads(NodeImport &n, Value x, const Rotation &by);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_ATTENTIONPARTS_H
