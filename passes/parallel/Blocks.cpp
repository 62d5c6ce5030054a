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

/// A dimension of the result that no operand has: every rank can have as much of it as it likes.
bool isRepeated(Operation *op, unsigned dim) {
  auto splits = dyn_cast<SplitOpInterface>(op);
  if (!splits || splits.sizesName().empty() || splits.splitText().empty())
    return false;
  FailureOr<IterationRule> rule = IterationRule::bind(splits.splitText(), op->getOperandTypes(),
                                                      op->getResultTypes(), [](const Twine &) {});
  if (failed(rule) || rule->result(0)[dim].kind != AccessKind::Point)
    return false;
  unsigned factor = rule->result(0)[dim].factor();
  for (unsigned i = 0; i < rule->operandCount(); ++i)
    for (const Access &access : rule->operand(i))
      if (llvm::any_of(access.terms,
                       [&](const Access::Term &term) { return term.factor == factor; }))
        return false;
  return true;
}

} // namespace

//===-- What is known of values ------------------------------------------------------------------===//

Blocks::Key Blocks::keyOf(Value value, const Spans &spans) {
  uint64_t code = 0;
  for (Span span : spans)
    code = code * 3 + uint64_t(span);
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

SymTensorType Blocks::typeOf(Value value, const Spans &spans, unsigned at) const {
  SmallVector<SymExpr> dims = tensorOf(value).getDims();
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span != Span::Whole)
      dims[d] = parts.partType(value, d).getDim(d);
    for (unsigned i = 0; span == Span::Columns && i < at; ++i)
      dims[d] = atPlace(dims[d], group, SymExpr::mod(placeIn(group) - 1, group.getRanks()));
    if (span == Span::Columns && box.columns)
      dims[d] = dims[d] * box.columns;
  }
  return SymTensorType::get(dims, tensorOf(value).getElementType());
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

std::optional<SmallVector<Spans, 3>> Blocks::operandSpans(Operation *op, const Spans &spans) const {
  SmallVector<Spans, 3> needed;
  for (Value operand : op->getOperands())
    needed.emplace_back(tensorOf(operand).getRank(), Span::Whole);
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span == Span::Whole)
      continue;
    std::optional<Cut> cut = cutAlong(op, d);
    if (!cut)
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
      stands.push_back(builder
                           .create<UnrealizedConversionCastOp>(
                               op->getLoc(), TypeRange(typeOf(operand, needed, at)), ValueRange())
                           .getResult(0));
    Operation *made = buildPart(op, builder, stands, {typeOf(op->getResult(0), spans, at)});
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
  std::optional<How> how = choose(value, spans, alone);
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
  if (how.way == Way::Carried && !llvm::is_contained(travelling, std::pair(value, *column)))
    travelling.emplace_back(value, *column);
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

//===-- Steps ------------------------------------------------------------------------------------===//

void Blocks::start(Operation *op) {
  reader = op;
  step = 0;
  box = Box();
  built.clear();
  for (auto [value, dim] : travelling)
    here[value] = parts.part(value, dim, reader);
}

void Blocks::advance(OpBuilder &builder, const Twine &because) {
  ++step;
  built.clear();
  for (auto [value, dim] : travelling) {
    auto sent = builder.create<PermuteOp>(value.getLoc(), here[value], 1, group);
    parts.explain(sent, because);
    here[value] = sent;
  }
}

Value Blocks::sliced(OpBuilder &builder, Value value, const Spans &spans) {
  MLIRContext *context = value.getContext();
  std::optional<unsigned> row = only(spans, Span::Rows);
  bool fromPart = row && partsOf(value) == row;
  Value from = fromPart ? parts.part(value, *row, reader) : parts.whole(value, reader);
  SymTensorType type = typeOf(value, spans);
  SmallVector<SymExpr> starts(type.getRank(), SymExpr::constant(context, 0));
  for (auto [d, span] : llvm::enumerate(spans)) {
    if (span == Span::Whole || (span == Span::Rows && fromPart))
      continue;
    starts[d] = parts.beginOf(value, d);
    for (unsigned i = 0; span == Span::Columns && i < step; ++i)
      starts[d] = atPlace(starts[d], group, SymExpr::mod(placeIn(group) - 1, group.getRanks()));
  }
  return builder.create<SliceOp>(value.getLoc(), from, DimsAttr::get(context, starts),
                                 DimsAttr::get(context, type.getDims()),
                                 SmallVector<int64_t>(type.getRank(), 1));
}

/// The first elements of every dimension.
static Value shownOf(OpBuilder &builder, Value value, SymTensorType type) {
  if (value.getType() == type)
    return value;
  MLIRContext *context = value.getContext();
  SmallVector<SymExpr> starts(type.getRank(), SymExpr::constant(context, 0));
  return builder.create<SliceOp>(value.getLoc(), value, DimsAttr::get(context, starts),
                                 DimsAttr::get(context, type.getDims()),
                                 SmallVector<int64_t>(type.getRank(), 1));
}

Value Blocks::build(OpBuilder &builder, Value value, const Spans &spans) {
  Key key = keyOf(value, spans);
  if (Value found = built.lookup(key))
    return found;
  const How how = ways.find(key)->second;
  Value made;
  switch (how.way) {
  case Way::Whole:
    made = parts.whole(value, reader);
    break;
  case Way::Part:
    made = parts.part(value, *only(spans, Span::Rows), reader);
    break;
  case Way::Sliced:
    made = sliced(builder, value, spans);
    break;
  case Way::Carried:
    made = shownOf(builder, here.lookup(value), typeOf(value, spans));
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
  return built[key] = made;
}

} // namespace weft
