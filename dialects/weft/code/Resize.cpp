//===- Resize.cpp - Code of resize ------------------------------------------------------------===//
//
//   for dimension that changes its size                        written out
//     each element several times: the index divided by how often            [repeated]
//     x = where the element lies in the operand, in f64                     [coordinate]
//     nearest: one neighbour, x rounded                                     [nearest]
//     linear: two, cubic: four around x; weights by their distance          [neighbours]
//       positions beyond the border are those at it                         [border]
//       or have weight 0, the others divided by their sum                   [exclude]
//   for combination of neighbours: sum += element * weight     written out  [blend]
//   an operand without elements gives 0                                     [empty]
//
// Where all lanes have one index, its neighbours are found by scalars: with channels last, a pixel's
// are found once for all channels, which are then read as they lie.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Resize.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {
namespace {

/// The elements along one dimension that make up a result element, with their weights (none for
/// `nearest`).
struct Neighbour {
  IndexValue position;
  Value weight;
};

/// Coordinates, neighbours and weights of one index in f64, so that rounding decides as in the
/// reference semantics.
class Sampler {
public:
  Sampler(ResizeOp op, ElementBuilder &e, unsigned d, IndexValue i)
      : op(op), e(e), b(e.builder()), f64(b.getF64Type()), d(d), i(i),
        size(tensorType(op.getInput()).getDim(d)), isScalar(i.isUniform()) {}

  /// [neighbours] In the order of their positions.
  SmallVector<Neighbour> neighbours() {
    // [repeated]
    if (std::optional<int64_t> times = repeatsOf(op, d))
      return {{e.divmod(i, e.constant(*times)).first, {}}};
    Value x = coordinate();
    if (op.getMode() == ResizeMode::Nearest)
      return {{position(nearest(x)), {}}};
    Value low = b.create<math::FloorOp>(x), rest = sub(x, low);
    SmallVector<Neighbour> list;
    SmallVector<Value> at;
    if (op.getMode() == ResizeMode::Linear) {
      at = {low, add(low, number(1))};
      list = {{position(at[0]), sub(number(1), rest)}, {position(at[1]), rest}};
    } else {
      Value weights[] = {far(add(rest, number(1))), near(rest), near(sub(number(1), rest)),
                         far(sub(number(2), rest))};
      for (int k = 0; k < 4; ++k) {
        at.push_back(add(low, number(k - 1)));
        list.push_back({position(at[k]), weights[k]});
      }
    }
    if (op.getExcludeOutside())
      excludeOutside(list, at);
    return list;
  }

private:
  Value number(double value) {
    auto attribute = FloatAttr::get(f64, value);
    return isScalar ? b.create<arith::ConstantOp>(attribute) : e.constantData(f64, attribute);
  }
  Value add(Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return b.create<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return b.create<arith::DivFOp>(x, y); }
  Value data(IndexValue index) {
    return isScalar ? b.create<arith::SIToFPOp>(f64, index.base) : e.toData(index, f64);
  }

  /// [coordinate] Operation by operation as in the reference semantics.
  Value coordinate() {
    Value i = data(this->i), n = data(e.symbolic(size)), m = data(e.symbolic(op.getSizes()[d]));
    Value s = op.getScales()[d] == 0 ? div(m, n) : number(op.getScales()[d]);
    Value one = number(1), half = number(0.5);
    auto halfPixel = [&] { return sub(div(add(i, half), s), half); };
    auto unlessSingle = [&](Value x) -> Value {
      Value several = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, m, one);
      return b.create<arith::SelectOp>(several, x, number(0));
    };
    switch (op.getCoordinates()) {
    case ResizeCoordinates::HalfPixel:
      return halfPixel();
    case ResizeCoordinates::PytorchHalfPixel:
      return unlessSingle(halfPixel());
    case ResizeCoordinates::Asymmetric:
      return div(i, s);
    case ResizeCoordinates::AlignCorners:
      return unlessSingle(div(mul(i, sub(n, one)), sub(m, one)));
    case ResizeCoordinates::HalfPixelSymmetric:
      return add(mul(mul(n, half), sub(one, div(m, mul(s, n)))), halfPixel());
    }
    llvm_unreachable("closed set of coordinates");
  }

  /// [nearest] As the attribute says: halves down or up, or everything.
  Value nearest(Value x) {
    switch (op.getRounding()) {
    case ResizeRounding::PreferFloor:
      return b.create<math::CeilOp>(sub(x, number(0.5)));
    case ResizeRounding::PreferCeil:
      return b.create<math::FloorOp>(add(x, number(0.5)));
    case ResizeRounding::Floor:
      return b.create<math::FloorOp>(x);
    case ResizeRounding::Ceil:
      return b.create<math::CeilOp>(x);
    }
    llvm_unreachable("closed set of roundings");
  }

  /// [border] Clamped into the operand before it becomes an integer, where every value exists.
  IndexValue position(Value x) {
    Value last = sub(data(e.symbolic(size)), number(1));
    Value inside = b.create<arith::MaxNumFOp>(b.create<arith::MinNumFOp>(x, last), number(0));
    Type i64 = b.getI64Type();
    Value integer = b.create<arith::FPToSIOp>(isScalar ? i64 : e.laneType(i64), inside);
    return isScalar || e.laneCount() == 1 ? IndexValue{integer} : IndexValue{{}, 0, integer};
  }

  /// Keys' kernel for distances up to 1, and from 1 to 2.
  Value near(Value x) {
    double a = op.getCubicA().convertToDouble();
    Value inner = sub(mul(number(a + 2), x), number(a + 3));
    return add(mul(inner, mul(x, x)), number(1));
  }
  Value far(Value x) {
    double a = op.getCubicA().convertToDouble();
    Value inner = add(mul(sub(mul(number(a), x), number(5 * a)), x), number(8 * a));
    return sub(mul(inner, x), number(4 * a));
  }

  /// [exclude] By where the neighbour lies, not by where it is read.
  void excludeOutside(SmallVectorImpl<Neighbour> &list, ArrayRef<Value> at) {
    Value end = data(e.symbolic(size)), total = number(0);
    for (auto [neighbour, x] : llvm::zip_equal(list, at)) {
      Value low = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, number(0));
      Value high = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, end);
      Value inside = b.create<arith::AndIOp>(low, high);
      neighbour.weight = b.create<arith::SelectOp>(inside, neighbour.weight, number(0));
      total = add(total, neighbour.weight);
    }
    for (Neighbour &neighbour : list)
      neighbour.weight = div(neighbour.weight, total);
  }

  ResizeOp op;
  ElementBuilder &e;
  ImplicitLocOpBuilder &b;
  Type f64;
  unsigned d;
  IndexValue i; ///< along dimension `d`
  SymExpr size; ///< of the operand there
  bool isScalar;
};

/// [blend] The weighted sum over the neighbours of dimension `d` and all after it.
Value blend(ElementBuilder &e, ArrayRef<SmallVector<Neighbour>> dims,
            SmallVectorImpl<IndexValue> &at) {
  if (at.size() == dims.size())
    return e.operand(0, at);
  auto &b = e.builder();
  Value sum;
  for (const Neighbour &neighbour : dims[at.size()]) {
    at.push_back(neighbour.position);
    Value part = blend(e, dims, at);
    at.pop_back();
    if (!neighbour.weight)
      return part;
    Value weight = neighbour.weight;
    bool isSpread = isa<VectorType>(part.getType()) && !isa<VectorType>(weight.getType());
    Type type = isSpread ? getElementTypeOrSelf(part) : part.getType();
    if (weight.getType() != type)
      weight = b.create<arith::TruncFOp>(type, weight);
    if (isSpread)
      weight = e.splat(weight);
    part = b.create<arith::MulFOp>(part, weight);
    sum = sum ? Value(b.create<arith::AddFOp>(sum, part)) : part;
  }
  return sum;
}

} // namespace

Value ResizeOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput());
  SmallVector<SmallVector<Neighbour>> dims;
  Value inside;
  for (auto [d, i] : llvm::enumerate(index)) {
    dims.push_back(keepsDim(d) ? SmallVector<Neighbour>{{i, {}}}
                               : Sampler(*this, e, d, i).neighbours());
    if (keepsDim(d) || input.getDim(d).asConstant().value_or(0) > 0)
      continue;
    // [empty] Only where the dimension may be 0.
    Value some = e.less(e.constant(0), e.symbolic(input.getDim(d)));
    inside = inside ? Value(e.builder().create<arith::AndIOp>(inside, some)) : some;
  }
  SmallVector<IndexValue> at;
  auto sample = [&] { return blend(e, dims, at); };
  return inside ? e.guarded(inside, sample, zeroOf(e, input.getElementType())) : sample();
}

} // namespace weft
