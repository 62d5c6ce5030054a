//===- MemoryLimit.cpp - Bounds of the arena over all sizes -----------------------------------===//
//
// Bounds come from intervals of the symbols, so they are never too low; for sums of products, which
// is what sizes are, they are exact.
//===------------------------------------------------------------------------------------------===//

#include "compiler/driver/MemoryLimit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace weft {
namespace {

std::string printSize(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes < 1024)
    os << bytes << " bytes";
  else if (bytes < (1 << 20))
    os << llvm::format("%.1f KiB", double(bytes) / 1024);
  else
    os << llvm::format("%.1f MiB", double(bytes) / (1 << 20));
  return text;
}

class FunctionMemory {
public:
  FunctionMemory(const PlannedFunction &planned, std::string where, int64_t limit)
      : planned(planned), where(std::move(where)), limit(limit),
        facts(plan::FuncOp(planned.function).getContext()) {
    plan::FuncOp function = planned.function;
    if (auto attribute = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
      facts = attribute.asFacts();
  }

  Result<void> check() {
    std::optional<int64_t> arena = largest(planned.arena);
    std::optional<int64_t> scratch = largest(planned.scratch);
    int64_t total;
    if (!planned.late.empty() || !planned.lateScratch.empty())
      return error("W0313",
                   "--max-memory " + printSize(limit) +
                       " cannot be promised, because data decide " + lateSymbols() +
                       " and nothing limits it",
                   "a context has a limit of its own, as 'weft run --max-memory' gives it");
    if (arena && scratch && !llvm::AddOverflow(*arena, *scratch, total) && total <= limit)
      return {};
    if (std::string unbounded = unboundedSymbols(); !unbounded.empty())
      return error("W0313",
                   "--max-memory " + printSize(limit) +
                       " cannot be promised, because nothing bounds " + unbounded,
                   "give a range, as in --dim " + firstUnbounded + "=1..512");
    std::string text = "a call could need ";
    if (!arena || !scratch || llvm::AddOverflow(*arena, *scratch, total))
      text += "more bytes than 64 bits count";
    else
      text += printSize(total) + " (arena " + printSize(*arena) + ", scratch " +
              printSize(*scratch) + " per worker)";
    return error("W0312", text + sizes() + ", but the limit is " + printSize(limit),
                 planned.entry.symbols.empty()
                     ? ""
                     : "lower the upper bounds with --dim, or raise --max-memory");
  }

private:
  weft::Diagnostic error(const char *code, const std::string &text, const std::string &hint) const {
    return {weft::Diagnostic::Error, code, where, text, hint};
  }

  /// The largest of the upper bounds, 0 for none; nothing when one of them is beyond 64 bits.
  std::optional<int64_t> largest(ArrayRef<SymExpr> exprs) {
    int64_t most = 0;
    for (SymExpr expr : exprs) {
      std::optional<int64_t> high = facts.bounds(expr).high;
      if (!high)
        return std::nullopt;
      most = std::max(most, *high);
    }
    return most;
  }

  bool isUsed(StringAttr symbol) {
    auto mentions = [&](SymExpr expr) { return llvm::is_contained(expr.symbols(), symbol); };
    return llvm::any_of(planned.arena, mentions) || llvm::any_of(planned.scratch, mentions);
  }

  /// Those that memory depends on which is asked for while a call runs.
  std::string lateSymbols() {
    SmallVector<SymExpr> sizes(planned.lateScratch);
    for (plan::ReserveOp block : planned.late)
      sizes.append(block.getPeaks()->getDims());
    SmallVector<std::string> names;
    for (SymExpr size : sizes)
      for (StringAttr name : size.symbols())
        if (std::string quoted = "'" + name.str() + "'";
            llvm::is_contained(planned.entry.boundSymbols, name) &&
            !llvm::is_contained(names, quoted))
          names.push_back(quoted);
    return llvm::join(names, " and ");
  }

  std::string unboundedSymbols() {
    std::string text;
    for (const EntrySymbol &symbol : planned.entry.symbols) {
      if (symbol.max < kMaxSymbolValue || !isUsed(symbol.name))
        continue;
      if (firstUnbounded.empty())
        firstUnbounded = symbol.name.str();
      text += (text.empty() ? "'" : " and '") + symbol.name.str() + "'";
    }
    return text;
  }

  /// " at batch = 8, seq = 512".
  std::string sizes() {
    std::string text;
    for (const EntrySymbol &symbol : planned.entry.symbols)
      if (isUsed(symbol.name))
        text +=
            (text.empty() ? " at " : ", ") + symbol.name.str() + " = " + std::to_string(symbol.max);
    return text;
  }

  const PlannedFunction &planned;
  std::string where; ///< of messages: the function, where there are several
  int64_t limit;
  SymFacts facts;
  std::string firstUnbounded;
};

} // namespace

Result<void> checkMemory(const Program &program, int64_t limit) {
  bool isOnly = program.functions.size() == 1;
  for (const PlannedFunction &function : program.functions) {
    std::string where = isOnly ? "" : plan::FuncOp(function.function).getName().str();
    if (Result<void> done = FunctionMemory(function, where, limit).check(); !done)
      return done;
  }
  return {};
}

} // namespace weft
