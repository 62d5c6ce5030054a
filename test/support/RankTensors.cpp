//===- RankTensors.cpp ------------------------------------------------------------------------===//

#include "test/support/RankTensors.h"

namespace weft::test {

static Tensor tensorOf(const RefTensor &reference) {
  Tensor tensor{reference.element, {reference.dims.begin(), reference.dims.end()}, {}};
  tensor.bytes.resize(elementBytes(tensor.element, reference.size()));
  toBytes(reference, tensor.bytes.data());
  return tensor;
}

RankTensors::RankTensors(mlir::func::FuncOp function, const std::vector<weft_tensor_t> &inputs)
    : function(function), mesh(meshOf(function)), given(inputs), parts(mesh.getRanks()) {
  std::vector<RefTensor> wholes;
  for (auto [i, view] : llvm::enumerate(given))
    wholes.push_back(fromBytes(wholeArgument(function, i).getElementType(),
                               {view.dim, view.dim + view.rank},
                               static_cast<const char *>(view.data)));
  std::vector<SymValues> symbols;
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    llvm::Expected<SymValues> bound = bindInputs(function, wholes, rankValues(mesh, rank));
    if (!bound) {
      llvm::consumeError(bound.takeError());
      return;
    }
    symbols.push_back(*bound);
  }
  for (unsigned i = 0; i < wholes.size(); ++i)
    if (PlacementAttr placement = localArgument(function, i)) {
      std::vector<DimValues> sizes = *sizesOfParts(function.getArgumentTypes()[i], symbols);
      for (int64_t rank = 0; rank < mesh.getRanks(); ++rank)
        parts[rank].push_back(tensorOf(*cutPart(wholes[i], sizes, {mesh, placement}, rank)));
    }
}

std::vector<weft_tensor_t> RankTensors::inputs(unsigned rank) {
  std::vector<weft_tensor_t> views = given;
  auto part = parts[rank].begin();
  for (unsigned i = 0; i < views.size() && part != parts[rank].end(); ++i)
    if (localArgument(function, i))
      views[i] = part++->view();
  return views;
}

std::vector<Tensor> RankTensors::together(std::vector<std::vector<Tensor>> results,
                                          std::string &failure) {
  for (unsigned i = 0; i < results[0].size(); ++i) {
    if (PlacementAttr placement = localResult(function, i)) {
      std::deque<RefTensor> references;
      std::vector<const RefTensor *> own;
      for (const std::vector<Tensor> &each : results)
        own.push_back(&references.emplace_back(each[i].reference()));
      std::optional<unsigned> differing;
      results[0][i] = tensorOf(joinParts(own, {mesh, placement}, differing));
      if (differing)
        failure = "ranks have other bits of one part";
      continue;
    }
    for (size_t rank = 0; rank < results.size(); ++rank)
      if (results[rank][i].bytes != results[0][i].bytes)
        failure = "ranks 0 and " + std::to_string(rank) + " have other bits";
  }
  return failure.empty() ? std::move(results[0]) : std::vector<Tensor>();
}

} // namespace weft::test
