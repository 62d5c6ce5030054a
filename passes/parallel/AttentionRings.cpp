//===- AttentionRings.cpp - Which attention becomes a ring, and how its blocks are merged -----------===//

#include "passes/parallel/AttentionRings.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/IR/Matchers.h"
#include "passes/cost/KernelWork.h"
#include "passes/parallel/MakeFirst.h"
#include "passes/parallel/RingSteps.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kShort = 1024; ///< keys that are gathered, when there are never more

Spans spansOf(const Attention &attention) {
  Spans spans(tensorType(attention.scores).getRank(), Span::Whole);
  spans[attention.row] = Span::Rows;
  spans.back() = Span::Columns;
  if (attention.shared)
    spans[*attention.shared] = Span::Share;
  return spans;
}

Spans valueSpansOf(const Attention &attention) {
  Spans spans = attention.valueSpans;
  if (attention.shared && attention.valueDims[*attention.shared])
    spans[*attention.valueDims[*attention.shared]] = Span::Share;
  return spans;
}

Value valuesOf(const Attention &attention) {
  return attention.result.getDefiningOp()->getOperand(1 - attention.powers);
}

bool isZero(Value value) {
  Attribute number;
  if (auto fill = value.getDefiningOp<FillOp>())
    number = fill.getValue();
  else if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      number = splat.getSplatValue<Attribute>();
  auto real = dyn_cast_or_null<FloatAttr>(number);
  return real && real.getValue().isZero();
}

/// `select(is_nan(value), 0, value)`, by which exporters give masked lines nothing to attend to.
SelectOp guardOf(Value value) {
  SelectOp select;
  for (Operation *user : value.getUsers())
    if (auto found = dyn_cast<SelectOp>(user))
      select = found;
  auto isNan = select ? select.getCondition().getDefiningOp<IsNanOp>() : IsNanOp();
  bool isGuard = isNan && isNan.getInput() == value && isNan->hasOneUse() &&
                 select.getNo() == value && isZero(select.getYes()) &&
                 llvm::hasNItems(value.getUses(), 2) && select.getType() == value.getType();
  return isGuard ? select : SelectOp();
}

//===-- Merging ----------------------------------------------------------------------------------===//

/// Statistics of lines, and what lines sum, in the type in which they are computed.
class Merge {
public:
  /// `length`: of all pieces of rows together.
  Merge(ImplicitLocOpBuilder &b, const Attention &attention, SymExpr length)
      : b(b), attention(attention), element(computeType(elementOf(attention.scores))),
        length(length) {}

  /// Which rows come next.
  void look(SymExpr firstRow, SymExpr rowCount) {
    first = firstRow;
    count = rowCount;
  }

  Value wide(Value value) { return as(element, value); }

  /// The powers of a block of scores, relative to the largest so far.
  Value take(Value scores, Value keys) {
    scores = wide(scores);
    if (keys)
      scores = b.create<SelectOp>(keys, scores, number(-INFINITY));
    Value most = allRows(reduce(CombinerKind::Max, scores), attention.row, -INFINITY);
    Value now = largest ? Value(b.create<MaximumOp>(largest, most)) : most;
    // Where all of a line is masked so far, powers are 0 instead of no number.
    Value masked = b.create<CompareOp>(CompareKind::Equal, now, number(-INFINITY));
    Value base = b.create<SelectOp>(masked, number(0), now);
    Value powers = b.create<ExpOp>(b.create<SubOp>(scores, rowsOf(base)));
    Value part = allRows(reduce(CombinerKind::Sum, powers), attention.row, 0);
    shrink = largest ? Value(b.create<ExpOp>(b.create<SubOp>(largest, base))) : Value();
    sum = shrink ? Value(b.create<AddOp>(b.create<MulOp>(sum, shrink), part)) : part;
    largest = now;
    if (attention.isGuarded) { // what is no number adds nothing but values that are none
      powers = instead(powers, 0);
      shrink = shrink ? instead(shrink, 1) : shrink;
    }
    return as(attention.element, powers);
  }

  void add(Value product) {
    product = allRows(wide(product), attention.rowDims[attention.row], 0);
    result = result ? Value(b.create<AddOp>(b.create<MulOp>(result, alongResult(shrink)), product))
                    : product;
  }

  Value finish() {
    Value lines = alongResult(sum);
    Value divided = b.create<DivOp>(result, alongResult(divisor()));
    if (attention.isGuarded)
      divided = b.create<SelectOp>(b.create<CompareOp>(CompareKind::Greater, lines, number(0)),
                                   divided, b.create<MulOp>(result, number(0)));
    return as(elementOf(attention.result), divided);
  }

private:
  Value as(Type type, Value value) {
    return elementOf(value) == type ? value : Value(b.create<ConvertOp>(value, type));
  }
  Value number(double value) {
    return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element),
                            floatAttribute(element, value));
  }
  /// Another number where there is none.
  Value instead(Value value, double other) {
    return b.create<SelectOp>(b.create<IsNanOp>(value), number(other), value);
  }
  /// The rows that come next, of lines.
  Value rowsOf(Value lines) {
    SmallVector<SymExpr> dims = tensorType(lines).getDims(),
                         starts(dims.size(), SymExpr::constant(b.getContext(), 0));
    if (count == length)
      return lines;
    starts[attention.row] = first;
    dims[attention.row] = count;
    return b.create<SliceOp>(lines, DimsAttr::get(b.getContext(), starts),
                             DimsAttr::get(b.getContext(), dims),
                             SmallVector<int64_t>(dims.size(), 1));
  }
  /// With those of which nothing is computed now.
  Value allRows(Value rows, unsigned dim, double others) {
    SmallVector<SymExpr> low(tensorType(rows).getRank(), SymExpr::constant(b.getContext(), 0)),
        high = low;
    if (count == length)
      return rows;
    low[dim] = first;
    high[dim] = length - first - count;
    return b.create<PadOp>(rows, number(others), DimsAttr::get(b.getContext(), low),
                           DimsAttr::get(b.getContext(), high));
  }
  Value reshape(Value value, ArrayRef<SymExpr> dims) {
    return b.create<ReshapeOp>(value, DimsAttr::get(b.getContext(), dims));
  }
  Value reduce(CombinerKind kind, Value lines) {
    SmallVector<SymExpr> dims = tensorType(lines).getDims();
    Value reduced = b.create<ReduceOp>(kind, lines, ArrayRef<int64_t>{int64_t(dims.size()) - 1});
    dims.back() = SymExpr::constant(b.getContext(), 1);
    return reshape(reduced, dims);
  }

  /// Without any key there is nothing to sum, and 0 instead of 0 / 0.
  Value divisor() {
    SymTensorType scores = tensorType(attention.scores);
    SymExpr keys = scores.getDims().back();
    if (keys == scores.getDim(attention.row) || keys.asConstant().value_or(0) > 0)
      return sum;
    auto scalar = SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getI64Type());
    Value none =
        b.create<DimsValueOp>(scalar, DimsAttr::get(b.getContext(), {SymExpr::pos(-keys + 1)}));
    return b.create<AddOp>(sum, wide(none));
  }

  /// One number per line where the result has the line: its other dimensions are 1.
  Value alongResult(Value lines) {
    SmallVector<int64_t> order;
    SmallVector<SymExpr> from = tensorType(lines).getDims();
    from.pop_back();
    unsigned rank = tensorType(attention.result).getRank();
    SmallVector<SymExpr> to(rank, SymExpr::constant(b.getContext(), 1));
    for (unsigned d = 0; d < rank; ++d)
      if (auto found = llvm::find(attention.rowDims, d); found != attention.rowDims.end()) {
        order.push_back(found - attention.rowDims.begin());
        to[d] = from[order.back()];
      }
    if (!llvm::is_sorted(order))
      lines = b.create<TransposeOp>(reshape(lines, from), order);
    return tensorType(lines).getDims() == to ? lines : reshape(lines, to);
  }

  ImplicitLocOpBuilder &b;
  const Attention &attention;
  Type element;
  SymExpr length, first, count;
  Value largest, sum, shrink, result;
};

} // namespace

/// All shares to the block that is there: their scores first, for which values need not be there.
static void attendTo(Operation *op, const Attention &attention, Blocks &blocks,
                     ImplicitLocOpBuilder &builder, MutableArrayRef<Merge> merges) {
  Spans spans = spansOf(attention), valueSpans = valueSpansOf(attention),
        resultSpans(tensorType(attention.result).getRank(), Span::Whole);
  for (auto [d, dim] : llvm::enumerate(attention.rowDims))
    resultSpans[dim] = spans[d];
  SmallVector<Value> powers;
  Value keys = blocks.keysIn(builder, attention.scores);
  for (auto [i, merge] : llvm::enumerate(merges)) {
    blocks.lookAtShare(i);
    powers.push_back(merge.take(blocks.build(builder, attention.scores, spans), keys));
  }
  for (auto [i, merge] : llvm::enumerate(merges)) {
    blocks.lookAtShare(i);
    Value operands[2];
    operands[attention.powers] = powers[i];
    operands[1 - attention.powers] = blocks.build(builder, valuesOf(attention), valueSpans);
    Operation *product =
        buildPart(op, builder, operands, {blocks.typeOf(op->getResult(0), resultSpans)});
    merge.add(product->getResult(0));
  }
}

//===-- Recognition ------------------------------------------------------------------------------===//

/// Nothing when other operations read what is between softmax and product, or it is more than conversions and a guard.
std::optional<Attention> AttentionRings::attentionOf(SoftmaxOp softmax) const {
  const Cut *cut = assignment.cutOf(softmax);
  if (softmax.getLogarithm() || !cut || cut->inPieces || !cut->results[0])
    return std::nullopt;
  Attention found;
  found.scores = softmax.getInput();
  found.row = cut->results[0]->dim;
  found.isGuarded = false;
  found.between.push_back(softmax);
  Value value = softmax.getResult();
  while (true) {
    if (SelectOp guard = guardOf(value)) {
      found.isGuarded = true;
      found.between.append({guard.getCondition().getDefiningOp(), guard});
      value = guard.getResult();
      continue;
    }
    if (!value.hasOneUse())
      return std::nullopt;
    OpOperand &use = *value.use_begin();
    auto convert = dyn_cast<ConvertOp>(use.getOwner());
    if (convert && isFloat(elementOf(convert.getResult()))) {
      found.between.push_back(convert);
      value = convert.getResult();
      continue;
    }
    auto product = dyn_cast<ContractOp>(use.getOwner());
    if (!product)
      return std::nullopt;
    found.result = product.getResult();
    found.powers = use.getOperandNumber();
    found.element = elementOf(value);
    found.between.push_back(product);
    return bindProduct(found) ? std::optional(found) : std::nullopt;
  }
}

/// Whether the product sums along lines, gives one result per line, and is cut with the softmax.
bool AttentionRings::bindProduct(Attention &found) const {
  auto product = cast<ContractOp>(found.result.getDefiningOp());
  const Cut *cut = assignment.cutOf(product);
  if (!cut || cut->partial || !cut->results[0] || !cut->operands[found.powers] ||
      cut->operands[found.powers]->dim != found.row || !isFloat(product.getAccumulate()))
    return false;
  IterationRule rule = IterationRule::of(product);
  auto dimOf = [](ArrayRef<Access> accesses, unsigned factor) -> std::optional<unsigned> {
    for (auto [d, access] : llvm::enumerate(accesses))
      if (access.kind == AccessKind::Point && access.factor() == factor)
        return d;
    return std::nullopt;
  };
  ArrayRef<Access> powers = rule.operand(found.powers), values = rule.operand(1 - found.powers);
  for (ArrayRef<Access> accesses : {powers, values, rule.result(0)})
    if (llvm::any_of(accesses, [](const Access &access) {
          return access.kind != AccessKind::Point && access.kind != AccessKind::Fixed;
        }))
      return false;
  for (const Access &access : powers.drop_back()) {
    std::optional<unsigned> dim =
        access.kind == AccessKind::Point ? dimOf(rule.result(0), access.factor()) : std::nullopt;
    if (!dim)
      return false;
    found.rowDims.push_back(*dim);
    found.valueDims.push_back(access.kind == AccessKind::Point ? dimOf(values, access.factor())
                                                               : std::nullopt);
  }
  const Access &line = powers.back();
  if (line.kind != AccessKind::Point || !rule.factors()[line.factor()].reduced)
    return false;
  found.valueSpans.assign(values.size(), Span::Whole);
  std::optional<unsigned> column = dimOf(values, line.factor()),
                          row = dimOf(values, powers[found.row].factor());
  if (!column)
    return false;
  found.valueSpans[*column] = Span::Columns;
  if (row)
    found.valueSpans[*row] = Span::Rows;
  return true;
}

/// Gathering few keys is cheaper than computing block by block, unless users place keys or values by tokens.
bool AttentionRings::isWanted(const Attention &found, const Blocks &blocks) const {
  SymTensorType scores = tensorType(found.scores);
  SymFacts facts = symbolsOf(function).asFacts();
  std::optional<int64_t> most = facts.bounds(scores.getDims().back()).high;
  return blocks.areApart() && (blocks.arePlaced() || !most || *most > kShort);
}

bool AttentionRings::areWanted(const Attention &found, Blocks &blocks) const {
  return blocks.canBuild(found.scores, spansOf(found)) &&
         blocks.canBuild(valuesOf(found), valueSpansOf(found)) && isWanted(found, blocks);
}

/// What a step computes, as plans are priced: a block is a part of the rows by one of the columns.
RingShape AttentionRings::shapeOf(const Attention &found, const Blocks &blocks) const {
  auto valueOf = [&](SymExpr expr) {
    FailureOr<int64_t> value = expr ? expr.evaluate(shares.sizes) : FailureOr<int64_t>(failure());
    return failed(value) ? 0 : double(std::max<int64_t>(*value, 0));
  };
  Link link = shares.links.of(group);
  double work = 0, bytes = 0, ranks = double(group.getRanks());
  llvm::SetVector<Operation *> computed(found.between.begin(), found.between.end());
  computed.insert(blocks.rebuilt().begin(), blocks.rebuilt().end());
  for (Operation *op : computed)
    if (auto ruled = dyn_cast<RuleOpInterface>(op))
      work += valueOf(ruled.rule().points()) * double(std::max<int64_t>(ruled.scalarCost(), 1));
  for (const Carried &sent : blocks.carried())
    bytes += valueOf(bytesOf(tensorType(sent.value)));
  return {group.getRanks(), unsigned(blocks.carried().size()),
          work / (ranks * ranks) / double(kWorkOfNanosecond),
          bytes / ranks / link.bytesPerNanosecond, link.latency};
}

/// Whether every value that goes around is cut: what is not would be there for the first share only when all of it is.
static bool areAllShared(const Blocks &blocks) {
  return llvm::all_of(blocks.carried(),
                      [](const Carried &sent) { return sent.shared.has_value(); });
}

/// Along heads, which are of a fixed number.
void AttentionRings::share(Attention &found, std::unique_ptr<Blocks> &blocks) const {
  if (shares.choice == RingShares::Whole)
    return;
  RingShape shape = shapeOf(found, *blocks);
  for (unsigned dim = 0; dim < found.rowDims.size(); ++dim) {
    std::optional<int64_t> heads = tensorType(found.scores).getDim(dim).asConstant();
    if (dim == found.row || !heads)
      continue;
    for (unsigned count : shares.ranked(shape, *heads)) {
      Attention cut = found;
      cut.shared = dim;
      auto made = std::make_unique<Blocks>(group, assignment, parts, /*onlyLooks=*/false, count);
      if (count == 1 || !areWanted(cut, *made) || !areAllShared(*made))
        continue;
      found = std::move(cut), blocks = std::move(made);
      return;
    }
  }
}

AttentionRings::AttentionRings(func::FuncOp function, MeshAttr group, const Assignment &assignment,
                               Parts &parts, const RingShares &shares)
    : function(function), group(group), assignment(assignment), parts(parts), shares(shares) {
  Block &body = function.getBody().front();
  for (auto softmax : body.getOps<SoftmaxOp>()) {
    std::optional<Attention> found = attentionOf(softmax);
    if (!found)
      continue;
    Blocks look(group, assignment, parts, /*onlyLooks=*/true);
    if (!areWanted(*found, look))
      continue;
    auto blocks = std::make_unique<Blocks>(group, assignment, parts);
    if (!areWanted(*found, *blocks))
      continue;
    share(*found, blocks);
    rings[found->result.getDefiningOp()] = Ring{*found, std::move(blocks)};
  }
  findOwned(body);
}

/// What only rings read, and only block by block.
void AttentionRings::findOwned(Block &body) {
  llvm::DenseSet<Operation *> again;
  for (auto &[product, ring] : rings) {
    again.insert(ring.blocks->rebuilt().begin(), ring.blocks->rebuilt().end());
    again.insert(ring.attention.between.begin(), ring.attention.between.end());
  }
  for (Operation &op : llvm::reverse(body)) {
    bool isRead = llvm::any_of(rings, [&](auto &each) {
      return llvm::any_of(op.getResults(),
                          [&](Value result) { return each.second.blocks->isRead(result); });
    });
    if (rings.contains(&op) ||
        (again.contains(&op) && !isRead &&
         llvm::all_of(op.getUsers(), [&](Operation *user) { return owned.contains(user); })))
      owned.insert(&op);
  }
}

//===-- The ring ---------------------------------------------------------------------------------===//

/// All but the last share of values, which has time: it stands between the own block and the next one, so that no kernel of the own block takes in how it is
/// merged with the next, for which it would have to wait.
static void sendFirst(ArrayRef<SmallVector<Operation *>> sent, Operation *op) {
  sent.back().back()->moveBefore(op);
  SmallVector<SmallVector<Operation *>> early(sent);
  early.back().pop_back();
  makeFirst(early, op);
}

Value AttentionRings::buildAt(Operation *op) {
  auto found = rings.find(op);
  if (found == rings.end())
    return {};
  const Attention &attention = found->second.attention;
  Blocks &blocks = *found->second.blocks;
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Spans spans = spansOf(attention), whole = spans;
  if (attention.shared)
    whole[*attention.shared] = Span::Whole;
  RingSteps steps(attention.scores, whole, blocks, group, symbolsOf(function).asFacts());
  SymExpr piece = parts.pieceOf(attention.scores, attention.row, steps.pieces());
  std::vector<Merge> merges(blocks.shares(),
                            Merge(builder, attention, piece * int64_t(steps.pieces())));
  blocks.start(op, steps.pieces());
  std::string because = "keys and values of " + nameOf(op) + " go around in blocks";
  if (attention.shared)
    because += ", heads in " + std::to_string(blocks.shares()) + " shares";
  bool areEarly = attention.shared && steps.count() > 1;
  if (areEarly)
    blocks.send(builder, because);
  for (unsigned step = 0; step < steps.count(); ++step) {
    if (step > 1 || (step == 1 && !areEarly))
      blocks.send(builder, because);
    if (step > 0)
      blocks.advance();
    Box box = steps.boxAt(step);
    blocks.look(box);
    for (Merge &merge : merges)
      merge.look(piece * box.firstRow, piece * box.rows);
    attendTo(op, attention, blocks, builder, merges);
    if (step == 0 && areEarly)
      sendFirst(blocks.lastSent(), op);
  }
  SmallVector<Value> results =
      llvm::map_to_vector(merges, [](Merge &merge) { return merge.finish(); });
  unsigned row = attention.rowDims[attention.row];
  if (attention.shared)
    results[0] = builder.create<ConcatOp>(results, int64_t(attention.rowDims[*attention.shared]));
  return blocks.partOf(builder, results[0], op->getResult(0), row);
}

} // namespace weft
