//===- AffineIndex.cpp - Integers that are functions of their position ------------------------===//

#include "compiler/import/onnx/graph/AffineIndex.h"

using namespace mlir;

namespace weft::onnx {
namespace {

constexpr unsigned kMostDepth = 24; ///< operations looked through

using Result = std::optional<AffineIndex>;

class Analysis {
public:
  explicit Analysis(GraphBuilder &g) : g(g) {}

  Result visit(Value value, unsigned depth) {
    if (!value || isFloat(elementOf(value)) || elementOf(value).isInteger(1) || depth > kMostDepth)
      return std::nullopt;
    if (Result constant = visitConstant(value))
      return constant;
    Operation *op = value.getDefiningOp();
    if (auto iota = dyn_cast_or_null<IotaOp>(op))
      return term(value, iota.getDim());
    if (auto convert = dyn_cast_or_null<ConvertOp>(op))
      return visit(convert.getInput(), depth + 1);
    if (isa_and_nonnull<AddOp, SubOp>(op))
      return visitSum(op, isa<AddOp>(op) ? 1 : -1, depth);
    if (isa_and_nonnull<MulOp>(op))
      return visitProduct(op, depth);
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
      return visitReshape(reshape, depth);
    if (auto expand = dyn_cast_or_null<ExpandOp>(op))
      return visitExpand(expand, depth);
    if (auto transpose = dyn_cast_or_null<TransposeOp>(op))
      return visitTranspose(transpose, depth);
    if (auto slice = dyn_cast_or_null<SliceOp>(op))
      return visitSlice(slice, depth);
    return std::nullopt;
  }

private:
  AffineIndex zero(Value like) { return {Dims(rankOf(like), g.constant(0)), g.constant(0)}; }

  Result term(Value value, unsigned dim) {
    AffineIndex result = zero(value);
    if (!typeOf(value).getDim(dim).isConstant(1))
      result.coefficients[dim] = g.constant(1);
    return result;
  }

  /// One known number, or a tensor filled with one.
  Result visitConstant(Value value) {
    AffineIndex result = zero(value);
    if (auto fill = value.getDefiningOp<FillOp>()) {
      result.offset = g.constant(cast<IntegerAttr>(fill.getValue()).getValue().getSExtValue());
      return result;
    }
    const RefTensor *tensor = g.known(value);
    if (!tensor || tensor->size() != 1 || !elementExpr(*tensor, 0))
      return std::nullopt;
    result.offset = elementExpr(*tensor, 0);
    return result;
  }

  /// `index` of an operand in terms of the positions of `result`, into which it is broadcast.
  Result broadcast(const AffineIndex &index, Value operand, Value result) {
    AffineIndex out = zero(result);
    unsigned shift = rankOf(result) - rankOf(operand);
    for (unsigned d = 0; d < rankOf(operand); ++d) {
      if (typeOf(operand).getDim(d).isConstant(1))
        continue;
      if (typeOf(operand).getDim(d) != typeOf(result).getDim(d + shift))
        return std::nullopt; // may be 1 when the program runs
      out.coefficients[d + shift] = index.coefficients[d];
    }
    out.offset = index.offset;
    return out;
  }

  Result visitOperand(Operation *op, unsigned i, unsigned depth) {
    Result index = visit(op->getOperand(i), depth + 1);
    return index ? broadcast(*index, op->getOperand(i), op->getResult(0)) : std::nullopt;
  }

  Result visitSum(Operation *op, int64_t sign, unsigned depth) {
    Result a = visitOperand(op, 0, depth), b = a ? visitOperand(op, 1, depth) : std::nullopt;
    if (!a || !b)
      return std::nullopt;
    for (auto [x, y] : llvm::zip(a->coefficients, b->coefficients))
      x = x + y * sign;
    a->offset = a->offset + b->offset * sign;
    return a;
  }

  Result visitProduct(Operation *op, unsigned depth) {
    Result a = visitOperand(op, 0, depth), b = a ? visitOperand(op, 1, depth) : std::nullopt;
    if (!a || !b)
      return std::nullopt;
    auto isNumber = [](const AffineIndex &index) {
      return llvm::all_of(index.coefficients, [](SymExpr c) { return c.isConstant(0); });
    };
    if (!isNumber(*b))
      std::swap(a, b);
    if (!isNumber(*b))
      return std::nullopt;
    for (SymExpr &coefficient : a->coefficients)
      coefficient = coefficient * b->offset;
    a->offset = a->offset * b->offset;
    return a;
  }

  /// Only 1s come and go.
  Result visitReshape(ReshapeOp op, unsigned depth) {
    Result index = visit(op.getInput(), depth + 1);
    if (!index)
      return std::nullopt;
    AffineIndex out = zero(op.getResult());
    SmallVector<unsigned> from, to;
    auto collect = [](Value value, SmallVector<unsigned> &list) {
      for (unsigned d = 0; d < rankOf(value); ++d)
        if (!typeOf(value).getDim(d).isConstant(1))
          list.push_back(d);
    };
    collect(op.getInput(), from);
    collect(op.getResult(), to);
    if (from.size() != to.size())
      return std::nullopt;
    for (auto [f, t] : llvm::zip(from, to)) {
      if (typeOf(op.getInput()).getDim(f) != typeOf(op.getResult()).getDim(t))
        return std::nullopt;
      out.coefficients[t] = index->coefficients[f];
    }
    out.offset = index->offset;
    return out;
  }

  Result visitExpand(ExpandOp op, unsigned depth) {
    Result index = visit(op.getInput(), depth + 1);
    return index ? broadcast(*index, op.getInput(), op.getResult()) : std::nullopt;
  }

  Result visitTranspose(TransposeOp op, unsigned depth) {
    Result index = visit(op.getInput(), depth + 1);
    if (!index)
      return std::nullopt;
    Dims moved;
    for (int64_t from : op.getOrder())
      moved.push_back(index->coefficients[from]);
    return AffineIndex{moved, index->offset};
  }

  Result visitSlice(SliceOp op, unsigned depth) {
    Value input = op.getInput();
    Dims starts(op.getStarts().getDims());
    if (auto concat = input.getDefiningOp<ConcatOp>())
      input = partOf(concat, op, starts);
    Result index = visit(input, depth + 1);
    if (!index)
      return std::nullopt;
    for (unsigned d = 0; d < rankOf(input); ++d) {
      index->offset = index->offset + index->coefficients[d] * starts[d];
      bool single = typeOf(op.getResult()).getDim(d).isConstant(1);
      index->coefficients[d] = single ? g.constant(0) : index->coefficients[d] * op.getSteps()[d];
    }
    return index;
  }

  /// The operand of a concatenation that one slice falls into; moves its start.
  Value partOf(ConcatOp concat, SliceOp slice, Dims &starts) {
    unsigned dim = concat.getDim();
    std::optional<int64_t> start = starts[dim].asConstant(),
                           size = typeOf(slice.getResult()).getDim(dim).asConstant();
    if (!start || !size || slice.getSteps()[dim] != 1)
      return {};
    int64_t before = 0;
    for (Value part : concat.getInputs()) {
      std::optional<int64_t> length = typeOf(part).getDim(dim).asConstant();
      if (!length)
        return {};
      if (*start >= before && *start + *size <= before + *length) {
        starts[dim] = g.constant(*start - before);
        return part;
      }
      before += *length;
    }
    return {};
  }

  GraphBuilder &g;
};

} // namespace

std::optional<AffineIndex> affineIndex(GraphBuilder &g, Value value) {
  Result result = Analysis(g).visit(value, 0);
  if (!result || result->offset.isOverflow() ||
      llvm::any_of(result->coefficients, [](SymExpr c) { return c.isOverflow(); }))
    return std::nullopt;
  return result;
}

SymExpr affineBound(GraphBuilder &g, const AffineIndex &index, Value value, int sign) {
  SymExpr bound = index.offset, zero = g.constant(0);
  for (unsigned d = 0; d < rankOf(value); ++d) {
    SymExpr towards = index.coefficients[d] * sign;
    if (g.facts().proveLE(zero, towards) == Proof::Yes)
      continue; // the end at position 0
    if (g.facts().proveLE(towards, zero) != Proof::Yes)
      return {};
    bound = bound + index.coefficients[d] * (typeOf(value).getDim(d) - 1);
  }
  return bound;
}

bool neverNegative(GraphBuilder &g, Value indices) {
  Result index = affineIndex(g, indices);
  SymExpr least = index ? affineBound(g, *index, indices, 1) : SymExpr();
  return least && g.facts().proveLE(g.constant(0), least) == Proof::Yes;
}

std::optional<bool> compareByPosition(GraphBuilder &g, CompareKind kind, Value a, Value b) {
  if (kind == CompareKind::Greater || kind == CompareKind::GreaterEqual)
    return compareByPosition(
        g, kind == CompareKind::Greater ? CompareKind::Less : CompareKind::LessEqual, b, a);
  if (kind != CompareKind::Less && kind != CompareKind::LessEqual)
    return std::nullopt;
  Result left = affineIndex(g, a), right = left ? affineIndex(g, b) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  SymExpr lowA = affineBound(g, *left, a, 1), highA = affineBound(g, *left, a, -1);
  SymExpr lowB = affineBound(g, *right, b, 1), highB = affineBound(g, *right, b, -1);
  int64_t strict = kind == CompareKind::Less;
  if (highA && lowB && g.facts().proveLE(highA + strict, lowB) == Proof::Yes)
    return true;
  if (lowA && highB && g.facts().proveLE(highB + (1 - strict), lowA) == Proof::Yes)
    return false;
  return std::nullopt;
}

//===-- Gathering -----------------------------------------------------------------------------===//

namespace {

/// Dimensions of the indices along which the position moves, outermost first: each step is the
/// product of the sizes behind it.
bool isRowMajor(const AffineIndex &index, Value indices, ArrayRef<unsigned> dims, SymExpr size,
                GraphBuilder &g) {
  SymExpr stride = g.constant(1);
  for (unsigned d : llvm::reverse(dims)) {
    if (index.coefficients[d] != stride)
      return false;
    stride = stride * typeOf(indices).getDim(d);
  }
  return index.offset.isConstant(0) && g.simplify(stride) == g.simplify(size);
}

/// `x` along `axis` from `offset` in steps of the only moving dimension.
Value sliceAt(GraphBuilder &g, Value x, unsigned axis, SymExpr offset, SymExpr step,
              SymExpr count) {
  std::optional<int64_t> stride = step.asConstant();
  if (!stride || *stride < 1 || g.facts().proveLE(g.constant(0), offset) != Proof::Yes)
    return {};
  SymExpr last = offset + (count - 1) * *stride;
  if (!g.requireAtMost(last + 1, typeOf(x).getDim(axis), "the largest index"))
    return {};
  Dims starts(rankOf(x), g.constant(0));
  SmallVector<int64_t> steps(rankOf(x), 1);
  starts[axis] = offset;
  steps[axis] = *stride;
  return g.slice(x, starts, GraphBuilder::replaced(x, axis, count), steps);
}

} // namespace

Value gatherByPosition(GraphBuilder &g, Value x, Value indices, unsigned axis) {
  Result index = affineIndex(g, indices);
  if (!index || g.refused())
    return {};
  SmallVector<unsigned> moving;
  for (unsigned d = 0; d < rankOf(indices); ++d)
    if (!index->coefficients[d].isConstant(0))
      moving.push_back(d);
  Value picked;
  if (moving.empty())
    picked = sliceAt(g, x, axis, index->offset, g.constant(1), g.constant(1));
  else if (isRowMajor(*index, indices, moving, typeOf(x).getDim(axis), g))
    picked = x;
  else if (moving.size() == 1)
    picked = sliceAt(g, x, axis, index->offset, index->coefficients[moving[0]],
                     typeOf(indices).getDim(moving[0]));
  if (!picked)
    return {};
  // The axis becomes the dimensions of the indices, first with 1s where the position does not move.
  Dims dims(typeOf(x).getDims()), narrow, wide;
  for (unsigned d = 0; d < rankOf(indices); ++d) {
    wide.push_back(typeOf(indices).getDim(d));
    narrow.push_back(llvm::is_contained(moving, d) ? wide.back() : g.constant(1));
  }
  auto around = [&](const Dims &middle) {
    Dims all(ArrayRef<SymExpr>(dims).take_front(axis));
    llvm::append_range(all, middle);
    llvm::append_range(all, ArrayRef<SymExpr>(dims).drop_front(axis + 1));
    return all;
  };
  return g.expandTo(g.reshape(picked, around(narrow)), around(wide));
}

} // namespace weft::onnx
