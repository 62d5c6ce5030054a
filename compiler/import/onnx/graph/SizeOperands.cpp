//===- SizeOperands.cpp - Operands that are sizes, also where the contents of tensors decide ---===//
//
// What is known of a list of integers while importing becomes expressions. Every other element is bound: the program reads it when it runs
// and gives its value to a symbol. Where an operator means more than the number itself (-1 in Reshape, a bound that counts from the end),
// it computes the size from it first, as data.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/import/onnx/graph/SizeArithmetic.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::onnx {

constexpr int64_t kMostOperandElements = 64;

static bool contains(Block *outer, Block *inner) {
  while (inner && inner != outer)
    inner = inner->getParentOp() ? inner->getParentOp()->getBlock() : nullptr;
  return inner;
}

std::optional<Dims> NodeImport::knownOperand(unsigned i) {
  Value value = input(i);
  if (!value)
    return std::nullopt;
  if (isFloat(elementOf(value)) || rankOf(value) > 1) {
    wrong(inputName(i) + " must be a list of integers");
    return std::nullopt;
  }
  std::optional<int64_t> count = typeOf(value).getElements().asConstant();
  if (!count || *count > kMostOperandElements) {
    refuse(inputName(i) + " has '" + typeOf(value).getElements().str() +
           "' elements, but a short list of constant length is needed");
    return std::nullopt;
  }
  learnSizes(*this, state.values, value);
  const RefTensor *tensor = known(value);
  Dims list(*count);
  for (int64_t k = 0; tensor && k < *count; ++k)
    if (SymExpr expr = elementExpr(*tensor, k))
      list[k] = simplify(expr);
  return list;
}

Value NodeImport::operandElement(unsigned i, unsigned k) {
  Value list = input(i);
  if (!list)
    return {};
  Value one = rankOf(list) == 0 ? list : reshape(sliceDim(list, 0, constant(k), constant(1)), {});
  return convert(one, i64());
}

/// An input's name for its own element, else the operator's.
std::string NodeImport::symbolWish(unsigned i, bool isItself) const {
  std::string name;
  bool isInput = isItself && isa<BlockArgument>(inputs[i]) && state.contract.regions == 0;
  for (char c : isInput ? StringRef(node.inputs[i]).take_front(40) : StringRef(node.opType))
    name += !llvm::isAlnum(c) ? '_' : isInput ? c : llvm::toLower(c);
  return name.empty() || llvm::isDigit(name[0]) ? "_" + name : name;
}

SymExpr NodeImport::bindOnce(unsigned i, unsigned k, const Twine &meaning, SymExpr limit,
                             function_ref<Value()> compute) {
  std::string key = std::to_string(k) + " " + meaning.str();
  Block *here = state.builder.getInsertionBlock();
  for (const BoundSize &each : state.boundSizes[inputs[i]])
    if (each.meaning == key && contains(each.block, here))
      return each.symbol;
  SymExpr symbol = bindSymbol(compute(), symbolWish(i, meaning.str() == kItself), limit);
  if (symbol)
    state.boundSizes[inputs[i]].push_back({key, here, symbol});
  return symbol;
}

/// From here on the operand's element is the symbol, for what is computed from it, too. Not inside regions: behind them the symbol has no
/// value.
void NodeImport::learnElement(unsigned i, unsigned k, SymExpr symbol) {
  if (state.contract.regions > 0)
    return;
  Value list = input(i);
  const RefTensor *tensor = known(list);
  RefTensor learned(elementOf(list), *typeOf(list).getConstantDims(), /*symbolic=*/true);
  for (int64_t each = 0; tensor && each < learned.size(); ++each)
    learned.exprs[each] = elementExpr(*tensor, each);
  learned.exprs[k] = symbol;
  state.values.set(list, std::move(learned));
}

std::optional<Dims> NodeImport::sizesOperand(unsigned i) {
  std::optional<Dims> list = knownOperand(i);
  for (size_t k = 0; list && k < list->size(); ++k) {
    if ((*list)[k])
      continue;
    SymExpr symbol = bindOnce(i, k, kItself, {}, [&] { return operandElement(i, k); });
    if (!symbol)
      return std::nullopt;
    (*list)[k] = symbol;
    learnElement(i, k, symbol);
  }
  return list;
}

std::optional<SymExpr> NodeImport::sizeScalar(unsigned i) {
  if (!input(i))
    return std::nullopt;
  if (!typeOf(input(i)).getElements().isConstant(1)) {
    wrong(inputName(i) + " must be one number");
    return std::nullopt;
  }
  std::optional<Dims> list = sizesOperand(i);
  return list ? std::optional(list->front()) : std::nullopt;
}

} // namespace weft::onnx
