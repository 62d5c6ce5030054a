//===- Window.cpp - conv, pool: windows over rows that ranks have parts of ------------------------------===//
//
// A rank computes its part of the result's rows. What rows of the operand these need is an interval, which the rank takes from the whole
// where it has it, else from its own part with borders of its two neighbours, else from the gathered whole.
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
  int64_t span; ///< rows from the first to the last of a window

  SymExpr extent() const { return typeOf(input).getDim(dim); }
  SymExpr count() const { return typeOf(result).getDim(dim); }
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

/// Which rows a rank needs, and how far its windows reach beyond the operand.
struct Needed {
  SymExpr first; ///< of the first window, below 0 in the border
  SymExpr end;   ///< behind the last window
  SymExpr begin, size, low, high;

  Needed(const Moving &m, SymExpr from, SymExpr count)
      : first(from * m.window.stride - m.window.low),
        end((from + count - 1) * m.window.stride + m.span - m.window.low) {
    low = SymExpr::pos(-first);
    begin = first + low;
    // None where there are no windows, wherever those would be.
    SymExpr inside = SymExpr::pos(SymExpr::min(end, m.extent()) - begin);
    size = SymExpr::min(inside, count * (m.span + m.window.stride));
    high = end - first - size - low;
  }
};

/// How many rows of each neighbour a rank needs at most.
struct Borders {
  int64_t before = 0, behind = 0;
};

/// The same distance on all ranks, and not beyond a neighbour: all parts before one with rows are of the longest.
std::optional<Borders> alignedBorders(const Moving &m, const Needed &needed, const Share &share,
                                      SymTensorType part) {
  SymExpr begin = share.partBegin(m.input, m.dim);
  auto before = (begin - needed.first).asConstant(),
       behind = (needed.end - begin - part.getDim(m.dim)).asConstant();
  if (!before || !behind)
    return std::nullopt;
  Borders borders{std::max<int64_t>(*before, 0), std::max<int64_t>(*behind, 0)};
  // An operand without rows has no neighbours: one row at least is the least that a part has that others need.
  SymExpr longest = share.longestPart(m.input, m.dim);
  SymFacts facts = placeFacts(share.group)
                       .with(SymPred::le(SymExpr::constant(longest.getContext(), 1), longest));
  SymExpr most = SymExpr::constant(longest.getContext(), std::max(borders.before, borders.behind));
  return facts.proveLE(most, longest) == Proof::Yes ? std::optional(borders) : std::nullopt;
}

/// Where all sizes are numbers.
std::optional<Borders> countedBorders(const Moving &m, const Needed &needed, const Share &share) {
  std::optional<int64_t> extent = m.extent().asConstant();
  SymExpr begin = share.partBegin(m.input, m.dim),
          size = share.partType(m.input, m.dim).getDim(m.dim);
  int64_t ranks = share.group.getRanks();
  auto at = [&](SymExpr expr, int64_t place) {
    SymExpr there = atPlace(expr, share.group, SymExpr::constant(expr.getContext(), place));
    return there.asConstant();
  };
  Borders borders;
  for (int64_t place = 0; extent && place < ranks; ++place) {
    auto first = at(needed.begin, place), count = at(needed.size, place), own = at(begin, place),
         length = at(size, place), previous = at(begin, std::max<int64_t>(place - 1, 0)),
         next = at(begin + size, std::min(place + 1, ranks - 1));
    if (!first || !count || !own || !length || !previous || !next)
      return std::nullopt;
    if (*count == 0)
      continue;
    if (*first < *previous || *first + *count > *next)
      return std::nullopt;
    borders.before = std::max(borders.before, *own - *first);
    borders.behind = std::max(borders.behind, *first + *count - *own - *length);
  }
  return extent ? std::optional(borders) : std::nullopt;
}

/// The rank's part between the last rows of the rank before it and the first of the one behind, which at the ends are nobody's.
Value withBorders(ImplicitLocOpBuilder &b, const Moving &m, Value part, Borders borders,
                  MeshAttr group) {
  auto number = [&](int64_t value) { return SymExpr::constant(b.getContext(), value); };
  SymExpr size = typeOf(part).getDim(m.dim);
  SmallVector<Value> pieces{part};
  if (borders.before > 0) {
    Value last = widened(b, part, m.dim, number(borders.before), number(0));
    last = range(b, last, m.dim, size, number(borders.before));
    pieces.insert(pieces.begin(), b.create<PermuteOp>(last, 1, group));
  }
  if (borders.behind > 0) {
    Value first = widened(b, part, m.dim, number(0), number(borders.behind));
    first = range(b, first, m.dim, number(0), number(borders.behind));
    pieces.push_back(b.create<PermuteOp>(first, group.getRanks() - 1, group));
  }
  return pieces.size() == 1 ? part : Value(b.create<ConcatOp>(pieces, m.dim));
}

/// The rows that a rank needs.
Value rowsOf(ImplicitLocOpBuilder &b, const Moving &m, const Needed &needed, Share &share) {
  if (!share.hasWhole(m.input)) {
    std::optional<Borders> borders =
        alignedBorders(m, needed, share, share.partType(m.input, m.dim));
    if (!borders)
      borders = countedBorders(m, needed, share);
    if (borders) {
      Value rows = withBorders(b, m, share.part(m.input, m.dim), *borders, share.group);
      SymExpr start = needed.begin - share.partBegin(m.input, m.dim) + borders->before;
      return range(b, rows, m.dim, start, needed.size);
    }
  }
  return range(b, share.whole(m.input), m.dim, needed.begin, needed.size);
}

DimsAttr with(DimsAttr dims, unsigned at, SymExpr value) {
  SmallVector<SymExpr> list = dims.getDims();
  list[at] = value;
  return DimsAttr::get(dims.getContext(), list);
}

/// The operator on a rank's rows, whose borders are what lies outside of the whole operand.
template <typename Op>
SmallVector<Value> computeRows(Op op, ImplicitLocOpBuilder &b, const Moving &m, unsigned number,
                               Share &share, SmallVector<NamedAttribute> attributes) {
  SymTensorType type = share.partType(m.result, m.dim);
  Needed needed(m, share.partBegin(m.result, m.dim), type.getDim(m.dim));
  SmallVector<Value> operands{rowsOf(b, m, needed, share)};
  for (Value other : llvm::drop_begin(op->getOperands()))
    operands.push_back(share.whole(other));
  attributes.push_back(b.getNamedAttr("low", with(op.getLowAttr(), number, needed.low)));
  attributes.push_back(b.getNamedAttr("high", with(op.getHighAttr(), number, needed.high)));
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
    for (unsigned number = 0; number < pool.getKernel().size() && isCut(pool); ++number)
      cuts.push_back(movingIn(pool, number).cut(op));
    return cuts;
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto pool = cast<PoolOp>(op);
    for (unsigned number = 0; number < pool.getKernel().size() && isCut(pool); ++number) {
      Moving moving = movingIn(pool, number);
      if (!isThrough(cut, moving.dim))
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
  /// Where windows end outside of the border, averages that count the border would count more of it in a part.
  static bool isCut(PoolOp pool) {
    return !isPacked(typeOf(pool.getInput()).getElementType()) &&
           !(pool.getSizes() && pool.getCountPadding());
  }

  static Moving movingIn(PoolOp pool, unsigned number) {
    Window w = windowsOf(pool)[number];
    unsigned first = typeOf(pool.getInput()).getRank() - pool.getKernel().size() -
                     (pool.getChannelsLast() ? 1 : 0);
    return {pool.getInput(), pool.getResult(), first + number, w,
            w.dilation * (pool.getKernel()[number] - 1) + 1};
  }
};

} // namespace

void registerWindowTogether(MLIRContext *context) {
  ConvOp::attachInterface<ConvTogether>(*context);
  PoolOp::attachInterface<PoolTogether>(*context);
}

} // namespace weft
