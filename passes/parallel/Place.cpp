//===- Place.cpp - What users say of meshes and placements, as attributes -----------------------------===//
//
//   before   %w = weft.constant @up      after   %w = weft.constant @up {weft.placement = #weft.placement<[_, tp]>}
//
// Names are those of inputs, outputs and weights, and where none of them has such a name, of nodes of the model. A node is several operators:
// its value is what others read. What a pattern names with another number of dimensions is passed over, unless it is all that it names.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Gathered.h"
#include "passes/parallel/Passes.h"
#include "passes/parallel/RankPlan.h"
#include "passes/quant/NodeNames.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PLACE
#include "passes/parallel/Passes.h.inc"

namespace {

/// A placement and what it is of.
struct Given {
  llvm::GlobPattern pattern;
  std::string text;
  PlacementAttr placement; ///< null: of no axis that splits
  bool isLocal;            ///< ranks give and get their parts
  size_t rank;             ///< dimensions that it has
  bool isUsed = false;
  std::string misfit; ///< what has such a name, but another number of dimensions
};

struct Place : impl::PlaceBase<Place> {
  using impl::PlaceBase<Place>::PlaceBase;

  void runOnOperation() override {
    if (mesh.empty() && place.empty())
      return;
    if (failed(readOptions()))
      return signalPassFailure();
    auto functions = llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                             [](func::FuncOp each) { return !each.isExternal(); });
    for (func::FuncOp function : functions)
      if (failed(splitOver(function)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      placeNamed(function);
    for (func::FuncOp function : functions)
      placeNodes(function);
    for (const Given &each : given)
      if (!each.isUsed) {
        InFlightDiagnostic error = emitError(UnknownLoc::get(&getContext()), "placement '")
                                   << each.text << "'";
        error << (each.misfit.empty() ? ": no input, output, weight or node has such a name"
                                      : each.misfit);
        return signalPassFailure();
      }
  }

private:
  LogicalResult refuse(llvm::Error error) {
    return emitError(UnknownLoc::get(&getContext()), llvm::toString(std::move(error)));
  }

  LogicalResult readOptions() {
    if (mesh.empty())
      return emitError(UnknownLoc::get(&getContext()), "placements need a mesh");
    llvm::Expected<MeshAttr> parsed = parseMesh(&getContext(), mesh);
    if (!parsed)
      return refuse(parsed.takeError());
    over = *parsed;
    for (const std::string &text : place)
      if (!over || failed(readPlacement(text)))
        return failure();
    if (!over)
      return failure();
    leaveOutSingle();
    return success();
  }

  /// Axes of one rank split nothing. Null is a mesh, or a placement, that has no others.
  void leaveOutSingle() {
    SmallVector<StringAttr> axes;
    SmallVector<int64_t> sizes;
    for (auto [axis, size] : llvm::zip_equal(over.getAxes(), over.getSizes())) {
      if (size > 1) {
        axes.push_back(axis);
        sizes.push_back(size);
        continue;
      }
      for (Given &each : given)
        if (each.placement && llvm::is_contained(each.placement.getAxes(), axis))
          each.placement = each.placement.without(axis);
    }
    over = axes.empty() ? MeshAttr() : MeshAttr::get(&getContext(), axes, sizes);
    for (Given &each : given)
      if (!over)
        each.placement = {};
  }

  LogicalResult readPlacement(const std::string &text) {
    auto [name, dims] = StringRef(text).rsplit('=');
    bool isLocal = dims.consume_front("local");
    if (name.empty() || dims.empty())
      return emitError(UnknownLoc::get(&getContext()), "placement '")
             << text << "' is no name with a placement, such as w=[tp, _]";
    llvm::Expected<PlacementAttr> placement = parsePlacement(&getContext(), dims);
    if (!placement)
      return refuse(placement.takeError());
    for (StringAttr axis : placement->getAxes())
      if (!over.getSize(axis))
        return emitError(UnknownLoc::get(&getContext()), "placement '")
               << text << "': mesh '" << std::string(mesh) << "' has no axis '" << axis.getValue()
               << "'";
    // The pattern refers to its text: that of the option lives as long as the pass.
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(name);
    if (!pattern)
      return refuse(pattern.takeError());
    if (isLocal && (placement->isWhole() || isGathered(*placement)))
      return emitError(UnknownLoc::get(&getContext()), "placement '")
             << text << "' says that ranks have parts, and splits nothing for callers";
    given.push_back({std::move(*pattern), text, *placement, isLocal, placement->getDims().size()});
    return success();
  }

  LogicalResult splitOver(func::FuncOp function) {
    if (function->hasAttr(kMeshAttr))
      return function.emitError("is written for ranks, and cannot be split over others");
    if (!over)
      return success();
    for (StringAttr symbol : rankSymbols(over))
      for (ArrayRef<StringAttr> names :
           {symbolsOf(function).getNames(), symbolsOf(function).getBoundNames()})
        if (llvm::is_contained(names, symbol))
          return function.emitError("has a symbol '")
                 << symbol.getValue() << "', which is the place of a rank: name the axis otherwise";
    function->setAttr(kSplitOverAttr, over);
    return success();
  }

  /// Notes what does not fit.
  static bool fits(Given &each, Value value, const Twine &what, bool isEnd = false) {
    auto type = cast<SymTensorType>(value.getType());
    bool isLike = size_t(type.getRank()) == each.rank,
         needsWeight = each.placement && isGathered(each.placement),
         canBe = isLike && (!needsWeight || canGather(value)) && !(each.isLocal && !isEnd);
    each.isUsed |= canBe;
    if (!isLike && each.misfit.empty())
      llvm::raw_string_ostream(each.misfit)
          << " has " << each.rank << " dimensions, but " << what << " is '" << type << "'";
    if (isLike && each.isLocal && !isEnd && each.misfit.empty())
      llvm::raw_string_ostream(each.misfit)
          << " is of inputs and outputs that ranks have parts of, but " << what << " is neither";
    else if (isLike && !canBe && each.misfit.empty())
      llvm::raw_string_ostream(each.misfit)
          << " gathers before use, which is for weights of whole bytes, but " << what << " is none";
    return canBe;
  }

  /// In place of what an earlier one said.
  static void setPlacement(Operation &op, PlacementAttr placement) {
    op.removeAttr(kPlacementAttr);
    if (placement)
      op.setAttr(kPlacementAttr, placement);
  }

  /// Names of a value beside those of its node: of a weight, and of outputs that it is.
  static SmallVector<StringRef> namesOf(Operation *op) {
    SmallVector<StringRef> names;
    if (auto constant = dyn_cast<ConstantOp>(op))
      if (auto weight = dyn_cast<FlatSymbolRefAttr>(constant.getValue()))
        names.push_back(weight.getValue());
    for (OpOperand &use : op->getResult(0).getUses())
      if (auto end = dyn_cast<func::ReturnOp>(use.getOwner()))
        if (auto name = cast<func::FuncOp>(end->getParentOp())
                            .getResultAttrOfType<StringAttr>(use.getOperandNumber(), kNameAttr))
          names.push_back(name.getValue());
    return names;
  }

  void placeNamed(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto name = function.getArgAttrOfType<StringAttr>(number, kNameAttr);
      for (Given &each : given)
        if (name && each.pattern.match(name.getValue()) &&
            fits(each, argument, "input '" + name.getValue() + "'", /*isEnd=*/true)) {
          function.removeArgAttr(number, kPlacementAttr);
          function.removeArgAttr(number, kWholeAttr);
          if (each.placement)
            function.setArgAttr(number, kPlacementAttr, each.placement);
          if (each.placement && each.isLocal)
            function.setArgAttr(number, kWholeAttr, TypeAttr::get(argument.getType()));
        }
    }
    placeResults(function);
    for (Operation &op : function.getBody().front())
      for (Given &each : given)
        if (op.getNumResults() > 0)
          for (StringRef name : namesOf(&op))
            if (each.pattern.match(name) &&
                fits(each, op.getResult(0), "'" + name + "'", isResult(op)))
              setPlacement(op, each.placement);
  }

  static bool isResult(Operation &op) {
    return llvm::any_of(op.getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Those of which ranks give their parts: what computes them has a placement like any other.
  void placeResults(func::FuncOp function) {
    Operation *end = function.getBody().front().getTerminator();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      for (Given &each : given) {
        auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
        if (!name || !each.pattern.match(name.getValue()) ||
            !fits(each, end->getOperand(i), "output '" + name.getValue() + "'", /*isEnd=*/true))
          continue;
        for (StringRef said : {kPlacementAttr, kWholeAttr})
          function.removeResultAttr(i, StringAttr::get(&getContext(), said));
        if (!each.isLocal || !each.placement)
          continue;
        function.setResultAttr(i, kPlacementAttr, each.placement);
        function.setResultAttr(i, kWholeAttr, TypeAttr::get(end->getOperand(i).getType()));
      }
  }

  void placeNodes(func::FuncOp function) {
    SmallVector<Given *> open;
    for (Given &each : given)
      if (!each.isUsed)
        open.push_back(&each);
    for (Operation &op : function.getBody().front())
      for (Given *each : open)
        if (op.getNumResults() > 0 && givesNode(op, *each) &&
            fits(*each, op.getResult(0), "what the node gives"))
          setPlacement(op, each->placement);
  }

  static bool givesNode(Operation &op, const Given &each) {
    return !isa<ConstantOp>(op) && matchesNode(each.pattern, op.getLoc()) &&
           llvm::any_of(op.getUsers(), [&](Operation *user) {
             return isa<func::ReturnOp>(user) || !matchesNode(each.pattern, user->getLoc());
           });
  }

  MeshAttr over;
  std::vector<Given> given;
};

} // namespace
} // namespace weft
