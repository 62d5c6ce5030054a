//===- WindowProduct.cpp - Convolutions as products, in tiles ---------------------------------------------===//
//
//   filters in memory: a line each, of all taps, and of each its channels               [filters]
//   an image's pixels: a line each; what a thread reads of one is found once             [lines]
//     a step is a tap and a channel; where channels lie last, neighbours do in memory    [steps]
//     zeros outside of the image
//   with channels last: all pixels of all images by filters; else filters by the pixels of each image   [sides]
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/match/ConvolutionShape.h"
#include "targets/common/match/WalkOrder.h"
#include "targets/cuda/TiledProduct.h"

using namespace mlir;

namespace weft {
namespace {

class WindowProduct : public TiledProduct {
public:
  WindowProduct(const ConvolutionShape &shape, bool isLast)
      : s(shape), isLast(isLast), perGroup(s.filters / s.groups),
        depth(s.window[0].kernel * s.window[1].kernel * s.channels) {
    root = s.op.getResult(), holdsLines = true;
    leftType = isLast ? s.element() : filterElement();
    rightType = isLast ? filterElement() : s.element();
    MLIRContext *context = root.getContext();
    auto number = [&](int64_t n) { return SymExpr::constant(context, n); };
    steps = number(depth);
    // [sides]
    unsigned spatial = s.isLine ? 1 : 2;
    isInOrder = walksInOrder(s.op, /*behind=*/isLast, spatial + isLast);
    rows = isLast ? s.batch * s.pixels() : number(perGroup);
    columns = isLast ? number(perGroup) : s.pixels();
    run = isLast ? number(s.filters) : isInOrder ? columns : number(1);
    if (isLast && s.groups > 1)
      run = number(perGroup);
    if (!isLast)
      outer.push_back(s.batch);
    if (s.groups > 1)
      outer.push_back(number(s.groups));
  }

  TileSource left(SimtKernel &k, ArrayRef<Value> outer) const override {
    return isLast ? image(k, outer) : filters(k, outer);
  }
  TileSource right(SimtKernel &k, ArrayRef<Value> outer) const override {
    return isLast ? filters(k, outer) : image(k, outer);
  }

  TileWriter::Index results(SimtKernel &k, ArrayRef<Value> outer) const override {
    Value firstFilter = k.mul(groupOf(k, outer), constantI64(k.b, perGroup));
    Value image = isLast ? Value() : outer.front();
    return [this, &k, firstFilter, image](const IndexValue &row, const IndexValue &column) {
      IndexValue filter = k.e.add(isLast ? column : row, {firstFilter});
      SmallVector<IndexValue> place = resultPixel(k, isLast ? row : column, image);
      place.insert(isLast ? place.end() : place.begin() + 1, filter);
      return place;
    };
  }

  void setLayouts(SmallVectorImpl<WeightLayout> &layouts) const override {
    WeightLayout::Form form = s.hasBytes()           ? WeightLayout::Bytes
                              : s.element().isF32()  ? WeightLayout::F32
                              : s.element().isBF16() ? WeightLayout::BF16
                                                     : WeightLayout::F16;
    layouts[s.filter] = WeightLayout::panels(1, WeightLayout::TapByTap, form);
  }

private:
  Type filterElement() const {
    return cast<SymTensorType>(s.op.getFilter().getType()).getElementType();
  }
  Value groupOf(SimtKernel &k, ArrayRef<Value> outer) const {
    return s.groups > 1 ? outer.back() : constantI64(k.b, 0);
  }

  /// [filters] Two steps of bf16 are a word.
  TileSource filters(SimtKernel &k, ArrayRef<Value> outer) const {
    MLIRContext *context = root.getContext();
    int64_t perWord = s.element().isBF16() ? 2 : 1,
            length = llvm::divideCeil(depth, perWord) * perWord;
    Value first = k.mul(groupOf(k, outer), constantI64(k.b, perGroup));
    TileSource source{
        s.op.getFilter(), {}, SymExpr::constant(context, perGroup), steps, 0, 0, true};
    source.index = [&k, first](const IndexValue &line, const IndexValue &step) {
      return SmallVector<IndexValue>{k.e.add(line, {first}), step};
    };
    source.pointer = k.inputs[s.filter];
    source.type = SymTensorType::get(
        {SymExpr::constant(context, s.filters), SymExpr::constant(context, length)},
        filterElement());
    return source;
  }

  TileSource image(SimtKernel &k, ArrayRef<Value> outer) const {
    TileSource source{s.op.getInput(), {}, isLast ? rows : columns, steps, 0, 0, true};
    Value firstChannel = k.mul(groupOf(k, outer), constantI64(k.b, s.channels));
    Value image = isLast ? Value() : outer.front();
    source.hold = [this, &k, image](Value line) { return corner(k, line, image); };
    source.spot = [this, &k, firstChannel](ArrayRef<Value> held, const IndexValue &step) {
      return spotOf(k, held, step, firstChannel);
    };
    source.run = SymExpr::constant(root.getContext(), isLast ? s.channels : 1);
    source.areLinesBeside = !isLast || !areChannelsBeside();
    return source;
  }

  /// Whether neighbouring channels of the image, which are its last dimension, are neighbours in what it is computed from.
  bool areChannelsBeside() const {
    Operation *maker = s.op.getInput().getDefiningOp();
    if (!maker || !isa<RuleOpInterface>(maker) || maker->getNumOperands() == 0)
      return true;
    IterationRule rule = IterationRule::of(maker);
    ArrayRef<Access> own = rule.operand(0), made = rule.result(0);
    return own.empty() || own.back().kind != AccessKind::Point ||
           made.back().kind != AccessKind::Point || own.back().factor() == made.back().factor();
  }

  /// [lines] The image, and where the pixel's window begins in it.
  SmallVector<Value> corner(SimtKernel &k, Value pixel, Value image) const {
    SmallVector<Value> held{image};
    if (!image) {
      auto [number, rest] = k.e.divmod({pixel}, k.e.symbolic(s.pixels()));
      held[0] = number.base, pixel = rest.base;
    }
    auto [row, column] = k.e.divmod({pixel}, k.e.symbolic(s.window[1].out));
    const Value places[] = {row.base, column.base};
    for (auto [window, at] : llvm::zip_equal(s.window, places))
      held.push_back(k.sub(k.mul(at, constantI64(k.b, window.stride)), k.e.uniform(window.low)));
    for (Value &each : held) // which fit, and take half of the registers
      each = k.b.create<arith::TruncIOp>(k.b.getI32Type(), each);
    return held;
  }

  /// [steps] Lanes are channels of one tap, or each its own.
  TileSource::Spot spotOf(SimtKernel &k, ArrayRef<Value> held, const IndexValue &step,
                          Value firstChannel) const {
    bool isRun = step.stride && s.channels % int64_t(k.e.laneCount()) == 0;
    auto [tap, channel] =
        k.e.divmod(isRun ? IndexValue{step.base} : step, k.e.constant(s.channels));
    if (isRun)
      channel.stride = step.stride;
    auto [tapRow, tapColumn] = k.e.divmod(tap, k.e.constant(s.window[1].kernel));
    auto wide = [&](Value number) -> IndexValue {
      return {k.b.create<arith::ExtSIOp>(k.b.getI64Type(), number)};
    };
    TileSource::Spot spot;
    SmallVector<IndexValue> place{wide(held[0])};
    const IndexValue taps[] = {tapRow, tapColumn};
    for (size_t i = 0; i < std::size(taps); ++i) {
      const ConvolutionWindow &window = s.window[i];
      IndexValue inside =
          k.e.add(wide(held[i + 1]), k.e.mul(taps[i], k.e.constant(window.dilation)));
      if (!s.isLine || i)
        place.push_back(inside);
      if (window.low.isConstant(0) && window.high.isConstant(0))
        continue;
      Value isHere = isBelow(k, inside, k.e.symbolic(window.in), /*byLanes=*/!tap.isUniform());
      spot.isInside =
          spot.isInside ? Value(k.b.create<arith::AndIOp>(spot.isInside, isHere)) : isHere;
    }
    place.insert(isLast ? place.end() : place.begin() + 1, k.e.add(channel, {firstChannel}));
    spot.index = place;
    return spot;
  }

  /// As unsigned numbers: what is negative is not.
  static Value isBelow(SimtKernel &k, const IndexValue &at, const IndexValue &limit, bool byLanes) {
    Value place = byLanes ? k.e.materialize(at) : at.base,
          end = byLanes ? k.e.materialize(limit) : limit.base;
    return k.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, place, end);
  }

  /// The indices of a result's pixel without its filter.
  SmallVector<IndexValue> resultPixel(SimtKernel &k, IndexValue pixel, Value image) const {
    IndexValue zero = k.e.constant(0), number{image};
    if (isInOrder) {
      // [sides] counted over images, too; a dimension of 1 has no place for the number
      SmallVector<SymExpr> dims{s.batch};
      if (!s.isLine)
        dims.push_back(s.window[0].out);
      dims.push_back(s.window[1].out);
      SmallVector<IndexValue> place(dims.size(), zero);
      size_t last = dims.size() - 1;
      while (last && dims[last].isConstant(1))
        --last;
      if (image)
        place.front() = number;
      if (last || !image)
        place[last] = pixel;
      return place;
    }
    if (!image)
      std::tie(number, pixel) = k.e.divmod(pixel, k.e.symbolic(s.pixels()));
    if (s.isLine)
      return {number, pixel};
    auto [row, column] = k.e.divmod(pixel, k.e.symbolic(s.window[1].out));
    return {number, row, column};
  }

  ConvolutionShape s;
  bool isLast;
  int64_t perGroup, depth;
  bool isInOrder;
};

} // namespace

Match<TiledProduct::Owned> matchWindows(func::FuncOp spec) {
  constexpr int64_t least = 8; // filters, and steps, that pay for tiles
  Match<ConvolutionShape> shape = ConvolutionShape::match(spec, /*channelsLast=*/true);
  bool isLast = bool(shape);
  if (!shape)
    shape = ConvolutionShape::match(spec);
  if (!shape)
    return shape.decline();
  int64_t steps = shape->window[0].kernel * shape->window[1].kernel * shape->channels;
  if (shape->filters / shape->groups < least || steps < least)
    return Decline{"filters, or what they sum, are few"};
  // What is read byte by byte, each with its own tap, must meet many filters.
  constexpr int64_t chunk = 16, many = 64;
  if (shape->hasBytes() && shape->channels % chunk != 0 && shape->filters / shape->groups < many)
    return Decline{kFewChannels};
  return TiledProduct::Owned(std::make_shared<WindowProduct>(*shape, isLast));
}

} // namespace weft
