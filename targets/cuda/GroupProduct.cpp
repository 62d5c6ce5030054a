//===- GroupProduct.cpp -----------------------------------------------------------------------------===//
//
//   one text for all products of a tile: what was computed in registers is there     [fence]
//     every 64 rows by all columns, step by step
//     all of it, and a wait
//
// As one text, so that nothing comes between that touches a register of a product on its way.
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/GroupProduct.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {
namespace {

/// "{$4, $5, $6}".
std::string registers(size_t first, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

/// A register of two halves, whatever their type.
Value wordOf(SimtKernel &k, Value halves) {
  Type word = k.b.getI32Type();
  return halves.getType() == word ? halves : Value(k.b.create<LLVM::BitcastOp>(word, halves));
}

} // namespace

SmallVector<Value> multiplyAddGroup(SimtKernel &k, Type element, ArrayRef<GroupStep> steps,
                                    bool isTurned, ValueRange sums) {
  size_t groups = steps.front().left.size(), each = sums.size() / groups; // sums of a thread
  StringRef type = element.isBF16() ? "bf16" : "f16";
  std::string product = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * each) +
                        "k16.f32." + type.str() + "." + type.str() + " ";
  std::string text = "wgmma.fence.sync.aligned;\n", constraints;
  SmallVector<Value> operands(sums);
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += "=f,";
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += std::to_string(i) + ",";
  auto add = [&](Value operand, const char *kind) {
    operands.push_back(operand);
    constraints += kind;
    return sums.size() + operands.size() - 1; // its number in the text
  };
  for (const GroupStep &step : steps) {
    size_t right = add(step.right, "l,");
    for (size_t i = 0; i < groups; ++i) {
      size_t left = sums.size() + operands.size();
      for (Value halves : step.left[i])
        add(wordOf(k, halves), "r,");
      text += product + registers(i * each, each) + ", " + registers(left, step.left[i].size()) +
              ", $" + std::to_string(right) + ", 1, 1, 1, " + (isTurned ? "1;\n" : "0;\n");
    }
  }
  text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;";
  SmallVector<Type> types(sums.getTypes());
  return k.assembly(text, constraints + "~{memory}", types, operands);
}

} // namespace weft
