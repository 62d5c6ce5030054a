//===- SplitProgram.cpp - Random meshes and placements ----------------------------------------------===//

#include "dialects/weft/Gathered.h"
#include "dialects/weft/ranks/Together.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/parallel/Assignment.h"
#include "test/differential/RandomProgram.h"

using namespace mlir;

namespace weft::test {
namespace {

constexpr int64_t kMostRanks = 8;

/// One or two axes, two to eight ranks.
MeshAttr randomMesh(MLIRContext *context, std::mt19937_64 &random) {
  SmallVector<StringAttr> axes{StringAttr::get(context, "t")};
  SmallVector<int64_t> sizes{int64_t(2 + random() % 3)};
  if (random() % 2) {
    axes.push_back(StringAttr::get(context, "d"));
    sizes.push_back(std::min<int64_t>(2 + random() % 3, kMostRanks / sizes[0]));
  } else if (random() % 4 == 0) {
    sizes[0] = kMostRanks;
  }
  return MeshAttr::get(context, axes, sizes);
}

/// Every axis splits one dimension or none; sometimes none on purpose.
PlacementAttr randomPlacement(MeshAttr mesh, Value value, std::mt19937_64 &random) {
  auto type = cast<SymTensorType>(value.getType());
  unsigned rank = type.getRank();
  std::vector<SmallVector<Attribute>> dims(rank);
  for (StringAttr axis : mesh.getAxes())
    if (unsigned dim = random() % (rank + 1); dim < rank)
      dims[dim].push_back(axis);
  SmallVector<ArrayAttr> attributes;
  for (const SmallVector<Attribute> &axes : dims)
    attributes.push_back(ArrayAttr::get(mesh.getContext(), axes));
  return PlacementAttr::get(mesh.getContext(), attributes);
}

void place(Value value, PlacementAttr placement) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    cast<func::FuncOp>(argument.getOwner()->getParentOp())
        .setArgAttr(argument.getArgNumber(), kPlacementAttr, placement);
  else if (value == value.getDefiningOp()->getResult(0))
    value.getDefiningOp()->setAttr(kPlacementAttr, placement);
}

/// Whether every symbol is a dimension of an input of which ranks have the whole.
bool isCallable(func::FuncOp function) {
  llvm::DenseSet<StringAttr> said;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, kWholeAttr))
      for (SymExpr dim : cast<SymTensorType>(function.getArgumentTypes()[i]).getDims())
        said.insert(dim.asSymbol());
  return llvm::all_of(symbolsOf(function).getNames(),
                      [&](StringAttr name) { return said.contains(name); });
}

/// One axis splits one dimension.
PlacementAttr placementAlong(StringAttr axis, unsigned dim, unsigned rank) {
  SmallVector<ArrayAttr> dims(rank, ArrayAttr::get(axis.getContext(), {}));
  dims[dim] = ArrayAttr::get(axis.getContext(), {axis});
  return PlacementAttr::get(axis.getContext(), dims);
}

/// A table, lines or rows of windows are split where ranks then compute together, which dice alone seldom find. One of them: sizes of
/// parts of parts are long expressions, which take the compiler long.
void placeTogether(func::FuncOp function, MeshAttr mesh, std::mt19937_64 &random) {
  SmallVector<std::pair<Value, unsigned>> found;
  for (Operation &op : function.getBody().front())
    if (auto together = dyn_cast<TogetherOpInterface>(op))
      for (const Cut &cut : together.cutsTogether())
        found.emplace_back(op.getOperand(0), cut.operands[0]->dim);
  if (found.empty())
    return;
  auto [value, dim] = found[random() % found.size()];
  unsigned rank = cast<SymTensorType>(value.getType()).getRank();
  place(value, placementAlong(mesh.getAxes()[random() % mesh.getAxes().size()], dim, rank));
}

/// Of some constants ranks have parts that they gather. With dice of its own, so that the rest of a program does not depend on it.
void placeGathered(func::FuncOp function, MeshAttr mesh, unsigned seed) {
  std::mt19937_64 random(seed + 1000003);
  for (ConstantOp constant : function.getBody().front().getOps<ConstantOp>()) {
    unsigned rank = constant.getType().getRank();
    if (random() % 2 || rank == 0 || !canGather(constant.getResult()))
      continue;
    StringAttr axis = mesh.getAxes()[random() % mesh.getAxes().size()];
    place(constant.getResult(), placementAlong(gatheredAxis(axis), random() % rank, rank));
  }
}

/// Callers have parts of some inputs and outputs. With dice of its own again. A size must be said by an input of which ranks have the whole.
void placeLocal(func::FuncOp function, unsigned seed) {
  std::mt19937_64 random(seed + 2000003);
  auto isLocal = [&](PlacementAttr placement, Type type) {
    return random() % 2 && placement && !placement.isWhole() && !isGathered(placement) &&
           !isPacked(cast<SymTensorType>(type).getElementType());
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Type type = function.getArgumentTypes()[i];
    if (!isLocal(function.getArgAttrOfType<PlacementAttr>(i, kPlacementAttr), type))
      continue;
    function.setArgAttr(i, kWholeAttr, TypeAttr::get(type));
    if (!isCallable(function))
      function.removeArgAttr(i, StringAttr::get(function.getContext(), kWholeAttr));
  }
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    if (PlacementAttr placement = placementOf(operand.get());
        isLocal(placement, operand.get().getType())) {
      function.setResultAttr(operand.getOperandNumber(), kPlacementAttr, placement);
      function.setResultAttr(operand.getOperandNumber(), kWholeAttr,
                             TypeAttr::get(operand.get().getType()));
    }
}

} // namespace

RandomProgram splitProgram(unsigned seed) {
  RandomProgram program = randomProgram(seed);
  program.trial.overRanks = true;
  std::mt19937_64 random(seed);
  auto function = program.module.get().module->lookupSymbol<func::FuncOp>("main");
  MeshAttr mesh = randomMesh(function.getContext(), random);
  function->setAttr(kSplitOverAttr, mesh);
  for (BlockArgument argument : function.getArguments())
    if (random() % 2)
      function.setArgAttr(argument.getArgNumber(), kPlacementAttr,
                          randomPlacement(mesh, argument, random));
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() > 0 && random() % 6 == 0)
      op.setAttr(kPlacementAttr, randomPlacement(mesh, op.getResult(0), random));
  placeTogether(function, mesh, random);
  placeGathered(function, mesh, seed);
  placeLocal(function, seed);
  return program;
}

} // namespace weft::test
