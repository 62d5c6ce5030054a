//===- OperationUse.cpp -----------------------------------------------------------------------===//

#include "compiler/hardware/OperationUse.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Resize.h"
#include "dialects/weft/ops/Rounding.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return dyn_cast<SymTensorType>(value.getType()); }

Type elementOf(Value value) { return typeOf(value) ? typeOf(value).getElementType() : Type(); }

/// What stands for reals; booleans, sizes and positions do not.
bool isNarrow(Type element) {
  auto integer = dyn_cast_or_null<IntegerType>(element);
  return integer && integer.getWidth() > 1 && integer.getWidth() <= 16;
}

bool isOfReals(Type element) { return isa_and_nonnull<FloatType>(element); }

/// Whether an operation sums products of two operands.
bool isProduct(Operation *op) {
  return op->getNumOperands() == 2 && op->hasAttrOfType<TypeAttr>("accumulate");
}

/// Where dimensions of an operand come from, behind views.
struct Moves {
  SmallVector<int64_t> dims; ///< by dimension of the value: that of the operand
  bool areKnown = true;

  static Moves none(Value value) {
    Moves moves;
    for (unsigned d = 0; d < typeOf(value).getRank(); ++d)
      moves.dims.push_back(d);
    return moves;
  }
  void through(Operation *view) {
    auto transpose = dyn_cast<TransposeOp>(view);
    areKnown &= bool(transpose);
    if (!transpose)
      return;
    SmallVector<int64_t> moved(dims.size());
    for (auto [i, from] : llvm::enumerate(transpose.getOrder()))
      moved[size_t(from)] = dims[i];
    dims = std::move(moved);
  }
};

/// Whether no factor of a dimension of a product's operand is summed.
bool isKept(Operation *product, unsigned operand, int64_t dim) {
  IterationRule rule = IterationRule::of(product);
  return llvm::none_of(rule.operand(operand)[size_t(dim)].terms, [&](const Access::Term &term) {
    return rule.factors()[term.factor].reduced;
  });
}

/// What has a scale of its own where `parameter` lies beside `data`.
std::optional<ScaleUnit> unitOf(Value parameter, Value data, const Moves &moves, Operation *reader,
                                unsigned operand) {
  ScaleUnit unit;
  unsigned rank = typeOf(data).getRank(), have = typeOf(parameter).getRank();
  for (unsigned d = 0; d < have; ++d) {
    if (typeOf(parameter).getDim(d).isConstant(1))
      continue;
    bool isColumn = isProduct(reader) && operand == 1;
    unit.kind = isColumn ? ScaleUnit::Column : ScaleUnit::Row;
    if (!moves.areKnown ||
        (isProduct(reader) && !isKept(reader, operand, moves.dims[d + rank - have])))
      return std::nullopt;
  }
  return unit;
}

/// The integers that a value stands for, if it does.
std::optional<UsedTensor> restored(Value value, Operation *reader, unsigned operand) {
  if (!typeOf(value))
    return std::nullopt;
  Moves moves = Moves::none(value);
  UsedTensor used;
  Operation *op = value.getDefiningOp();
  for (; op && movesElements(op); op = op->getOperand(0).getDefiningOp()) {
    moves.through(op);
    used.views.push_back(op);
  }
  auto from = [&](Value integers, Type element, Value scale, Value zero) {
    used.integers = integers;
    used.element = element;
    used.scale = scale;
    used.zero = zero;
    used.scalesPer = unitOf(scale, op->getResult(0), moves, reader, operand);
    return used;
  };
  if (auto dequantize = dyn_cast_or_null<DequantizeOp>(op))
    return from(dequantize.getInput(), elementOf(dequantize.getInput()), dequantize.getScale(),
                dequantize.getZero());
  if (auto fake = dyn_cast_or_null<FakeQuantizeOp>(op))
    return from({}, elementOf(fake.getZero()), fake.getStep(), fake.getZero());
  if (auto blocks = dyn_cast_or_null<DequantizeBlocksOp>(op))
    return UsedTensor{elementOf(blocks.getInput()),
                      blocks.getInput(),
                      blocks.getScale(),
                      blocks.getZero(),
                      ScaleUnit{ScaleUnit::Block, int64_t(blocks.getBlock())},
                      false};
  if (auto rounded = dyn_cast_or_null<RoundBlocksOp>(op))
    return UsedTensor{IntegerType::get(op->getContext(), 8),
                      {},
                      {},
                      {},
                      ScaleUnit{ScaleUnit::Block, int64_t(rounded.getBlock())},
                      false};
  return std::nullopt;
}

/// As a reader of a result has it.
UsedTensor readBy(OpOperand &read) {
  Value value = read.get();
  UsedTensor used{elementOf(value), {}, {}, {}, ScaleUnit{}, false};
  auto quantize = dyn_cast<QuantizeOp>(read.getOwner());
  if (!quantize || read.getOperandNumber() != 0)
    return used;
  used.element = elementOf(quantize.getResult());
  used.scale = quantize.getScale();
  used.zero = quantize.getZero();
  used.scalesPer = unitOf(used.scale, value, Moves::none(value), quantize, 0);
  return used;
}

/// As every reader of a result has it, behind views.
std::vector<UsedTensor> readersOf(Value result) {
  std::vector<UsedTensor> readers;
  for (SmallVector<Value> left{result}; !left.empty();)
    for (OpOperand &read : left.pop_back_val().getUses())
      if (movesElements(read.getOwner()))
        left.push_back(read.getOwner()->getResult(0));
      else
        readers.push_back(readBy(read));
  return readers;
}

bool isConversion(Operation *op) {
  return isa<QuantizeOp, DequantizeOp, FakeQuantizeOp, ConvertOp>(op);
}

/// Of an operation that reads or gives integers as they are.
OperationUse useOfIntegers(Operation *op, OperationUse use, ConstantUses &constants) {
  use.kind = OperationUse::Integers;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (isNarrow(elementOf(operand))) {
      UsedTensor used{elementOf(operand),           operand, {}, {}, ScaleUnit{},
                      constants.isConstant(operand)};
      if (auto quantize = operand.getDefiningOp<QuantizeOp>()) {
        used.scale = quantize.getScale();
        used.zero = quantize.getZero();
        used.scalesPer = unitOf(used.scale, operand, Moves::none(operand), op, unsigned(i));
      }
      use.operands.push_back(used);
    }
  use.results.push_back({elementOf(op->getResult(0)), {}, {}, {}, ScaleUnit{}, false});
  return use;
}

/// Blocks lie beside their scales, so these are conversions that not every hardware has.
std::optional<OperationUse> useOfBlocks(Operation *op, OperationUse use, ConstantUses &constants) {
  if (!isa<DequantizeBlocksOp, RoundBlocksOp>(op))
    return std::nullopt;
  use.kind = OperationUse::Integers;
  use.operands.push_back(*restored(op->getResult(0), op, 0));
  use.operands.back().isConstant = constants.isConstant(op->getOperand(0));
  use.results.push_back({elementOf(op->getResult(0)), {}, {}, {}, ScaleUnit{}, false});
  return use;
}

/// Of an operation on reals: whether all stand for integers, and of another than a product what it
/// gives, too.
OperationUse useOfReals(Operation *op, OperationUse use, ConstantUses &constants) {
  use.kind = OperationUse::Floats;
  bool isAnyRestored = false;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isOfReals(elementOf(operand)))
      continue;
    std::optional<UsedTensor> used = restored(operand, op, unsigned(i));
    bool isConstant = constants.isConstant(operand);
    if (!used && (use.isProduct || !isConstant))
      return use;
    isAnyRestored |= bool(used) && !isConstant;
    if (!used)
      continue; // a number of a file's, as what a pad puts around
    used->isConstant = isConstant;
    use.operands.push_back(*used);
  }
  if (op->getNumResults() != 1 || !isAnyRestored)
    return use;
  use.results = readersOf(op->getResult(0));
  bool isStored = !use.results.empty() && llvm::all_of(use.results, [](const UsedTensor &used) {
    return isNarrow(used.element);
  });
  if (use.isProduct)
    use.kind = OperationUse::Integers;
  else if (isStored)
    use.kind = OperationUse::Optional;
  return use;
}

} // namespace

std::string OperationUse::name() const { return op->getName().stripDialect().str(); }

std::string elementText(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

bool ConstantUses::isConstant(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool is = op && op->getNumRegions() == 0 && isPure(op) &&
            llvm::all_of(op->getOperands(), [&](Value each) { return isConstant(each); });
  return known[value] = is;
}

OperationUse useOf(Operation *op, ConstantUses &constants) {
  OperationUse use;
  use.op = op;
  bool areConstants = llvm::all_of( // asked of all in order, so that nothing is asked deeply
      op->getResults(), [&](Value result) { return constants.isConstant(result); });
  bool computes = isa<WeftDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
                  op->getNumOperands() > 0 && op->getNumResults() > 0 && !movesElements(op);
  if (!computes)
    return use;
  if (std::optional<OperationUse> blocks = useOfBlocks(op, use, constants))
    return *blocks;
  if (areConstants)
    return use;
  use.isProduct = isProduct(op);
  auto has = [&](auto is) {
    return llvm::any_of(op->getOperands(), [&](Value v) { return is(elementOf(v)); }) ||
           llvm::any_of(op->getResults(), [&](Value v) { return is(elementOf(v)); });
  };
  if (isConversion(op))
    use.kind = OperationUse::Conversion;
  else if (has(isNarrow))
    return useOfIntegers(op, use, constants);
  else if (has(isOfReals))
    return useOfReals(op, use, constants);
  return use;
}

} // namespace weft
