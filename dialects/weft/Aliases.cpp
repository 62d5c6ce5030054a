//===- Aliases.cpp - What lies in the memory of an argument: printing, rules, questions ----------===//

#include "dialects/weft/Aliases.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace weft {

Attribute AliasesAttr::parse(AsmParser &parser, Type) {
  unsigned argument;
  DimsAttr seen;
  if (parser.parseLess() || parser.parseKeyword("argument") || parser.parseInteger(argument) ||
      parser.parseKeyword("seen") || parseDimList(parser, seen) || parser.parseGreater())
    return {};
  return get(parser.getContext(), argument, seen);
}

void AliasesAttr::print(AsmPrinter &printer) const {
  printer << "<argument " << getArgument() << " seen ";
  printDimList(printer, getSeen());
  printer << ">";
}

//===-- Questions --------------------------------------------------------------------------------===//

std::optional<unsigned> roomDim(SymTensorType buffer, DimsAttr seen) {
  if (seen.size() != buffer.getRank())
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned d = 0; d < buffer.getRank(); ++d) {
    bool isBehind = found && buffer.getDim(d).asConstant().value_or(0) < 1;
    bool differs = seen[d] != buffer.getDim(d);
    if (isBehind || (differs && (found || d == 0 || !buffer.getDim(d).asSymbol())))
      return std::nullopt;
    if (differs)
      found = d;
  }
  return found;
}

/// The slice that a concatenation in place begins with; null when `value` is none, verified or not.
static SliceOp beginningOf(Value value) {
  auto concat = value ? value.getDefiningOp<ConcatOp>() : ConcatOp();
  bool isInPlace = concat && concat->hasAttr(kInPlaceAttr) && concat->getNumOperands() == 3;
  return isInPlace ? concat->getOperand(0).getDefiningOp<SliceOp>() : SliceOp();
}

std::optional<InPlaceWrite> inPlaceWrite(Value result) {
  SliceOp begin = beginningOf(result);
  if (!begin)
    return std::nullopt;
  auto concat = result.getDefiningOp<ConcatOp>();
  return InPlaceWrite{begin.getInput(), concat.getInputs()[1], unsigned(concat.getDim()),
                      begin.getResult().getType().getDim(concat.getDim())};
}

Value writtenValue(Value result) {
  std::optional<InPlaceWrite> write = inPlaceWrite(result);
  return write ? write->part : result;
}

//===-- Rules ------------------------------------------------------------------------------------===//

/// A slice that takes elements side by side, with its start along `dim`; null when it moves along
/// others.
static SymExpr startOf(SliceOp slice, unsigned dim) {
  if (!slice || dim >= slice.getStarts().size() ||
      !llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; }))
    return {};
  for (auto [d, start] : llvm::enumerate(slice.getStarts().getDims()))
    if (d != dim && !start.isConstant(0))
      return {};
  return slice.getStarts()[dim];
}

LogicalResult verifyInPlace(ConcatOp concat) { // R5
  if (!isa<UnitAttr>(concat->getAttr(kInPlaceAttr)) || concat.getInputs().size() != 3)
    return concat->emitError() << "'" << kInPlaceAttr << "' marks a concatenation of three";
  unsigned dim = concat.getDim();
  auto begin = concat.getInputs()[0].getDefiningOp<SliceOp>(),
       rest = concat.getInputs()[2].getDefiningOp<SliceOp>();
  SymExpr first = startOf(begin, dim), second = startOf(rest, dim);
  if (!first || !first.isConstant(0) || begin.getInput().getType() != concat.getType())
    return concat->emitError(
        "writes in place, but does not begin with the beginning of a tensor of "
        "its type");
  SymExpr behind = begin.getResult().getType().getDim(dim) +
                   cast<SymTensorType>(concat.getInputs()[1].getType()).getDim(dim);
  if (second != behind || rest.getInput() != begin.getInput()) {
    InFlightDiagnostic error =
        concat->emitError("writes in place, but does not end with the rest of what it begins with");
    error.attachNote(begin.getLoc()) << "what it begins with is taken here";
    return error;
  }
  return success();
}

/// The type there; null when it is no tensor.
static SymTensorType tensorOf(ArrayRef<Type> types, unsigned i) {
  return i < types.size() ? dyn_cast<SymTensorType>(types[i]) : SymTensorType();
}

/// The view of an argument with room; null when it has none that can be.
static DimsAttr viewOf(FunctionOpInterface function, unsigned argument) {
  SymTensorType buffer = tensorOf(function.getArgumentTypes(), argument);
  auto view = buffer ? function.getArgAttrOfType<DimsAttr>(argument, kViewAttr) : DimsAttr();
  return view && roomDim(buffer, view) ? view : DimsAttr();
}

/// Results that lie in the memory of an argument.
static SmallVector<unsigned> resultsIn(FunctionOpInterface function, unsigned argument) {
  SmallVector<unsigned> results;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto aliases = function.getResultAttrOfType<AliasesAttr>(i, kAliasesAttr))
      if (aliases.getArgument() == argument)
        results.push_back(i);
  return results;
}

/// R6
static LogicalResult verifySeen(Operation *op, DimsAttr seen) {
  SymbolsAttr symbols = symbolsOf(op);
  for (SymExpr dim : seen.getDims())
    for (StringAttr name : dim.symbols())
      if (!llvm::is_contained(symbols.getNames(), name))
        return op->emitError() << "symbol '" << name.getValue()
                               << "' is not declared by 'weft.symbols' of the function";
  return success();
}

LogicalResult verifyView(Operation *op, unsigned argument) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !viewOf(function, argument)) // R1
    return op->emitError() << "argument " << argument
                           << " has no room for more than callers see of it";
  if (resultsIn(function, argument).size() != 1) // R3
    return op->emitError() << "argument " << argument << " has room for "
                           << resultsIn(function, argument).size() << " results, not for one";
  return verifySeen(op, viewOf(function, argument));
}

/// The value in whose memory `value` is stored, directly or by the kernel that yields it. What is
/// inside the function is not verified yet.
static Value bufferOf(Value value) {
  auto kernel = value.getDefiningOp<KernelOp>();
  if (!kernel) {
    SliceOp begin = beginningOf(value);
    return begin ? begin->getOperand(0) : Value();
  }
  Region &body = kernel->getRegion(0);
  unsigned place = cast<OpResult>(value).getResultNumber();
  if (body.empty() || body.front().empty() || place >= body.front().back().getNumOperands())
    return {};
  SliceOp begin = beginningOf(body.front().back().getOperand(place));
  auto inside = begin ? dyn_cast<BlockArgument>(begin->getOperand(0)) : BlockArgument();
  bool isInput = inside && inside.getArgNumber() < kernel->getNumOperands();
  return isInput ? kernel->getOperand(inside.getArgNumber()) : Value();
}

/// What a function returns as a result; null when it has no body, or one that returns no values.
static Value returnedBy(FunctionOpInterface function, unsigned result) {
  Region &body = function.getFunctionBody();
  if (body.empty() || body.front().empty() ||
      body.front().back().getNumOperands() != function.getNumResults())
    return {};
  return body.front().back().getOperand(result);
}

LogicalResult verifyAliases(Operation *op, unsigned result) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto aliases =
      function ? function.getResultAttrOfType<AliasesAttr>(result, kAliasesAttr) : AliasesAttr();
  if (!aliases)
    return op->emitError() << "'" << kAliasesAttr << "' holds #weft.aliases<...>";
  SymTensorType type = tensorOf(function.getResultTypes(), result);
  DimsAttr view = viewOf(function, aliases.getArgument());
  if (!view || type != function.getArgumentTypes()[aliases.getArgument()] ||
      roomDim(type, aliases.getSeen()) != roomDim(type, view)) // R2
    return op->emitError() << "result " << result << " cannot lie in the memory of argument "
                           << aliases.getArgument();
  Value returned = returnedBy(function, result);
  if (!returned || bufferOf(returned) == function.getArgument(aliases.getArgument())) // R4
    return verifySeen(op, aliases.getSeen());
  InFlightDiagnostic error = op->emitError()
                             << "result " << result << " lies in the memory of argument "
                             << aliases.getArgument() << ", but is stored elsewhere";
  error.attachNote(returned.getLoc()) << "what is returned is computed here";
  return error;
}

} // namespace weft
