//===- Move.cpp - Reshape, transpose, expand, slice, pad, concat: types and rules --------------===//

#include "dialects/weft/ops/Move.h"
#include "dialects/symbolic/Multiples.h"
#include "dialects/weft/Aliases.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

static std::string braces(SymExpr expr) { return "{" + expr.str() + "}"; }
static std::string name(char prefix, size_t i) { return prefix + std::to_string(i); }

//===-- reshape ----------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  auto result = SymTensorType::get(input.getContext(), adaptor.getDims().getDimAttributes(),
                                   input.getElementType());
  if (input.getElements() != result.getElements()) // R1
    return emitOptionalError(location, "'weft.reshape' cannot make ", result, " of ", input, ": '",
                             input.getElements().str(), "' elements against '",
                             result.getElements().str(), "'");
  results.push_back(result);
  return success();
}

RootKind ReshapeOp::rootKind() { return RootKind::View; }

static SymExpr product(ArrayRef<SymExpr> dims, MLIRContext *context) {
  SymExpr result = SymExpr::constant(context, 1);
  for (SymExpr dim : dims)
    result = result * dim;
  return result;
}

SmallVector<ReshapeRun> matchRuns(SymTensorType result, SymTensorType input) {
  SmallVector<SymExpr> r = result.getDims(), i = input.getDims();
  SmallVector<ReshapeRun> runs;
  unsigned re = r.size(), ie = i.size();
  while (re > 0 || ie > 0) {
    bool found = false;
    for (unsigned total = 1; total <= re + ie && !found; ++total)
      for (unsigned a = total > ie ? total - ie : 0; a <= std::min(total, re) && !found; ++a) {
        unsigned c = total - a;
        if (product(ArrayRef(r).slice(re - a, a), result.getContext()) !=
            product(ArrayRef(i).slice(ie - c, c), result.getContext()))
          continue;
        runs.push_back({re - a, re, ie - c, ie});
        re -= a;
        ie -= c;
        found = true;
      }
    assert(found && "the whole shapes have equal products");
  }
  return runs;
}

/// A run of dimensions is cut at its first one, into pieces that are whole on both sides.
SmallVector<Cut, 4> ReshapeOp::cuts() {
  auto result = tensorType(getResult()), input = tensorType(getInput());
  SmallVector<SymExpr> to = result.getDims(), from = input.getDims();
  SmallVector<Cut, 4> cuts;
  if (isPacked(result.getElementType()))
    return cuts; // ranks could not send each other what they compute
  for (ReshapeRun run : matchRuns(result, input)) {
    while (run.resultFirst < run.resultEnd && to[run.resultFirst].isConstant(1))
      ++run.resultFirst;
    while (run.inputFirst < run.inputEnd && from[run.inputFirst].isConstant(1))
      ++run.inputFirst;
    if (run.resultFirst == run.resultEnd || run.inputFirst == run.inputEnd)
      continue;
    auto behind = [&](ArrayRef<SymExpr> dims, unsigned first, unsigned end) {
      return product(dims.slice(first + 1, end - first - 1), getContext());
    };
    SymExpr inner = behind(from, run.inputFirst, run.inputEnd),
            resultInner = behind(to, run.resultFirst, run.resultEnd),
            piece = commonMultiple(inner, resultInner);
    if (!piece)
      continue;
    Cut &cut = cuts.emplace_back();
    cut.operands.push_back(Cut::Dim{run.inputFirst, exactQuotient(piece, inner)});
    cut.results.push_back(Cut::Dim{run.resultFirst, exactQuotient(piece, resultInner)});
  }
  return cuts;
}

//===-- transpose --------------------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  SmallVector<bool> seen(input.getRank());
  SmallVector<SymExpr> dims;
  for (int64_t from : adaptor.getOrder()) {
    if (from < 0 || from >= input.getRank() || seen[from])
      return emitOptionalError(location, "'weft.transpose' order must name each of the ",
                               input.getRank(), " dimensions once");
    seen[from] = true;
    dims.push_back(input.getDim(from));
  }
  if (dims.size() != input.getRank())
    return emitOptionalError(location, "'weft.transpose' order must name each of the ",
                             input.getRank(), " dimensions once");
  results.push_back(SymTensorType::get(dims, input.getElementType()));
  return success();
}

std::string TransposeOp::ruleText() {
  std::string left, right;
  for (size_t i = 0; i < getOrder().size(); ++i) {
    left += name('a', i) + " ";
    right += name('a', getOrder()[i]) + " ";
  }
  return left + "-> " + right;
}

RootKind TransposeOp::rootKind() { return RootKind::View; }

//===-- expand -----------------------------------------------------------------------------------===//

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  auto result = SymTensorType::get(input.getContext(), adaptor.getDims().getDimAttributes(),
                                   input.getElementType());
  if (result.getRank() < input.getRank())
    return emitOptionalError(location, "'weft.expand' cannot remove dimensions: ", input, " to ",
                             result);
  unsigned shift = result.getRank() - input.getRank();
  for (unsigned d = 0; d < input.getRank(); ++d) {
    SymExpr from = input.getDim(d), to = result.getDim(d + shift);
    if (from != to && !from.isConstant(1) && from.asConstant() && to.asConstant())
      return emitOptionalError(location, "'weft.expand' cannot make dimension ", d, " of ", input,
                               " '", to.str(), "'");
  }
  results.push_back(result);
  return success();
}

std::string ExpandOp::ruleText() {
  auto input = tensorType(getInput()), result = tensorType(getResult());
  unsigned shift = result.getRank() - input.getRank();
  std::string left, right;
  for (unsigned d = 0; d < result.getRank(); ++d) {
    right += name('a', d) + " ";
    if (d >= shift) {
      SymExpr from = input.getDim(d - shift), to = result.getDim(d);
      left += from == to ? name('a', d) + " " : from.isConstant(1) ? "1 " : name('a', d) + "? ";
    }
  }
  return left + "-> " + right;
}

RootKind ExpandOp::rootKind() { return RootKind::View; }

//===-- slice ------------------------------------------------------------------------------------===//

constexpr int64_t kMostStep = int64_t(1)
                              << 62; ///< so that numbers read as 64 bits have not wrapped

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getStarts().size() != rank || adaptor.getSizes().size() != rank ||
      adaptor.getSteps().size() != rank)
    return emitOptionalError(location,
                             "'weft.slice' needs a start, a size and a step for each of the ", rank,
                             " dimensions");
  auto isPossible = [](int64_t step) {
    return step != 0 && step >= -kMostStep && step <= kMostStep;
  };
  if (!llvm::all_of(adaptor.getSteps(), isPossible))
    return emitOptionalError(location, "'weft.slice' steps must not be 0 nor beyond 2^62");
  results.push_back(SymTensorType::get(input.getContext(), adaptor.getSizes().getDimAttributes(),
                                       input.getElementType()));
  return success();
}

std::string SliceOp::ruleText() {
  std::string left, right;
  for (size_t d = 0; d < getSteps().size(); ++d) {
    left += std::to_string(getSteps()[d]) + "*" + name('a', d) + "+" + braces(getStarts()[d]) + " ";
    right += name('a', d) + " ";
  }
  return left + "-> " + right;
}

RootKind SliceOp::rootKind() { return RootKind::View; }

//===-- pad --------------------------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank)
    return emitOptionalError(location, "'weft.pad' needs two amounts for each of the ", rank,
                             " dimensions");
  if (tensorType(adaptor.getValue()).getRank() != 0 ||
      elementOf(adaptor.getValue()) != input.getElementType())
    return emitOptionalError(location, "'weft.pad' value must be one ", input.getElementType());
  SmallVector<SymExpr> dims;
  for (size_t d = 0; d < rank; ++d)
    dims.push_back(input.getDim(d) + adaptor.getLow()[d] + adaptor.getHigh()[d]);
  results.push_back(SymTensorType::get(input.getContext(),
                                       DimsAttr::get(input.getContext(), dims).getDimAttributes(),
                                       input.getElementType()));
  return success();
}

std::string PadOp::ruleText() {
  std::string left, right;
  for (size_t d = 0; d < getLow().size(); ++d) {
    left += name('a', d) + "-" + braces(getLow()[d]) + " ";
    right += name('a', d) + " ";
  }
  return left + ", -> " + right;
}

//===-- concat -----------------------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "'weft.concat' needs at least one operand");
  auto first = tensorType(adaptor.getInputs()[0]);
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(location, "'weft.concat' has no dimension ", dim, " in ", first);
  SmallVector<SymExpr> dims = first.getDims();
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs().drop_front())) {
    auto type = tensorType(input);
    if (type.getRank() != first.getRank() || type.getElementType() != first.getElementType())
      return refuseBeside(location, input, "operand " + Twine(i + 1),
                          "'weft.concat' operands must agree, but operand 0 is ", first,
                          " and operand ", i + 1, " is ", type);
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (d != dim && type.getDim(d) != first.getDim(d))
        return refuseBeside(location, adaptor.getInputs()[0], "operand 0",
                            "'weft.concat': dimension ", d, " of operand ", i + 1, " is '",
                            type.getDim(d).str(), "', but must be '", first.getDim(d).str(), "'");
    dims[dim] = dims[dim] + type.getDim(dim);
  }
  results.push_back(SymTensorType::get(dims, first.getElementType()));
  return success();
}

std::string ConcatOp::splitText() {
  unsigned rank = tensorType(getResult()).getRank();
  auto dims = [&](const std::string &along) {
    std::string text;
    for (unsigned d = 0; d < rank; ++d)
      text += (d == getDim() ? along : name('a', d)) + " ";
    return text;
  };
  std::string text;
  for (unsigned i = 0; i < getInputs().size(); ++i)
    text += (i ? ", " : "") + dims(name('n', i) + "!");
  return text + "-> " + dims("all!");
}

LogicalResult ConcatOp::verify() {
  return (*this)->hasAttr(kInPlaceAttr) ? verifyInPlace(*this) : success();
}

} // namespace weft
