//===- Window.cpp - conv, pool: windows over rows that ranks have parts of ------------------------------===//
//
// A rank computes its part of the result's rows. What rows of the operand these need is an interval, which the rank takes from the whole
// where it has it, else from its own part with borders of its two neighbours, else from the gathered whole. What of it is outside of the
// operand is filled up before, so that all ranks compute alike.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Window.h"
#include "dialects/symbolic/Multiples.h"
#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ranks/Together.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Windows along one dimension, which operand and result have at the same place.
struct Moving {
  Value input, result;
  unsigned dim;
  Window window;
  int64_t span;           ///< rows from the first to the last of a window
  bool isLargest = false; ///< what is outside takes no part; else it is 0

  SymExpr extent() const { return typeOf(input).getDim(dim); }
  SymExpr count() const { return typeOf(result).getDim(dim); }
  /// Rows of a window and, where it is shorter, those up to the next one.
  int64_t reach() const { return std::max(span, window.stride); }
  /// Whether parts of the operand's rows are where those of the result come from.
  bool isAligned() const {
    return exactQuotient(extent(), SymExpr::constant(extent().getContext(), window.stride)) ==
           count();
  }
  Cut cut(Operation *op) const {
    SymExpr one = SymExpr::constant(op->getContext(), 1);
    return cutOfFirst(op, Cut::Dim{dim, isAligned() ? one * window.stride : SymExpr()},
                      Cut::Dim{dim, one});
  }
};

/// The rows that some windows go over, also outside of the operand.
struct Needed {
  SymExpr first, size;
  Needed(const Moving &m, SymExpr from, SymExpr count)
      : first(from * m.window.stride - m.window.low),
        size((count - 1) * m.window.stride + m.reach()) {}
};

/// How many rows of each neighbour a rank needs at most, and how many outside of the operand beyond those.
struct Borders {
  int64_t before = 0, behind = 0, outsideBefore = 0, outsideBehind = 0;
};

/// The same distance on all ranks, and not beyond a neighbour: all parts before one with rows are of the longest.
std::optional<Borders> alignedBorders(const Moving &m, const Needed &needed, const Share &share) {
  SymExpr begin = share.partBegin(m.input, m.dim),
          size = share.partType(m.input, m.dim).getDim(m.dim);
  auto before = (begin - needed.first).asConstant(),
       behind = (needed.first + needed.size - begin - size).asConstant();
  if (!m.isAligned() || !before || !behind)
    return std::nullopt;
  Borders borders{std::max<int64_t>(*before, 0), std::max<int64_t>(*behind, 0)};
  // An operand without rows has no windows: one row is the least that a part has.
  SymExpr longest = share.longestPart(m.input, m.dim);
  SymFacts facts = placeFacts(share.group)
                       .with(SymPred::le(SymExpr::constant(longest.getContext(), 1), longest));
  SymExpr most = SymExpr::constant(longest.getContext(), std::max(borders.before, borders.behind));
  return facts.proveLE(most, longest) == Proof::Yes ? std::optional(borders) : std::nullopt;
}

/// Sizes as numbers, at one place.
struct Counted {
  int64_t begin, end;  ///< of the operand's part
  int64_t first, last; ///< rows of windows, and the one behind

  static std::optional<Counted> at(const Moving &m, const Needed &needed, const Share &share,
                                   int64_t place) {
    auto number = [&](SymExpr expr) {
      SymExpr there = SymExpr::constant(expr.getContext(), place);
      return atPlace(expr, share.group, there).asConstant();
    };
    SymExpr own = share.partBegin(m.input, m.dim),
            size = share.partType(m.input, m.dim).getDim(m.dim);
    auto begin = number(own), end = number(own + size), first = number(needed.first),
         last = number(needed.first + needed.size);
    if (!begin || !end || !first || !last)
      return std::nullopt;
    return Counted{*begin, *end, *first, *last};
  }
};

/// Where all sizes are numbers: what is inside of the operand is the rank's or a neighbour's.
std::optional<Borders> countedBorders(const Moving &m, const Needed &needed, const Share &share) {
  std::optional<int64_t> extent = m.extent().asConstant();
  SmallVector<Counted> parts;
  for (int64_t place = 0; extent && place < share.group.getRanks(); ++place)
    if (std::optional<Counted> part = Counted::at(m, needed, share, place))
      parts.push_back(*part);
  if (parts.size() != size_t(share.group.getRanks()))
    return std::nullopt;
  Borders borders;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t first = std::clamp<int64_t>(part.first, 0, *extent),
            last = std::clamp<int64_t>(part.last, first, *extent);
    if (first == last)
      continue;
    if (first < parts[i ? i - 1 : 0].begin || last > parts[std::min(i + 1, parts.size() - 1)].end)
      return std::nullopt;
    borders.before = std::max(borders.before, part.begin - first);
    borders.behind = std::max(borders.behind, last - part.end);
  }
  for (const Counted &part : parts) {
    borders.outsideBefore =
        std::max(borders.outsideBefore, part.begin - borders.before - part.first);
    borders.outsideBehind = std::max(borders.outsideBehind, part.last - part.end - borders.behind);
  }
  return borders;
}

/// What lies outside of an operand: zeros, or what is below all where the largest counts.
Value outside(ImplicitLocOpBuilder &b, const Moving &m) {
  Type element = typeOf(m.input).getElementType();
  if (!m.isLargest)
    return zeroOf(b, element);
  Scalar least = identityScalar(Combiner::Max, element);
  TypedAttr value = isFloat(element) ? TypedAttr(floatAttribute(element, least.real))
                                     : TypedAttr(b.getIntegerAttr(element, least.integer));
  return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element),
                          value);
}

/// What a neighbour sends, or what is outside at the end of the row of ranks.
Value unlessAt(ImplicitLocOpBuilder &b, const Moving &m, Value received, int64_t place,
               MeshAttr group) {
  Value isThere = b.create<CompareOp>(CompareKind::Equal, sizeValue(b, placeIn(group)),
                                      sizeValue(b, SymExpr::constant(b.getContext(), place)));
  return b.create<SelectOp>(isThere, outside(b, m), received);
}

/// The rank's part between the last rows of the rank before it and the first of the one behind. A neighbour without so many has what is
/// outside behind them.
Value withBorders(ImplicitLocOpBuilder &b, const Moving &m, Value part, Borders borders,
                  MeshAttr group) {
  auto number = [&](int64_t value) { return SymExpr::constant(b.getContext(), value); };
  SymExpr size = typeOf(part).getDim(m.dim);
  int64_t ranks = group.getRanks();
  SmallVector<Value> pieces{part};
  if (borders.before > 0) {
    Value last = widened(b, part, m.dim, number(borders.before), number(0), outside(b, m));
    last = range(b, last, m.dim, size, number(borders.before));
    last = b.create<PermuteOp>(last, 1, group);
    pieces.insert(pieces.begin(), unlessAt(b, m, last, 0, group));
  }
  if (borders.behind > 0) {
    Value first = widened(b, part, m.dim, number(0), number(borders.behind), outside(b, m));
    first = range(b, first, m.dim, number(0), number(borders.behind));
    first = b.create<PermuteOp>(first, ranks - 1, group);
    pieces.push_back(unlessAt(b, m, first, ranks - 1, group));
  }
  return pieces.size() == 1 ? part : Value(b.create<ConcatOp>(pieces, m.dim));
}

/// The rows that a rank's windows go over, with what is outside. They are there also where there are no windows.
Value rowsOf(ImplicitLocOpBuilder &b, const Moving &m, const Needed &needed, Share &share) {
  std::optional<Borders> borders;
  if (!share.hasWhole(m.input))
    borders = alignedBorders(m, needed, share);
  if (!share.hasWhole(m.input) && !borders)
    borders = countedBorders(m, needed, share);
  if (!borders) {
    SymExpr behind = (m.count() - 1) * m.window.stride + m.reach() - m.window.low - m.extent();
    Value rows = widened(b, share.whole(m.input), m.dim, m.window.low, behind, outside(b, m));
    return range(b, rows, m.dim, needed.first + m.window.low, needed.size);
  }
  auto number = [&](int64_t value) { return SymExpr::constant(b.getContext(), value); };
  Value rows = withBorders(b, m, share.part(m.input, m.dim), *borders, share.group);
  int64_t before = borders->before + borders->outsideBefore;
  if (borders->outsideBefore || borders->outsideBehind)
    rows = widened(b, rows, m.dim, number(borders->outsideBefore), number(borders->outsideBehind),
                   outside(b, m));
  SymExpr begin = share.partBegin(m.input, m.dim) - before;
  return range(b, rows, m.dim, needed.first - begin, needed.size);
}

DimsAttr with(DimsAttr dims, unsigned at, SymExpr value) {
  SmallVector<SymExpr> list = dims.getDims();
  list[at] = value;
  return DimsAttr::get(dims.getContext(), list);
}

/// The operator on a rank's rows, which hold the borders.
template <typename Op>
SmallVector<Value> computeRows(Op op, ImplicitLocOpBuilder &b, const Moving &m, unsigned number,
                               Share &share, SmallVector<NamedAttribute> attributes) {
  SymTensorType type = share.partType(m.result, m.dim);
  Needed needed(m, share.partBegin(m.result, m.dim), type.getDim(m.dim));
  SmallVector<Value> operands{rowsOf(b, m, needed, share)};
  for (Value other : llvm::drop_begin(op->getOperands()))
    operands.push_back(share.whole(other));
  SymExpr zero = SymExpr::constant(b.getContext(), 0);
  attributes.push_back(b.getNamedAttr("low", with(op.getLowAttr(), number, zero)));
  attributes.push_back(b.getNamedAttr("high", with(op.getHighAttr(), number, zero)));
  Operation *part = partOf(b, op, operands, type, attributes);
  return part ? SmallVector<Value>{part->getResult(0)} : SmallVector<Value>();
}

//===-- conv -------------------------------------------------------------------------------------===//

struct ConvTogether : TogetherOpInterface::ExternalModel<ConvTogether, ConvOp> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    SmallVector<Cut, 4> cuts;
    for (unsigned number = 0; number < windowsOf(cast<ConvOp>(op)).size(); ++number)
      if (std::optional<Moving> moving = movingIn(cast<ConvOp>(op), number))
        cuts.push_back(moving->cut(op));
    return cuts;
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto conv = cast<ConvOp>(op);
    for (unsigned number = 0; number < windowsOf(conv).size(); ++number)
      if (std::optional<Moving> moving = movingIn(conv, number);
          moving && isThrough(cut, moving->dim))
        return computeRows(conv, b, *moving, number, share, {});
    return computeGroups(conv, b, cut, share);
  }

private:
  /// Nothing where every row has its own window of one, which is a cut without neighbours.
  static std::optional<Moving> movingIn(ConvOp conv, unsigned number) {
    Window w = windowsOf(conv)[number];
    std::optional<int64_t> kernel = typeOf(conv.getFilter()).getDim(number + 2).asConstant();
    if (!kernel || *kernel < 1 ||
        (*kernel == 1 && w.stride == 1 && w.low.isConstant(0) && w.high.isConstant(0)) ||
        isPacked(typeOf(conv.getInput()).getElementType()))
      return std::nullopt;
    return Moving{conv.getInput(), conv.getResult(), number + (conv.getChannelsLast() ? 1 : 2), w,
                  w.dilation * (*kernel - 1) + 1};
  }

  /// Some of the groups, where every rank has as many.
  static SmallVector<Value> computeGroups(ConvOp conv, ImplicitLocOpBuilder &b, const Cut &cut,
                                          Share &share) {
    int64_t groups = conv.getGroups(), ranks = share.group.getRanks();
    if (groups == 1 || groups % ranks || !cut.operands[0] || !cut.operands[1] || !cut.results[0])
      return {};
    Value input = share.part(conv.getInput(), cut.operands[0]->dim),
          filter = share.part(conv.getFilter(), cut.operands[1]->dim);
    NamedAttribute own = b.getNamedAttr("groups", b.getI64IntegerAttr(groups / ranks));
    Operation *part = partOf(b, conv, {input, filter},
                             share.partType(conv.getResult(), cut.results[0]->dim), {own});
    return part ? SmallVector<Value>{part->getResult(0)} : SmallVector<Value>();
  }
};

//===-- pool -------------------------------------------------------------------------------------===//

struct PoolTogether : TogetherOpInterface::ExternalModel<PoolTogether, PoolOp> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    SmallVector<Cut, 4> cuts;
    auto pool = cast<PoolOp>(op);
    for (unsigned number = 0; number < pool.getKernel().size(); ++number)
      if (isCut(pool, number))
        cuts.push_back(movingIn(pool, number).cut(op));
    return cuts;
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto pool = cast<PoolOp>(op);
    for (unsigned number = 0; number < pool.getKernel().size(); ++number) {
      Moving moving = movingIn(pool, number);
      if (!isCut(pool, number) || !isThrough(cut, moving.dim))
        continue;
      SmallVector<NamedAttribute> attributes;
      if (DimsAttr sizes = pool.getSizesAttr())
        attributes.push_back(b.getNamedAttr(
            "sizes",
            with(sizes, number, share.partType(pool.getResult(), moving.dim).getDim(moving.dim))));
      return computeRows(pool, b, moving, number, share, attributes);
    }
    return {};
  }

private:
  /// Averages do not count what is outside, or count borders but not what is outside of them: a part has borders of its own.
  static bool isCut(PoolOp pool, unsigned number) {
    Window w = windowsOf(pool)[number];
    bool hasBorder = !w.low.isConstant(0) || !w.high.isConstant(0);
    if (isPacked(typeOf(pool.getInput()).getElementType()))
      return false;
    return pool.getKind() != PoolKind::Average ||
           (!pool.getSizes() && (pool.getCountPadding() || !hasBorder));
  }

  static Moving movingIn(PoolOp pool, unsigned number) {
    Window w = windowsOf(pool)[number];
    unsigned first = typeOf(pool.getInput()).getRank() - pool.getKernel().size() -
                     (pool.getChannelsLast() ? 1 : 0);
    return {pool.getInput(),
            pool.getResult(),
            first + number,
            w,
            w.dilation * (pool.getKernel()[number] - 1) + 1,
            pool.getKind() == PoolKind::Max};
  }
};

} // namespace

void registerWindowTogether(MLIRContext *context) {
  ConvOp::attachInterface<ConvTogether>(*context);
  PoolOp::attachInterface<PoolTogether>(*context);
}

} // namespace weft
