//===- Collective.cpp - Types and costs of what ranks give each other ----------------------------===//

#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/RankVariance.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft {
namespace {

/// Types of one collective, and what it refuses.
class Inference {
public:
  Inference(StringRef name, std::optional<Location> location, Value input, MeshAttr group)
      : name(name), location(location), group(group), input(tensorType(input)),
        dims(this->input.getDims()) {}

  bool hasDim(int64_t dim) const { return dim >= 0 && dim < int64_t(dims.size()); }
  int64_t ranks() const { return group.getRanks(); }
  SymExpr place() const { return placeIn(group); }

  template <typename... Parts> LogicalResult refuse(Parts &&...parts) const {
    return emitOptionalError(location, "'weft.", name, "' ", std::forward<Parts>(parts)...);
  }

  /// Elements of bytes, and dimensions that are the same for all ranks of the group but for `part`.
  LogicalResult requireSame(std::optional<int64_t> part = {}) const {
    if (isPacked(input.getElementType()))
      return refuse("cannot send elements that share bytes: ", input);
    for (auto [d, dim] : llvm::enumerate(dims))
      if (part != int64_t(d) && differsIn(dim, group))
        return refuse("needs operands of one size on all ranks of the group, but dimension ", d,
                      " is ", dim.str());
    return success();
  }

  LogicalResult requireCombines(CombinerKind kind) const {
    bool bits = kind == CombinerKind::And || kind == CombinerKind::Or;
    return bits && isFloat(input.getElementType())
               ? refuse("cannot combine ", input.getElementType(), " by '",
                        stringifyCombinerKind(kind), "'")
               : success();
  }

  /// Dimension `dim` is the rank's part of the extent, and becomes all of it.
  LogicalResult joinParts(int64_t dim, DimsAttr extent) {
    if (!hasDim(dim))
      return refuse("has no dimension ", dim, " in ", input);
    if (extent.size() != 1 || differsIn(extent[0], group))
      return refuse("needs one size that all ranks of the group have");
    SymExpr part = partSize(extent[0], ranks(), place());
    if (placeFacts(group).proveEqual(dims[dim], part) != Proof::Yes)
      return refuse("joins parts of ", extent[0].str(), ", which are ", part.str(),
                    ", but dimension ", dim, " is ", dims[dim].str());
    if (failed(requireSame(dim)))
      return failure();
    dims[dim] = extent[0];
    return success();
  }

  void takePart(int64_t dim) { dims[dim] = partSize(dims[dim], ranks(), place()); }

  /// Sizes as the rank at another place has them. Once around a ring they are the own ones again.
  void takeFrom(SymExpr other) {
    for (SymExpr &dim : dims)
      dim = atPlace(dim, group, other);
  }

  LogicalResult finish(SmallVectorImpl<Type> &results) const {
    results.push_back(SymTensorType::get(dims, input.getElementType()));
    return success();
  }

private:
  StringRef name;
  std::optional<Location> location;
  MeshAttr group;
  SymTensorType input;
  SmallVector<SymExpr> dims;
};

/// R3 and R4 of meshes. In a plan values have no names by which they could be followed: it is made of a graph that was verified.
LogicalResult verifySameWay(CollectiveOpInterface op, StringAttr axis) {
  if (!op->getParentOfType<func::FuncOp>())
    return success();
  RankVariance variance(op, axis);
  for (SymExpr dim : tensorType(op->getOperand(0)).getDims())
    for (StringAttr name : dim.symbols())
      if (name != rankSymbol(axis) && variance.mayDiffer(SymExpr::symbol(name)))
        return op->emitOpError("has an operand of size ")
               << dim.str() << ", but data decide '" << name.getValue() << "', and ranks along '"
               << axis.getValue() << "' may have others";
  for (Operation *outer = op->getParentOp(); !isa<FunctionOpInterface>(outer);
       outer = outer->getParentOp())
    if (variance.mayEnterDifferently(outer)) {
      InFlightDiagnostic error = op->emitOpError("may not be reached by all ranks along '")
                                 << axis.getValue() << "'";
      error.attachNote(outer->getLoc()) << "what decides here may differ between them";
      return error;
    }
  return success();
}

/// R2 of meshes, and what follows.
LogicalResult verifyGroup(CollectiveOpInterface op) {
  MeshAttr mesh = meshOf(op);
  if (!mesh)
    return op->emitOpError("stands in a function without '") << kMeshAttr << "'";
  MeshAttr group = op.getGroup();
  for (auto [axis, size] : llvm::zip_equal(group.getAxes(), group.getSizes())) {
    std::optional<int64_t> have = mesh.getSize(axis);
    if (!have)
      return op->emitOpError("is over axis '")
             << axis.getValue() << "', which " << mesh << " does not have";
    if (*have != size)
      return op->emitOpError("is over ") << size << " ranks of axis '" << axis.getValue()
                                         << "', but " << mesh << " has " << *have;
    if (failed(verifySameWay(op, axis)))
      return failure();
  }
  return success();
}

SymExpr bytesOf(SymTensorType type, SymExpr elements) {
  return elements * elementBytes(type.getElementType(), 1);
}

/// By other dimensions than those that are split or joined, along other axes.
std::string textAround(CollectiveOpInterface op, ArrayRef<uint64_t> whole) {
  std::string from, to;
  for (unsigned d = 0; d < tensorType(op->getOperand(0)).getRank(); ++d) {
    bool isWhole = llvm::is_contained(whole, d);
    from += (isWhole ? "n" : "a") + std::to_string(d) + (isWhole ? "! " : " ");
    to += (isWhole ? "m" : "a") + std::to_string(d) + (isWhole ? "! " : " ");
  }
  return from + "-> " + to;
}

/// Dimensions of which ranks of the group have other sizes.
SmallVector<uint64_t> differingDims(CollectiveOpInterface op) {
  SmallVector<uint64_t> differing;
  for (auto [d, dim] : llvm::enumerate(tensorType(op->getOperand(0)).getDims()))
    if (differsIn(dim, op.getGroup()))
      differing.push_back(d);
  return differing;
}

SymExpr constantOf(CollectiveOpInterface op, int64_t value) {
  return SymExpr::constant(op->getContext(), value);
}

int64_t othersIn(CollectiveOpInterface op) { return op.getGroup().getRanks() - 1; }

/// What has dimensions [outer, first, inner] with this one as the first, whole.
ExchangeForm formAround(ExchangeKind kind, ArrayRef<SymExpr> dims, size_t dim, SymExpr extent) {
  SymExpr one = SymExpr::constant(extent.getContext(), 1);
  ExchangeForm form{kind, one, extent, one, one, one, {}, {}};
  for (auto [d, size] : llvm::enumerate(dims))
    if (d != dim)
      (d < dim ? form.outer : form.inner) = (d < dim ? form.outer : form.inner) * size;
  return form;
}

/// The same elements before and behind.
ExchangeForm formOfElements(ExchangeKind kind, SymExpr elements) {
  return formAround(kind, {}, 0, elements);
}

/// The largest that an expression is at any place of the group.
SymExpr largestIn(MeshAttr group, SymExpr expr) {
  SymExpr largest = SymExpr::constant(expr.getContext(), 0);
  SymFacts facts = placeFacts(group);
  for (int64_t place = 0; place < group.getRanks(); ++place) {
    SymExpr there = atPlace(expr, group, SymExpr::constant(expr.getContext(), place));
    if (facts.proveLE(there, largest) != Proof::Yes)
      largest = SymExpr::max(largest, there);
  }
  return largest;
}

/// 1 for the rank at a place, 0 for others.
SymExpr isAt(MeshAttr group, int64_t at) {
  SymExpr place = placeIn(group), away = SymExpr::max(place - at, -place + at);
  return SymExpr::pos(-away + 1);
}

} // namespace

Value exchangeInOrder(OpBuilder &builder, CollectiveOpInterface op, Value input,
                      ArrayRef<int64_t> order) {
  Operation *ordered = builder.clone(*op);
  ordered->setOperand(0, input);
  for (StringRef name : {"dim", "split", "join"}) // the attributes that name a dimension
    if (auto dim = op->getAttrOfType<IntegerAttr>(name))
      ordered->setAttr(name,
                       builder.getI64IntegerAttr(llvm::find(order, dim.getInt()) - order.begin()));
  auto type = tensorType(op->getResult(0));
  auto dims = llvm::map_to_vector(order, [&](int64_t from) { return type.getDim(from); });
  ordered->getResult(0).setType(SymTensorType::get(dims, tensorType(input).getElementType()));
  return ordered->getResult(0);
}

Value gatheredFrom(Value value) {
  auto gather = value.getDefiningOp<AllGatherOp>();
  auto part = gather ? gather.getInput().getDefiningOp<SliceOp>() : SliceOp();
  if (!part || part.getInput().getType() != value.getType())
    return {};
  SymExpr own = partBegin(gather.getExtent()[0], gather.getGroup().getRanks(),
                          placeIn(gather.getGroup())),
          none = SymExpr::constant(value.getContext(), 0);
  for (auto [d, start, step] : llvm::enumerate(part.getStarts().getDims(), part.getSteps()))
    if (step != 1 || start != (int64_t(d) == int64_t(gather.getDim()) ? own : none))
      return {};
  return part.getInput();
}

//===-- all_reduce -------------------------------------------------------------------------------===//

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("all_reduce", location, adaptor.getInput(), adaptor.getGroup());
  if (failed(infer.requireSame()) || failed(infer.requireCombines(adaptor.getKind()))) // R1
    return failure();
  return infer.finish(results);
}

LogicalResult AllReduceOp::verify() { return verifyGroup(*this); }
std::string AllReduceOp::splitText() { return textAround(*this, {}); }

ExchangeForm AllReduceOp::getForm() {
  ExchangeForm form = formOfElements(ExchangeKind::AllReduce, tensorType(getInput()).getElements());
  form.combiner = Combiner(getKind());
  return form;
}

SymExpr AllReduceOp::sentBytes() {
  SymTensorType type = tensorType(getInput());
  SymExpr elements = type.getElements(),
          own = partSize(elements, getGroup().getRanks(), placeIn(getGroup()));
  return bytesOf(type, elements - own + own * othersIn(*this));
}
SymExpr AllReduceOp::sentMessages() { return constantOf(*this, 2 * othersIn(*this)); }

//===-- all_gather -------------------------------------------------------------------------------===//

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("all_gather", location, adaptor.getInput(), adaptor.getGroup());
  if (failed(infer.joinParts(adaptor.getDim(), adaptor.getExtent()))) // R1, R2
    return failure();
  return infer.finish(results);
}

LogicalResult AllGatherOp::verify() { return verifyGroup(*this); }
std::string AllGatherOp::splitText() { return textAround(*this, {getDim()}); }

ExchangeForm AllGatherOp::getForm() {
  return formAround(ExchangeKind::AllGather, tensorType(getInput()).getDims(), getDim(),
                    getExtent()[0]);
}

SymExpr AllGatherOp::sentBytes() {
  SymTensorType type = tensorType(getInput());
  return bytesOf(type, type.getElements() * othersIn(*this));
}
SymExpr AllGatherOp::sentMessages() { return constantOf(*this, othersIn(*this)); }

//===-- reduce_scatter ---------------------------------------------------------------------------===//

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("reduce_scatter", location, adaptor.getInput(), adaptor.getGroup());
  if (!infer.hasDim(adaptor.getDim())) // R1
    return infer.refuse("has no dimension ", int64_t(adaptor.getDim()), " in ",
                        tensorType(adaptor.getInput()));
  if (failed(infer.requireSame()) || failed(infer.requireCombines(adaptor.getKind()))) // R1
    return failure();
  infer.takePart(adaptor.getDim());
  return infer.finish(results);
}

LogicalResult ReduceScatterOp::verify() { return verifyGroup(*this); }
std::string ReduceScatterOp::splitText() { return textAround(*this, {getDim()}); }

ExchangeForm ReduceScatterOp::getForm() {
  SmallVector<SymExpr> dims = tensorType(getInput()).getDims();
  ExchangeForm form = formAround(ExchangeKind::ReduceScatter, dims, getDim(), dims[getDim()]);
  form.combiner = Combiner(getKind());
  return form;
}

SymExpr ReduceScatterOp::sentBytes() {
  return bytesOf(tensorType(getInput()),
                 tensorType(getInput()).getElements() - tensorType(getResult()).getElements());
}
SymExpr ReduceScatterOp::sentMessages() { return constantOf(*this, othersIn(*this)); }

//===-- all_to_all -------------------------------------------------------------------------------===//

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("all_to_all", location, adaptor.getInput(), adaptor.getGroup());
  if (!infer.hasDim(adaptor.getSplit()) || adaptor.getSplit() == adaptor.getJoin()) // R1
    return infer.refuse("splits dimension ", int64_t(adaptor.getSplit()), " and joins dimension ",
                        int64_t(adaptor.getJoin()), " of ", tensorType(adaptor.getInput()));
  if (failed(infer.joinParts(adaptor.getJoin(), adaptor.getExtent()))) // R1, R2
    return failure();
  infer.takePart(adaptor.getSplit());
  return infer.finish(results);
}

LogicalResult AllToAllOp::verify() { return verifyGroup(*this); }
std::string AllToAllOp::splitText() { return textAround(*this, {getSplit(), getJoin()}); }

ExchangeForm AllToAllOp::getForm() {
  SmallVector<SymExpr> dims = tensorType(getInput()).getDims();
  dims[getJoin()] = getExtent()[0];
  size_t low = std::min(getJoin(), getSplit()), high = std::max(getJoin(), getSplit());
  SymExpr one = SymExpr::constant(getContext(), 1);
  ExchangeForm form{ExchangeKind::AllToAll, one, dims[low], one, dims[high], one, {}, {}};
  for (auto [d, size] : llvm::enumerate(dims))
    if (d != low && d != high) {
      SymExpr &around = d < low ? form.outer : d < high ? form.middle : form.inner;
      around = around * size;
    }
  form.isReversed = getSplit() < getJoin();
  return form;
}

/// All but the rank's own part along `split`.
SymExpr AllToAllOp::sentBytes() {
  SymTensorType type = tensorType(getInput());
  SmallVector<SymExpr> kept = type.getDims();
  kept[getSplit()] = tensorType(getResult()).getDim(getSplit());
  return bytesOf(type, type.getElements() -
                           SymTensorType::get(kept, type.getElementType()).getElements());
}
SymExpr AllToAllOp::sentMessages() { return constantOf(*this, othersIn(*this)); }

//===-- broadcast --------------------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("broadcast", location, adaptor.getInput(), adaptor.getGroup());
  int64_t root = adaptor.getRoot();
  if (root < 0 || root >= infer.ranks()) // R1
    return infer.refuse("has no place ", root, " among ", infer.ranks(), " ranks");
  infer.takeFrom(SymExpr::constant(context, root));
  return infer.finish(results);
}

LogicalResult BroadcastOp::verify() { return verifyGroup(*this); }
std::string BroadcastOp::splitText() { return textAround(*this, differingDims(*this)); }

ExchangeForm BroadcastOp::getForm() {
  ExchangeForm form =
      formOfElements(ExchangeKind::Broadcast, tensorType(getResult()).getElements());
  form.peer = getRoot();
  return form;
}

SymExpr BroadcastOp::sentBytes() {
  SymTensorType type = tensorType(getResult());
  return isAt(getGroup(), getRoot()) * bytesOf(type, type.getElements() * othersIn(*this));
}
SymExpr BroadcastOp::sentMessages() { return isAt(getGroup(), getRoot()) * othersIn(*this); }

//===-- permute ----------------------------------------------------------------------------------===//

int64_t placeThatGets(PermuteOp op, int64_t place) {
  int64_t ranks = op.getGroup().getRanks(), shift = op.getShift();
  return shift < 0 ? (2 * ranks - shift - place) % ranks : (place + shift) % ranks;
}

LogicalResult PermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Inference infer("permute", location, adaptor.getInput(), adaptor.getGroup());
  int64_t shift = adaptor.getShift(), ranks = infer.ranks(), far = std::abs(shift);
  if (far < 1 || (far >= ranks && ranks > 1)) // R1
    return infer.refuse("by ", shift, " among ", ranks, " ranks is no step of a ring");
  infer.takeFrom(SymExpr::mod(shift < 0 ? -infer.place() + far : infer.place() - far, ranks));
  return infer.finish(results);
}

LogicalResult PermuteOp::verify() { return verifyGroup(*this); }
std::string PermuteOp::splitText() { return textAround(*this, differingDims(*this)); }

ExchangeForm PermuteOp::getForm() {
  SymExpr sent = tensorType(getInput()).getElements();
  ExchangeForm form = formOfElements(ExchangeKind::Permute, sent);
  int64_t shift = getShift();
  form.peer = std::abs(shift) % getGroup().getRanks();
  form.isReversed = shift < 0;
  if (differsIn(sent, getGroup())) {
    form.received = tensorType(getResult()).getElements();
    form.longest = largestIn(getGroup(), sent);
  }
  return form;
}

SymExpr PermuteOp::sentBytes() {
  SymTensorType type = tensorType(getInput());
  return bytesOf(type, type.getElements() * sentMessages());
}

/// One, but for ranks that give it to themselves.
SymExpr PermuteOp::sentMessages() {
  int64_t ranks = getGroup().getRanks();
  SymExpr sent = constantOf(*this, ranks > 1);
  for (int64_t place = 0; place < ranks && ranks > 1; ++place)
    if (placeThatGets(*this, place) == place)
      sent = sent - isAt(getGroup(), place);
  return sent;
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/CollectiveOps.cpp.inc"
