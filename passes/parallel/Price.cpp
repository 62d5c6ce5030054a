//===- Price.cpp ----------------------------------------------------------------------------------===//

#include "passes/parallel/Price.h"
#include "passes/cost/KernelWork.h"

using namespace mlir;

namespace weft {
namespace {

/// A kernel reads constants from memory, where other ranks read theirs: slower than what the kernel before has left in caches.
constexpr double kConstantBytesOfNanosecond = 16;
/// Constants are fetched while others are computed with; this part of the shorter of both times is not hidden: products of 64 rows take 2.5 % longer
/// with twice the weights (Zen 4).
constexpr double kNotBeside = 0.25;
/// Ranks do not come to an exchange at once, and all wait for the last one: 7 to 50 us in steps of 1 to 2 ms on two processors of one machine.
constexpr double kMeeting = 20000;
/// As KernelWork counts.
constexpr double kWorkOfByte = 2;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

class Pricing {
public:
  Pricing(func::FuncOp function, SymValues &sizes, const Links &links)
      : block(function.getBody().front()), sizes(sizes), links(links) {}

  Price run() {
    for (Operation &op : block)
      if (isConstant(&op))
        constants.insert(&op);
    for (Operation &op : block)
      price(&op, 1);
    price_.values = largestAtOnce();
    return price_;
  }

private:
  double valueOf(SymExpr expr) const {
    FailureOr<int64_t> value = expr.evaluate(sizes);
    return failed(value) ? 0 : std::max<double>(0, double(*value));
  }
  double bytes(Value value) const { return valueOf(bytesOf(typeOf(value))); }

  /// Known when compiling, up to the place of the rank.
  bool isConstant(Operation *op) const {
    if (isa<ConstantOp>(op))
      return true;
    return op->getNumRegions() == 0 && op->getNumOperands() > 0 && isPure(op) &&
           !isa<CollectiveOpInterface>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand); });
  }
  bool isConstant(Value value) const {
    return value.getDefiningOp() && constants.contains(value.getDefiningOp());
  }

  void price(Operation *op, double often) {
    double times = often * double(timesOf(op->getLoc()));
    if (constants.contains(op)) {
      if (isa<ConstantOp>(op))
        price_.weights += times * held(op->getResult(0));
      return;
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      Link link = links.of(collective.getGroup());
      price_.exchanges += times * (kMeeting + valueOf(collective.sentMessages()) * link.latency +
                                   valueOf(collective.sentBytes()) / link.bytesPerNanosecond);
      return;
    }
    price_.kernels += times * kernelTime(op);
    if (auto loop = dyn_cast<LoopOp>(op))
      times *= valueOf(loop.times());
    for (Region &region : op->getRegions()) // of branches both
      for (Operation &inner : region.getOps())
        price(&inner, times);
  }

  /// What is computed point by point becomes part of the kernels around it; others read and write memory.
  double kernelTime(Operation *op) const {
    auto ruled = dyn_cast<RuleOpInterface>(op);
    if (!ruled)
      return 0;
    IterationRule rule = ruled.rule();
    SymExpr product = rule.points();
    if (!product)
      return 0;
    double points = valueOf(product),
           work = points * double(std::max<int64_t>(ruled.scalarCost(), 1)), fromMemory = 0;
    bool isRoot = !rule.reducedFactors().empty();
    for (Value operand : op->getOperands()) {
      double read = std::min(bytes(operand), points * 4);
      if (isConstant(operand) && isRoot)
        fromMemory += read;
      else if (isRoot)
        work += kWorkOfByte * read;
    }
    for (Value result : op->getResults())
      work += isRoot ? kWorkOfByte * bytes(result) : 0;
    double computing = work / double(kWorkOfNanosecond),
           reading = fromMemory / kConstantBytesOfNanosecond;
    return std::max(computing, reading) + kNotBeside * std::min(computing, reading);
  }

  /// Of a constant only what the rank reads: slices that move with a loop come by all of it.
  double held(Value value) const {
    double parts = 0, all = bytes(value);
    for (Operation *user : value.getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || movesInLoop(slice))
        return all;
      parts += held(slice.getResult());
    }
    return std::min(all, parts);
  }

  static bool movesInLoop(SliceOp slice) {
    for (auto loop = slice->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
      for (SymExpr start : slice.getStarts().getDims())
        if (llvm::is_contained(start.symbols(), loop.getIndexAttr()))
          return true;
    return false;
  }

  /// Of values that are made here, each from where it is made to where it is read last.
  double largestAtOnce() const {
    llvm::DenseMap<Operation *, double> freed;
    double now = 0, most = 0;
    for (Operation &op : block) {
      double made = 0;
      for (Value result : op.getResults()) {
        if (constants.contains(&op) || result.use_empty() || !isa<SymTensorType>(result.getType()))
          continue;
        Operation *last = nullptr;
        for (Operation *user : result.getUsers()) {
          Operation *here = block.findAncestorOpInBlock(*user);
          if (!last || last->isBeforeInBlock(here))
            last = here;
        }
        freed[last] += bytes(result);
        made += bytes(result);
      }
      now += made;
      most = std::max(most, now);
      now -= freed.lookup(&op);
    }
    return most;
  }

  Block &block;
  const SymValues &sizes;
  const Links &links;
  llvm::DenseSet<Operation *> constants;
  Price price_;
};

} // namespace

//===-- Prices -----------------------------------------------------------------------------------===//

bool Price::isBetter(const Price &other, double limit) const {
  bool isOver = limit > 0 && memory() > limit, isOtherOver = limit > 0 && other.memory() > limit;
  if (isOver != isOtherOver)
    return isOtherOver;
  double mine = isOver ? memory() : time(), theirs = isOver ? other.memory() : other.time();
  return mine < theirs * (1 - 1e-9);
}

Price &Price::operator+=(const Price &other) {
  kernels += other.kernels, exchanges += other.exchanges;
  weights += other.weights, values = std::max(values, other.values);
  return *this;
}

Price priceOf(func::FuncOp function, SymValues sizes, const Links &links) {
  if (MeshAttr mesh = meshOf(function))
    for (StringAttr symbol : rankSymbols(mesh))
      sizes[symbol] = 0;
  return Pricing(function, sizes, links).run();
}

int64_t timesOf(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    if (auto times = dyn_cast_or_null<IntegerAttr>(fused.getMetadata()))
      return times.getInt();
  return 1;
}

Location withTimes(Location location, int64_t times) {
  Builder builder(location.getContext());
  return FusedLoc::get(location.getContext(), {location}, builder.getI64IntegerAttr(times));
}

//===-- Sizes ------------------------------------------------------------------------------------===//

namespace {

constexpr int64_t kGuess = 128;

/// Symbols that are the first dimension of an input with several.
llvm::DenseSet<StringAttr> leadingSymbols(func::FuncOp function) {
  llvm::DenseSet<StringAttr> leading;
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<SymTensorType>(type); tensor && tensor.getRank() >= 2)
      if (StringAttr symbol = tensor.getDim(0).asSymbol())
        leading.insert(symbol);
  return leading;
}

} // namespace

FailureOr<SymValues> guessSizes(func::FuncOp function,
                                const std::map<std::string, int64_t> &given) {
  SymbolsAttr symbols = symbolsOf(function);
  SymFacts facts = symbols.asFacts();
  llvm::DenseSet<StringAttr> leading = leadingSymbols(function);
  SymValues values;
  SmallVector<StringAttr> names(symbols.getNames());
  llvm::append_range(names, symbols.getBoundNames());
  for (StringAttr name : names) {
    if (auto found = given.find(name.str()); found != given.end()) {
      values[name] = found->second;
      continue;
    }
    SymInterval bounds = facts.bounds(SymExpr::symbol(name));
    int64_t divisor = facts.divisor(name),
            guess = llvm::alignTo(leading.contains(name) ? 1 : kGuess, divisor);
    guess = std::min(guess, bounds.high.value_or(guess));
    values[name] = std::max(guess, bounds.low.value_or(guess));
  }
  for (StringAttr name : names) // what others say
    if (SymExpr solved = facts.simplify(SymExpr::symbol(name));
        solved != SymExpr::symbol(name) && !given.count(name.str()))
      if (FailureOr<int64_t> value = solved.evaluate(values); succeeded(value))
        values[name] = *value;
  for (const SymPred &fact : symbols.getFacts()) {
    bool isGiven = llvm::all_of(fact.symbols(),
                                [&](StringAttr symbol) { return given.count(symbol.str()) > 0; });
    FailureOr<bool> holds = fact.evaluate(values);
    if (isGiven && succeeded(holds) && !*holds)
      return emitError(function.getLoc(), "sizes to choose a plan at contradict '")
             << fact.str() << "'";
  }
  return values;
}

std::map<std::string, int64_t> readSizes(ArrayRef<std::string> texts) {
  std::map<std::string, int64_t> sizes;
  for (const std::string &text : texts) {
    auto [name, value] = StringRef(text).split('=');
    value.getAsInteger(10, sizes[name.str()]);
  }
  return sizes;
}

} // namespace weft
