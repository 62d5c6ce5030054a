//===- SplitProgram.cpp - Random meshes and placements ----------------------------------------------===//

#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
    if (unsigned dim = random() % (rank + 1); dim < rank && !isPacked(type.getElementType()))
      dims[dim].push_back(axis);
  SmallVector<ArrayAttr> attributes;
  for (const SmallVector<Attribute> &axes : dims)
    attributes.push_back(ArrayAttr::get(mesh.getContext(), axes));
  return PlacementAttr::get(mesh.getContext(), attributes);
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
  return program;
}

} // namespace weft::test
