//===- CheckPositions.cpp - Positions from data are inside ------------------------------------------------===//

#include "dialects/weft/Mesh.h"
#include "passes/graph/Passes.h"
#include "passes/quant/ConstantValues.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHECKPOSITIONS
#include "passes/graph/Passes.h.inc"

namespace {

/// Positions, the sizes that they must be below, and where they are used.
struct Demand {
  Operation *user;
  Location location;
  Value positions;
  SmallVector<SymExpr> sizes;
};

class Checking {
public:
  Checking(func::FuncOp function, WeightReader weight)
      : function(function), facts(symbolsOf(function).asFacts()), constants(std::move(weight)) {}

  LogicalResult check(const Demand &demand) {
    if (demand.sizes.size() == 1 && isInside(demand.positions, demand.sizes[0]))
      return success();
    if (const RefTensor *known = constants.find(demand.positions)) {
      if (areInside(*known, demand.sizes))
        return success();
      if (failed(refuse(*known, demand)))
        return failure();
    }
    insert(demand);
    return success();
  }

  /// Tuples that are put together of parts are looked at part by part.
  void addDemands(PositionsOpInterface op, std::vector<Demand> &list) {
    auto addressed = cast<SymTensorType>(op->getOperand(0).getType());
    SmallVector<SymExpr> sizes;
    for (unsigned dim : op.positionDims())
      sizes.push_back(addressed.getDim(dim));
    size_t used = 0;
    for (Value part : partsOf(op->getOperand(1), sizes.size())) {
      auto type = cast<SymTensorType>(part.getType());
      size_t count = sizes.size() == 1 ? 1 : *type.getDim(type.getRank() - 1).asConstant();
      Demand demand{op, op->getLoc(), part, llvm::to_vector(ArrayRef(sizes).slice(used, count))};
      if (count == 1)
        demand.positions = sourceOf(part, demand.sizes[0]);
      if (count > 0)
        list.push_back(std::move(demand));
      used += count;
    }
  }

private:
  static SmallVector<Value> partsOf(Value positions, size_t places) {
    auto concat = positions.getDefiningOp<ConcatOp>();
    auto isPart = [&](Value part) {
      auto type = cast<SymTensorType>(part.getType());
      return type.getDim(type.getRank() - 1).asConstant().has_value();
    };
    if (places < 2 || !concat || !llvm::all_of(concat.getInputs(), isPart) ||
        concat.getDim() + 1 != cast<SymTensorType>(positions.getType()).getRank())
      return {positions};
    return llvm::to_vector(concat.getInputs());
  }

  /// What the elements are elements of is inside: a constant, or the index along a dimension.
  bool isInside(Value positions, SymExpr size) {
    while (auto move = positions.getDefiningOp())
      if (isa<ReshapeOp, TransposeOp, ExpandOp, SliceOp>(move))
        positions = move->getOperand(0);
      else
        break;
    if (const RefTensor *known = constants.find(positions))
      return areInside(*known, size);
    auto index = positions.getDefiningOp<IotaOp>();
    if (!index)
      return false;
    SymExpr count = cast<SymTensorType>(positions.getType()).getDim(index.getDim());
    return facts.proveLE(count, size) == Proof::Yes;
  }

  /// The same numbers under the name that people know: as the caller gives them, before they are widened, moved, repeated, and parted
  /// among ranks. Then every rank looks at those of all, so that all refuse the same.
  Value sourceOf(Value positions, SymExpr size) {
    while (Operation *op = positions.getDefiningOp()) {
      auto convert = dyn_cast<ConvertOp>(op);
      bool widens = convert && convert.getTo().isInteger(64) &&
                    elementOf(convert.getInput()).isSignlessInteger(32);
      if (!widens && !isa<ReshapeOp, TransposeOp>(op) && !repeats(op) && !isParted(op, size))
        break;
      positions = op->getOperand(0);
    }
    return positions;
  }

  /// Whether the ranks along an axis take parts that leave nothing out, and judge them alike.
  bool isParted(Operation *op, SymExpr size) {
    auto slice = dyn_cast<SliceOp>(op);
    MeshAttr mesh = meshOf(function);
    if (!slice || !mesh || differsIn(size, mesh) ||
        llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      return false;
    auto whole = cast<SymTensorType>(slice.getInput().getType());
    for (auto [dim, start, part] :
         llvm::zip_equal(whole.getDims(), slice.getStarts().getDims(), slice.getSizes().getDims()))
      if (!(start.isConstant(0) && part == dim) && !leavesNothingOut(start, part, dim, mesh))
        return false;
    return true;
  }

  /// One part is behind the other, as dimensions are parted.
  static bool leavesNothingOut(SymExpr start, SymExpr part, SymExpr dim, MeshAttr mesh) {
    return llvm::any_of(llvm::zip_equal(mesh.getAxes(), mesh.getSizes()), [&](auto each) {
      auto [axis, ranks] = each;
      SymExpr place = SymExpr::symbol(rankSymbol(axis));
      return start == partBegin(dim, ranks, place) && part == partSize(dim, ranks, place);
    });
  }

  static Type elementOf(Value tensor) {
    return cast<SymTensorType>(tensor.getType()).getElementType();
  }

  /// At least once.
  bool repeats(Operation *op) {
    auto expand = dyn_cast<ExpandOp>(op);
    if (!expand)
      return false;
    auto from = cast<SymTensorType>(expand.getInput().getType()),
         to = cast<SymTensorType>(expand.getResult().getType());
    SmallVector<SymExpr> dims = from.getDims();
    return llvm::all_of(to.getDims(), [&](SymExpr dim) {
      return llvm::is_contained(dims, dim) ||
             facts.proveLE(SymExpr::constant(function.getContext(), 1), dim) == Proof::Yes;
    });
  }

  /// For all sizes that the facts allow.
  bool areInside(const RefTensor &positions, ArrayRef<SymExpr> sizes) {
    for (auto [i, size] : llvm::enumerate(sizes)) {
      int64_t furthest = -1; // from the begin or, of negative ones, from the end
      for (size_t at = i; at < positions.integers.size(); at += sizes.size()) {
        int64_t position = positions.integers[at];
        furthest = std::max(furthest, position < 0 ? ~position : position);
      }
      if (furthest == INT64_MAX ||
          facts.proveLE(SymExpr::constant(function.getContext(), furthest + 1), size) != Proof::Yes)
        return false;
    }
    return true;
  }

  /// What every call refuses is refused now. Regions may not run.
  LogicalResult refuse(const RefTensor &positions, const Demand &demand) {
    SmallVector<int64_t> sizes;
    for (SymExpr size : demand.sizes)
      sizes.push_back(size.asConstant().value_or(INT64_MAX));
    std::optional<OutsidePosition> outside = findOutside(positions, sizes);
    if (!outside || demand.user->getParentOp() != function)
      return success();
    return emitError(demand.location) << outside->text();
  }

  void insert(const Demand &demand) {
    Block *block = demand.user->getBlock();
    for (auto there : block->getOps<CheckPositionsOp>())
      if (there.getPositions() == demand.positions &&
          llvm::equal(there.getSizes().getDims(), demand.sizes))
        return;
    OpBuilder b(placeFor(demand));
    b.create<CheckPositionsOp>(demand.location, demand.positions,
                               DimsAttr::get(b.getContext(), demand.sizes));
  }

  /// Kernels are formed of what stands between two operations of the host: before it where positions are there already, else behind it.
  Operation *placeFor(const Demand &demand) {
    auto isEnd = [](Operation *op) {
      return isa<HostOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>();
    };
    Operation *first = demand.user, *end = demand.user, *made = demand.positions.getDefiningOp();
    bool isMadeHere = false;
    while (first->getPrevNode() && !isEnd(first->getPrevNode())) {
      first = first->getPrevNode();
      isMadeHere |= first == made;
    }
    while (!isEnd(end))
      end = end->getNextNode();
    return isMadeHere ? end : first;
  }

  func::FuncOp function;
  SymFacts facts;
  ConstantValues constants;
};

struct CheckPositionsPass : impl::CheckPositionsBase<CheckPositionsPass> {
  using CheckPositionsBase::CheckPositionsBase;
  void runOnOperation() override {
    Checking checking(getOperation(), weight);
    for (const Demand &demand : demands(checking))
      if (failed(checking.check(demand)))
        return signalPassFailure();
  }

  /// Checks that are there already are taken out: they, too, stand where kernels begin and end.
  std::vector<Demand> demands(Checking &checking) {
    std::vector<Demand> list;
    getOperation().walk([&](Operation *op) {
      if (auto there = dyn_cast<CheckPositionsOp>(op)) {
        Operation *user = op->getNextNode();
        while (isa<CheckPositionsOp>(user))
          user = user->getNextNode();
        if (outside == Outside::Refused)
          list.push_back({user, op->getLoc(), there.getPositions(), there.getSizes().getDims()});
        return op->erase();
      }
      auto indexed = dyn_cast<PositionsOpInterface>(op);
      if (!indexed || indexed.getOutside() != Outside::Refused)
        return;
      if (outside != Outside::Refused)
        indexed.setOutside(outside);
      else
        checking.addDemands(indexed, list);
    });
    return list;
  }

  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createCheckPositions(CheckPositionsOptions options, WeightReader weight) {
  auto pass = std::make_unique<CheckPositionsPass>(options);
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
