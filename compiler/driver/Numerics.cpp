//===- Numerics.cpp -------------------------------------------------------------------------------===//

#include "compiler/driver/Numerics.h"
#include "compiler/driver/Pipeline.h"
#include "dialects/weft/Weft.h"
#include "passes/quant/NodeNames.h"
#include "passes/quant/RoundOperands.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kManyWeights = 1 << 20; ///< that make products worth a word on their speed

Diagnostic error(const char *code, const std::string &text, const std::string &hint) {
  return {Diagnostic::Error, code, "", text, hint};
}

bool isNarrow(const std::string &element) { return element == "bf16" || element == "f16"; }

Result<void> checkElements(const Numerics &n) {
  if (!n.weights.empty() && !isNarrow(n.weights))
    return error("W0306", "weights cannot be stored as '" + n.weights + "'",
                 "they can be stored as bf16 and f16");
  if (!n.compute.empty() && !isNarrow(n.compute))
    return error("W0309",
                 "operands of products and convolutions cannot be rounded to '" + n.compute + "'",
                 "they can be rounded to bf16 and f16");
  if (!n.compute.empty() && !n.weights.empty() && n.weights != n.compute)
    return error("W0309",
                 "weights cannot be stored as " + n.weights +
                     " where operands of products and convolutions are rounded to " + n.compute,
                 "'--compute " + n.compute + "' rounds weights, too");
  if (n.compute.empty() && n.storage)
    return error("W0309", "tensors cannot be stored in 16 bits where operands are not rounded",
                 "'--compute bf16,storage' does both");
  if (n.compute.empty() && !n.keepF32.empty())
    return error("W0309", "'--keep-f32 " + n.keepF32[0] + "' has no effect without '--compute'",
                 "without it no operands are rounded");
  return {};
}

/// Of products and convolutions.
SmallVector<Location> productsOf(ModuleOp program) {
  SmallVector<Location> products;
  program.walk([&](Operation *op) {
    if (isa<ContractOp, ConvOp>(op))
      products.push_back(op->getLoc());
  });
  return products;
}

std::string hintOf(ArrayRef<Location> products) {
  for (Location product : products)
    for (const std::string &name : nodeNames(product))
      return "one of them is '" + name + "'";
  return products.empty() ? "it has none" : "they have no names";
}

Result<void> checkPatterns(const Numerics &n, ModuleOp program) {
  SmallVector<Location> products = productsOf(program);
  for (const std::string &text : n.keepF32) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return error(
          "W0309",
          "'--keep-f32 " + text + "' is no pattern: " + llvm::toString(pattern.takeError()),
          "'*' is any text, '?' any character, and a backslash in front takes one as it is");
    if (llvm::none_of(products, [&](Location at) { return matchesNode(*pattern, at); }))
      return error("W0309",
                   "'--keep-f32 " + text + "' names no product or convolution of the model",
                   hintOf(products));
  }
  return {};
}

} // namespace

Result<void> checkNumerics(const Numerics &numerics, ModuleOp program) {
  if (Result<void> done = checkElements(numerics); !done)
    return done;
  if (!numerics.compute.empty() && phaseOf(program) != "import")
    return error("W0309",
                 "operands of products and convolutions cannot be rounded any more: the program is "
                 "grouped into kernels already",
                 "give the model that it was made from");
  return checkPatterns(numerics, program);
}

void adviseOnSpeed(const Numerics &numerics, const KernelTarget &target, ModuleOp program,
                   std::vector<Diagnostic> &notes) {
  auto note = [&notes](const std::string &text, const std::string &hint) {
    notes.push_back({Diagnostic::Note, "", "", text, hint});
  };
  std::string name = target.name().str(), rate = std::to_string(target.halfProductRate());
  bool isFast = target.halfProductRate() > 1;
  if (!numerics.compute.empty() && !(numerics.compute == "bf16" && isFast))
    note(name + " has no unit for products of " + numerics.compute +
             ": they take the time of f32 or more, and save memory only",
         "");
  else if (numerics.compute.empty() && !numerics.exact && isFast &&
           roundableWeights(program) >= kManyWeights)
    note(name + " multiplies bf16 " + rate + " times as fast as f32",
         "--compute bf16 (answers move by about 1e-2 of their scale; 'weft verify' measures "
         "by how much)");
}

} // namespace weft
