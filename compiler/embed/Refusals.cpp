//===- Refusals.cpp ---------------------------------------------------------------------------===//

#include "compiler/embed/Refusals.h"

using namespace mlir;

namespace weft {
namespace {

weft::Diagnostic refusal(const std::string &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, "W0316", "", text, hint};
}

std::string nodeOf(plan::LaunchOp launch) {
  for (StringAttr node : launch.getNodes().getAsRange<StringAttr>())
    if (!node.getValue().empty())
      return node.str();
  return "a node without a name";
}

/// Where a buffer lies, behind its parts.
Value wholeOf(Value buffer) {
  while (auto part = buffer.getDefiningOp<plan::PartOp>())
    buffer = part.getWhole();
  return buffer;
}

class FunctionRefusals {
public:
  explicit FunctionRefusals(const PlannedFunction &planned)
      : planned(planned), function(planned.function), symbols(symbolsOf(function)) {}

  Result<void> check() {
    if (!planned.entry.inPlace.empty())
      return refusal("an embedded function has no outputs in memory of inputs" + where(),
                     "leave '--in-place' out");
    if (std::string node = firstLate(); !node.empty())
      return refusal(node +
                         " needs memory whose size only data decide and nothing limits, but the "
                         "memory of an embedded function is there before the call" +
                         where(),
                     "limit the size with a fact, as in --assume 'n <= 100'");
    if (std::string node = firstEndless(); !node.empty())
      return refusal("nothing limits how often the loop of " + node +
                         " turns, and an embedded function cannot be cancelled" + where(),
                     "limit the number of turns with a fact, as in --assume 'n <= 100'");
    return {};
  }

private:
  std::string where() { return " (function '" + function.getName().str() + "')"; }

  bool isLate(Value buffer) const {
    Value whole = wholeOf(buffer);
    if (auto memory = whole.getDefiningOp<plan::MemoryOp>())
      return bool(memory.getInside());
    auto output = whole.getDefiningOp<plan::OutputOp>();
    return output && llvm::is_contained(planned.outputDims[output.getIndex()], SymExpr());
  }

  std::string firstLate() {
    std::string node;
    function.walk([&](plan::LaunchOp launch) {
      if (!planned.isLate(launch) &&
          llvm::none_of(launch.getOutputs(), [&](Value buffer) { return isLate(buffer); }))
        return WalkResult::advance();
      node = nodeOf(launch);
      return WalkResult::interrupt();
    });
    bool isAny = !planned.late.empty() || !planned.lateScratch.empty() ||
                 llvm::any_of(planned.outputDims, [](ArrayRef<SymExpr> dims) {
                   return llvm::is_contained(dims, SymExpr());
                 });
    return isAny && node.empty() ? "an output" : node;
  }

  /// A count that may be as large as symbols can be is no limit.
  bool isEndless(plan::LoopOp loop) {
    SymExpr most = symbols.getUpperBound(loop.getTrips()[0]);
    return !most || most.isConstant(kMaxSymbolValue) || most.isOverflow();
  }

  std::string firstEndless() {
    std::string node;
    function.walk<WalkOrder::PreOrder>([&](plan::LoopOp loop) {
      if (!isEndless(loop))
        return WalkResult::advance();
      node = "a node without a name";
      loop.walk([&](plan::LaunchOp launch) {
        node = nodeOf(launch);
        return WalkResult::interrupt();
      });
      return WalkResult::interrupt();
    });
    return node;
  }

  const PlannedFunction &planned;
  plan::FuncOp function;
  SymbolsAttr symbols;
};

} // namespace

Result<void> checkEmbeddable(ArrayRef<Variant> variants) {
  const Variant &variant = variants[0];
  if (variants.size() > 1)
    return refusal("an object is for one target and one mesh, not for " +
                       std::to_string(variants.size()),
                   "name one");
  for (const PlannedKernel &kernel : variant.program.kernels)
    if (variant.targetOf(kernel).isForDevice())
      return refusal("for target '" + kernel.target + "' there are no objects",
                     "name a target of a processor");
  if (variant.program.mesh)
    return refusal("a model for several ranks cannot be embedded", "leave '--mesh' out");
  for (const PlannedFunction &planned : variant.program.functions)
    if (Result<void> done = FunctionRefusals(planned).check(); !done)
      return done;
  return {};
}

} // namespace weft
