//===- ValueProducts.cpp ----------------------------------------------------------------------===//

#include "passes/quant/ValueProducts.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/quant/RoundOperands.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
namespace {

bool isProduct(Operation *op) { return isa_and_nonnull<ContractOp, ConvOp>(op); }

bool isOfValues(Operation *op) {
  return isa<ContractOp>(op) && hasRoundableOperands(op) &&
         llvm::none_of(op->getOperands(), [](Value operand) { return constantBehind(operand); });
}

/// What an operation is computed of, back to other products, which are in it, too.
SetVector<Operation *> madeOf(Operation *product) {
  SetVector<Operation *> seen;
  SmallVector<Value> left(product->getOperands());
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != product->getBlock() || !seen.insert(op) || isProduct(op))
      continue;
    llvm::append_range(left, op->getOperands());
  }
  return seen;
}

/// Products and what lies between them: whatever of `behind` reads one of them, in program order.
SmallVector<Operation *, 8> between(ArrayRef<Operation *> products,
                                    const SetVector<Operation *> &behind) {
  SetVector<Operation *> inside;
  auto isInside = [&](Value operand) { return inside.contains(operand.getDefiningOp()); };
  for (Operation *op = products.front(); op != products.back()->getNextNode();
       op = op->getNextNode())
    if (llvm::is_contained(products, op) ||
        (!isProduct(op) && behind.contains(op) && llvm::any_of(op->getOperands(), isInside)))
      inside.insert(op);
  return SmallVector<Operation *, 8>(inside.getArrayRef());
}

/// Whether nothing else needs a part of it before all of it is computed, and other products, which may be rounded in another way, nothing
/// but its result.
bool standsTogether(ArrayRef<Operation *> operations) {
  Operation *last = operations.back();
  return llvm::all_of(operations, [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::is_contained(operations, user) ||
             (last->isBeforeInBlock(op->getBlock()->findAncestorOpInBlock(*user)) &&
              (op == last || !isProduct(user)));
    });
  });
}

} // namespace

std::vector<ValueProducts> valueProducts(func::FuncOp function) {
  std::vector<ValueProducts> found;
  for (Operation &op : function.getBody().front()) {
    if (!isOfValues(&op))
      continue;
    SetVector<Operation *> behind = madeOf(&op);
    ValueProducts joined{{&op}, {&op}};
    // The last group that it is computed of; what is in front of that one lies in front of its products.
    auto made = llvm::find_if(llvm::reverse(found), [&](const ValueProducts &group) {
      return behind.contains(group.products.back());
    });
    if (made != found.rend()) {
      joined.products = made->products;
      joined.products.push_back(&op);
      joined.operations = between({made->products.back(), &op}, behind);
      joined.operations.insert(joined.operations.begin(), made->operations.begin(),
                               made->operations.end() - 1);
      if (standsTogether(joined.operations)) {
        *made = std::move(joined);
        continue;
      }
    }
    found.push_back({{&op}, {&op}});
  }
  return found;
}

} // namespace weft
