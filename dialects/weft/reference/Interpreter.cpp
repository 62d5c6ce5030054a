//===- Interpreter.cpp - Reference semantics from an iteration rule -----------------------------===//
//
// Walks the box of all factors, result factors outermost, and combines the scalar function over the reduced ones. Where every access
// is affine, positions are kept as linear offsets that advance with the innermost factor.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Reference.h"

using namespace mlir;

namespace weft {
namespace {

class Interpreter {
public:
  Interpreter(Operation *op, ReferenceCall &call)
      : op(op), element(cast<ElementOpInterface>(op)), call(call), rule(IterationRule::of(op)) {}

  LogicalResult run() {
    auto resultType = cast<SymTensorType>(op->getResult(0).getType());
    type = resultType.getElementType();
    auto dims = call.dims(resultType);
    if (failed(dims))
      return failure();
    for (const Factor &factor : rule.factors()) {
      FailureOr<int64_t> extent = call.value(factor.extent);
      if (failed(extent))
        return failure();
      extents.push_back(*extent);
    }
    bool symbolic =
        llvm::any_of(call.inputs, [](const RefTensor *t) { return t->kind == Scalar::Symbolic; });
    RefTensor &out = call.outputs.emplace_back(type, *dims, symbolic);
    for (unsigned i = 0; i < rule.operandCount(); ++i)
      if (failed(linearize(rule.operand(i), call.inputs[i]->dims, operands.emplace_back())))
        return failure();
    if (failed(linearize(rule.result(0), out.dims, result)))
      return failure();
    for (auto [i, factor] : llvm::enumerate(rule.factors()))
      (factor.reduced ? reduced : kept).push_back(i);
    position.resize(extents.size());
    return walkResult(out, 0);
  }

private:
  /// One dimension of a tensor as an affine function of the factors, with its stride in elements.
  struct Line {
    SmallVector<std::pair<unsigned, int64_t>, 2> terms;
    int64_t offset = 0, size = 0, stride = 1;
    bool guarded = false;
  };
  using Lines = std::vector<Line>;

  LogicalResult linearize(ArrayRef<Access> accesses, ArrayRef<int64_t> dims, Lines &lines) {
    int64_t stride = 1;
    lines.resize(accesses.size());
    for (size_t d = accesses.size(); d-- > 0;) {
      Line &line = lines[d];
      const Access &access = accesses[d];
      line.size = dims[d];
      line.stride = stride;
      stride *= dims[d];
      FailureOr<int64_t> offset = call.value(access.offset);
      if (failed(offset))
        return failure();
      line.offset = *offset;
      line.guarded = access.kind == AccessKind::Window;
      if (access.kind == AccessKind::Maybe) {
        if (dims[d] != 1 && dims[d] != extents[access.factor()])
          return call.fail("a dimension of " + Twine(dims[d]) + " cannot be broadcast to " +
                           Twine(extents[access.factor()]));
        if (dims[d] != 1)
          line.terms.push_back({access.factor(), 1});
        continue;
      }
      int64_t scale = 1; // of the factors to the right, in a merge
      for (const Access::Term &term : llvm::reverse(access.terms)) {
        FailureOr<int64_t> coefficient = call.value(term.coefficient);
        if (failed(coefficient))
          return failure();
        line.terms.push_back(
            {term.factor, access.kind == AccessKind::Merge ? scale : *coefficient});
        scale *= extents[term.factor];
      }
    }
    return success();
  }

  /// Linear position for the current factor values; nothing when a window leaves the tensor.
  std::optional<int64_t> locate(const Lines &lines) const {
    int64_t at = 0;
    for (const Line &line : lines) {
      int64_t index = line.offset;
      for (auto [factor, coefficient] : line.terms)
        index += coefficient * position[factor];
      if (line.guarded && (index < 0 || index >= line.size))
        return std::nullopt;
      at += index * line.stride;
    }
    return at;
  }

  LogicalResult walkResult(RefTensor &out, size_t depth) {
    if (depth < kept.size()) {
      for (int64_t &i = position[kept[depth]] = 0; i < extents[kept[depth]]; ++i)
        if (failed(walkResult(out, depth + 1)))
          return failure();
      return success();
    }
    if (reduced.empty()) {
      std::optional<Scalar> value = point();
      out.set(*locate(result), value ? *value : Scalar::of(int64_t(0)));
      return success();
    }
    std::optional<Scalar> total;
    fold(total, 0);
    if (!total)
      total = identityScalar(rule.combiner(), out.element);
    out.set(*locate(result), *total);
    return success();
  }

  void fold(std::optional<Scalar> &total, size_t depth) {
    if (depth + 1 == reduced.size() && fastSum(total))
      return;
    if (depth == reduced.size()) {
      if (std::optional<Scalar> value = point())
        total = total ? combineScalars(rule.combiner(), type, *total, *value) : *value;
      return;
    }
    for (int64_t &i = position[reduced[depth]] = 0; i < extents[reduced[depth]]; ++i)
      fold(total, depth + 1);
  }

  /// Sum of products of doubles along the innermost factor without guards: strided loops.
  bool fastSum(std::optional<Scalar> &total) {
    if (!isa<ContractOp>(op) || call.inputs[0]->kind != Scalar::Real ||
        call.inputs[1]->kind != Scalar::Real)
      return false;
    unsigned factor = reduced.back();
    int64_t start[2], step[2] = {0, 0};
    for (int i = 0; i < 2; ++i)
      for (const Line &line : operands[i]) {
        if (line.guarded)
          return false;
        for (auto [f, coefficient] : line.terms)
          if (f == factor)
            step[i] += coefficient * line.stride;
      }
    position[factor] = 0;
    for (int i = 0; i < 2; ++i)
      start[i] = *locate(operands[i]);
    const double *a = call.inputs[0]->reals.data() + start[0],
                 *b = call.inputs[1]->reals.data() + start[1];
    double sum = total ? total->real : 0;
    for (int64_t k = 0, n = extents[factor]; k < n; ++k)
      sum += a[k * step[0]] * b[k * step[1]];
    total = Scalar::of(sum);
    return true;
  }

  std::optional<Scalar> point() {
    SmallVector<Scalar, 3> elements;
    for (auto [tensor, lines] : llvm::zip(call.inputs, operands)) {
      std::optional<int64_t> at = locate(lines);
      if (!at)
        return std::nullopt;
      elements.push_back(tensor->at(*at));
    }
    return element.evaluateScalar(elements, call.facts);
  }

  Operation *op;
  Type type; ///< of the result's elements
  ElementOpInterface element;
  ReferenceCall &call;
  IterationRule rule;
  SmallVector<int64_t> extents, position;
  SmallVector<unsigned> reduced, kept;
  SmallVector<Lines> operands;
  Lines result;
};

} // namespace

LogicalResult evaluateByRule(Operation *op, ReferenceCall &call) {
  return Interpreter(op, call).run();
}

} // namespace weft
