//===- HardwareLimits.cpp ---------------------------------------------------------------------===//

#include "compiler/quantize/HardwareLimits.h"
#include "compiler/hardware/SumBound.h"
#include "dialects/weft/ops/Quantize.h"
#include "passes/quant/BlockWeight.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kSignedZero = 128; ///< of unsigned bytes that stand for signed ones
constexpr int64_t kLeastWeight = 7;  ///< bytes of fewer values round too much away to be looked at

bool has(const HardwareTensor &tensor, const char *element) {
  return llvm::is_contained(tensor.elements, element);
}

bool has(const HardwareTensor &tensor, ScaleUnit::Kind kind, int64_t block = 0) {
  return llvm::is_contained(tensor.scalesPer, ScaleUnit{kind, block});
}

bool allows(const HardwareTensor &tensor, int64_t zero) {
  return !tensor.zeroPoints || llvm::is_contained(*tensor.zeroPoints, zero);
}

/// Whether bytes of a weight, which have no zero point, are ones of the hardware's.
bool hasWeight(const HardwareTensor &tensor) {
  return has(tensor, "i8") && allows(tensor, 0) &&
         (has(tensor, ScaleUnit::Column) || has(tensor, ScaleUnit::Tensor));
}

/// Why the sizes of a layer are none of the hardware's; nothing where they are.
std::optional<std::string> whyNotOfSizes(const IntegerLayer &layer, const HardwareOperator &way) {
  ProductSizes sizes = sizesOf(layer.op);
  for (auto [size, multiple, what] : {std::tuple(sizes.summed, way.summedMultiple, "channels"),
                                      std::tuple(sizes.kept, way.keptMultiple, "columns")})
    if (size.asConstant().value_or(1) % multiple != 0)
      return size.str() + " " + what + " are no multiple of " + std::to_string(multiple);
  if (!way.hasGroups && !sizes.groups.isConstant(1))
    return sizes.groups.str() + " groups, where the hardware has one";
  return std::nullopt;
}

/// How a static scale, or those of rows, may round to bytes of an operand's elements.
std::optional<InputRounding> roundingTo(const std::string &element, const HardwareTensor &operand,
                                        LayerChoice::Form form, double least) {
  InputRounding rounding;
  if (form == LayerChoice::WideRows)
    return element == "i16" && allows(operand, 0) && !operand.hasPowersOfTwo
               ? std::optional(rounding)
               : std::nullopt;
  rounding.isSigned = element == "i8";
  if (!rounding.isSigned && element != "ui8")
    return std::nullopt;
  rounding.hasPowersOfTwo = operand.hasPowersOfTwo;
  int64_t middle = rounding.isSigned ? 0 : kSignedZero;
  if (form == LayerChoice::Rows) // scales are computed, and so no powers of two
    return allows(operand, middle) && !operand.hasPowersOfTwo ? std::optional(rounding)
                                                              : std::nullopt;
  bool startsAtZero = !rounding.isSigned && least >= 0 && allows(operand, 0);
  rounding.isSymmetric = operand.zeroPoints && !startsAtZero;
  return !rounding.isSymmetric || allows(operand, middle) ? std::optional(rounding) : std::nullopt;
}

} // namespace

std::vector<HardwareLimits::Way>
HardwareLimits::waysOf(const IntegerLayer &layer, LayerChoice::Form form, double least) const {
  std::vector<Way> ways;
  LayerChoice of;
  of.form = form;
  ScaleUnit::Kind unit = of.hasRowScales() ? ScaleUnit::Row : ScaleUnit::Tensor;
  for (const HardwareOperator &op : hardware.operators) {
    bool isOf = llvm::is_contained(op.names, layer.op->getName().stripDialect()) &&
                op.operands.size() > 1 && hasWeight(op.operands[1]) && has(op.operands[0], unit) &&
                has(op.result, "f32");
    if (!isOf || whyNotOfSizes(layer, op))
      continue;
    const HardwareTensor &bytes = op.operands[1];
    for (const std::string &element : op.operands[0].elements)
      if (auto rounding = roundingTo(element, op.operands[0], form, least))
        ways.push_back({&op, *rounding, !has(bytes, ScaleUnit::Column), bytes.hasPowersOfTwo});
  }
  return ways;
}

std::vector<HardwareLimits::Way>
HardwareLimits::waysTogether(const Layers &layers, LayerChoice::Form form, double least) const {
  if (layers.empty())
    return {};
  for (const Way &first : waysOf(*layers[0], form, least)) {
    std::vector<Way> together;
    for (const IntegerLayer *layer : layers)
      for (const Way &way : waysOf(*layer, form, least))
        if (way.input == first.input) {
          together.push_back(way);
          break;
        }
    if (together.size() == layers.size())
      return together;
  }
  return {};
}

std::string HardwareLimits::whyNot(const IntegerLayer &layer) const {
  StringRef name = layer.op->getName().stripDialect();
  bool hasForm = !waysOf(layer, LayerChoice::Static, 0).empty() ||
                 !waysOf(layer, LayerChoice::Static, -1).empty() ||
                 !waysOf(layer, LayerChoice::Rows, 0).empty() ||
                 !waysOf(layer, LayerChoice::WideRows, 0).empty() ||
                 (layer.hasBlocks && hasBlocks());
  if (hasForm)
    return "";
  for (const HardwareOperator &op : hardware.operators)
    if (llvm::is_contained(op.names, name))
      if (std::optional<std::string> why = whyNotOfSizes(layer, op))
        return *why;
  return "the hardware has no such " + name.str();
}

InputRounding HardwareLimits::inputOf(const Layers &layers, double least) const {
  std::vector<Way> ways = waysTogether(layers, LayerChoice::Static, least);
  return ways.empty() ? InputRounding() : ways[0].input;
}

bool HardwareLimits::hasBlocks() const {
  auto reads = [](const HardwareOperator &op) {
    return llvm::is_contained(op.names, "dequantize_blocks") && has(op.operands[0], "ui4") &&
           has(op.operands[0], ScaleUnit::Block, kWeightBlock) && !op.operands[0].zeroPoints;
  };
  return hardware.hasFloat("contract") && llvm::any_of(hardware.operators, reads);
}

bool HardwareLimits::hasTables() const {
  auto reads = [](const HardwareOperator &op) {
    return llvm::is_contained(op.names, "gather") && has(op.operands[0], "i8") &&
           has(op.result, "i8");
  };
  return hardware.hasFloat("gather") && llvm::any_of(hardware.operators, reads);
}

std::optional<int64_t> mostWeightOf(const IntegerLayer &layer, const LayerChoice &choice,
                                    ArrayRef<HardwareSum> sums,
                                    const std::function<const char *(StringRef)> &weight) {
  MLIRContext *context = layer.op->getContext();
  bool isWide = choice.form == LayerChoice::WideRows;
  Type read = IntegerType::get(context, isWide ? 16 : 8,
                               isWide || choice.rounding.isSigned ? IntegerType::Signless
                                                                  : IntegerType::Unsigned);
  bool anyFits = llvm::all_of(sums, [&](const HardwareSum &sum) {
    auto worst = worstSumOfTypes(layer.op, read, IntegerType::get(context, 8), sum.products);
    return worst && worst->fits(sum.bits);
  });
  if (anyFits)
    return choice.rounding.mostWeight;
  std::vector<float> elements = floatsOf(layer.weight, weight);
  SmallVector<int64_t> dims =
      *cast<SymTensorType>(layer.weight.getResult().getType()).getConstantDims();
  ByteRounding rounding = choice.rounding;
  auto [low, high] = integerRange(read);
  while (rounding.mostWeight >= kLeastWeight) {
    RefTensor bytes(IntegerType::get(context, 8), dims);
    ByteWeight rounded = roundWeight(layer, elements, choice.factors, rounding);
    bytes.integers.assign(rounded.bytes.begin(), rounded.bytes.end());
    std::vector<std::vector<int64_t>> columns = columnsOf(layer.op, bytes);
    int64_t next = rounding.mostWeight;
    for (const HardwareSum &sum : sums) {
      WorstSum worst = worstSum(columns, int64_t(low), int64_t(high), sum.products);
      if (worst.fits(sum.bits))
        continue;
      // As many times less as the sum is too large, or one less where rounding is all that is
      // missing.
      double share = std::ldexp(1.0, int(sum.bits - 1)) / std::fabs(double(worst.farthest()));
      next = std::min(
          next, std::min(rounding.mostWeight - 1, int64_t(double(rounding.mostWeight) * share)));
    }
    if (next == rounding.mostWeight)
      return next;
    rounding.mostWeight = next;
  }
  return std::nullopt;
}

std::vector<EdgeChoice> HardwareLimits::kept(const std::vector<EdgeChoice> &choices,
                                             const Layers &layers, double least) const {
  std::vector<EdgeChoice> list;
  for (EdgeChoice each : choices) {
    if (each.choice.form == LayerChoice::Blocks) {
      if (hasBlocks())
        list.push_back(each);
      continue;
    }
    std::vector<Way> ways = waysTogether(layers, each.choice.form, least);
    if (ways.empty())
      continue;
    ByteRounding &rounding = each.choice.rounding;
    rounding.isSigned = ways[0].input.isSigned;
    for (const Way &way : ways) {
      rounding.hasOneScale |= way.hasOneScale;
      rounding.hasPowersOfTwo |= way.hasPowersOfTwo;
    }
    bool fits = true;
    for (auto [layer, way] : llvm::zip_equal(layers, ways)) {
      std::optional<int64_t> most = mostWeightOf(*layer, each.choice, way.op->sums, weight);
      fits &= most.has_value();
      rounding.mostWeight = most.value_or(rounding.mostWeight);
    }
    if (fits)
      list.push_back(std::move(each));
  }
  return list;
}

double HardwareLimits::secondsOf(double multiplyAdds, const IntegerLayer &layer,
                                 const LayerChoice *choice) const {
  double rate = hardware.floatMultiplyAddsPerSecond;
  if (choice && (choice->hasBytes() || choice->hasRowScales()))
    for (const Way &way : waysOf(layer, choice->form, choice->zero == 0 ? 0 : -1))
      if (way.input.isSigned == choice->rounding.isSigned && way.op->multiplyAddsPerSecond > 0) {
        rate = way.op->multiplyAddsPerSecond;
        break;
      }
  return rate > 0 ? multiplyAdds / rate : 0;
}

} // namespace weft
