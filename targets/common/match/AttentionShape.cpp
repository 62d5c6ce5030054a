//===- AttentionShape.cpp - Recognises softmax between two contractions -------------------------------===//

#include "targets/common/match/AttentionShape.h"

using namespace mlir;

namespace weft {
namespace {

/// Dimension of `factor` in the accesses, or nothing.
std::optional<unsigned> find(ArrayRef<Access> accesses, unsigned factor) {
  for (auto [d, access] : llvm::enumerate(accesses))
    if (access.kind == AccessKind::Point && access.factor() == factor)
      return d;
  return std::nullopt;
}

bool allPoints(const IterationRule &rule) {
  auto points = [](ArrayRef<Access> accesses) {
    return llvm::all_of(accesses, [](const Access &a) { return a.kind == AccessKind::Point; });
  };
  return points(rule.operand(0)) && points(rule.operand(1)) && points(rule.result(0));
}

constexpr const char *kNone = "there is no softmax between two products",
                     *kOtherValues = "scores and values share other dimensions than those in front";

/// Matches the operators of a specification against the form above.
class Matcher {
public:
  explicit Matcher(func::FuncOp spec) : spec(spec) {}

  Match<AttentionShape> run() {
    for (Operation &op : spec.getBody().front())
      if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
        if (s.softmax)
          return Decline{"there are two softmaxes"};
        s.softmax = softmax;
      }
    if (!s.softmax)
      return Decline::otherKind(kNone);
    if (s.softmax.getLogarithm())
      return Decline{"the softmax gives logarithms"};
    for (auto step : {&Matcher::findProducts, &Matcher::matchScores, &Matcher::matchMix})
      if (Decline why = (this->*step)())
        return why;
    if (Decline why = unlessResultsHave(s.out.type(), spec))
      return why;
    if (s.out.column + 1 != s.out.type().getRank())
      return Decline{"the columns of the values are not the result's last dimension"};
    return s;
  }

private:
  /// The first product makes the scores, the second reads what becomes of the softmax.
  Decline findProducts() {
    for (Operation &op : spec.getBody().front())
      if (auto contract = dyn_cast<ContractOp>(op)) {
        if (s.mix)
          return {"there are more than two products"};
        (s.scores ? s.mix : s.scores) = contract;
      }
    if (!s.mix)
      return Decline::otherKind(kNone);
    llvm::DenseSet<Value> behind{s.softmax.getResult()};
    for (Operation &op : spec.getBody().front())
      if (llvm::any_of(op.getOperands(), [&](Value operand) { return behind.contains(operand); }))
        behind.insert(op.result_begin(), op.result_end());
    bool left = behind.contains(s.mix.getLhs()), right = behind.contains(s.mix.getRhs());
    s.weights = left ? s.mix.getLhs() : s.mix.getRhs();
    if (left == right || behind.contains(s.scores.getResult()))
      return {"the softmax does not stand between the two products"};
    ArrayRef<Attribute> line = s.softmax.getType().getDimAttributes();
    for (Value product : {s.weights, Value(s.scores.getResult())})
      if (cast<SymTensorType>(product.getType()).getDimAttributes() != line)
        return {"the products have other dimensions than the softmax"};
    // Weights are not rounded between softmax and product: in fewer bits that would be another answer.
    if (Type element = s.softmax.getType().getElementType(); !element.isF32() && !isHalf(element))
      return {"the softmax is not of f32, f16 or bf16"};
    return {};
  }

  Decline matchScores() {
    IterationRule rule = IterationRule::of(s.scores);
    if (!allPoints(rule) || rule.reducedFactors().size() != 1 || !s.scores.getAccumulate().isF32())
      return {"the product before the softmax is not of matrices with sums in f32"};
    unsigned depth = rule.reducedFactors()[0], n = rule.result(0).back().factor();
    // K has the softmax's factor; Q has the other
    unsigned kOperand = find(rule.operand(1), n) ? 1 : 0;
    if (!find(rule.operand(kOperand), n) || find(rule.operand(1 - kOperand), n))
      return {"both operands of the first product walk along the softmax"};
    s.k.tensor = s.scores->getOperand(kOperand);
    s.q.tensor = s.scores->getOperand(1 - kOperand);
    std::optional<unsigned> m;
    for (auto [d, access] : llvm::enumerate(rule.result(0).drop_back())) {
      unsigned factor = access.factor();
      auto inQ = find(rule.operand(1 - kOperand), factor),
           inK = find(rule.operand(kOperand), factor);
      if (inQ && inK) {
        s.batch.push_back(rule.factors()[factor].extent);
        batchOfLine.push_back(d);
        s.line.batch.push_back(d);
        s.q.batch.push_back(*inQ);
        s.k.batch.push_back(*inK);
      } else if (inQ && !m) {
        m = d;
        s.q.row = *inQ;
        s.m = rule.factors()[factor].extent;
      } else {
        return {"queries and keys share other dimensions than those in front"};
      }
    }
    auto dSize = rule.factors()[depth].extent.asConstant();
    if (!m)
      return {"there are no rows of queries"};
    if (!dSize || *dSize < 1)
      return {"the depth of the first product is no positive constant"};
    s.line.row = *m;
    s.line.column = rule.result(0).size() - 1;
    s.n = rule.factors()[n].extent;
    s.d = *dSize;
    s.k.row = *find(rule.operand(kOperand), n);
    s.q.column = *find(rule.operand(1 - kOperand), depth);
    s.k.column = *find(rule.operand(kOperand), depth);
    return {};
  }

  Decline matchMix() {
    IterationRule rule = IterationRule::of(s.mix);
    if (!allPoints(rule) || rule.reducedFactors().size() != 1 || !s.mix.getAccumulate().isF32())
      return {"the product behind the softmax is not of matrices with sums in f32"};
    unsigned p = s.mix.getLhs() == s.weights ? 0 : 1;
    s.v.tensor = s.mix->getOperand(1 - p);
    ArrayRef<Access> line = rule.operand(p), values = rule.operand(1 - p), result = rule.result(0);
    if (line[s.line.column].factor() != rule.reducedFactors()[0])
      return {"the second product does not sum along the softmax"};
    auto n = find(values, line[s.line.column].factor()),
         m = find(result, line[s.line.row].factor());
    if (!n || !m || find(values, line[s.line.row].factor()))
      return {kOtherValues};
    s.v.row = *n;
    s.out.row = *m;
    s.out.tensor = s.mix.getResult();
    for (unsigned d : batchOfLine) {
      auto inV = find(values, line[d].factor()), inOut = find(result, line[d].factor());
      if (!inV || !inOut)
        return {kOtherValues};
      s.v.batch.push_back(*inV);
      s.out.batch.push_back(*inOut);
    }
    if (result.size() != batchOfLine.size() + 2 || values.size() != batchOfLine.size() + 2)
      return {kOtherValues};
    for (auto [d, access] : llvm::enumerate(result))
      if (d != s.out.row && !llvm::is_contained(s.out.batch, d)) {
        auto eSize = rule.factors()[access.factor()].extent.asConstant();
        auto inV = find(values, access.factor());
        if (!eSize)
          return {"the number of columns of the values is no constant"};
        if (!inV)
          return {kOtherValues};
        s.out.column = d;
        s.v.column = *inV;
        s.e = *eSize;
      }
    return {};
  }

  func::FuncOp spec;
  AttentionShape s;
  SmallVector<unsigned> batchOfLine;
};

} // namespace

SmallVector<IndexValue> AttentionOperand::index(ArrayRef<Value> at, IndexValue rowIndex,
                                                IndexValue columnIndex) const {
  SmallVector<IndexValue> result(at.size() + 2);
  for (auto [value, d] : llvm::zip(at, batch))
    result[d] = {value};
  result[row] = rowIndex;
  result[column] = columnIndex;
  return result;
}

/// The slice that the tensor is, when it takes whole elements side by side.
static SliceOp sliceOf(Value tensor) {
  auto slice = tensor.getDefiningOp<SliceOp>();
  return slice && llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; })
             ? slice
             : SliceOp();
}

Value AttentionOperand::stored() const {
  SliceOp slice = sliceOf(tensor);
  return slice ? slice.getInput() : tensor;
}

SmallVector<IndexValue> AttentionOperand::storedIndex(ElementEmitter &e,
                                                      ArrayRef<IndexValue> index) const {
  SmallVector<IndexValue> position(index);
  if (SliceOp slice = sliceOf(tensor))
    for (auto [at, start] : llvm::zip(position, slice.getStarts().getDims()))
      at = e.add(at, e.symbolic(start));
  return position;
}

bool AttentionOperand::isInPlace() const {
  return isa<BlockArgument>(stored()) && column + 1 == type().getRank();
}

SymExpr AttentionOperand::rowStride() const {
  SymExpr stride = SymExpr::constant(tensor.getContext(), 1);
  auto memory = cast<SymTensorType>(stored().getType());
  for (unsigned d = row + 1; d < memory.getRank(); ++d)
    stride = stride * memory.getDim(d);
  return stride;
}

Match<AttentionShape> AttentionShape::match(func::FuncOp spec) { return Matcher(spec).run(); }

SymExpr AttentionShape::units() const {
  SymExpr count = SymExpr::constant(softmax->getContext(), 1);
  for (SymExpr extent : batch)
    count = count * extent;
  return count;
}

SmallVector<Value> AttentionShape::batchOf(ElementEmitter &emitter, Value unit) const {
  SmallVector<Value> factors(batch.size());
  IndexValue rest{unit};
  for (size_t i = batch.size(); i-- > 1;) {
    auto [quotient, remainder] = emitter.divmod(rest, emitter.symbolic(batch[i]));
    factors[i] = remainder.base;
    rest = quotient;
  }
  if (!factors.empty())
    factors[0] = rest.base;
  return factors;
}

} // namespace weft
