//===- SumBound.cpp ---------------------------------------------------------------------------===//

#include "compiler/hardware/SumBound.h"
#include <algorithm>
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

std::pair<int64_t, int64_t> rangeOf(Type element) {
  auto integer = cast<IntegerType>(element);
  int64_t half = int64_t(1) << (integer.getWidth() - 1);
  return integer.isUnsigned() ? std::pair(int64_t(0), 2 * half - 1) : std::pair(-half, half - 1);
}

/// The farthest that some of these, which are all of one sign, are from 0 together.
int64_t sumOfFarthest(std::vector<int64_t> contributions, int64_t products) {
  if (products > 0 && products < int64_t(contributions.size())) {
    auto last = contributions.begin() + products;
    std::nth_element(contributions.begin(), last, contributions.end(),
                     [](int64_t a, int64_t b) { return std::abs(a) > std::abs(b); });
    contributions.erase(last, contributions.end());
  }
  return std::accumulate(contributions.begin(), contributions.end(), int64_t(0));
}

/// Factors whose every index has sums of its own: dimensions of the weight that walk as one of the
/// result's.
llvm::SmallVector<bool> columnFactors(const IterationRule &rule) {
  llvm::SmallVector<bool> isColumn(rule.factors().size(), false);
  for (const Access &access : rule.result(0))
    if (access.kind == AccessKind::Point || access.kind == AccessKind::Merge ||
        access.kind == AccessKind::Whole)
      for (const Access::Term &term : access.terms)
        isColumn[term.factor] = true;
  return isColumn;
}

} // namespace

ProductSizes sizesOf(Operation *product) {
  IterationRule rule = IterationRule::of(product);
  llvm::SmallVector<bool> isColumn = columnFactors(rule), isWindow(rule.factors().size(), false),
                          isRead = isWindow;
  for (const Access &access : rule.operand(0))
    for (const Access::Term &term : access.terms)
      (access.kind == AccessKind::Window ? isWindow : isRead)[term.factor] = true;
  SymExpr one = SymExpr::constant(product->getContext(), 1);
  ProductSizes sizes{one, one, one};
  for (const Access &access : rule.operand(1))
    for (const Access::Term &term : access.terms) {
      const SymExpr &extent = rule.factors()[term.factor].extent;
      if (isColumn[term.factor]) {
        sizes.kept = sizes.kept * extent;
        sizes.groups = isRead[term.factor] ? sizes.groups * extent : sizes.groups;
      } else if (!isWindow[term.factor]) {
        sizes.summed = sizes.summed * extent;
      }
    }
  return sizes;
}

std::optional<WorstSum> worstSumOfTypes(Operation *product, Type read, Type weight,
                                        int64_t products) {
  IterationRule rule = IterationRule::of(product);
  int64_t count = 1;
  for (unsigned factor : rule.reducedFactors()) {
    std::optional<int64_t> extent = rule.factors()[factor].extent.asConstant();
    if (!extent && products == 0)
      return std::nullopt;
    count = extent ? count * *extent : products;
  }
  if (products > 0)
    count = std::min(count, products);
  auto [low, high] = rangeOf(read);
  auto [least, most] = rangeOf(weight);
  auto [worst, best] = std::minmax({low * least, low * most, high * least, high * most});
  return WorstSum{count * std::min(worst, int64_t(0)), count * best};
}

WorstSum worstSum(ArrayRef<std::vector<int64_t>> columns, int64_t low, int64_t high,
                  int64_t products) {
  WorstSum worst;
  for (const std::vector<int64_t> &column : columns) {
    std::vector<int64_t> below, above;
    for (int64_t weight : column) {
      below.push_back(std::min({weight * low, weight * high, int64_t(0)}));
      above.push_back(std::max({weight * low, weight * high, int64_t(0)}));
    }
    worst.least = std::min(worst.least, sumOfFarthest(std::move(below), products));
    worst.most = std::max(worst.most, sumOfFarthest(std::move(above), products));
  }
  return worst;
}

std::vector<std::vector<int64_t>> columnsOf(Operation *product, const RefTensor &weight) {
  IterationRule rule = IterationRule::of(product);
  llvm::SmallVector<bool> isColumn = columnFactors(rule);
  std::vector<std::vector<int64_t>> columns;
  for (int64_t i = 0; i < weight.size(); ++i) {
    // Which result: the place among the factors that are not summed, dimension by dimension, the
    // last one first.
    int64_t rest = i, column = 0, stride = 1;
    for (size_t d = weight.dims.size(); d-- > 0; rest /= weight.dims[d]) {
      int64_t index = rest % weight.dims[d];
      for (const Access::Term &term : llvm::reverse(rule.operand(1)[d].terms)) {
        int64_t extent = rule.factors()[term.factor].extent.asConstant().value_or(weight.dims[d]);
        if (isColumn[term.factor]) {
          column += index % extent * stride;
          stride *= extent;
        }
        index /= std::max<int64_t>(extent, 1);
      }
    }
    if (size_t(column) >= columns.size())
      columns.resize(size_t(column) + 1);
    columns[size_t(column)].push_back(weight.integers[size_t(i)]);
  }
  return columns;
}

/// As the product reads them: what moves reals moves integers alike.
static std::optional<RefTensor> integersRead(const UsedTensor &used, ConstantValues &constants) {
  const RefTensor *stored = used.integers ? constants.find(used.integers) : nullptr;
  if (!stored || used.views.empty())
    return stored ? std::optional(*stored) : std::nullopt;
  RefTensor moved(Float32Type::get(stored->element.getContext()), stored->dims);
  moved.reals.assign(stored->integers.begin(), stored->integers.end());
  for (Operation *view : llvm::reverse(used.views)) {
    const RefTensor *input = &moved;
    ReferenceCall call;
    call.inputs = input;
    if (failed(evaluateReference(view, call)))
      return std::nullopt;
    moved = RefTensor(call.outputs[0]);
  }
  RefTensor read(stored->element, moved.dims);
  read.integers.assign(moved.reals.begin(), moved.reals.end());
  return read;
}

std::optional<WorstSum> worstSum(const OperationUse &use, int64_t products,
                                 ConstantValues &constants) {
  if (!use.operands[1].isConstant)
    return worstSumOfTypes(use.op, use.operands[0].element, use.operands[1].element, products);
  std::optional<RefTensor> weight = integersRead(use.operands[1], constants);
  if (!weight)
    return std::nullopt;
  auto [low, high] = rangeOf(use.operands[0].element);
  return worstSum(columnsOf(use.op, *weight), low, high, products);
}

} // namespace weft
