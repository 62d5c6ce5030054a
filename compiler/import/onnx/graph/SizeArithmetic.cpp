//===- SizeArithmetic.cpp - Sizes that are known only under a condition -----------------------===//

#include "compiler/import/onnx/graph/SizeArithmetic.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weft::onnx {
namespace {

constexpr int64_t kMostElements = 64;
constexpr unsigned kMostNesting = 64;
constexpr int64_t kMostDivisor = 1 << 16;

/// A real number, above / below.
struct Ratio {
  SymExpr above;
  int64_t below = 1;
  unsigned roundings = 0; ///< operations whose result floats may round
};
using Ratios = SmallVector<Ratio, 4>;

bool isComplete(const RefTensor *tensor) {
  return tensor && (tensor->kind != Scalar::Symbolic ||
                    llvm::all_of(tensor->exprs, [](SymExpr e) { return bool(e); }));
}

bool isSmall(Value value) {
  std::optional<int64_t> elements = typeOf(value).getElements().asConstant();
  return elements && *elements <= kMostElements;
}

class SizeArithmetic {
public:
  SizeArithmetic(GraphBuilder &g, KnownValues &values) : g(g), values(values) {}

  void learn(Value value);

private:
  void requireWholeQuotient(Operation *op);
  void learnFromReals(ConvertOp op);
  std::optional<Ratios> ratiosOf(Value value, unsigned depth);
  std::optional<Ratios> ratiosOfSizes(Value value);
  std::optional<Ratios> combine(Operation *op, unsigned depth);
  std::optional<Ratio> combine(Operation *op, const Ratio &a, const Ratio &b);
  std::optional<SymExpr> rounded(const Ratio &ratio, Type element, bool up);

  GraphBuilder &g;
  KnownValues &values;
  llvm::SmallPtrSet<Operation *, 16> seen;
};

/// Operands before their users.
void SizeArithmetic::learn(Value value) {
  SmallVector<std::pair<Operation *, unsigned>> stack;
  auto visit = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && isSmall(operand) && !isFloat(elementOf(operand)) && !isComplete(g.known(operand)) &&
        seen.insert(op).second)
      stack.push_back({op, 0});
  };
  visit(value);
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next < op->getNumOperands()) {
      visit(op->getOperand(next++));
      continue;
    }
    Operation *done = op;
    stack.pop_back();
    requireWholeQuotient(done);
    values.learn(done, g.facts());
    if (auto convert = dyn_cast<ConvertOp>(done); convert && isFloat(elementOf(convert.getInput())))
      learnFromReals(convert);
  }
}

//===-- Integer quotients ---------------------------------------------------------------------===//

/// Division rounds towards zero, which expressions cannot say of a number below it: (height - 1) / 2 + 1 of no lines at all.
/// Such sizes are refused when the program is entered.
void SizeArithmetic::requireWholeQuotient(Operation *op) {
  if (!isa<DivOp, RemOp>(op) || elementOf(op->getResult(0)).isUnsignedInteger())
    return;
  const RefTensor *above = g.known(op->getOperand(0)), *below = g.known(op->getOperand(1));
  if (!isComplete(above) || !isComplete(below))
    return;
  auto require = [&](int64_t least, const RefTensor &tensor, const Twine &what) {
    for (int64_t k = 0; k < tensor.size(); ++k) {
      if (g.facts().proveLE(g.constant(least), elementExpr(tensor, k)) == Proof::No)
        return false;
      g.requireAtMost(g.constant(least), elementExpr(tensor, k), what);
    }
    return true;
  };
  bool floors = isa<RemOp>(op) && cast<RemOp>(op).getFloor();
  if (require(1, *below, "a divisor") && !floors)
    require(0, *above, "a number that is divided");
}

//===-- Through floats ------------------------------------------------------------------------===//

std::optional<Ratio> ratioOf(GraphBuilder &g, double value) {
  for (int64_t below = 1; below <= kMostDivisor; below *= 2)
    if (double scaled = value * below;
        std::trunc(scaled) == scaled && std::fabs(scaled) < kMaxSymbolValue)
      return Ratio{g.constant(int64_t(scaled)), below};
  return std::nullopt;
}

/// Integers become floats here.
std::optional<Ratios> SizeArithmetic::ratiosOfSizes(Value value) {
  learn(value);
  const RefTensor *tensor = g.known(value);
  if (!isComplete(tensor) || tensor->kind == Scalar::Real)
    return std::nullopt;
  Ratios result;
  for (int64_t k = 0; k < tensor->size(); ++k)
    result.push_back({elementExpr(*tensor, k)});
  return result;
}

std::optional<Ratios> SizeArithmetic::ratiosOf(Value value, unsigned depth) {
  Type element = elementOf(value);
  if (depth > kMostNesting || !isSmall(value) || !(element.isF32() || element.isF64()))
    return std::nullopt;
  if (const RefTensor *tensor = g.known(value)) {
    Ratios result;
    for (double real : tensor->reals) {
      std::optional<Ratio> ratio = ratioOf(g, real);
      if (!ratio)
        return std::nullopt;
      result.push_back(*ratio);
    }
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<ConvertOp>(op);
      convert && !isFloat(elementOf(convert.getInput())))
    return ratiosOfSizes(convert.getInput());
  if (isa_and_nonnull<ConvertOp, ReshapeOp>(op))
    return ratiosOf(op->getOperand(0), depth + 1);
  if (!isa_and_nonnull<FloorOp, CeilOp>(op))
    return isa_and_nonnull<AddOp, SubOp, MulOp, DivOp>(op) ? combine(op, depth) : std::nullopt;
  std::optional<Ratios> result = ratiosOf(op->getOperand(0), depth + 1);
  for (size_t k = 0; result && k < result->size(); ++k) {
    std::optional<SymExpr> whole = rounded((*result)[k], element, isa<CeilOp>(op));
    if (!whole)
      return std::nullopt;
    (*result)[k] = {*whole};
  }
  return result;
}

std::optional<Ratios> SizeArithmetic::combine(Operation *op, unsigned depth) {
  std::optional<Ratios> a = ratiosOf(op->getOperand(0), depth + 1),
                        b = ratiosOf(op->getOperand(1), depth + 1);
  if (!a || !b || a->empty() || b->empty() ||
      (a->size() != b->size() && a->size() != 1 && b->size() != 1))
    return std::nullopt;
  Ratios result;
  for (size_t k = 0; k < std::max(a->size(), b->size()); ++k) {
    std::optional<Ratio> each =
        combine(op, (*a)[a->size() == 1 ? 0 : k], (*b)[b->size() == 1 ? 0 : k]);
    if (!each || each->above.isOverflow() || each->below > kMostDivisor)
      return std::nullopt;
    result.push_back(*each);
  }
  return result;
}

std::optional<Ratio> SizeArithmetic::combine(Operation *op, const Ratio &a, const Ratio &b) {
  unsigned roundings = a.roundings + b.roundings + 1;
  if (isa<MulOp>(op))
    return Ratio{a.above * b.above, a.below * b.below, roundings};
  if (isa<DivOp>(op)) {
    std::optional<int64_t> by = b.above.asConstant();
    if (!by || *by <= 0 || *by > kMostDivisor)
      return std::nullopt;
    return Ratio{a.above * b.below, a.below * *by, roundings};
  }
  int64_t below = std::lcm(a.below, b.below);
  SymExpr left = a.above * (below / a.below), right = b.above * (below / b.below);
  return Ratio{isa<AddOp>(op) ? left + right : left - right, below, roundings};
}

/// The next integer. Floats say the same while the numerator fits their digits: exactly where they only meet powers of two,
/// else with three bits to spare, as every operation may be off by half of the last digit.
std::optional<SymExpr> SizeArithmetic::rounded(const Ratio &ratio, Type element, bool up) {
  bool exact = (ratio.below & (ratio.below - 1)) == 0;
  if (!exact && ratio.roundings > 7)
    return std::nullopt;
  SymExpr limit = g.constant(int64_t(1) << ((element.isF32() ? 24 : 53) - (exact ? 0 : 3)));
  for (auto [low, high] :
       {std::pair(ratio.above, limit), std::pair(g.constant(0) - limit, ratio.above)})
    if (!g.requireAtMost(low, high, "a size that is calculated with floats"))
      return std::nullopt;
  return up ? SymExpr::ceildiv(ratio.above, ratio.below)
            : SymExpr::floordiv(ratio.above, ratio.below);
}

void SizeArithmetic::learnFromReals(ConvertOp op) {
  Value value = op.getResult();
  if (elementOf(value).isInteger(1) || g.known(value))
    return;
  std::optional<Ratios> ratios = ratiosOf(op.getInput(), 0);
  if (!ratios || int64_t(ratios->size()) != *typeOf(value).getElements().asConstant())
    return;
  RefTensor result(elementOf(value), *typeOf(value).getConstantDims(), /*symbolic=*/true);
  for (auto [k, ratio] : llvm::enumerate(*ratios)) {
    // Towards zero, which is down for what is not negative.
    if (ratio.below != 1 &&
        !g.requireAtMost(g.constant(0), ratio.above, "a size that is rounded towards zero"))
      return;
    std::optional<SymExpr> whole = rounded(ratio, elementOf(op.getInput()), /*up=*/false);
    if (!whole)
      return;
    result.exprs[k] = *whole;
  }
  values.set(value, std::move(result));
}

} // namespace

void learnSizes(GraphBuilder &builder, KnownValues &values, Value value) {
  if (!isComplete(builder.known(value)))
    SizeArithmetic(builder, values).learn(value);
}

} // namespace weft::onnx
