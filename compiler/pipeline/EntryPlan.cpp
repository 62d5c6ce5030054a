//===- EntryPlan.cpp - Binding order, checks, and binding outside compiled code ------------------------===//

#include "compiler/pipeline/EntryPlan.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// expr == factor*symbol + addend with constants and a positive factor.
struct Linear {
  StringAttr symbol;
  int64_t factor = 1, addend = 0;
};

std::optional<Linear> asLinear(SymExpr expr) {
  Linear linear;
  for (const SymTerm &term : expr.terms()) {
    if (term.factors.empty()) {
      linear.addend = term.coefficient;
      continue;
    }
    if (linear.symbol || term.factors.size() != 1 || term.factors[0].second != 1 ||
        !term.factors[0].first.asSymbol() || term.coefficient < 1)
      return std::nullopt;
    linear.symbol = term.factors[0].first.asSymbol();
    linear.factor = term.coefficient;
  }
  return linear.symbol ? std::optional(linear) : std::nullopt;
}

/// A fact about one symbol that its range and divisor express completely.
bool isRange(const SymPred &fact) {
  if (fact.relations().size() != 1)
    return false;
  const SymRelation &r = fact.relations()[0];
  bool lower = r.lhs.asConstant() && r.rhs.asSymbol(),
       upper = r.rhs.asConstant() && r.lhs.asSymbol();
  return r.kind == SymRelation::LessEqual && (lower || upper);
}

class EntryPlanner {
public:
  explicit EntryPlanner(func::FuncOp function) : function(function), facts(function.getContext()) {
    if (auto attribute = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr)) {
      declared = attribute.getNames();
      for (const SymPred &fact : attribute.getFacts())
        (attribute.isInner(fact) ? plan.boundFacts : contract).push_back(fact);
      llvm::append_range(plan.boundSymbols, attribute.getBoundNames());
      facts = attribute.asFacts();
    }
  }

  llvm::Expected<EntryPlan> run() {
    forDims([&](unsigned input, unsigned dim, SymExpr expr) {
      if (StringAttr symbol = expr.asSymbol(); symbol && !bound.count(symbol)) {
        bind(symbol, input, dim);
        plan.steps.push_back(
            {EntryStep::Bind, WEFT_CHECK_DIM, input, dim, bound[symbol], 1, 0, expr, {}});
        used.insert({input, dim});
      }
    });
    bool progress = true;
    while (progress) {
      progress = false;
      forDims([&](unsigned input, unsigned dim, SymExpr expr) {
        auto linear = asLinear(expr);
        if (!linear || bound.count(linear->symbol))
          return;
        bind(linear->symbol, input, dim);
        plan.steps.push_back({EntryStep::Check,
                              WEFT_CHECK_SOLVE,
                              input,
                              dim,
                              bound[linear->symbol],
                              linear->factor,
                              linear->addend,
                              expr,
                              {}});
        used.insert({input, dim});
        progress = true;
      });
    }
    for (StringAttr symbol : declared)
      if (!bound.count(symbol))
        return fail("symbol '" + symbol.getValue() + "' is not determined by any input");
    addChecks();
    return std::move(plan);
  }

private:
  void forDims(function_ref<void(unsigned, unsigned, SymExpr)> visit) {
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      for (auto [d, dim] : llvm::enumerate(cast<SymTensorType>(type).getDims()))
        visit(i, d, dim);
  }

  void bind(StringAttr symbol, unsigned input, unsigned dim) {
    SymInterval range = facts.bounds(SymExpr::symbol(symbol));
    bound[symbol] = plan.symbols.size();
    plan.symbols.push_back({symbol, std::max<int64_t>(0, range.low.value_or(0)),
                            std::min(kMaxSymbolValue, range.high.value_or(kMaxSymbolValue)),
                            facts.divisor(symbol), input, dim});
  }

  void addChecks() {
    forDims([&](unsigned input, unsigned dim, SymExpr expr) {
      if (!used.count({input, dim}))
        plan.steps.push_back({EntryStep::Check, WEFT_CHECK_DIM, input, dim, 0, 1, 0, expr, {}});
    });
    for (auto [i, symbol] : llvm::enumerate(plan.symbols)) {
      auto add = [&, i = i, s = symbol](weft_check_kind_t kind) {
        plan.steps.push_back({EntryStep::Check, kind, s.input, s.dim, unsigned(i), 1, 0, {}, {}});
      };
      if (symbol.min > 0)
        add(WEFT_CHECK_MIN);
      add(WEFT_CHECK_MAX);
      if (symbol.multiple > 1)
        add(WEFT_CHECK_MULTIPLE);
    }
    for (const SymPred &fact : contract) {
      plan.facts.push_back(fact.str());
      if (!isRange(fact))
        plan.steps.push_back({EntryStep::Check, WEFT_CHECK_FACT, 0, 0, 0, 1, 0, {}, fact});
    }
    plan.steps.push_back({EntryStep::Check, WEFT_CHECK_SIZE, 0, 0, 0, 1, 0, {}, {}});
    for (const SymPred &fact : plan.boundFacts)
      plan.facts.push_back(fact.str());
  }

  func::FuncOp function;
  SymFacts facts;
  ArrayRef<StringAttr> declared;
  SmallVector<SymPred> contract;
  EntryPlan plan;
  llvm::DenseMap<StringAttr, unsigned> bound;
  llvm::DenseSet<std::pair<unsigned, unsigned>> used;
};

std::string argumentName(func::FuncOp function, DictionaryAttr attributes, const char *kind,
                         unsigned i) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(kNameAttr))
      return name.str();
  return kind + std::to_string(i);
}

} // namespace

unsigned EntryPlan::checkCount() const {
  return llvm::count_if(steps, [](const EntryStep &step) { return step.kind == EntryStep::Check; });
}

llvm::Expected<EntryPlan> planEntry(func::FuncOp function) { return EntryPlanner(function).run(); }

std::string inputName(func::FuncOp function, unsigned i) {
  return argumentName(function, function.getArgAttrDict(i), "input", i);
}
std::string outputName(func::FuncOp function, unsigned i) {
  return argumentName(function, function.getResultAttrDict(i), "output", i);
}

llvm::Expected<SymValues> EntryPlan::bind(ArrayRef<SmallVector<int64_t, 4>> inputDims,
                                          ArrayRef<std::string> names) const {
  SymValues values;
  auto place = [&](const EntryStep &step) {
    return "input '" + names[step.input] + "': dimension " + Twine(step.dim).str() + " is " +
           Twine(inputDims[step.input][step.dim]).str();
  };
  for (const EntryStep &step : steps) {
    const EntrySymbol *symbol = step.symbol < symbols.size() ? &symbols[step.symbol] : nullptr;
    int64_t have = step.input < inputDims.size() && step.dim < inputDims[step.input].size()
                       ? inputDims[step.input][step.dim]
                       : 0;
    if (step.kind == EntryStep::Bind) {
      values[symbol->name] = have;
      continue;
    }
    std::string name = symbol ? symbol->name.str() : "";
    switch (step.check) {
    case WEFT_CHECK_SOLVE:
      if (have < step.addend || (have - step.addend) % step.factor)
        return fail(place(step) + ", but it must have the form " + step.expected.str());
      values[symbol->name] = (have - step.addend) / step.factor;
      break;
    case WEFT_CHECK_DIM:
      if (FailureOr<int64_t> want = step.expected.evaluate(values); failed(want) || *want != have)
        return fail(place(step) + ", but '" + step.expected.str() + "' is " +
                    (failed(want) ? "not a size" : Twine(*want).str()));
      break;
    case WEFT_CHECK_MIN:
      if (values[symbol->name] < symbol->min)
        return fail(place(step) + ", but '" + name + "' is at least " + Twine(symbol->min));
      break;
    case WEFT_CHECK_MAX:
      if (values[symbol->name] > symbol->max)
        return fail(place(step) + ", but '" + name + "' is at most " + Twine(symbol->max));
      break;
    case WEFT_CHECK_MULTIPLE:
      if (values[symbol->name] % symbol->multiple)
        return fail(place(step) + ", but '" + name + "' must be a multiple of " +
                    Twine(symbol->multiple));
      break;
    case WEFT_CHECK_FACT:
      if (FailureOr<bool> holds = step.fact->evaluate(values); failed(holds) || !*holds)
        return fail("the inputs do not satisfy '" + step.fact->str() + "'");
      break;
    case WEFT_CHECK_SIZE:
    case WEFT_CHECK_DATA:
      break;
    }
  }
  return values;
}

} // namespace weft
