//===- Layers.cpp ---------------------------------------------------------------------------------===//

#include "passes/parallel/Layers.h"
#include "dialects/weft/Mesh.h"
#include "passes/parallel/Price.h"

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kFewest = 4;          ///< layers, of which one is left out
constexpr size_t kLongestLayer = 2000; ///< operations
constexpr unsigned kReadersDeep = 3;   ///< that tell constants apart

} // namespace

Layers::Layers(func::FuncOp function) : block(function.getBody().front()) {
  collect();
  for (BlockArgument argument : function.getArguments())
    kindOf(argument);
  for (Operation &op : block)
    if (isa<ConstantOp>(op))
      kindOf(op.getResult(0));
  if (Stack stack = findStack(); stack.count >= kFewest)
    join(stack);
}

void Layers::collect() {
  operations.clear(), places.clear(), constants.clear(), known.clear();
  for (Operation &op : block) {
    bool isConst = op.getNumRegions() == 0 && isPure(&op) &&
                   (isa<ConstantOp>(op) || op.getNumOperands() > 0) &&
                   llvm::all_of(op.getOperands(), [&](Value v) { return isConstant(v); });
    if (isConst) {
      constants.insert(&op);
    } else if (&op != block.getTerminator()) {
      places[&op] = operations.size();
      operations.push_back(&op);
    }
  }
}

bool Layers::isConstant(Value value) const {
  return value.getDefiningOp() && constants.contains(value.getDefiningOp());
}

//===-- What is alike ----------------------------------------------------------------------------===//

/// In the order in which they are met, so the same in every run.
unsigned Layers::number(const Words &words) {
  return numbers.try_emplace(words, numbers.size() + 1).first->second;
}

static const void *word(unsigned number) { return reinterpret_cast<const void *>(size_t(number)); }

/// By what it is, not by what it reads.
unsigned Layers::numberOf(Operation *op) {
  unsigned &found = known[op];
  if (found)
    return found;
  Words words{op->getName().getAsOpaquePointer()};
  if (op->getNumRegions() > 0 || timesOf(op->getLoc()) > 1)
    words.push_back(op); // like no other
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!isa<ConstantOp>(op) || attribute.getName() == kPlacementAttr) {
      words.push_back(attribute.getName().getAsOpaquePointer());
      words.push_back(attribute.getValue().getAsOpaquePointer());
    }
  for (Type type : op->getOperandTypes())
    words.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    words.push_back(type.getAsOpaquePointer());
  return found = number(words);
}

/// Of a constant and what is computed of it, without its numbers.
unsigned Layers::numberOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return number({value.getType().getAsOpaquePointer()});
  Words words{word(numberOf(op)), word(cast<OpResult>(value).getResultNumber())};
  for (Value operand : op->getOperands())
    words.push_back(word(numberOf(operand)));
  return number(words);
}

/// By who reads it, and who reads what those give.
unsigned Layers::numberOfReaders(Value value, unsigned depth) {
  std::vector<const void *> readers;
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    if (reader->getBlock() != &block || reader == block.getTerminator())
      continue;
    Words words{word(numberOf(reader)), word(use.getOperandNumber())};
    if (depth > 0)
      for (Value result : reader->getResults())
        words.push_back(word(numberOfReaders(result, depth - 1)));
    readers.push_back(word(number(words)));
  }
  llvm::sort(readers);
  return number(readers);
}

unsigned Layers::leader(unsigned kind) {
  while (leaders[kind] != kind)
    kind = leaders[kind];
  return kind;
}

/// Alike are at first those with the same readers. Which of two kinds leads does not matter, but is the same in every run.
unsigned Layers::kindOf(Value value) {
  auto found = kinds.find(value);
  if (found != kinds.end())
    return leader(found->second);
  unsigned id = number({word(numberOf(value)), word(numberOfReaders(value, kReadersDeep))});
  for (unsigned next = leaders.size(); next <= id; ++next)
    leaders.push_back(next);
  kinds[value] = id;
  return leader(id);
}

void Layers::joinConstants(Value a, Value b) {
  if (a == b)
    return;
  Operation *ofA = a.getDefiningOp(), *ofB = b.getDefiningOp();
  if (!ofA || isa<ConstantOp>(ofA)) {
    unsigned first = kindOf(a), second = kindOf(b);
    leaders[std::max(first, second)] = std::min(first, second);
    return;
  }
  for (auto [operandA, operandB] : llvm::zip_equal(ofA->getOperands(), ofB->getOperands()))
    joinConstants(operandA, operandB);
}

//===-- Stacks -----------------------------------------------------------------------------------===//

bool Layers::readsAlike(Value earlier, Value later, size_t period) {
  if (earlier == later)
    return true;
  if (isConstant(earlier) || isa<BlockArgument>(earlier))
    return (isConstant(later) || isa<BlockArgument>(later)) && numberOf(earlier) == numberOf(later);
  auto a = places.find(earlier.getDefiningOp()),
       b = later.getDefiningOp() ? places.find(later.getDefiningOp()) : places.end();
  return a != places.end() && b != places.end() && b->second == a->second + period &&
         cast<OpResult>(earlier).getResultNumber() == cast<OpResult>(later).getResultNumber();
}

/// Whether an operation is what the one a period earlier is.
bool Layers::isAlike(size_t later, size_t period) {
  if (operationNumbers[later - period] != operationNumbers[later])
    return false;
  Operation *a = operations[later - period], *b = operations[later];
  return llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()), [&](auto pair) {
    return readsAlike(std::get<0>(pair), std::get<1>(pair), period);
  });
}

/// The one that spares most operations; of these the one with the shortest layers.
Layers::Stack Layers::findStack() {
  Stack best;
  size_t spared = 0, count = operations.size();
  operationNumbers.resize(count);
  llvm::transform(operations, operationNumbers.begin(),
                  [&](Operation *op) { return numberOf(op); });
  for (size_t period = 1; period <= std::min(kLongestLayer, count / kFewest); ++period)
    for (size_t begin = 0, at = period; at <= count; ++at) {
      if (at < count && isAlike(at, period))
        continue;
      size_t layers = (at - begin) / period;
      if (layers >= kFewest && (layers - 3) * period > spared) {
        best = {begin, period, layers, at};
        spared = (layers - 3) * period;
      }
      begin = at + 1 - period; // what is not alike is of no stack with what is before
    }
  return best;
}

/// Equal layers read their constants alike, also where what follows differs.
void Layers::join(const Stack &stack) {
  for (size_t at = stack.begin + stack.period; at < stack.end; ++at)
    for (auto [a, b] : llvm::zip_equal(operations[at - stack.period]->getOperands(),
                                       operations[at]->getOperands()))
      if (isConstant(b) || isa<BlockArgument>(b))
        joinConstants(a, b);
}

void Layers::keepThree() {
  constexpr unsigned kMostStacks = 8;
  for (unsigned i = 0; i < kMostStacks; ++i) {
    Stack stack = findStack();
    if (stack.count < kFewest)
      return;
    join(stack);
    shorten(stack);
    collect();
  }
}

/// What stays in place of a value of a layer that is left out: for the last layer what is as far before it, for others what is in the second.
Value Layers::standsFor(OpOperand &use, const Stack &stack) {
  size_t at = places.lookup(use.get().getDefiningOp()) - stack.begin, layer = at / stack.period,
         last = (stack.count - 1) * stack.period + stack.begin, target = 1;
  auto reader = places.find(block.findAncestorOpInBlock(*use.getOwner()));
  if (reader != places.end() && reader->second >= last && reader->second < last + stack.period)
    target = layer < stack.count - 3 ? 0 : layer - (stack.count - 3);
  Operation *op = operations[stack.begin + target * stack.period + at % stack.period];
  return op->getResult(cast<OpResult>(use.get()).getResultNumber());
}

void Layers::shorten(const Stack &stack) {
  size_t from = stack.begin + 2 * stack.period, to = stack.begin + (stack.count - 1) * stack.period;
  for (size_t at = from; at < to; ++at)
    for (Value result : operations[at]->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        auto reader = places.find(use.getOwner());
        bool isLeftOut = reader != places.end() && reader->second >= from && reader->second < to;
        if (!isLeftOut)
          use.set(standsFor(use, stack));
      }
  for (size_t at = to; at-- > from;)
    operations[at]->erase();
  auto isSecond = [&](Operation *op) {
    auto found = places.find(op);
    return found != places.end() && found->second >= from - stack.period && found->second < from;
  };
  for (size_t at = from - stack.period; at < from; ++at)
    operations[at]->setLoc(withTimes(operations[at]->getLoc(), int64_t(stack.count - 2)));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!constants.contains(&op))
      continue;
    if (!isa<ConstantOp>(op) && op.use_empty()) {
      constants.erase(&op);
      op.erase();
    } else if (!op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
                 return isSecond(user) || (constants.contains(user) && timesOf(user->getLoc()) > 1);
               })) {
      op.setLoc(withTimes(op.getLoc(), int64_t(stack.count - 2)));
    }
  }
}

} // namespace weft
