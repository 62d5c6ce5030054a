//===- Blocks.cpp ---------------------------------------------------------------------------------===//

#include "passes/parallel/Blocks.h"
#include "dialects/weft/ops/Collective.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType tensorOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Cheap to compute again: it moves elements, or computes each from those at its place.
bool isLoop(Operation *op) {
  auto element = dyn_cast_or_null<ElementOpInterface>(op);
  return element && op->getNumResults() == 1 &&
         (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::View);
}

std::optional<unsigned> only(const Spans &spans, Span span) {
  std::optional<unsigned> found;
  for (auto [d, each] : llvm::enumerate(spans))
    if (each == span)
      found = d;
  return found;
}

} // namespace

//===-- What is known of values ------------------------------------------------------------------===//

Blocks::Key Blocks::keyOf(Value value, const Spans &spans) {
  uint64_t code = 0;
  for (Span span : spans)
    code = code * 4 + uint64_t(span);
  return {value, code};
}

std::optional<unsigned> Blocks::partsOf(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op))
    return std::nullopt;
  const Cut *cut = assignment.cutOf(op);
  if (!cut) // all compute all of it
    return std::nullopt;
  Wish wish = wishFor(value, group.getAxes()[0]);
  if (!wish.isOpen)
    return wish.dim;
  if (cut->partial)
    return assignment.wantedBy(value);
  const std::optional<Cut::Dim> &dim = cut->results[cast<OpResult>(value).getResultNumber()];
  return dim ? std::optional(dim->dim) : std::nullopt;
}

/// Of a dimension that shares divide.
SymExpr Blocks::shareSize(Value value, unsigned dim) const {
  int64_t size = *tensorOf(value).getDim(dim).asConstant();
  return SymExpr::constant(value.getContext(), size / int64_t(shareCount));
}

SymTensorType Blocks::exactType(Value value, const Spans &spans, unsigned at) const {
  SmallVector<SymExpr> dims = tensorOf(value).getDims();
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span == Span::Share)
      dims[d] = shareSize(value, d);
    else if (span != Span::Whole)
      dims[d] = parts.partType(value, d).getDim(d);
    for (unsigned i = 0; span == Span::Columns && i < at; ++i)
      dims[d] = atPlace(dims[d], group, SymExpr::mod(placeIn(group) - 1, group.getRanks()));
  }
  return SymTensorType::get(dims, tensorOf(value).getElementType());
}

SymTensorType Blocks::typeOf(Value value, const Spans &spans) const {
  SmallVector<SymExpr> dims = tensorOf(value).getDims();
  for (auto [d, span] : llvm::enumerate(spans))
    if (span == Span::Share)
      dims[d] = shareSize(value, d);
    else if (span != Span::Whole)
      dims[d] = parts.pieceOf(value, d, pieces) * (span == Span::Rows ? box.rows : box.columns);
  return SymTensorType::get(dims, tensorOf(value).getElementType());
}

/// Shares are of one size, so those of a value that is made of another lie in the other's.
bool Blocks::canShare(Value value, const Spans &spans) const {
  std::optional<unsigned> shared = only(spans, Span::Share);
  if (!shared)
    return true;
  std::optional<int64_t> size = tensorOf(value).getDim(*shared).asConstant();
  return size && *size % int64_t(shareCount) == 0;
}

//===-- Decisions --------------------------------------------------------------------------------===//

std::optional<Cut> Blocks::cutAlong(Operation *op, unsigned dim) const {
  for (const Cut &cut : assignment.cutsOf(op))
    if (!cut.partial && !cut.inPieces && cut.results[0] && cut.results[0]->dim == dim)
      return cut;
  if (!isRepeated(op, dim))
    return std::nullopt;
  Cut cut;
  cut.operands.resize(op->getNumOperands());
  return cut;
}

/// Whether shares are whole steps of what is cut, everywhere.
bool Blocks::cutsShares(Operation *op, const Cut &cut) const {
  auto isWhole = [&](auto each) {
    auto [value, dim] = each;
    if (!dim)
      return true;
    std::optional<int64_t> size = tensorOf(value).getDim(dim->dim).asConstant(),
                           stride = dim->stride.asConstant();
    return size && stride && *size % (*stride * int64_t(shareCount)) == 0;
  };
  return llvm::all_of(llvm::zip(op->getOperands(), cut.operands), isWhole) &&
         llvm::all_of(llvm::zip(op->getResults(), cut.results), isWhole);
}

std::optional<SmallVector<Spans, 3>> Blocks::operandSpans(Operation *op, const Spans &spans) const {
  SmallVector<Spans, 3> needed;
  for (Value operand : op->getOperands())
    needed.emplace_back(tensorOf(operand).getRank(), Span::Whole);
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span == Span::Whole)
      continue;
    std::optional<Cut> cut = cutAlong(op, d);
    if (!cut || (span == Span::Share && !cutsShares(op, *cut)))
      return std::nullopt;
    for (auto [operand, dim] : llvm::zip_equal(needed, cut->operands)) {
      if (dim && operand[dim->dim] != Span::Whole)
        return std::nullopt;
      if (dim)
        operand[dim->dim] = span;
    }
  }
  return needed;
}

/// Tried with operands that come from nowhere, of the own block and of another one.
bool Blocks::buildsFrom(Operation *op, ArrayRef<Spans> operands, const Spans &spans) {
  for (unsigned at : {0, 1}) {
    OpBuilder builder(op);
    SmallVector<Value> stands;
    for (auto [operand, needed] : llvm::zip_equal(op->getOperands(), operands))
      stands.push_back(
          builder
              .create<UnrealizedConversionCastOp>(
                  op->getLoc(), TypeRange(exactType(operand, needed, at)), ValueRange())
              .getResult(0));
    Operation *made = buildPart(op, builder, stands, {exactType(op->getResult(0), spans, at)});
    if (made)
      made->erase();
    for (Value stand : stands)
      stand.getDefiningOp()->erase();
    if (!made)
      return false;
  }
  return true;
}

std::optional<Blocks::How> Blocks::rebuild(Value value, const Spans &spans, bool alone) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions() > 0 || !isa<SplitOpInterface>(op) ||
      (alone && !isLoop(op)))
    return std::nullopt;
  Wish wish = wishFor(value, group.getAxes()[0]);
  if (!wish.isOpen && (!wish.dim || spans[*wish.dim] == Span::Whole))
    return std::nullopt;
  std::optional<SmallVector<Spans, 3>> needed = operandSpans(op, spans);
  if (!needed || (!onlyLooks && !buildsFrom(op, *needed, spans)))
    return std::nullopt;
  for (auto [operand, of] : llvm::zip_equal(op->getOperands(), *needed))
    if (!decide(operand, of, alone))
      return std::nullopt;
  return How{Way::Rebuilt, *needed};
}

/// The value of which each element of `value` along the dimension is a move or a function.
std::optional<std::pair<Value, unsigned>> Blocks::source(Value value, unsigned dim) const {
  Operation *op = value.getDefiningOp();
  std::optional<Cut> cut = op && isLoop(op) ? cutAlong(op, dim) : std::nullopt;
  std::optional<std::pair<Value, unsigned>> found;
  if (cut)
    for (auto [operand, at] : llvm::zip_equal(op->getOperands(), cut->operands)) {
      if (at && found)
        return std::nullopt;
      if (at)
        found = {operand, at->dim};
    }
  return found;
}

/// Whether nothing that it is made of is smaller, as heads are before they are repeated.
bool Blocks::isSmallest(Value value, unsigned dim) const {
  for (auto above = source(value, dim); above; above = source(above->first, above->second))
    if (guessedBytes(above->first) < guessedBytes(value) && partsOf(above->first) == above->second)
      return false;
  return true;
}

bool Blocks::wasPlaced(Value value, unsigned dim) const {
  std::optional<std::pair<Value, unsigned>> each{{value, dim}};
  for (; each; each = source(each->first, each->second))
    if (wishFor(each->first, group.getAxes()[0]).dim == each->second)
      return true;
  return false;
}

std::optional<Blocks::How> Blocks::choose(Value value, const Spans &spans, bool alone) {
  std::optional<unsigned> column = only(spans, Span::Columns), row = only(spans, Span::Rows),
                          held = partsOf(value);
  if (!column) {
    bool isThere = !held || held == row;
    if (alone && !isThere)
      return std::nullopt;
    return How{row ? Way::Part : Way::Whole, {}};
  }
  if (std::optional<How> how = rebuild(value, spans, /*alone=*/true))
    return how;
  if (!held)
    return How{Way::Sliced, {}};
  if (alone)
    return std::nullopt;
  bool canTravel = held == column && !row;
  if (canTravel && isSmallest(value, *column))
    return How{Way::Carried, {}};
  if (std::optional<How> how = rebuild(value, spans, /*alone=*/false))
    return how;
  if (canTravel)
    return How{Way::Carried, {}};
  return held == row ? std::optional(How{Way::Sliced, {}}) : std::nullopt;
}

bool Blocks::decide(Value value, const Spans &spans, bool alone) {
  Key key = keyOf(value, spans);
  llvm::DenseSet<Key> &failed = alone ? refusedAlone : refused;
  if (failed.contains(key))
    return false;
  if (ways.contains(key))
    return true;
  std::optional<How> how = canShare(value, spans) ? choose(value, spans, alone) : std::nullopt;
  if (!how)
    return failed.insert(key), false;
  ways[key] = *how;
  return true;
}

/// Follows what was decided.
void Blocks::collect(Value value, const Spans &spans) {
  if (!collected.insert(keyOf(value, spans)).second)
    return;
  const How &how = ways.find(keyOf(value, spans))->second;
  std::optional<unsigned> column = only(spans, Span::Columns);
  bool isOfColumns = column && !only(spans, Span::Rows) && partsOf(value) == column;
  isNeeded |= isOfColumns;
  hasPlacement |= isOfColumns && wasPlaced(value, *column);
  Carried sent{value, column.value_or(0), only(spans, Span::Share)};
  if (how.way == Way::Carried && !llvm::is_contained(travelling, sent))
    travelling.push_back(sent);
  if (how.way != Way::Rebuilt) {
    read.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  again.insert(op);
  for (auto [operand, of] : llvm::zip_equal(op->getOperands(), SmallVector<Spans, 3>(how.operands)))
    collect(operand, of);
}

bool Blocks::canBuild(Value value, const Spans &spans) {
  if (!decide(value, spans, /*alone=*/false))
    return false;
  collect(value, spans);
  return true;
}

//===-- Pieces -----------------------------------------------------------------------------------===//

static SymExpr zeroOf(Value value) { return SymExpr::constant(value.getContext(), 0); }

static Value sliceOf(OpBuilder &builder, Value value, unsigned dim, SymExpr first, SymExpr size) {
  SymTensorType type = tensorOf(value);
  SmallVector<SymExpr> dims = type.getDims(), starts(dims.size(), zeroOf(value));
  if (dims[dim] == size)
    return value;
  starts[dim] = first;
  dims[dim] = size;
  MLIRContext *context = value.getContext();
  return builder.create<SliceOp>(value.getLoc(), value, DimsAttr::get(context, starts),
                                 DimsAttr::get(context, dims),
                                 SmallVector<int64_t>(dims.size(), 1));
}

/// Followed by zeros.
static Value filled(OpBuilder &builder, Value value, unsigned dim, SymExpr size) {
  SymTensorType type = tensorOf(value);
  if (type.getDim(dim) == size)
    return value;
  MLIRContext *context = value.getContext();
  SmallVector<SymExpr> low(type.getRank(), zeroOf(value)), high = low;
  high[dim] = size - type.getDim(dim);
  auto zero = builder.create<FillOp>(
      value.getLoc(), SymTensorType::get(context, ArrayRef<Attribute>(), type.getElementType()),
      cast<TypedAttr>(builder.getZeroAttr(type.getElementType())));
  return builder.create<PadOp>(value.getLoc(), value, zero, DimsAttr::get(context, low),
                               DimsAttr::get(context, high));
}

Value Blocks::shareOf(OpBuilder &builder, Value whole, unsigned dim, unsigned at) const {
  SymExpr size = shareSize(whole, dim);
  return sliceOf(builder, whole, dim, size * int64_t(at), size);
}

static Value joined(OpBuilder &builder, ArrayRef<Value> values, unsigned dim) {
  return values.size() == 1
             ? values[0]
             : Value(builder.create<ConcatOp>(values[0].getLoc(), values, int64_t(dim)));
}

/// Of two pieces, the second of the mirrored rank: from parts to an early and a late piece, and back.
Value Blocks::exchanged(OpBuilder &builder, Value laid, unsigned dim, SymExpr piece) {
  if (pieces == 1)
    return laid;
  Value late = sliceOf(builder, laid, dim, piece, piece);
  auto sent = builder.create<PermuteOp>(laid.getLoc(), late, 1 - group.getRanks(), group);
  parts.explain(sent, "ranks have an early and a late piece each, of what " + nameOf(reader) +
                          " reads or gives");
  return joined(builder, {sliceOf(builder, laid, dim, zeroOf(laid), piece), sent}, dim);
}

/// Whose rows or columns they are.
SymExpr Blocks::placeOf(Span span) const {
  SymExpr place = placeIn(group);
  return span == Span::Columns && step > 0 ? SymExpr::mod(place - int64_t(step), group.getRanks())
                                           : place;
}

/// Of a piece of the part of the rank at a place, without what fills it up.
SymExpr Blocks::sizeOf(Value value, unsigned dim, SymExpr place, unsigned piece) const {
  SymExpr part = atPlace(parts.partType(value, dim).getDim(dim), group, place);
  if (pieces == 1)
    return part;
  SymExpr second = SymExpr::pos(part - parts.pieceOf(value, dim, pieces));
  return piece ? second : part - second;
}

/// The pieces of the rank at a place, cut out of `whole`, which lies as `value` does.
Value Blocks::laid(OpBuilder &builder, Value whole, Value value, unsigned dim, SymExpr place) {
  SmallVector<Value, 2> found;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    SymExpr owner = piece ? -place + (group.getRanks() - 1) : place,
            begin = atPlace(parts.beginOf(value, dim), group, owner);
    if (piece)
      begin = begin + sizeOf(value, dim, owner, 0);
    Value cut = sliceOf(builder, whole, dim, begin, sizeOf(value, dim, owner, piece));
    found.push_back(filled(builder, cut, dim, parts.pieceOf(value, dim, pieces)));
  }
  return joined(builder, found, dim);
}

/// The rank's own pieces of what it has a part of.
Value Blocks::laidPart(OpBuilder &builder, Value value, unsigned dim) {
  Value &made = laidParts[{value, dim}];
  if (made)
    return made;
  if (partsOf(value) != dim)
    return made = laid(builder, parts.whole(value, reader), value, dim, placeIn(group));
  SymExpr piece = parts.pieceOf(value, dim, pieces);
  Value part = filled(builder, parts.part(value, dim, reader), dim, piece * int64_t(pieces));
  return made = exchanged(builder, part, dim, piece);
}

Value Blocks::boxOf(OpBuilder &builder, Value laid, Value value, const Spans &spans) {
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span == Span::Whole || span == Span::Share)
      continue;
    bool isRow = span == Span::Rows;
    SymExpr piece = parts.pieceOf(value, d, pieces);
    laid = sliceOf(builder, laid, d, piece * (isRow ? box.firstRow : box.firstColumn),
                   piece * (isRow ? box.rows : box.columns));
  }
  return laid;
}

Value Blocks::partOf(OpBuilder &builder, Value made, Value value, unsigned dim) {
  SymExpr piece = parts.pieceOf(value, dim, pieces);
  return sliceOf(builder, exchanged(builder, made, dim, piece), dim, zeroOf(value),
                 parts.partType(value, dim).getDim(dim));
}

Value Blocks::keysIn(OpBuilder &builder, Value scores) {
  MLIRContext *context = scores.getContext();
  unsigned dim = tensorOf(scores).getRank() - 1;
  SymExpr length = parts.pieceOf(scores, dim, pieces);
  Type integer = builder.getI64Type();
  SmallVector<Value, 2> found;
  bool areAll = true;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    SymExpr place = placeOf(Span::Columns),
            size = sizeOf(scores, dim, piece ? -place + (group.getRanks() - 1) : place, piece);
    areAll &= size == length;
    auto at = builder.create<IotaOp>(scores.getLoc(), SymTensorType::get({length}, integer), 0);
    auto end = builder.create<DimsValueOp>(
        scores.getLoc(), SymTensorType::get(context, ArrayRef<Attribute>(), integer),
        DimsAttr::get(context, {size}));
    found.push_back(builder.create<CompareOp>(scores.getLoc(), CompareKind::Less, at, end));
  }
  if (areAll)
    return {};
  Value keys = sliceOf(builder, joined(builder, found, 0), 0, length * box.firstColumn,
                       length * box.columns);
  SmallVector<SymExpr> line(dim + 1, SymExpr::constant(context, 1));
  line.back() = length * box.columns;
  return builder.create<ReshapeOp>(scores.getLoc(), keys, DimsAttr::get(context, line));
}

//===-- Steps ------------------------------------------------------------------------------------===//

void Blocks::start(Operation *op, unsigned ofPieces) {
  OpBuilder builder(op);
  reader = op;
  step = 0;
  pieces = ofPieces;
  built.clear();
  laidParts.clear();
  here.clear();
  for (const Carried &sent : travelling) {
    Value own = laidPart(builder, sent.value, sent.column);
    for (unsigned i = 0; i < sharesOf(sent); ++i)
      here[{sent.value, i}] = sent.shared ? shareOf(builder, own, *sent.shared, i) : own;
  }
}

void Blocks::send(OpBuilder &builder, const Twine &because) {
  sent.assign(travelling.size(), {});
  for (auto [each, by] : llvm::zip_equal(travelling, sent))
    for (unsigned i = 0; i < sharesOf(each); ++i) {
      by.push_back(builder.create<PermuteOp>(each.value.getLoc(), here[{each.value, i}], 1, group));
      parts.explain(by.back(), because);
    }
}

void Blocks::advance() {
  ++step;
  built.clear();
  for (auto [each, by] : llvm::zip_equal(travelling, sent))
    for (auto [i, exchange] : llvm::enumerate(by))
      here[{each.value, unsigned(i)}] = exchange->getResult(0);
}

Value Blocks::sliced(OpBuilder &builder, Value value, const Spans &spans) {
  std::optional<unsigned> row = only(spans, Span::Rows);
  Value made = row ? laidPart(builder, value, *row) : parts.whole(value, reader);
  for (auto [d, span] : llvm::enumerate(spans))
    if (span == Span::Columns)
      made = laid(builder, made, value, d, placeOf(span));
  if (std::optional<unsigned> shared = only(spans, Span::Share))
    made = shareOf(builder, made, *shared, share);
  return boxOf(builder, made, value, spans);
}

Value Blocks::build(OpBuilder &builder, Value value, const Spans &spans) {
  Key key = keyOf(value, spans);
  std::optional<unsigned> shared = only(spans, Span::Share);
  unsigned at = shared ? share : 0;
  if (Value found = built.lookup({key, at}))
    return found;
  const How how = ways.find(key)->second;
  Value made;
  switch (how.way) {
  case Way::Whole:
    made = parts.whole(value, reader);
    made = shared ? shareOf(builder, made, *shared, share) : made;
    break;
  case Way::Part:
    made = laidPart(builder, value, *only(spans, Span::Rows));
    made = boxOf(builder, shared ? shareOf(builder, made, *shared, share) : made, value, spans);
    break;
  case Way::Sliced:
    made = sliced(builder, value, spans);
    break;
  case Way::Carried:
    made = boxOf(builder, here.lookup({value, at}), value, spans);
    break;
  case Way::Rebuilt: {
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (auto [operand, of] : llvm::zip_equal(op->getOperands(), how.operands))
      operands.push_back(build(builder, operand, of));
    made = buildPart(op, builder, operands, {typeOf(value, spans)})->getResult(0);
    break;
  }
  }
  return built[{key, at}] = made;
}

} // namespace weft
