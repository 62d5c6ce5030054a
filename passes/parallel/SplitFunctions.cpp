//===- SplitFunctions.cpp - Every rank of a mesh computes its part -------------------------------------===//
//
//   before   %2 = weft.contract "m k, k n -> m n" %1, %w       after   %p = weft.slice %w from [rank_tp*64, 0] size [64, 32] …
//                                                                      %q = weft.contract "m k, k n -> m n" %1_part, %p
//                                                                      %2 = weft.all_reduce sum %q over<tp = 2>
//
// One axis after the other, each over the program that those before have left. What nothing says how to cut is computed by all ranks.
//===------------------------------------------------------------------------------------------===//

#include "passes/parallel/SplitFunctions.h"
#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ranks/Together.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/parallel/AttentionRings.h"
#include "passes/parallel/GatheredWeights.h"
#include "passes/parallel/Passes.h"
#include "passes/parallel/Price.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SPLITFUNCTIONS
#include "passes/parallel/Passes.h.inc"

namespace {

/// What an operation may ask for, from its place in the program.
class AskedShare : public Share {
public:
  AskedShare(MeshAttr group, Parts &parts, Operation *reader)
      : Share(group), parts(parts), reader(reader) {}
  bool hasWhole(Value value) override { return parts.hasWhole(value); }
  Value whole(Value value) override { return parts.whole(value, reader); }
  Value part(Value value, unsigned dim) override { return parts.part(value, dim, reader); }
  SymTensorType partType(Value value, unsigned dim) const override {
    return parts.partType(value, dim);
  }
  SymExpr partBegin(Value value, unsigned dim) const override { return parts.beginOf(value, dim); }
  SymExpr longestPart(Value value, unsigned dim) const override {
    return parts.longestOf(value, dim);
  }

private:
  Parts &parts;
  Operation *reader;
};

/// Splits one function along one axis.
class AxisSplit {
public:
  AxisSplit(func::FuncOp function, StringAttr axis, int64_t ranks, const RingShares &shares)
      : function(function), body(function.getBody().front()), shares(shares),
        group(MeshAttr::get(axis.getContext(), {axis}, {ranks})), assignment(function, axis),
        parts(group, assignment) {}

  /// Whether a composite has become its pieces, which are to be looked at anew.
  bool takeApart() {
    SmallVector<CompositeOpInterface> composites;
    for (Operation &op : body)
      if (const Cut *cut = assignment.cutOf(&op); cut && cut->inPieces)
        composites.push_back(cast<CompositeOpInterface>(op));
    for (CompositeOpInterface op : composites) {
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      SmallVector<Value> pieces = op.decompose(builder);
      if (Attribute placement = op->getAttr(kPlacementAttr))
        pieces[0].getDefiningOp()->setAttr(kPlacementAttr, placement);
      op->replaceAllUsesWith(pieces);
      op->erase();
    }
    return !composites.empty();
  }

  unsigned run() {
    SmallVector<Operation *> operations =
        llvm::map_to_vector(body, [](Operation &op) { return &op; });
    SmallVector<Operation *> replaced;
    takeParts();
    AttentionRings rings(function, group, assignment, parts, shares);
    for (Operation *op : operations) {
      const Cut *cut = assignment.cutOf(op);
      if (Value made = rings.buildAt(op)) {
        holdResult(op, made);
        replaced.push_back(op);
      } else if (rings.owns(op))
        replaced.push_back(op);
      else if (isOfConstants(op))
        computeBoth(op, cut);
      else if (cut && splitOperation(op, *cut))
        replaced.push_back(op);
      else if (isa<func::ReturnOp>(op))
        giveParts(op);
      else
        computeWhole(op);
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    for (Operation *op : llvm::reverse(ofConstants.getArrayRef()))
      if (op->use_empty() && op->getNumOperands() > 0)
        op->erase();
    leaveOutWholes();
    return parts.exchanges;
  }

private:
  std::optional<unsigned> dimAlongAxis(PlacementAttr placement) const {
    return placement ? placement.getDim(group.getAxes()[0]) : std::nullopt;
  }

  /// Of arguments of which ranks get their own parts, these stand beside the wholes until nobody reads those.
  void takeParts() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (std::optional<unsigned> dim = dimAlongAxis(localArgument(function, i))) {
        BlockArgument whole = function.getArgument(i);
        function.insertArgument(i + 1, parts.partType(whole, *dim), function.getArgAttrDict(i),
                                whole.getLoc());
        parts.holdPart(whole, *dim, function.getArgument(i + 1));
        wholes.push_back(i++);
      }
  }

  void leaveOutWholes() {
    for (unsigned i : llvm::reverse(wholes))
      function.eraseArgument(i);
  }

  /// What the caller gets: all, or the rank's own part.
  void giveParts(Operation *end) {
    SmallVector<Type> types;
    for (OpOperand &operand : end->getOpOperands()) {
      std::optional<unsigned> dim = dimAlongAxis(localResult(function, operand.getOperandNumber()));
      operand.set(dim ? parts.part(operand.get(), *dim, end) : parts.whole(operand.get(), end));
      types.push_back(operand.get().getType());
    }
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
  }

  /// What the ranks compute together, if the cut is such a one.
  SmallVector<Value> computeTogether(Operation *op, const Cut &cut) {
    auto together = dyn_cast<TogetherOpInterface>(op);
    if (!together)
      return {};
    AskedShare share(group, parts, op);
    Operation *before = op->getPrevNode();
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    SmallVector<Value> made = together.computeTogether(builder, cut, share);
    for (Operation *each = op->getPrevNode(); each && each != before; each = each->getPrevNode())
      if (isa<CollectiveOpInterface>(each) && !each->hasAttr(kBecauseAttr))
        parts.explain(each, nameOf(op) + " needs what other ranks have");
    return made;
  }

  /// Whether the value is known when compiling: no rank has to ask others for it.
  bool isOfConstants(Operation *op) {
    bool isKnown =
        isPure(op) && op->getNumRegions() == 0 && op->getNumResults() > 0 &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          return operand.getDefiningOp() && ofConstants.contains(operand.getDefiningOp());
        });
    if (isKnown)
      ofConstants.insert(op);
    return isKnown;
  }

  /// The rank's part, for those who read it, and the whole for others: what nobody reads goes.
  void computeBoth(Operation *op, const Cut *cut) {
    bool isWanted = cut && !cut->partial;
    if (isWanted)
      if (Wish wish = wishFor(op->getResult(0), group.getAxes()[0]); !wish.isOpen)
        isWanted = wish.dim && cut->results[0] && cut->results[0]->dim == *wish.dim;
    if (!isWanted || !splitOperation(op, *cut))
      return computeWhole(op);
    for (Value result : op->getResults())
      parts.keepWhole(result);
  }

  bool splitOperation(Operation *op, const Cut &cut) {
    SmallVector<Value> made = computeTogether(op, cut);
    if (made.empty())
      made = computePart(op, cut);
    if (made.empty())
      return false;
    for (auto [result, dim, held] : llvm::zip_equal(op->getResults(), cut.results, made)) {
      if (cut.partial)
        parts.holdPartial(result, *cut.partial, held);
      else if (dim)
        parts.holdPart(result, dim->dim, held);
      else
        parts.holdWhole(result, held);
      parts.holdAs(result, wishFor(result, group.getAxes()[0]));
    }
    return true;
  }

  SmallVector<Value> computePart(Operation *op, const Cut &cut) {
    SmallVector<Value> operands;
    SmallVector<Type> types;
    for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), cut.operands))
      operands.push_back(dim ? parts.part(operand, dim->dim, op) : parts.whole(operand, op));
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), cut.results))
      types.push_back(dim ? parts.partType(result, dim->dim) : result.getType());
    OpBuilder builder(op);
    Operation *part = buildPart(op, builder, operands, types);
    return part ? SmallVector<Value>(part->getResults()) : SmallVector<Value>();
  }

  /// Of an operation that has become others.
  void holdResult(Operation *op, Value made) {
    Value result = op->getResult(0);
    parts.holdPart(result, assignment.cutOf(op)->results[0]->dim, made);
    parts.holdAs(result, wishFor(result, group.getAxes()[0]));
  }

  /// Also what regions of the operation read.
  void computeWhole(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(parts.whole(operand.get(), op));
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (operand.get().getParentBlock() == &body)
            operand.set(parts.whole(operand.get(), op));
      });
    for (Value result : op->getResults())
      parts.holdAs(result, wishFor(result, group.getAxes()[0]));
  }

  func::FuncOp function;
  Block &body;
  RingShares shares;
  MeshAttr group;
  Assignment assignment;
  Parts parts;
  llvm::SetVector<Operation *> ofConstants;
  SmallVector<unsigned> wholes; ///< arguments that parts stand for
};

/// Symbols of the places of ranks that the function does not have yet: what a rank sends may depend on its place, also where nothing else does.
void declarePlaces(func::FuncOp function, MeshAttr mesh) {
  SymbolsAttr symbols = symbolsOf(function);
  SmallVector<StringAttr> names(symbols.getNames());
  SmallVector<SymPred> facts = symbols.getFacts();
  for (auto [symbol, ranks] : llvm::zip_equal(rankSymbols(mesh), mesh.getSizes()))
    if (!llvm::is_contained(names, symbol)) {
      names.push_back(symbol);
      facts.push_back(
          SymPred::le(SymExpr::symbol(symbol), SymExpr::constant(mesh.getContext(), ranks - 1)));
    }
  function->setAttr(kSymbolsAttr,
                    SymbolsAttr::get(mesh.getContext(), names, facts, symbols.getBoundNames()));
}

/// Ranks have places, and placements have been followed: only of parts that callers have is something left to say.
void finish(func::FuncOp function, MeshAttr mesh) {
  declarePlaces(function, mesh);
  function->removeAttr(kSplitOverAttr);
  function->setAttr(kMeshAttr, mesh);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!localArgument(function, i))
      function.removeArgAttr(i, StringAttr::get(mesh.getContext(), kPlacementAttr));
  function.walk([](Operation *op) { op->removeAttr(kPlacementAttr); });
}

struct SplitFunctions : impl::SplitFunctionsBase<SplitFunctions> {
  using impl::SplitFunctionsBase<SplitFunctions>::SplitFunctionsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function->hasAttr(kSplitOverAttr) && !function.isExternal())
      split(function);
    else if (auto mesh = function->getAttrOfType<MeshAttr>(kMeshAttr))
      declarePlaces(function, mesh);
  }

private:
  void split(func::FuncOp function) {
    FailureOr<RingShares> shares = sharesFor(function);
    if (failed(shares))
      return signalPassFailure();
    exchanges += splitOverMesh(function, *shares);
  }

  /// Over memory processors copy what goes around, and compute nothing meanwhile.
  FailureOr<RingShares> sharesFor(func::FuncOp function) {
    RingShares shares;
    if (rings == "most")
      shares.choice = RingShares::Most;
    if (rings != "priced" || links.empty())
      return shares;
    shares.choice = RingShares::Priced;
    SmallVector<StringRef> texts;
    StringRef(links).split(texts, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef text : texts)
      if (llvm::Error error = readLink(text, shares.links))
        return emitError(function.getLoc()) << llvm::toString(std::move(error));
    FailureOr<SymValues> values = guessSizes(function, readSizes(ArrayRef<std::string>(sizes)));
    if (failed(values))
      return failure();
    shares.sizes = *values;
    return shares;
  }
};

} // namespace

unsigned splitOverMesh(func::FuncOp function, const RingShares &shares) {
  auto mesh = function->getAttrOfType<MeshAttr>(kSplitOverAttr);
  unsigned exchanges = 0;
  size_t last = 0;
  for (auto [i, ranks] : llvm::enumerate(mesh.getSizes()))
    last = ranks > 1 ? i : last;
  for (auto [i, axis, ranks] : llvm::enumerate(mesh.getAxes(), mesh.getSizes())) {
    if (ranks == 1)
      continue;
    // Axes behind this one may split heads, and each share of them is no part of what a rank has then.
    RingShares here = i == last ? shares : RingShares();
    auto split = std::make_unique<AxisSplit>(function, axis, ranks, here);
    while (split->takeApart())
      split = std::make_unique<AxisSplit>(function, axis, ranks, here);
    exchanges += split->run();
  }
  exchanges += gatherWeights(function);
  finish(function, mesh);
  return exchanges;
}

} // namespace weft
