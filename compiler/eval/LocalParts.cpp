//===- LocalParts.cpp -------------------------------------------------------------------------===//

#include "compiler/eval/LocalParts.h"
#include "compiler/model/ElementRuns.h"
#include <cstring>

using namespace mlir;

namespace weft {

std::optional<int64_t> firstDifference(const RefTensor &a, const RefTensor &b) {
  for (int64_t i = 0; i < a.size(); ++i) {
    Scalar x = a.at(i), y = b.at(i);
    if (x.integer != y.integer || std::memcmp(&x.real, &y.real, sizeof(double)) != 0)
      return i;
  }
  return std::nullopt;
}

/// Whether one rank's part of a dimension is in front of another's: they stand beside each other
/// along all axes but the dimension's, of which the first is outermost.
static bool isInFront(MeshAttr mesh, ArrayAttr axes, ArrayRef<int64_t> places,
                      ArrayRef<int64_t> others) {
  for (unsigned a = 0; a < places.size(); ++a)
    if (places[a] != others[a] && !llvm::is_contained(axes, mesh.getAxes()[a]))
      return false;
  for (Attribute axis : axes) {
    size_t a = llvm::find(mesh.getAxes(), axis) - mesh.getAxes().begin();
    if (places[a] != others[a])
      return places[a] < others[a];
  }
  return false;
}

static DimValues beginOf(ArrayRef<DimValues> sizes, Division division, unsigned rank) {
  DimValues begin(sizes[rank].size(), 0);
  for (unsigned other = 0; other < sizes.size(); ++other)
    for (auto [d, axes] : llvm::enumerate(division.placement.getDims()))
      if (isInFront(division.mesh, axes, division.mesh.getPlaces(other),
                    division.mesh.getPlaces(rank)))
        begin[d] += sizes[other][d];
  return begin;
}

llvm::Expected<std::vector<DimValues>> sizesOfParts(Type part, ArrayRef<SymValues> symbols) {
  std::vector<DimValues> sizes;
  for (const SymValues &own : symbols) {
    llvm::Expected<DimValues> dims = dimsOf(cast<SymTensorType>(part), own);
    if (!dims)
      return dims.takeError();
    sizes.push_back(std::move(*dims));
  }
  return sizes;
}

llvm::Expected<RefTensor> cutPart(const RefTensor &whole, ArrayRef<DimValues> sizes,
                                  Division division, unsigned rank) {
  DimValues begin = beginOf(sizes, division, rank);
  for (size_t d = 0; d < begin.size(); ++d)
    if (sizes[rank][d] < 0 || begin[d] < 0 || begin[d] > whole.dims[d] - sizes[rank][d])
      return llvm::createStringError("rank " + Twine(rank) + " has " + Twine(sizes[rank][d]) +
                                     " from " + Twine(begin[d]) + " on of dimension " + Twine(d) +
                                     ", which is " + Twine(whole.dims[d]));
  return gatherRuns(whole, runsOfBox(whole.dims, begin, sizes[rank]), sizes[rank]);
}

RefTensor joinParts(ArrayRef<const RefTensor *> parts, Division division,
                    std::optional<unsigned> &differing) {
  std::vector<DimValues> sizes, begins;
  for (const RefTensor *part : parts)
    sizes.emplace_back(part->dims.begin(), part->dims.end());
  DimValues dims(sizes[0].size(), 0);
  for (unsigned rank = 0; rank < parts.size(); ++rank) {
    begins.push_back(beginOf(sizes, division, rank));
    for (size_t d = 0; d < dims.size(); ++d)
      dims[d] = std::max(dims[d], begins[rank][d] + sizes[rank][d]);
  }
  RefTensor whole(parts[0]->element, dims);
  for (unsigned rank = 0; rank < parts.size(); ++rank) {
    unsigned first = 0; // an empty part begins where the next one does
    while (begins[first] != begins[rank] || sizes[first] != sizes[rank])
      ++first;
    if (first == rank)
      scatterRuns(*parts[rank], runsOfBox(whole.dims, begins[rank], sizes[rank]), whole);
    else if (firstDifference(*parts[first], *parts[rank]))
      differing = rank;
  }
  return whole;
}

} // namespace weft
