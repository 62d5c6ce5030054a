//===- PackedContraction.cpp - Which products have a weight that panels are made of -------------------===//

#include "targets/cpu/schedules/product/PackedContraction.h"
#include "dialects/weft/WeightArguments.h"

using namespace mlir;

namespace weft {

namespace {

constexpr const char *kNoPanels = "the second matrix is no constant that panels are made of",
                     *kOtherSums =
                         "ranks have several sizes of the sum, and the rows are no f32 in "
                         "memory or the weight ends inside a word";

/// The matrix that such an argument is a part of, or all of.
SymTensorType wholeOf(func::FuncOp spec, unsigned argument) {
  auto whole = spec.getArgAttrOfType<TypeAttr>(argument, kPartOfAttr);
  return cast<SymTensorType>(whole ? whole.getValue() : spec.getArgument(argument).getType());
}

/// Nothing where all sizes are numbers, or parts of the weight lie in the panels of the whole, in units of these.
Decline unlessPartsLie(func::FuncOp spec, const PackedContraction &s) {
  if (s.k && s.n)
    return {};
  SmallVector<unsigned> packed{s.weight.data};
  if (s.weight.block)
    packed.push_back(s.weight.scale.argument);
  if (s.weight.zero)
    packed.push_back(s.weight.zero->argument);
  for (unsigned argument : packed)
    if (!wholeOf(spec, argument).getConstantDims())
      return {kNotConstant};
  if (s.k)
    return {};
  bool isWhole = s.mostK % s.weight.unit() == 0 && !s.weight.block && !s.roundedBlock;
  return isWhole && s.element.isF32() ? Decline{} : Decline{kOtherSums};
}

Match<PackedContraction> matchSizes(func::FuncOp spec, bool anySizes) {
  Match<ContractionShape> shape = ContractionShape::match(spec, anySizes);
  if (!shape)
    return shape.decline();
  std::optional<PackedWeight> weight = PackedWeight::find(shape->op.getRhs(), shape->depthDim());
  if (!weight)
    return Decline{kNoPanels};
  SymTensorType whole = wholeOf(spec, weight->data);
  auto most = [&](int64_t size, unsigned dim) {
    return size ? size : whole.getDim(dim).asConstant().value_or(0);
  };
  PackedContraction s{*shape, *weight, most(shape->k, shape->depthDim()),
                      most(shape->n, 1 - shape->depthDim())};
  if (Decline why = unlessPartsLie(spec, s))
    return why;
  return s;
}

} // namespace

Match<PackedContraction> PackedContraction::match(func::FuncOp spec) {
  return matchSizes(spec, /*anySizes=*/false);
}

Match<PackedContraction> PackedContraction::matchParts(func::FuncOp spec) {
  return matchSizes(spec, /*anySizes=*/true);
}

} // namespace weft
