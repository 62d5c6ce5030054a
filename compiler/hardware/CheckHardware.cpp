//===- CheckHardware.cpp - Which operations of a program break a description ------------------===//
//
// Every operation is looked at by itself, as the program has it: what a search decided, or said,
// does not count.
//===------------------------------------------------------------------------------------------===//

#include "compiler/hardware/FindHardware.h"
#include "compiler/hardware/SumBound.h"
#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/ops/Quantize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/quant/NodeNames.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostElements = int64_t(1) << 28; ///< of a weight that is looked at
constexpr int64_t kWholeBits = 32;

bool isPowerOfTwo(double scale) {
  int exponent = 0;
  return scale > 0 && std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5;
}

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", number);
  return text;
}

template <typename List, typename Text> std::string listed(const List &list, Text text) {
  return llvm::join(llvm::map_range(list, text), ", ");
}

class Checker {
public:
  Checker(Module::Impl &module, const HardwareData &hardware)
      : hardware(hardware),
        constants([&module](StringRef name) { return module.weightBytes(name); }, kMostElements) {}

  void look(Operation *op) {
    OperationUse use = useOf(op, uses);
    switch (use.kind) {
    case OperationUse::None:
      return;
    case OperationUse::Conversion:
      return checkConversion(op);
    case OperationUse::Optional:
      return hardware.lists(use.name()) ? checkIntegers(use) : checkFloats(use);
    case OperationUse::Integers:
      return checkIntegers(use);
    case OperationUse::Floats:
      return checkFloats(use);
    }
  }

  HardwareCheck check;

private:
  using Reasons = std::vector<std::string>;

  void report(Operation *op, const Reasons &reasons) {
    auto names = nodeNames(op->getLoc());
    check.findings.push_back({names.empty() ? "" : names.front(),
                              op->getName().stripDialect().str(), llvm::join(reasons, "; ")});
  }

  void checkFloats(const OperationUse &use) {
    if (hardware.hasFloat(use.name()))
      ++check.floats;
    else
      report(use.op, {"computes in floats, the description has no floats of it"});
  }

  /// To integers that something in the description reads or gives.
  void checkConversion(Operation *op) {
    for (Value value : {op->getOperand(0), Value(op->getResult(0))}) {
      Type element = cast<SymTensorType>(value.getType()).getElementType();
      if (isa<IntegerType>(element) && isa<QuantizeOp, DequantizeOp, FakeQuantizeOp>(op) &&
          !knows(elementText(element)))
        return report(
            op, {"gives or reads " + elementText(element) + ", which the description has nowhere"});
    }
  }

  bool knows(const std::string &element) const {
    auto has = [&](const HardwareTensor &tensor) {
      return llvm::is_contained(tensor.elements, element);
    };
    return element == "i32" || llvm::any_of(hardware.operators, [&](const HardwareOperator &op) {
             return llvm::any_of(op.operands, has) || has(op.result);
           });
  }

  /// The description's way that is nearest to the operation says what is wrong with it.
  void checkIntegers(const OperationUse &use) {
    std::optional<Reasons> fewest;
    for (const HardwareOperator &way : hardware.operators) {
      if (!llvm::is_contained(way.names, use.name()))
        continue;
      Reasons reasons = reasonsAgainst(use, way);
      if (reasons.empty()) {
        ++check.integers;
        check.narrowSums += use.isProduct && llvm::any_of(way.sums, [](const HardwareSum &sum) {
                              return sum.bits < kWholeBits;
                            });
        return;
      }
      if (!fewest || reasons.size() < fewest->size())
        fewest = std::move(reasons);
    }
    report(use.op,
           fewest ? *fewest : Reasons{"computes in integers, the description has none of it"});
  }

  static std::string operandName(const OperationUse &use, size_t i) {
    if (use.isProduct)
      return i == 0                       ? "what it reads"
             : use.operands[i].isConstant ? "its weight"
                                          : "its second operand";
    return use.operands.size() == 1 ? "what it reads" : "operand " + std::to_string(i + 1);
  }

  Reasons reasonsAgainst(const OperationUse &use, const HardwareOperator &way) {
    Reasons reasons;
    for (auto [i, used] : llvm::enumerate(use.operands)) {
      const HardwareTensor &allowed = way.operands[std::min(i, way.operands.size() - 1)];
      addReasons(used, allowed, operandName(use, i), reasons);
      if (allowed.isConstant && !used.isConstant)
        reasons.push_back(operandName(use, i) + " is computed, the description allows a constant");
    }
    for (const UsedTensor &used : use.results)
      if (size_t before = reasons.size();
          addReasons(used, way.result, "what it gives", reasons), reasons.size() > before)
        break; // what several read alike is said once
    bool areKnown = llvm::all_of(
        use.operands, [](const UsedTensor &used) { return isa<IntegerType>(used.element); });
    if (use.isProduct && areKnown && use.operands.size() == 2) {
      addReasonsOfSizes(use, way, reasons);
      addReasonsOfSums(use, way, reasons);
    }
    return reasons;
  }

  void addReasons(const UsedTensor &used, const HardwareTensor &allowed, const std::string &name,
                  Reasons &reasons) {
    std::string element = elementText(used.element);
    if (!llvm::is_contained(allowed.elements, element)) {
      reasons.push_back(name + " is " + element + ", the description allows " +
                        llvm::join(allowed.elements, ", "));
      return;
    }
    if (!used.scale && !used.integers && !used.scalesPer)
      return;
    if (isa<FloatType>(used.element))
      return;
    if (used.zero)
      addReasonOfZero(used, allowed, name, reasons);
    if (used.scale)
      addReasonOfScale(used, allowed, name, reasons);
    if ((used.scale || !used.scalesPer || !(*used.scalesPer == ScaleUnit{})) &&
        !(used.scalesPer && llvm::is_contained(allowed.scalesPer, *used.scalesPer)))
      reasons.push_back(
          name + " has a scale " +
          (used.scalesPer ? "per " + used.scalesPer->text()
                          : "that differs along what is summed or moved") +
          ", the description allows one per " +
          listed(allowed.scalesPer, [](const ScaleUnit &unit) { return unit.text(); }));
  }

  void addReasonOfZero(const UsedTensor &used, const HardwareTensor &allowed,
                       const std::string &name, Reasons &reasons) {
    if (!allowed.zeroPoints)
      return;
    std::string wanted =
        ", the description allows " +
        listed(*allowed.zeroPoints, [](int64_t zero) { return std::to_string(zero); });
    const RefTensor *zeros = constants.find(used.zero);
    if (!zeros)
      reasons.push_back("the zero point of " + name + " is computed" + wanted);
    else
      for (int64_t zero : zeros->integers)
        if (!llvm::is_contained(*allowed.zeroPoints, zero)) {
          reasons.push_back("zero point " + std::to_string(zero) + " of " + name + wanted);
          return;
        }
  }

  void addReasonOfScale(const UsedTensor &used, const HardwareTensor &allowed,
                        const std::string &name, Reasons &reasons) {
    if (!allowed.hasPowersOfTwo)
      return;
    const RefTensor *scales = constants.find(used.scale);
    if (!scales)
      reasons.push_back("the scale of " + name +
                        " is computed, the description allows powers of two");
    else
      for (double scale : scales->reals)
        if (!isPowerOfTwo(scale)) {
          reasons.push_back("scale " + numberText(scale) + " of " + name +
                            ", the description allows powers of two");
          return;
        }
  }

  static void addReasonsOfSizes(const OperationUse &use, const HardwareOperator &way,
                                Reasons &reasons) {
    ProductSizes sizes = sizesOf(use.op);
    auto add = [&](const SymExpr &size, int64_t multiple, const char *what) {
      if (multiple > 1 && size.asConstant().value_or(1) % multiple != 0)
        reasons.push_back(std::string(what) + " " + size.str() +
                          ", the description allows multiples of " + std::to_string(multiple));
    };
    add(sizes.summed, way.summedMultiple, "the size that is summed is");
    add(sizes.kept, way.keptMultiple, "the number of columns is");
    if (!way.hasGroups && !sizes.groups.isConstant(1))
      reasons.push_back("it has " + sizes.groups.str() + " groups, the description allows one");
  }

  void addReasonsOfSums(const OperationUse &use, const HardwareOperator &way, Reasons &reasons) {
    for (const HardwareSum &sum : way.sums) {
      std::string what =
          sum.products > 0 ? "sums of " + std::to_string(sum.products) + " products" : "its sums";
      std::optional<WorstSum> any =
          worstSumOfTypes(use.op, use.operands[0].element, use.operands[1].element, sum.products);
      if (any && any->fits(sum.bits))
        continue;
      std::optional<WorstSum> worst = worstSum(use, sum.products, constants);
      constants.forget(); // else all weights would be in memory in the end
      if (!worst && sum.bits < kWholeBits)
        reasons.push_back(what + " have no bound, the description adds them in " +
                          std::to_string(sum.bits) + " bits");
      else if (worst && !worst->fits(sum.bits))
        reasons.push_back(what + " reach " + std::to_string(worst->farthest()) +
                          " with some input, which " + (sum.isSaturating ? "saturates" : "wraps") +
                          " in " + std::to_string(sum.bits) + " bits");
    }
  }

  const HardwareData &hardware;
  ConstantUses uses;
  ConstantValues constants;
};

} // namespace

Result<HardwareCheck> checkHardware(const Module &module, const Hardware &hardware,
                                    const std::string &target) {
  Result<HardwareData> usable = usableOn(*hardware, target);
  if (!usable)
    return usable.diagnostics();
  Checker checker(module.get(), *usable);
  for (auto function : module.get().module->getOps<func::FuncOp>())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        checker.look(op);
    });
  return std::move(checker.check);
}

} // namespace weft
