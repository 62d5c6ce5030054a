//===- DecisionKinds.cpp ----------------------------------------------------------------------===//

#include "compiler/quantize/DecisionKinds.h"
#include "passes/quant/BlockWeight.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

constexpr double kManyWeights = 32 << 20; ///< more than caches hold
constexpr unsigned kByteBits = 8, kHalfBits = 16;

static double elementsOf(const IntegerLayer &layer) {
  auto weight = cast<SymTensorType>(layer.weight.getResult().getType());
  return double(weight.getElements().asConstant().value_or(0));
}

bool haveManyWeights(llvm::ArrayRef<IntegerLayer> layers) {
  double weights = 0;
  for (const IntegerLayer &layer : layers)
    weights += elementsOf(layer);
  return weights >= kManyWeights;
}

/// A choice stores elements in a byte of four, and a scale for each line.
static double bytesLess(double elements, double lines) { return 3 * elements - 4 * lines; }

static double bytesLess(const IntegerLayer &layer, const LayerChoice &choice) {
  auto weight = cast<SymTensorType>(layer.weight.getResult().getType());
  double elements = elementsOf(layer);
  if (choice.form == LayerChoice::Half)
    return 2 * elements;
  if (choice.hasBlocks()) {
    int64_t zeroBits = choice.bits > kBlockBits ? kByteBits : kBlockBits;
    double bits = double(choice.bits) + double(kScaleBits + zeroBits) / kWeightBlock;
    return elements * (sizeof(float) - bits / 8);
  }
  return bytesLess(elements, double(weight.getDim(layer.column).asConstant().value_or(0)));
}

static unsigned bitsOf(const LayerChoice &choice) {
  return choice.form == LayerChoice::Half       ? 2 * kHalfBits
         : choice.form == LayerChoice::WideRows ? kHalfBits + kByteBits
         : choice.form == LayerChoice::Blocks   ? kFloatBits + unsigned(choice.bits)
         : choice.form == LayerChoice::ByteBlocks
             ? kByteBits + unsigned(choice.bits)
             : 2 * kByteBits - choice.rounding.hasSmallWeights();
}

std::vector<DecisionKind> kindsOf(llvm::ArrayRef<Decision> decisions,
                                  llvm::ArrayRef<IntegerLayer> layers,
                                  llvm::ArrayRef<ByteTable> tables,
                                  llvm::ArrayRef<ValueProducts> values) {
  std::vector<DecisionKind> kinds;
  for (const Decision &decision : decisions) {
    DecisionKind &kind = kinds.emplace_back();
    llvm::raw_string_ostream os(kind.text);
    for (const EdgeChoice &choice : decision.choices)
      kind.bits.push_back(decision.table ? kByteBits : bitsOf(choice.choice));
    if (decision.table) {
      const ByteTable &table = tables[*decision.table];
      kind.bytes = {bytesLess(double(table.rows) * double(table.columns), double(table.rows))};
      kind.isTimed = {true};
      os << "table " << table.read.getInput().getType() << table.read.getIndices().getType();
      continue;
    }
    kind.bytes.assign(decision.choices.size(), 0);
    if (decision.values) {
      kind.isTimed.assign(decision.choices.size(), true);
      for (Operation *op : values[*decision.values].operations) {
        os << op->getName() << op->getPropertiesAsAttribute();
        llvm::interleaveComma(op->getOperandTypes(), os << ':');
        os << ';';
      }
      continue;
    }
    for (size_t index : decision.layers) {
      kind.weights += elementsOf(layers[index]);
      for (auto [bytes, choice] : llvm::zip_equal(kind.bytes, decision.choices))
        bytes += bytesLess(layers[index], choice.choice);
      Operation *op = layers[index].op;
      os << op->getName() << op->getDiscardableAttrDictionary() << op->getPropertiesAsAttribute();
      for (auto loop = op->getParentOfType<LoopOp>(); loop; // which runs it that often
           loop = loop->getParentOfType<LoopOp>())
        os << loop.getTripsAttr();
      llvm::interleaveComma(op->getOperandTypes(), os << ':');
      size_t results = 0;
      for (const EdgeChoice &choice : decision.choices)
        results = std::max(results, choice.resultsOf(index).size());
      os << std::string(results, '>') << ';';
    }
    for (const EdgeChoice &choice : decision.choices)
      kind.isTimed.push_back(choice.choice.form != LayerChoice::Blocks || haveManyWeights(layers));
    for (const EdgeChoice &choice : decision.choices)
      os << choice.choice.form << '.' << choice.choice.bits
         << (choice.choice.rounding.isSigned ? "signed" : "")
         << (choice.choice.rounding.hasOneScale ? "whole" : "")
         << (choice.choice.rounding.hasSmallWeights() ? "small" : "")
         << (choice.strength < 0 ? '-' : '+') << (choice.choice.everywhere ? "*" : "");
  }
  return kinds;
}

} // namespace weft
