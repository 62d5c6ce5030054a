//===- Convolutions.cpp - Conv and its relatives ----------------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Quantization.h"
#include "compiler/import/onnx/operators/Windows.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// The spatial dimensions of a filter, which `kernel_shape` may repeat.
std::optional<Dims> filterSizes(NodeImport &n, Value x, Value filter) {
  Dims spatial = spatialDims(n, x);
  if (!filter || n.refused())
    return std::nullopt;
  if (rankOf(filter) != rankOf(x))
    return n.wrong("input and filter have different ranks"), std::nullopt;
  Dims kernel(ArrayRef<SymExpr>(typeOf(filter).getDims()).drop_front(2));
  if (auto given = n.intsAttribute("kernel_shape")) {
    if (given->size() != kernel.size())
      return n.wrong("attribute 'kernel_shape' does not fit the filter"), std::nullopt;
    for (auto [size, want] : llvm::zip(kernel, *given))
      if (!n.requireEqual(size, n.constant(want), "the size of the filter"))
        return std::nullopt;
  }
  return kernel;
}

struct Convolution {
  Windows windows;
  int64_t groups = 1;

  SmallVector<NamedAttribute> attributes(NodeImport &n, Type accumulate) const {
    SmallVector<NamedAttribute> list = windows.attributes(n);
    list.push_back(n.attribute("groups", n.attributes().getI64IntegerAttr(groups)));
    list.push_back(n.attribute("accumulate", TypeAttr::get(accumulate)));
    return list;
  }
};

std::optional<int64_t> readGroups(NodeImport &n) {
  int64_t groups = n.intAttribute("group", 1);
  if (groups >= 1 && groups <= kMaxSymbolValue)
    return groups;
  return n.wrong("attribute 'group' is " + Twine(groups)), std::nullopt;
}

std::optional<Convolution> readConvolution(NodeImport &n, Value x, Value filter) {
  auto kernel = filterSizes(n, x, filter);
  auto groups = readGroups(n);
  if (!kernel || !groups)
    return std::nullopt;
  auto windows = readWindows(n, spatialDims(n, x), *kernel);
  return windows ? std::optional(Convolution{*windows, *groups}) : std::nullopt;
}

/// The channels of `x` as the filter has them, and its filters in equal groups.
bool matchChannels(NodeImport &n, Value &x, Value &filter, int64_t groups) {
  SymExpr channels = typeOf(filter).getDim(1) * groups;
  SymExpr perGroup = n.simplify(SymExpr::floordiv(typeOf(filter).getDim(0), groups));
  if (!n.requireEqual(typeOf(x).getDim(1), channels, "the number of channels") ||
      !n.requireEqual(typeOf(filter).getDim(0), perGroup * groups, "the number of filters"))
    return false;
  x = n.refine(x, 1, channels);
  filter = n.refine(filter, 0, perGroup * groups);
  return !n.refused();
}

Value convolve(NodeImport &n, Value x, Value filter, const Convolution &c, Type accumulate) {
  if (!x || !filter || !matchChannels(n, x, filter, c.groups))
    return {};
  return n.emit<ConvOp>({x, filter}, c.attributes(n, accumulate));
}

Value withBias(NodeImport &n, Value y, Value bias) {
  if (!y || !bias)
    return y;
  Value wide = n.convert(bias, elementOf(y));
  return n.add(y, channelParameter(n, wide, rankOf(y), typeOf(y).getDim(1)));
}

void convertConv(NodeImport &n) { n.result(buildConv(n)); }

//===-- ConvTranspose -------------------------------------------------------------------------===//

/// What is cut off the full result. A given size of the result, or padding to `stride` elements per
/// window, decides about all of it; `output_padding` is not cut off, or added.
bool readCut(NodeImport &n, Windows &w, ArrayRef<SymExpr> spatial) {
  size_t count = spatial.size();
  std::string mode = n.textAttribute("auto_pad", "NOTSET");
  auto pads = perDimension(n, "pads", 2 * count, 0),
       extra = perDimension(n, "output_padding", count, 0);
  auto sizes = n.intsAttribute("output_shape");
  if (!pads || !extra || n.refused())
    return false;
  if (sizes && sizes->size() == count + 2)
    sizes->erase(sizes->begin(), sizes->begin() + 2); // batch and channels were named too
  if (sizes && sizes->size() != count)
    return n.wrong("attribute 'output_shape' has " + Twine(sizes->size()) + " entries"), false;
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (unsigned d = 0; d < count; ++d) {
    SymExpr full = (spatial[d] - 1) * w.strides[d] + w.extent(d) + (*extra)[d];
    if (sizes || same) {
      SymExpr total = full - (sizes ? n.constant((*sizes)[d]) : spatial[d] * w.strides[d]);
      SymExpr half = n.simplify(SymExpr::floordiv(total, 2));
      w.low[d] = mode == "SAME_UPPER" ? half : n.simplify(total - half);
      w.high[d] = total - w.low[d] - (*extra)[d];
    } else {
      bool valid = mode == "VALID";
      w.low[d] = n.constant(valid ? 0 : (*pads)[d]);
      w.high[d] = n.constant((valid ? 0 : (*pads)[count + d]) - (*extra)[d]);
    }
    w.sizes[d] = full - (*extra)[d] - w.low[d] - w.high[d];
    n.requireAtMost(n.constant(0), w.sizes[d], "the size of the result");
  }
  return !n.refused();
}

void convertConvTranspose(NodeImport &n) {
  Value x = n.input(0), filter = n.input(1);
  auto kernel = filterSizes(n, x, filter);
  auto groups = readGroups(n);
  if (!kernel || !groups)
    return;
  Dims spatial = spatialDims(n, x);
  size_t count = spatial.size();
  auto strides = perDimension(n, "strides", count, 1),
       dilations = perDimension(n, "dilations", count, 1);
  if (!strides || !dilations)
    return;
  Convolution c{{*kernel, *strides, *dilations, Dims(count), Dims(count), Dims(count)}, *groups};
  SymExpr channels = n.simplify(SymExpr::floordiv(typeOf(filter).getDim(0), *groups)) * *groups;
  if (!readCut(n, c.windows, spatial) ||
      !n.requireEqual(typeOf(filter).getDim(0), channels, "the number of filters") ||
      !n.requireEqual(typeOf(x).getDim(1), channels, "the number of channels"))
    return;
  Value y = n.emit<ConvTransposeOp>({n.refine(x, 1, channels), n.refine(filter, 0, channels)},
                                    c.attributes(n, accumulateType(n, elementOf(x))));
  n.result(n.convert(withBias(n, y, n.optionalInput(2)), elementOf(x)));
}

//===-- Integers ------------------------------------------------------------------------------===//

/// (x - xZero) convolved with (filter - filterZero), in i32. With filters around 0 the convolution
/// stays one of bytes: the border is xZero, and xZero times the sum of each filter is subtracted.
Value convolveIntegers(NodeImport &n, Value x, Value filter, Value xZero, Value filterZero) {
  auto c = readConvolution(n, x, filter);
  if (!c)
    return {};
  unsigned rank = rankOf(x);
  bool around = zeroPointMatters(n, xZero);
  if (xZero && !typeOf(xZero).getElements().isConstant(1))
    return n.refuse("zero points per channel of the input are not supported");
  Value offset = around ? n.reshape(n.convert(xZero, n.i32()), {}) : Value();
  if (!zeroPointMatters(n, filterZero)) {
    if (!around)
      return convolve(n, x, filter, *c, n.i32());
    Dims none(2, n.constant(0)), low = none, high = none;
    low.append(c->windows.low);
    high.append(c->windows.high);
    x = n.pad(x, n.reshape(xZero, {}), low, high);
    c->windows.low = c->windows.high = Dims(rank - 2, n.constant(0));
    Value sums = n.reduce(CombinerKind::Sum, n.convert(filter, n.i32()),
                          llvm::to_vector(llvm::seq<int64_t>(1, rank)), /*keepDims=*/false);
    Value y = convolve(n, x, filter, *c, n.i32());
    return y ? n.sub(y, n.mul(channelParameter(n, sums, rank, typeOf(y).getDim(1)), offset))
             : Value();
  }
  Value zero = n.convert(filterZero, n.i32());
  if (typeOf(zero).getElements().isConstant(1))
    zero = n.reshape(zero, {});
  else if (zero = channelParameter(n, zero, rank, typeOf(filter).getDim(0)); zero)
    zero = n.transpose(n.unsqueeze(zero, int64_t(0)), [&] { // [1, O, 1, ..] as [O, 1, 1, ..]
      SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(order[0], order[1]);
      return order;
    }());
  Value wide = n.convert(x, n.i32());
  return convolve(n, around ? n.sub(wide, offset) : wide, n.sub(n.convert(filter, n.i32()), zero),
                  *c, n.i32());
}

void convertConvInteger(NodeImport &n) {
  n.result(convolveIntegers(n, n.input(0), n.input(1), n.optionalInput(2), n.optionalInput(3)));
}

/// A scale of the filters: one number, or one per channel of the result.
Value filterScale(NodeImport &n, Value scale, Value y) {
  if (!scale || !y)
    return {};
  if (typeOf(scale).getElements().isConstant(1))
    return n.reshape(scale, {});
  return channelParameter(n, scale, rankOf(y), typeOf(y).getDim(1));
}

/// As a model with QuantizeLinear and DequantizeLinear says it.
Value convolveReals(NodeImport &n) {
  Value x = buildDequantize(n, n.input(0), n.input(1), n.input(2), 1);
  Value filter = buildDequantize(n, n.input(3), n.input(4), n.input(5), 0);
  auto c = readConvolution(n, x, filter);
  Value y = c ? convolve(n, x, filter, *c, n.f32()) : Value();
  if (!y || !n.hasInput(8))
    return y;
  Value step = n.mul(n.reshape(n.input(1), {}), n.input(4));
  return withBias(n, y, buildDequantize(n, n.input(8), step, Value(), 0));
}

void convertQLinearConv(NodeImport &n) {
  if (hasConstantWeight(n) && typeOf(n.input(1)).getElements().isConstant(1))
    return n.result(buildQuantize(n, convolveReals(n), n.reshape(n.input(6), {}),
                                  n.reshape(n.input(7), {}), n.element(7)));
  Value y = convolveIntegers(n, n.input(0), n.input(3), n.input(2), n.input(5));
  y = withBias(n, y, n.optionalInput(8));
  if (!y)
    return;
  Value scale = n.mul(n.reshape(n.input(1), {}), filterScale(n, n.input(4), y));
  Value zero = n.reshape(n.input(7), {});
  n.result(buildQuantize(n, n.mul(n.convert(y, n.f32()), scale), n.reshape(n.input(6), {}), zero,
                         n.element(7)));
}

//===-- CausalConvWithState, Col2Im -----------------------------------------------------------===//

/// Each channel with its own filter over the past; the last k - 1 elements are the next call's past.
void convertCausalConvWithState(NodeImport &n) {
  Value x = n.input(0), filter = n.input(1), past = n.optionalInput(3);
  std::string activation = n.textAttribute("activation", "none");
  if (!x || !filter)
    return;
  if (rankOf(x) != 3 || rankOf(filter) != 3)
    return (void)n.wrong("input and weight must have rank 3");
  std::optional<int64_t> channels = typeOf(filter).getDim(0).asConstant();
  if (!channels)
    return (void)n.refuse("the number of channels must be constant");
  SymExpr kept = typeOf(filter).getDim(2) - 1, zero = n.constant(0);
  Dims lowest(3, zero);
  if (past) {
    x = n.concat({past, x}, 2);
  } else {
    Dims low = lowest;
    low[2] = kept;
    x = n.pad(x, n.numberLike(x, 0), low, lowest);
  }
  if (!x || n.refused())
    return;
  Windows w{{typeOf(filter).getDim(2)}, {1}, {1}, {zero}, {zero}, {}};
  Value y = convolve(n, x, filter, {w, *channels}, accumulateType(n, elementOf(x)));
  y = withBias(n, y, n.optionalInput(2));
  if (activation == "silu" || activation == "swish")
    y = n.activation(ActivationKind::Silu, y);
  else if (activation != "none")
    return (void)n.refuse("activation '" + activation + "' is not supported");
  Value state = n.sliceDim(x, 2, typeOf(x).getDim(2) - kept, kept);
  n.results = {n.convert(y, elementOf(x)), state};
}

/// A transposed convolution: every column adds to its window through a filter that has one 1 per
/// place of the window.
void convertCol2Im(NodeImport &n) {
  Value x = n.input(0);
  auto image = n.shapeOperand(1), block = n.shapeOperand(2);
  if (!x || !image || !block || n.refused())
    return;
  size_t count = image->size();
  if (rankOf(x) != 3 || block->size() != count || count < 1 || count > 3)
    return (void)n.refuse("only columns of images with one to three dimensions are supported");
  auto w = readWindows(n, *image, *block);
  SymExpr places = n.product(*block), channels = n.simplify(SymExpr::floordiv(n.dim(0, 1), places));
  std::optional<int64_t> groups = channels.asConstant();
  if (!w || n.refused())
    return;
  if (!groups || !places.asConstant())
    return (void)n.refuse("the channels and the block must be constant");
  if (!n.requireEqual(n.dim(0, 1), channels * places, "the dimension of the columns"))
    return;
  Dims in = {n.dim(0, 0), n.dim(0, 1)}, filter = {channels, places, n.constant(1)};
  in.append(w->sizes);
  filter.append(*block);
  Value same = n.compare(CompareKind::Equal, n.iota({places, n.constant(1)}, 0, n.i64()),
                         n.iota({n.constant(1), places}, 1, n.i64()));
  Dims one(filter);
  one[0] = n.constant(1);
  Value taps = n.expandTo(n.reshape(n.convert(same, elementOf(x)), one), filter);
  filter.erase(filter.begin(), filter.begin() + 2);
  filter.insert(filter.begin(), n.dim(0, 1));
  for (unsigned d = 0; d < count; ++d)
    w->high[d] = (w->sizes[d] - 1) * w->strides[d] + w->extent(d) - w->low[d] - (*image)[d];
  Value y = n.emit<ConvTransposeOp>(
      {n.reshape(x, in), n.reshape(taps, filter)},
      Convolution{*w, *groups}.attributes(n, accumulateType(n, elementOf(x))));
  n.result(n.convert(y, elementOf(x)));
}

} // namespace

Value buildConv(NodeImport &n) {
  Value x = n.input(0), filter = n.input(1);
  auto c = readConvolution(n, x, filter);
  if (!c)
    return {};
  Value y = convolve(n, x, filter, *c, accumulateType(n, elementOf(x)));
  return n.convert(withBias(n, y, n.optionalInput(2)), elementOf(x));
}

void addConvolutions(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Conv", 1, newest, convertConv, 2, 3});
  table.add({"ConvTranspose", 1, newest, convertConvTranspose, 2, 3});
  table.add({"ConvInteger", 10, newest, convertConvInteger, 2, 4});
  table.add({"QLinearConv", 10, newest, convertQLinearConv, 8, 9});
  table.add({"CausalConvWithState", 27, newest, convertCausalConvWithState, 2, 4, 2});
  table.add({"Col2Im", 18, newest, convertCol2Im, 3, 3});
}

} // namespace weft::onnx
