//===- TabulateBytes.cpp - Functions of one byte are looked up ------------------------------------------===//
//
//   before   %1 = dequantize %x, %s, %z ; %2 = activation sigmoid %1 ; %3 = quantize %2, %t, %u        after   %3 = look_up %x, %table
//            … %6 = quantize (mul %1, (dequantize %3 …)) …                                                     %6 = look_up %x, %other
//
// What is computed element by element from one tensor of bytes and numbers has 256 results at most. They are computed here by reference
// semantics, so a table gives what the evaluator does. Tables lie in memory: layers that differ in nothing else share their kernels.
//
// From a byte back to what it is computed from: operators are taken in until all that is left is one tensor of bytes, and further as long
// as nobody else reads that.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_TABULATEBYTES
#include "passes/quant/Passes.h.inc"

namespace {

constexpr size_t kMostOperators = 64;
/// Operations, as operators count theirs, that a table must save. Where machines look bytes up one by one, that costs as much as some
/// activation with two roundings; else no more than what converts a byte to a real and back.
constexpr int64_t kLeastOneByOne = 12, kLeastAtOnce = 7;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// A byte as a function of another.
struct ByteFunction {
  Value input;
  SmallVector<Operation *> operators; ///< in program order
  int64_t cost = 0;
};

class Tabulator {
public:
  Tabulator(func::FuncOp function, const WeightReader &weight, int64_t least)
      : b(function.getLoc(), function.getContext()), constants(weight), least(least) {}

  void run(Block &block) {
    // Who comes last has the most behind it.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          run(inner);
      if (op.use_empty() && isElementwise(&op)) {
        op.erase(); // as a table took its place
        constants.forget();
        continue;
      }
      if (isElementwise(&op) && isByte(op.getResult(0)))
        if (std::optional<ByteFunction> function = find(&op))
          replace(&op, *function);
    }
  }

private:
  static bool isElementwise(Operation *op) {
    auto rule = dyn_cast_or_null<RuleOpInterface>(op);
    return rule && isa<ElementOpInterface>(op) && isa<ReferenceOpInterface>(op) && isPure(op) &&
           op->getNumResults() == 1 && op->getNumOperands() > 0 && op->getNumRegions() == 0 &&
           rule.rule().isPointwise();
  }

  bool isNumber(Value value) {
    return typeOf(value).getElements().isConstant(1) && constants.find(value);
  }

  /// The largest function that the operator's result is; nothing when none is worth a table.
  std::optional<ByteFunction> find(Operation *last) {
    dims = typeOf(last->getResult(0)).getDimAttributes();
    if (dims.empty())
      return std::nullopt;
    left.clear();
    taken.clear();
    std::optional<ByteFunction> found;
    for (bool isTaken = take(last->getResult(0)); isTaken; isTaken = takeNext()) {
      if (left.size() != 1 || !isByte(left[0]))
        continue;
      ByteFunction function{left[0], sorted(), 0};
      for (Operation *op : function.operators)
        function.cost += cast<RuleOpInterface>(op).scalarCost();
      if (function.cost >= least)
        found = std::move(function);
      if (found && !isReadHereOnly(left[0]))
        break;
    }
    return found;
  }

  /// Takes in the operator that computes what is left last in the program; false when there is none.
  bool takeNext() {
    Value last;
    for (Value value : left) {
      Operation *op = value.getDefiningOp();
      if (op && (!last || last.getDefiningOp()->isBeforeInBlock(op)))
        last = value;
    }
    return last && take(last);
  }

  bool take(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isElementwise(op) || taken.size() >= kMostOperators)
      return false;
    for (Value operand : op->getOperands()) {
      if (isNumber(operand))
        continue;
      if (typeOf(operand).getDimAttributes() != dims)
        return false;
      Operation *from = operand.getDefiningOp();
      if (from && from->getBlock() != op->getBlock() && !isByte(operand))
        return false;
      left.insert(operand);
    }
    left.remove(value);
    taken.insert(op);
    return true;
  }

  bool isReadHereOnly(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) { return taken.contains(user); });
  }

  SmallVector<Operation *> sorted() const {
    SmallVector<Operation *> all(taken.begin(), taken.end());
    llvm::sort(all, [](Operation *a, Operation *c) { return a->isBeforeInBlock(c); });
    return all;
  }

  /// The same operators on all 256 bytes.
  std::optional<RefTensor> tabulate(const ByteFunction &function) {
    SmallVector<int64_t> ones(dims.size(), 1);
    ones.back() = LookUpOp::kEntries;
    SmallVector<SymExpr> sizes;
    for (int64_t size : ones)
      sizes.push_back(SymExpr::constant(b.getContext(), size));
    auto all = SymTensorType::get(sizes, typeOf(function.input).getElementType());
    RefTensor bytes(all.getElementType(), ones);
    for (int64_t i = 0; i < LookUpOp::kEntries; ++i)
      bytes.integers[i] = wrapInteger(all.getElementType(), i);
    IRMapping mapping;
    mapping.map(function.input, b.create<ConstantOp>(all, elementsOf(bytes)));
    SmallVector<Operation *> made{mapping.lookup(function.input).getDefiningOp()};
    for (Operation *op : function.operators) {
      Operation *clone = b.clone(*op, mapping);
      clone->getResult(0).setType(all.withElement(typeOf(op->getResult(0)).getElementType()));
      made.push_back(clone);
    }
    const RefTensor *found = constants.find(made.back()->getResult(0));
    std::optional<RefTensor> table = found ? std::optional(*found) : std::nullopt;
    for (Operation *op : llvm::reverse(made))
      op->erase();
    constants.forget();
    return table;
  }

  void replace(Operation *op, const ByteFunction &function) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    std::optional<RefTensor> table = tabulate(function);
    if (!table)
      return;
    table->dims = {LookUpOp::kEntries};
    auto type = SymTensorType::get({SymExpr::constant(b.getContext(), LookUpOp::kEntries)},
                                   typeOf(op->getResult(0)).getElementType());
    Value values = b.create<ConstantOp>(type, elementsOf(*table));
    op->getResult(0).replaceAllUsesWith(b.create<LookUpOp>(function.input, values));
    op->erase();
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants;
  const int64_t least;
  ArrayRef<Attribute> dims; ///< of all values of a function
  llvm::SetVector<Value> left;
  llvm::SetVector<Operation *> taken;
};

struct TabulateBytesPass : impl::TabulateBytesBase<TabulateBytesPass> {
  using TabulateBytesBase::TabulateBytesBase;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      Tabulator(getOperation(), weight, atOnce ? kLeastAtOnce : kLeastOneByOne)
          .run(getOperation().getBody().front());
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createTabulateBytes(std::function<const char *(llvm::StringRef)> weight,
                                          const TabulateBytesOptions &options) {
  auto pass = std::make_unique<TabulateBytesPass>(options);
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
