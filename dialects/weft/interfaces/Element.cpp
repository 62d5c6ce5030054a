//===- Element.cpp - Index arithmetic over lanes, and elements from an iteration rule ---------===//
//
//   index of lanes = base + lane * stride, as long as it is that; then a vector  [lanes]
//   an element by a rule: factors from the result's index                        [factors]
//     for reduced factors: sum = combine(sum, point)                             [fold]
//       where the operand's element lies, by factors                             [place]
//       windows: is it inside? else the sum stays                                [inside]
//       point = the operator's function of its operands' elements                [point]
//   combine: one operation, or for extremes of floats: comparison, choice, nan   [combine]
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/interfaces/Element.h"
#include "dialects/weft/Weft.h"
#include "dialects/weft/interfaces/OfIndices.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace weft {

static Value constantI64(ImplicitLocOpBuilder &b, int64_t value) {
  return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
}

static std::optional<int64_t> constantOf(Value value) {
  llvm::APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

IndexValue ElementBuilder::constant(int64_t value) { return {constantI64(b, value)}; }

Type ElementBuilder::laneType(Type scalar) const {
  return lanes == 1 ? scalar : VectorType::get({lanes}, scalar);
}

Value ElementBuilder::splat(Value scalar) {
  return lanes == 1 ? scalar
                    : b.createOrFold<vector::SplatOp>(scalar,
                                                      cast<VectorType>(laneType(scalar.getType())));
}

Value ElementBuilder::constantData(Type scalar, Attribute value) {
  auto typed = cast<TypedAttr>(value);
  if (lanes > 1)
    typed = DenseElementsAttr::get(cast<ShapedType>(laneType(scalar)), value);
  return b.create<arith::ConstantOp>(typed);
}

/// [lanes] Only who needs it as data asks for a vector.
Value ElementBuilder::materialize(IndexValue index) {
  if (index.lanes || lanes == 1)
    return index.lanes ? index.lanes : index.base;
  Value result = splat(index.base);
  if (index.stride == 0)
    return result;
  SmallVector<int64_t> steps;
  for (unsigned l = 0; l < lanes; ++l)
    steps.push_back(l * index.stride);
  auto type = cast<VectorType>(laneType(b.getI64Type()));
  return b.create<arith::AddIOp>(
      result, b.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef(steps))));
}

/// Folding looks for constants on the right only, and leaves a new value where it finds none. But
/// values that are used twice are found again by their index, so an index that nothing changes must
/// stay the same value.
static bool isNumber(IndexValue value, int64_t number) {
  return value.isUniform() && constantOf(value.base) == number;
}

IndexValue ElementBuilder::add(IndexValue a, IndexValue c) {
  if (isNumber(a, 0))
    return c;
  if (isNumber(c, 0))
    return a;
  if (a.lanes || c.lanes)
    return {{}, 0, b.createOrFold<arith::AddIOp>(materialize(a), materialize(c))};
  return {b.createOrFold<arith::AddIOp>(a.base, c.base), a.stride + c.stride};
}

IndexValue ElementBuilder::sub(IndexValue a, IndexValue c) {
  if (a.lanes || c.lanes)
    return {{}, 0, b.createOrFold<arith::SubIOp>(materialize(a), materialize(c))};
  return {b.createOrFold<arith::SubIOp>(a.base, c.base), a.stride - c.stride};
}

IndexValue ElementBuilder::mul(IndexValue a, IndexValue c) {
  if (isNumber(a, 1))
    return c;
  if (isNumber(c, 1))
    return a;
  if (c.isUniform())
    std::swap(a, c);
  if (a.isUniform() && !c.lanes)
    if (c.stride == 0 || constantOf(a.base))
      return {b.createOrFold<arith::MulIOp>(a.base, c.base),
              c.stride == 0 ? 0 : c.stride * *constantOf(a.base)};
  return {{}, 0, b.createOrFold<arith::MulIOp>(materialize(a), materialize(c))};
}

std::pair<IndexValue, IndexValue> ElementBuilder::divmod(IndexValue a, IndexValue c) {
  if (constantOf(c.base) == 1 && c.isUniform())
    return {a, constant(0)};
  if (a.isUniform() && c.isUniform())
    return {IndexValue{b.createOrFold<arith::DivUIOp>(a.base, c.base)},
            IndexValue{b.createOrFold<arith::RemUIOp>(a.base, c.base)}};
  Value x = materialize(a), y = materialize(c);
  auto ofIndices = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(op) && op->getOperand(0) == x &&
        op->getOperand(1) == y)
      op->setAttr(kOfIndicesAttr, b.getUnitAttr());
    return IndexValue{{}, 0, value};
  };
  return {ofIndices(b.createOrFold<arith::DivUIOp>(x, y)),
          ofIndices(b.createOrFold<arith::RemUIOp>(x, y))};
}

Value ElementBuilder::less(IndexValue a, IndexValue c) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, materialize(a), materialize(c));
}

Value ElementBuilder::nonNegative(IndexValue a) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, materialize(a),
                                 materialize(constant(0)));
}

Value ElementBuilder::equal(IndexValue a, IndexValue c) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, materialize(a), materialize(c));
}

IndexValue ElementBuilder::toIndex(Value data) {
  Type wide = laneType(b.getI64Type());
  if (data.getType() != wide)
    data = b.create<arith::ExtSIOp>(wide, data);
  if (lanes == 1)
    return {data};
  if (auto splat = data.getDefiningOp<vector::SplatOp>())
    return {splat.getInput()};
  return {{}, 0, data};
}

Value ElementBuilder::toData(IndexValue index, Type element) {
  Value data = materialize(index);
  Type type = laneType(computeType(element));
  if (isFloat(element))
    return b.create<arith::SIToFPOp>(type, data);
  return type == data.getType() ? data : b.create<arith::TruncIOp>(type, data);
}

Type computeType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

/// Infinity, or the largest number of a type that has none; the least one when `isNegative`.
static double extremeOf(Type element, bool isNegative) {
  const FloatFormat *format = floatFormatOf(element);
  if (!format || format->specials == FloatFormat::InfinityAndNan)
    return isNegative ? -INFINITY : INFINITY;
  double largest = format->decode(format->largest());
  if (isNegative)
    return format->isPowers() ? format->decode(0) : -largest;
  return largest;
}

TypedAttr combinerIdentity(Combiner combiner, Type element) {
  Type type = computeType(element);
  if (isa<FloatType>(type)) {
    switch (combiner) {
    case Combiner::Prod:
      return FloatAttr::get(type, 1.0);
    case Combiner::Max:
      return FloatAttr::get(type, extremeOf(element, /*isNegative=*/true));
    case Combiner::Min:
      return FloatAttr::get(type, extremeOf(element, /*isNegative=*/false));
    default:
      return FloatAttr::get(type, 0.0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool u = isUnsigned(element);
  switch (combiner) {
  case Combiner::Prod:
    return IntegerAttr::get(type, 1);
  case Combiner::Max:
    return IntegerAttr::get(type, u ? llvm::APInt::getMinValue(width)
                                    : llvm::APInt::getSignedMinValue(width));
  case Combiner::Min:
    return IntegerAttr::get(type, u ? llvm::APInt::getMaxValue(width)
                                    : llvm::APInt::getSignedMaxValue(width));
  case Combiner::And:
    return IntegerAttr::get(type, llvm::APInt::getAllOnes(width));
  default:
    return IntegerAttr::get(type, 0);
  }
}

/// The larger or smaller of two floats; nan when one of them is. Processors have the comparison
/// with selection as one instruction, which gives the second where one is nan: with a constant in
/// first place, nothing else is needed.
static Value emitExtreme(ImplicitLocOpBuilder &b, arith::CmpFPredicate better, Value a, Value c) {
  if (matchPattern(c, m_Constant()))
    std::swap(a, c);
  Value best = b.create<arith::SelectOp>(b.create<arith::CmpFOp>(better, a, c), a, c);
  if (matchPattern(a, m_Constant()))
    return best;
  return b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, a, a), a,
                                   best);
}

/// [combine] The same in vectors and in one lane.
Value emitCombine(ImplicitLocOpBuilder &b, Combiner combiner, Type element, Value a, Value c) {
  bool f = isFloat(element), u = isUnsigned(element);
  switch (combiner) {
  case Combiner::Sum:
    return f ? Value(b.create<arith::AddFOp>(a, c)) : b.create<arith::AddIOp>(a, c);
  case Combiner::Prod:
    return f ? Value(b.create<arith::MulFOp>(a, c)) : b.create<arith::MulIOp>(a, c);
  case Combiner::Max:
    return f   ? emitExtreme(b, arith::CmpFPredicate::OGT, a, c)
           : u ? Value(b.create<arith::MaxUIOp>(a, c))
               : b.create<arith::MaxSIOp>(a, c);
  case Combiner::Min:
    return f   ? emitExtreme(b, arith::CmpFPredicate::OLT, a, c)
           : u ? Value(b.create<arith::MinUIOp>(a, c))
               : b.create<arith::MinSIOp>(a, c);
  case Combiner::And:
    return b.create<arith::AndIOp>(a, c);
  case Combiner::Or:
    return b.create<arith::OrIOp>(a, c);
  }
  llvm_unreachable("closed set of combiners");
}

namespace {

/// Emits one element from a rule: factor values from the result index, operand indices from factor
/// values.
class RuleEmitter {
public:
  RuleEmitter(Operation *op, ElementBuilder &e)
      : op(op), e(e), rule(IterationRule::of(op)), factors(rule.factors().size()) {}

  /// [fold] Without reduced factors, one point.
  Value emit(ArrayRef<IndexValue> index) {
    for (auto [access, position] : llvm::zip(rule.result(0), index))
      setFactors(access, position);
    SmallVector<unsigned> reduced = rule.reducedFactors();
    Type element = cast<SymTensorType>(op->getResult(0).getType()).getElementType();
    if (reduced.empty())
      return point({}, element);
    SmallVector<SymExpr> extents;
    for (unsigned f : reduced)
      extents.push_back(rule.factors()[f].extent);
    Value init = e.constantData(computeType(element), combinerIdentity(rule.combiner(), element));
    return e.fold(extents, init, [&](ArrayRef<IndexValue> position, Value sum) {
      for (auto [f, value] : llvm::zip(reduced, position))
        factors[f] = value;
      return point(sum, element);
    });
  }

private:
  /// [factors] A merge is taken apart from its last term.
  void setFactors(const Access &access, IndexValue position) {
    assert(access.kind != AccessKind::Window && "such results override emitElement");
    if (access.kind == AccessKind::Merge) {
      for (const Access::Term &term : llvm::reverse(ArrayRef(access.terms).drop_front())) {
        auto [quotient, remainder] =
            e.divmod(position, e.symbolic(rule.factors()[term.factor].extent));
        factors[term.factor] = remainder;
        position = quotient;
      }
    }
    if (!access.terms.empty())
      factors[access.terms.front().factor] = position;
  }

  /// [place] Row-major position of a merge, or the affine sum of any other access.
  IndexValue positionOf(const Access &access, SymExpr dim) {
    if (access.kind ==
        AccessKind::
            Point) // the same value, by which builders know that an element was asked for before
      return factors[access.factor()];
    IndexValue position = e.symbolic(access.offset);
    if (access.kind == AccessKind::Maybe) // 0 when the operand's dimension turns out to be 1
      return e.mul(
          e.symbolic(SymExpr::min(SymExpr::pos(dim - 1), SymExpr::constant(dim.getContext(), 1))),
          factors[access.factor()]);
    for (const Access::Term &term : access.terms) {
      if (access.kind == AccessKind::Merge)
        position = e.add(e.mul(position, e.symbolic(rule.factors()[term.factor].extent)),
                         factors[term.factor]);
      else
        position = e.add(position, e.mul(e.symbolic(term.coefficient), factors[term.factor]));
    }
    return position;
  }

  /// The scalar function at the current factor values, combined into `sum` when there is one.
  /// Windows that leave their operand contribute nothing.
  Value point(Value sum, Type element) {
    SmallVector<SmallVector<IndexValue, 4>> indices;
    Value inside;
    bool guardWindows = cast<ElementOpInterface>(op).rootKind() != RootKind::View;
    for (unsigned i = 0; i < rule.operandCount(); ++i) {
      auto type = cast<SymTensorType>(op->getOperand(i).getType());
      auto &index = indices.emplace_back();
      for (auto [d, access] : llvm::enumerate(rule.operand(i))) {
        index.push_back(positionOf(access, type.getDim(d)));
        if (access.kind != AccessKind::Window || !guardWindows)
          continue;
        auto &b = e.builder();
        // [inside] All windows of all operands must be.
        Value here = b.create<arith::AndIOp>(e.nonNegative(index.back()),
                                             e.less(index.back(), e.symbolic(type.getDim(d))));
        inside = inside ? b.create<arith::AndIOp>(inside, here) : here;
      }
    }
    // [point] In a guard where there are windows: elements outside are not loaded.
    auto compute = [&]() -> Value {
      SmallVector<Value> elements;
      for (auto [i, index] : llvm::enumerate(indices))
        elements.push_back(e.operand(i, index));
      Value value = cast<ElementOpInterface>(op).emitScalar(e.builder(), elements);
      return sum ? emitCombine(e.builder(), rule.combiner(), element, sum, value) : value;
    };
    if (!inside)
      return compute();
    Value none =
        sum ? sum
            : e.constantData(computeType(element), combinerIdentity(rule.combiner(), element));
    return e.guarded(inside, compute, none);
  }

  Operation *op;
  ElementBuilder &e;
  IterationRule rule;
  SmallVector<IndexValue> factors;
};

} // namespace

Value emitElementByRule(Operation *op, ElementBuilder &e, ArrayRef<IndexValue> index) {
  return RuleEmitter(op, e).emit(index);
}

} // namespace weft
