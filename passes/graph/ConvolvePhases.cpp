//===- ConvolvePhases.cpp - Transposed convolutions become convolutions ---------------------------------===//
//
// With a stride of s, place s*p + r of the result gets the products of element p - j and tap s*j + r of the filter. So each phase r is a
// convolution by every s-th tap, turned round, and all phases together are one convolution with s times as many filters. What it gives
// holds phases beside each other: reshaping and transposing it, which moves nothing by itself, puts them in their places.
//
//   before   %y = conv_transpose %x, %w strides [2] low [1] high [1] : [b, c, n], [c, o, 4] -> [b, o, 2*n]
//   after    %1 = conv %x, %v strides [1] low [1] high [1]           : [b, c, n], [2*o, c, 2] -> [b, 2*o, n + 1]
//            %2 = reshape (transpose (reshape %1 to [b, 2, o, n + 1]) [0, 2, 3, 1]) to [b, o, 2*n + 2]
//            %y = slice %2 from [0, 0, 1] size [b, o, 2*n]
//
// What follows point by point, with numbers or one operand per channel, is computed before phases are put in their places. Where the filter
// is one of integers (`dequantize` of a constant), the new one is, too, and --weft-use-integers finds a convolution as any other.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Window.h"
#include "dialects/weft/reference/Reference.h"
#include "passes/graph/Passes.h"
#include "passes/quant/ConstantValues.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <numeric>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CONVOLVEPHASES
#include "passes/graph/Passes.h.inc"

namespace {

constexpr unsigned kMostDims = 4;      ///< schedules of convolutions take two with windows
constexpr int64_t kMostTaps = 1 << 22; ///< of filters that are made here

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }
bool isOne(Value value) { return typeOf(value).getElements().isConstant(1); }

/// What becomes of a dimension with windows.
struct PhasedDim {
  int64_t stride, dilation, kernel; ///< of the transposed convolution
  int64_t taps;                     ///< of each phase
  int64_t low, high;                ///< around the operand
  int64_t cut;                      ///< places of the first phases that do not belong to the result

  /// The transposed convolution's tap that one of a phase's is; kernel or more when there is none.
  int64_t tapOf(int64_t phase, int64_t tap) const { return stride * (taps - 1 - tap) + phase; }
};

/// Nothing where sizes that are cut off are no constants, or where taps of several phases lie among each other.
std::optional<PhasedDim> phasedDim(const Window &w, SymExpr kernel) {
  std::optional<int64_t> k = kernel.asConstant(), low = w.low.asConstant(),
                         high = w.high.asConstant();
  if (!k || *k < 1 || !low || *low < 0 || !high || (w.stride > 1 && w.dilation > 1))
    return std::nullopt;
  int64_t taps = llvm::divideCeil(*k, w.stride);
  if (w.stride == 1)
    return PhasedDim{
        1, w.dilation, *k, taps, (taps - 1) * w.dilation - *low, (taps - 1) * w.dilation - *high,
        0};
  return PhasedDim{w.stride,
                   1,
                   *k,
                   taps,
                   taps - 1 - *low / w.stride,
                   llvm::divideCeilSigned(*k - *high, w.stride) - 1,
                   *low % w.stride};
}

/// A filter's numbers as they lie in memory.
struct Taps {
  SymTensorType type;
  SmallVector<int64_t> dims;
  std::vector<char> bytes;
};

class Rewriter {
public:
  Rewriter(func::FuncOp function, const WeightReader &weight)
      : b(function.getLoc(), function.getContext()), constants(weight) {}

  void rewrite(ConvTransposeOp op) {
    if (!understand(op))
      return;
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    Value filter = phasedFilter(op);
    if (!filter)
      return;
    auto each = [&](auto member) {
      return llvm::map_to_vector(dims, [&](const PhasedDim &dim) { return dim.*member; });
    };
    auto amounts = [&](auto member) {
      return DimsAttr::get(b.getContext(), llvm::map_to_vector(each(member), [&](int64_t amount) {
                             return constant(amount);
                           }));
    };
    SmallVector<int64_t> ones(dims.size(), 1);
    Value y = b.create<ConvOp>(op.getInput(), filter, b.getDenseI64ArrayAttr(ones),
                               b.getDenseI64ArrayAttr(each(&PhasedDim::dilation)),
                               amounts(&PhasedDim::low), amounts(&PhasedDim::high),
                               op.getGroupsAttr(), op.getAccumulateAttr(), UnitAttr());
    Value last = op.getResult();
    std::vector<Operation *> replaced{op};
    while (phases > 1 && last.hasOneUse() && isOfChannels(*last.user_begin(), last)) {
      replaced.push_back(*last.user_begin());
      y = ofPhases(replaced.back(), last, y);
      last = replaced.back()->getResult(0);
    }
    last.replaceAllUsesWith(placed(y, typeOf(last)));
    for (Operation *old : llvm::reverse(replaced))
      old->erase();
  }

private:
  SymExpr constant(int64_t value) { return SymExpr::constant(b.getContext(), value); }
  Value reshaped(Value x, ArrayRef<SymExpr> to) {
    DimsAttr sizes = DimsAttr::get(b.getContext(), to);
    auto type =
        SymTensorType::get(b.getContext(), sizes.getDimAttributes(), typeOf(x).getElementType());
    return x.getType() == type ? x : b.create<ReshapeOp>(type, x, sizes);
  }

  bool understand(ConvTransposeOp op) {
    auto filter = typeOf(op.getFilter());
    std::optional<SmallVector<int64_t>> sizes = filter.getConstantDims();
    if (!sizes || filter.getRank() > kMostDims || llvm::is_contained(*sizes, 0))
      return false;
    groups = op.getGroups(), channels = (*sizes)[0] / groups, filters = (*sizes)[1];
    dims.clear(), phases = 1;
    int64_t taps = groups * channels * filters;
    for (auto [d, window] : llvm::enumerate(windowsOf(op))) {
      std::optional<PhasedDim> dim = phasedDim(window, filter.getDim(d + 2));
      if (!dim)
        return false;
      dims.push_back(*dim);
      phases *= dim->stride;
      taps *= dim->stride * dim->taps;
    }
    return taps <= kMostTaps;
  }

  //===-- Filters -------------------------------------------------------------------------------------===//

  /// [groups * channels, filters, kernel…] as [groups * phases * filters, channels, taps…]; null where it is no constant.
  Value phasedFilter(ConvTransposeOp op) {
    auto integers = op.getFilter().getDefiningOp<DequantizeOp>();
    if (integers && isPerFilter(integers.getScale()) && isPerFilter(integers.getZero())) {
      const RefTensor *zero = constants.find(integers.getZero());
      std::optional<Taps> taps = zero ? tapsOf(integers.getInput()) : std::nullopt;
      if (taps && isByte(integers.getInput()))
        return b.create<DequantizeOp>(phasedConstant(*taps, zero->integers),
                                      perFilter(integers.getScale(), dims.size() + 1),
                                      perFilter(integers.getZero(), dims.size() + 1));
    }
    std::optional<Taps> taps = tapsOf(op.getFilter());
    return taps ? phasedConstant(*taps, {0}) : Value();
  }

  /// One number for all, or one for each filter of a group.
  bool isPerFilter(Value parameter) {
    auto type = typeOf(parameter);
    return isOne(parameter) ||
           (type.getRank() > dims.size() && type.getElements().isConstant(filters) &&
            type.getDim(type.getRank() - 1 - dims.size()).isConstant(filters));
  }

  std::optional<Taps> tapsOf(Value value) {
    auto type = typeOf(value);
    if (isPacked(type.getElementType()))
      return std::nullopt;
    Taps taps{type, *type.getConstantDims(), {}};
    auto constant = value.getDefiningOp<ConstantOp>();
    if (const char *data = constant ? constants.bytesOf(constant) : nullptr) {
      taps.bytes.assign(
          data, data + elementBytes(type.getElementType(), *type.getElements().asConstant()));
      return taps;
    }
    const RefTensor *numbers = constants.find(value);
    auto elements = numbers ? dyn_cast_or_null<DenseElementsAttr>(elementsOf(*numbers)) : nullptr;
    if (!elements || numbers->element.isInteger(1))
      return std::nullopt;
    ArrayRef<char> raw = elements.getRawData();
    for (int64_t i = 0, count = elements.isSplat() ? elements.size() : 1; i < count; ++i)
      llvm::append_range(taps.bytes, raw);
    return taps;
  }

  /// Where a phase has fewer taps than others, `none` stands, which is one integer or one for each filter of a group.
  Value phasedConstant(const Taps &from, ArrayRef<int64_t> none) {
    SmallVector<int64_t> to{groups * phases * filters, channels};
    for (const PhasedDim &dim : dims)
      to.push_back(dim.taps);
    auto count = [](ArrayRef<int64_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
    };
    int64_t bytes = elementBits(from.type.getElementType()) / 8, total = count(to),
            window = count(ArrayRef(to).drop_front(2));
    std::vector<char> made(total * bytes, 0);
    for (int64_t i = 0; i < total; ++i) {
      int64_t row = i / window, channel = row % channels, filter = row / channels % filters,
              phase = row / channels / filters % phases, group = row / channels / filters / phases;
      std::optional<int64_t> tap = tapBehind(phase, i % window);
      if (tap)
        std::memcpy(&made[i * bytes],
                    &from.bytes[(((group * channels + channel) * filters + filter) *
                                     count(ArrayRef(from.dims).drop_front(2)) +
                                 *tap) *
                                bytes],
                    bytes);
      else if (bytes == 1)
        made[i] = char(none[none.size() == 1 ? 0 : filter]);
    }
    auto type =
        SymTensorType::get(llvm::map_to_vector(to, [&](int64_t size) { return constant(size); }),
                           from.type.getElementType());
    auto shaped = RankedTensorType::get(to, from.type.getElementType());
    return b.create<ConstantOp>(type, DenseElementsAttr::getFromRawBuffer(shaped, made));
  }

  /// The place in a window of the transposed convolution of what is the n-th tap of a phase.
  std::optional<int64_t> tapBehind(int64_t phase, int64_t n) const {
    int64_t place = 0, size = 1;
    for (const PhasedDim &dim : llvm::reverse(dims)) {
      int64_t tap = dim.tapOf(phase % dim.stride, n % dim.taps);
      if (tap >= dim.kernel)
        return std::nullopt;
      place += tap * size;
      size *= dim.kernel;
      phase /= dim.stride;
      n /= dim.taps;
    }
    return place;
  }

  //===-- Around the convolution ----------------------------------------------------------------------===//

  /// A list of numbers, one for each filter of a group, as one for each phase of every filter; `behind` dimensions of 1 follow.
  Value perFilter(Value parameter, unsigned behind) {
    if (isOne(parameter))
      return parameter;
    int64_t own = typeOf(parameter).getElements().asConstant().value_or(0) / filters;
    Value list = reshaped(parameter, {constant(own), constant(1), constant(filters)});
    SmallVector<SymExpr> all{constant(groups), constant(phases), constant(filters)};
    list = b.create<ExpandOp>(SymTensorType::get(all, typeOf(parameter).getElementType()), list,
                              DimsAttr::get(b.getContext(), all));
    SmallVector<SymExpr> to(behind, constant(1));
    to.insert(to.begin(), constant(groups * phases * filters));
    return reshaped(list, to);
  }

  /// Whether the operation computes every element of y with numbers, or with those of its channel.
  bool isOfChannels(Operation *op, Value y) {
    auto ruled = dyn_cast<RuleOpInterface>(op);
    if (!ruled || op->getNumResults() != 1 || op->getNumRegions() || !ruled.rule().isPointwise() ||
        typeOf(op->getResult(0)).getDimAttributes() != typeOf(y).getDimAttributes())
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      auto type = typeOf(operand);
      return operand == y || isOne(operand) ||
             (type.getRank() > dims.size() && type.getElements().isConstant(groups * filters) &&
              type.getDim(type.getRank() - 1 - dims.size()).isConstant(groups * filters));
    });
  }

  /// The operation, computed of the phases of what it reads.
  Value ofPhases(Operation *op, Value y, Value ofPhases) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, operand == y ? ofPhases : perFilter(operand, dims.size()));
    Operation *moved = b.clone(*op, map);
    moved->getResult(0).setType(
        typeOf(ofPhases).withElement(typeOf(op->getResult(0)).getElementType()));
    return moved->getResult(0);
  }

  /// [b, groups * phases * filters, …] with every phase in its place.
  Value placed(Value y, SymTensorType type) {
    if (phases == 1)
      return y;
    auto of = typeOf(y);
    SmallVector<SymExpr> apart{of.getDim(0), constant(groups)},
        whole{of.getDim(0), constant(groups * filters)};
    SmallVector<SymExpr> starts(type.getRank(), constant(0));
    SmallVector<int64_t> order{0, 1, int64_t(dims.size()) + 2};
    for (auto [d, dim] : llvm::enumerate(dims)) {
      apart.push_back(constant(dim.stride));
      whole.push_back(of.getDim(d + 2) * dim.stride);
      starts[d + 2] = constant(dim.cut);
      order.append({int64_t(dims.size() + 3 + d), int64_t(2 + d)});
    }
    apart.push_back(constant(filters));
    llvm::append_range(apart, ArrayRef(of.getDims()).drop_front(2));
    Value places = reshaped(b.create<TransposeOp>(reshaped(y, apart), order), whole);
    SmallVector<int64_t> steps(type.getRank(), 1);
    return places.getType() == type
               ? places
               : b.create<SliceOp>(type, places, DimsAttr::get(b.getContext(), starts),
                                   DimsAttr::get(b.getContext(), type.getDims()),
                                   b.getDenseI64ArrayAttr(steps));
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants;
  SmallVector<PhasedDim, 2> dims; ///< of the convolution at hand, as all below
  int64_t groups = 1, channels = 1, filters = 1, phases = 1;
};

struct ConvolvePhasesPass : impl::ConvolvePhasesBase<ConvolvePhasesPass> {
  void runOnOperation() override {
    SmallVector<ConvTransposeOp> all;
    getOperation().walk([&](ConvTransposeOp op) { all.push_back(op); });
    for (ConvTransposeOp op : all)
      Rewriter(getOperation(), weight).rewrite(op);
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createConvolvePhases(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<ConvolvePhasesPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
