//===- PlanOps.cpp - What the plan's operations read and write, and their verifiers -----------------===//

#include "dialects/plan/Plan.h"
#include "dialects/plan/WeightParts.h"
#include "dialects/weft/ops/Collective.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include <numeric>

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

namespace weft::plan {

//===-- The program ------------------------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto type = [](Builder &b, ArrayRef<Type> arguments, ArrayRef<Type> results,
                 function_interface_impl::VariadicFlag,
                 std::string &) { return b.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), type,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

/// Whether all that is given and returned is a tensor; says what is not.
static LogicalResult verifyTensors(Operation *op, FunctionType signature) {
  for (Type type : llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (!isa<SymTensorType>(type))
      return op->emitOpError("takes or gives a value of type ")
             << type << ", which is no tensor of Weft";
  return success();
}

LogicalResult FuncOp::verify() { return verifyTensors(*this, getFunctionType()); }

func::FuncOp KernelOp::specification() { return *getBody().getOps<func::FuncOp>().begin(); }

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<func::FuncOp>(block.front()) ||
      specification().isExternal())
    return emitOpError("holds one function, the specification");
  if (getTarget().empty() || getSchedule().empty())
    return emitOpError("needs the names of a target and of one of its schedules");
  if (failed(verifyTensors(*this, specification().getFunctionType())))
    return failure();
  for (DimsAttr formula : {getFlops(), getMoves(), getWork()})
    if (formula.size() != 1)
      return emitOpError("takes one expression for flops, moves and work each");
  return success();
}

//===-- Memory -----------------------------------------------------------------------------------------===//

LogicalResult InputOp::verify() {
  auto function = (*this)->getParentOfType<FuncOp>();
  if (!function || getIndex() >= function.getArgumentTypes().size())
    return emitOpError("takes the number of an argument of the function");
  return success();
}

LogicalResult OutputOp::verify() {
  auto function = (*this)->getParentOfType<FuncOp>();
  if (!function || getIndex() >= function.getResultTypes().size())
    return emitOpError("takes the number of a result of the function");
  return success();
}

SymTensorType WeightOp::wholeType() {
  return cast<SymTensorType>(getWhole().value_or(getTensor()));
}

bool WeightOp::isOfSizes() {
  SmallVector<SymExpr> dims = cast<SymTensorType>(getTensor()).getDims();
  return dims.size() == getSize()->size() &&
         llvm::all_of(llvm::zip(dims, *getSize()), [](auto pair) {
           auto [dim, size] = pair;
           return dim.asConstant().value_or(size) == size;
         });
}

std::optional<SmallVector<int64_t>> WeightOp::distances() {
  std::optional<WeightLayout> layout = WeightLayout::parse(getLayout());
  if (!getPart() || !layout || (!layout->isRows() && !isOfSizes()))
    return std::nullopt;
  return partDistances(*layout, wholeType(), *getSize());
}

SymExpr WeightOp::partNumber() {
  if (!getPart())
    return {};
  SymExpr number = SymExpr::constant(getContext(), 0);
  for (auto [at, dim, size] :
       llvm::zip_equal(getPart()->getDims(), *wholeType().getConstantDims(), *getSize()))
    number = number * (dim / size) + at;
  return number;
}

static InFlightDiagnostic refuseConstant(WeightOp op, Type type) {
  return op.emitOpError("is of ") << op.wholeType() << ", but its constant is of " << type;
}

/// R5, of numbers
static LogicalResult verifyConstant(WeightOp op) {
  SymTensorType whole = op.wholeType();
  auto dims = whole.getConstantDims();
  if (!dims)
    return op.emitOpError("is of ") << whole << ", whose sizes are no numbers";
  int64_t count = std::accumulate(dims->begin(), dims->end(), int64_t(1), std::multiplies<>());
  Type number = numberType(whole.getElementType());
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  if (elements && (elements.getNumElements() != count || elements.getElementType() != number))
    return refuseConstant(op, elements.getShapedType());
  return success();
}

/// R5, of weights with names
LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto name = dyn_cast<FlatSymbolRefAttr>(getValue());
  auto weight =
      name ? symbols.lookupNearestSymbolFrom<weft::WeightOp>(*this, name) : weft::WeightOp();
  if (!weight) // declared, or not, where it is stored
    return success();
  auto type = cast<SymTensorType>(weight.getType());
  SymTensorType whole = wholeType();
  bool isIt =
      type.getElements() == whole.getElements() && type.getElementType() == whole.getElementType();
  return isIt ? success() : refuseConstant(*this, type);
}

LogicalResult WeightOp::verify() {
  std::optional<WeightLayout> layout = WeightLayout::parse(getLayout());
  if (!layout) // R1
    return emitOpError("asks for layout '") << getLayout() << "', which does not exist";
  if (failed(verifyConstant(*this)))
    return failure();
  auto refuseDepth = [&] { // R3
    return emitOpError("asks for layout '")
           << getLayout() << "', but is no part of panels with " << layout->depth << " rows";
  };
  if (!getPart())
    return layout->depth ? refuseDepth() : success();
  auto dims = wholeType().getConstantDims(),
       seen = cast<SymTensorType>(getTensor()).getConstantDims();
  auto sizes = *getSize();
  bool isCut = dims && dims->size() == sizes.size() && getPart()->size() == sizes.size() &&
               llvm::all_of(llvm::zip(*dims, sizes), [&](auto pair) {
                 auto [dim, size] = pair;
                 return size > 0 && size <= dim && (!seen || dim % size == 0);
               });
  if (!isCut)
    return emitOpError("has no parts of size [") << sizes << "] in " << wholeType();
  if (!seen) // R4
    return isOfSizes() && distances()
               ? success()
               : emitOpError("has parts of several sizes, which are no ranges of ") << wholeType();
  auto count = [](ArrayRef<int64_t> all) {
    return std::accumulate(all.begin(), all.end(), int64_t(1), std::multiplies<>());
  };
  if (count(sizes) != count(*seen))
    return emitOpError("has parts of ")
           << count(sizes) << " elements, which are no " << getTensor();
  return layout->depth && !distances() ? refuseDepth() : success();
}

LogicalResult PartOp::verify() {
  if (getOffset() && getOffset()->size() != 1)
    return emitOpError("takes one offset");
  return success();
}

LogicalResult ProvideOp::verify() {
  if (getBytes().size() != 1 || !getOutput().getDefiningOp<OutputOp>())
    return emitOpError("takes an output and one expression");
  return success();
}

LogicalResult MemoryOp::verify() {
  if (getBytes().size() != 1)
    return emitOpError("takes one expression");
  if (getInside() && !getInside().getDefiningOp<ReserveOp>())
    return emitOpError("lies in no block that 'plan.reserve' asks for");
  for (int64_t below : getAbove().value_or(ArrayRef<int64_t>()))
    if (below < 0 || below >= int64_t(*getPlace()))
      return emitOpError("lies above place ") << below << ", which comes after its own";
  return success();
}

//===-- Work -------------------------------------------------------------------------------------------===//

SmallVector<Value> LaunchOp::reads() { return SmallVector<Value>(getInputs()); }
SmallVector<Value> LaunchOp::writes() { return SmallVector<Value>(getOutputs()); }

LogicalResult LaunchOp::verify() {
  if (getUnits().size() != 1 || getGrain().size() != 1 || getScratch().size() != 1)
    return emitOpError("takes one expression for units, grain and scratch each");
  if (getQueue() != 0)
    return emitOpError("is for queue ") << getQueue() << ", but the host has queue 0 only";
  bool hasRows = getRows() && getRows()->size() == 2 && *getRowsOf() < getInputs().size();
  if (getRows() && !hasRows) // R3
    return emitOpError("takes rows and tiles of an input");
  return success();
}

/// [outer, first] of what is gathered, or of sums of which every rank gets a part; a sum that all get is cut as it is wanted.
static bool hasRows(CollectiveOpInterface collective, SymExpr rows) {
  ExchangeForm form = collective.getForm();
  if (form.kind == ExchangeKind::AllReduce)
    return true;
  return (form.kind == ExchangeKind::AllGather || form.kind == ExchangeKind::ReduceScatter) &&
         form.outer * form.first == rows;
}

bool LaunchOp::followsRowsOf(ExchangeOp exchange) {
  CollectiveOpInterface collective = exchange.collective();
  if (!getRows() || !hasRows(collective, (*getRows())[0]))
    return false;
  if (collective.getForm().kind == ExchangeKind::AllGather)
    return getInputs()[*getRowsOf()] == exchange.getReceived() &&
           llvm::count(getInputs(), exchange.getReceived()) == 1;
  return llvm::count(getOutputs(), exchange.getSent()) == 1;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation(), getKernelAttr());
  if (!kernel)
    return emitOpError("calls '") << getKernel() << "', which is no kernel of the module";
  func::FuncOp specification = kernel.specification();
  auto differ = [&](StringRef what, size_t have, size_t want) {
    InFlightDiagnostic error = emitOpError("gives ")
                               << have << " " << what << ", but the kernel takes " << want;
    error.attachNote(kernel.getLoc()) << "the kernel is here";
    return error;
  };
  if (getInputs().size() != specification.getNumArguments())
    return differ("inputs", getInputs().size(), specification.getNumArguments());
  if (getOutputs().size() != specification.getNumResults())
    return differ("outputs", getOutputs().size(), specification.getNumResults());
  if (size_t want = symbolsOf(specification).getNames().size(); getWords().size() != want)
    return differ("words", getWords().size(), want);
  return success();
}

LogicalResult TogetherOp::verify() {
  Block &block = getBody().front();
  if (block.empty() || llvm::hasSingleElement(block) ||
      !llvm::all_of(block, [](Operation &op) { return isa<LaunchOp>(op); }))
    return emitOpError("holds launches, two or more");
  return success();
}

CollectiveOpInterface ExchangeOp::collective() {
  return cast<CollectiveOpInterface>(getBody().front().front());
}
SmallVector<Value> ExchangeOp::reads() { return {getSent()}; }
SmallVector<Value> ExchangeOp::writes() { return {getReceived()}; }

/// R3
static LogicalResult verifyPacked(ExchangeOp op, WeightOp weight) {
  auto gather = dyn_cast<AllGatherOp>(op.getBody().front().front());
  std::optional<WeightLayout> layout = WeightLayout::parse(weight.getLayout());
  if (!layout) // as it says itself
    return success();
  if (!gather || weight.getTensor() != gather.getInput().getType() ||
      !partsAreWhole(*layout, cast<SymTensorType>(gather.getType()), gather.getDim(),
                     gather.getGroup().getRanks()))
    return op.emitOpError("gives parts in layout '")
           << weight.getLayout() << "', which make no whole";
  return success();
}

/// R4
static LogicalResult verifyBeside(ExchangeOp exchange) {
  if (!exchange.getBeside())
    return success();
  unsigned begun = 1;
  for (Operation *op = exchange->getNextNode(); op; op = op->getNextNode()) {
    if (auto end = dyn_cast<AwaitOp>(op); end && end.getReceived() == exchange.getReceived())
      return success();
    auto other = dyn_cast<ExchangeOp>(op);
    begun += bool(other);
    if (begun > kMostBeside)
      return exchange.emitOpError("goes on beside more than ") << kMostBeside - 1 << " others";
    if ((other && !other.getBeside()) ||
        !isa<ExchangeOp, AwaitOp, LaunchOp, TogetherOp, MemoryOp, PartOp, WeightOp>(op))
      return exchange.emitOpError("goes on beside '") << op->getName() << "'";
    if (other &&
        (other.getSent() == exchange.getReceived() || other.getReceived() == exchange.getSent()))
      return exchange.emitOpError("goes on beside an exchange of its memory");
    WalkResult found = op->walk([&](LaunchOp launch) {
      bool touches = llvm::is_contained(launch.reads(), exchange.getReceived()) ||
                     llvm::is_contained(launch.writes(), exchange.getReceived()) ||
                     llvm::is_contained(launch.writes(), exchange.getSent());
      return touches ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return exchange.emitOpError("goes on beside a launch of its memory");
  }
  return exchange.emitOpError("goes on and has no end");
}

LogicalResult ExchangeOp::verify() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<CollectiveOpInterface>(block.front()) ||
      !llvm::equal(block.front().getOperands(), block.getArguments()))
    return emitOpError("holds one collective of the argument of its region");
  if (getSent() == getReceived())
    return emitOpError("gives and gets in the same buffer");
  return verifyBeside(*this);
}

/// What asks the collective, which has been verified now.
LogicalResult ExchangeOp::verifyRegions() {
  auto weight = getSent().getDefiningOp<WeightOp>();
  return weight && !weight.getLayout().empty() ? verifyPacked(*this, weight) : success();
}

SmallVector<Value> AwaitOp::reads() { return {getSent()}; }
SmallVector<Value> AwaitOp::writes() { return {getReceived()}; }

ExchangeOp AwaitOp::exchange() {
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode()) {
    auto exchange = dyn_cast<ExchangeOp>(op);
    if (exchange && exchange.getBeside() && exchange.getReceived() == getReceived())
      return exchange;
    auto earlier = dyn_cast<AwaitOp>(op);
    if (earlier && earlier.getReceived() == getReceived())
      return {};
  }
  return {};
}

LogicalResult AwaitOp::verify() {
  ExchangeOp ended = exchange();
  if (!ended || ended.getSent() != getSent())
    return emitOpError("ends no exchange that goes on");
  return success();
}

ExchangeOp OverlapOp::exchange() { return *getBody().getOps<ExchangeOp>().begin(); }
bool OverlapOp::comesFirst() { return isa<ExchangeOp>(getBody().front().front()); }
SmallVector<LaunchOp> OverlapOp::launches() {
  return llvm::to_vector(getBody().getOps<LaunchOp>());
}

/// Asks what its operations are, which have been verified now.
LogicalResult OverlapOp::verifyRegions() {
  Block &block = getBody().front();
  bool isFirst = !block.empty() && isa<ExchangeOp>(block.front()),
       isLast = !block.empty() && isa<ExchangeOp>(block.back());
  size_t count = block.getOperations().size();
  if (isFirst == isLast || size_t(llvm::range_size(getBody().getOps<LaunchOp>())) + 1 != count ||
      (isLast && count > 2)) // R1
    return emitOpError("holds an exchange and launches behind it, or one in front of it");
  bool gathers = exchange().collective().getForm().kind == ExchangeKind::AllGather;
  if (gathers != isFirst || !llvm::all_of(launches(), [&](LaunchOp launch) {
        return launch.followsRowsOf(exchange());
      })) // R2
    return emitOpError("holds launches whose rows are not those of the exchange");
  SmallVector<Value> written; // R3
  for (LaunchOp launch : launches()) {
    if (llvm::any_of(launch.reads(),
                     [&](Value buffer) { return llvm::is_contained(written, buffer); }))
      return emitOpError("holds launches of which one reads what another writes");
    llvm::append_range(written, launch.writes());
  }
  return success();
}

//===-- What the host decides --------------------------------------------------------------------------===//

SmallVector<Value> CheckPositionsOp::reads() { return {getPositions()}; }
LogicalResult CheckPositionsOp::verify() {
  if (getBits() != 32 && getBits() != 64)
    return emitOpError("reads integers of 32 or 64 bits, not of ") << getBits();
  unsigned count = getSizes().size(), rank = getDims().size();
  if (count != 1 && (count == 0 || rank == 0 || !getDims()[rank - 1].isConstant(count)))
    return emitOpError("has ") << count << " sizes for positions that do not have them last";
  return success();
}

SmallVector<Value> BindOp::reads() { return {getValue()}; }
SmallVector<StringAttr, 1> BindOp::symbolsAfter() { return {getSymbolAttr()}; }
LogicalResult BindOp::verify() {
  if (getBits() != 32 && getBits() != 64)
    return emitOpError("reads an integer of 32 or 64 bits");
  return success();
}

SmallVector<Value> IfOp::reads() { return {getCondition()}; }
SmallVector<StringAttr, 1> IfOp::symbolsAfter() { return namesIn(getBinds()); }
LogicalResult IfOp::verify() {
  for (Region *region : {&getYes(), &getNo()}) {
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield || yield.getDims().size() != getBinds().size() ||
        yield.getBuffers().size() != getNumResults()) {
      InFlightDiagnostic error =
          emitOpError("needs a value for every symbol and a buffer for every result");
      error.attachNote(region->front().getTerminator()->getLoc()) << "of what is yielded here";
      return error;
    }
  }
  return success();
}

SmallVector<Value> LoopOp::reads() {
  return getBegin() ? SmallVector<Value>{getBegin()} : SmallVector<Value>();
}
SmallVector<StringAttr, 1> LoopOp::symbolsInside() { return {getIndexAttr()}; }
SmallVector<StringAttr, 1> LoopOp::symbolsAfter() {
  return getCount() ? SmallVector<StringAttr, 1>{getCountAttr()} : SmallVector<StringAttr, 1>();
}
LogicalResult LoopOp::verify() {
  size_t carried = getCarried().size();
  if (getTrips().size() != 1)
    return emitOpError("takes one expression for trips");
  if (getMemory().size() != 2 * carried || getNumResults() != carried ||
      getBody().getNumArguments() != 2 * carried)
    return emitOpError("needs two of 'memory', two arguments of the region and a result for every "
                       "carried value");
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  bool isConditional = getCount().has_value();
  if (isConditional != bool(getBegin()) || !yield || yield.getDims().size() != 0 ||
      yield.getBuffers().size() != size_t(isConditional))
    return emitOpError("needs 'begin' and one yielded buffer when there is 'count', and neither "
                       "when there is none");
  return success();
}

SmallVector<Value> YieldOp::reads() { return SmallVector<Value>(getBuffers()); }

} // namespace weft::plan
