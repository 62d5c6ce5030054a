//===- EntryPlan.cpp - Binding order, checks, and binding outside compiled code ------------------------===//

#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Aliases.h"
#include "dialects/weft/Mesh.h"

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

SymTensorType seenBy(Type type, DimsAttr view) {
  auto tensor = cast<SymTensorType>(type);
  return view ? SymTensorType::get(view.getDims(), tensor.getElementType()) : tensor;
}

/// The pairs of inputs with room and outputs in their memory, in the order of inputs. The dialect verified them.
SmallVector<InPlacePair> findPairs(FunctionOpInterface function) {
  SmallVector<InPlacePair> pairs;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto aliases = function.getResultAttrOfType<AliasesAttr>(i, kAliasesAttr)) {
      auto buffer = cast<SymTensorType>(function.getResultTypes()[i]);
      unsigned dim = *roomDim(buffer, aliases.getSeen());
      pairs.push_back(
          {aliases.getArgument(), i, dim, aliases.getSeen()[dim], buffer.getDim(dim).asSymbol()});
    }
  llvm::sort(pairs, [](auto &a, auto &b) { return a.input < b.input; });
  return pairs;
}

class EntryPlanner {
public:
  explicit EntryPlanner(FunctionOpInterface function)
      : function(function), facts(function.getContext()) {
    if (auto attribute = function->getAttrOfType<SymbolsAttr>(kSymbolsAttr)) {
      declared = attribute.getNames();
      for (const SymPred &fact : attribute.getFacts())
        (attribute.isInner(fact) ? plan.boundFacts : contract).push_back(fact);
      llvm::append_range(plan.boundSymbols, attribute.getBoundNames());
      facts = attribute.asFacts();
    }
    if (MeshAttr mesh = meshOf(function))
      for (StringAttr symbol : rankSymbols(mesh))
        if (llvm::is_contained(declared, symbol))
          plan.rankSymbols.push_back(symbol);
  }

  llvm::Expected<EntryPlan> run() {
    if (llvm::Error error = refuseParts())
      return std::move(error);
    plan.inPlace = findPairs(function);
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
    bindRooms();
    for (StringAttr symbol : declared)
      if (!bound.count(symbol) && !llvm::is_contained(plan.rankSymbols, symbol))
        return fail("symbol '" + symbol.getValue() + "' is not determined by any input" +
                    (hasParts() ? " along a dimension that is not split" : ""));
    addChecks();
    return std::move(plan);
  }

private:
  void forDims(function_ref<void(unsigned, unsigned, SymExpr)> visit) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (auto [d, dim] : llvm::enumerate(callersInput(function, i).getDims()))
        visit(i, d, dim);
  }

  bool hasParts() {
    return llvm::any_of(llvm::seq(function.getNumArguments()),
                        [&](unsigned i) { return bool(localArgument(function, i)); });
  }

  llvm::Error refuseParts() {
    MeshAttr mesh = meshOf(function);
    auto isPart = [&](Type type) {
      return mesh && llvm::any_of(cast<SymTensorType>(type).getDims(),
                                  [&](SymExpr dim) { return differsIn(dim, mesh); });
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isPart(function.getArgumentTypes()[i]) && !localArgument(function, i))
        return fail("input '" + inputName(function, i) +
                    "' has another size on every rank: give the whole, of which ranks take slices, "
                    "or place it 'local'");
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (isPart(function.getResultTypes()[i]) && !localResult(function, i))
        return fail("output '" + outputName(function, i) +
                    "' has another size on every rank: gather it, or place it 'local'");
    return llvm::Error::success();
  }

  void bindRooms() {
    for (const InPlacePair &pair : plan.inPlace) {
      auto [place, isNew] = bound.try_emplace(pair.room, plan.symbols.size());
      if (!isNew)
        continue;
      plan.symbols.push_back({pair.room, 0, kMaxSymbolValue, 1, pair.input, pair.dim, true});
      plan.steps.push_back({EntryStep::BindRoom,
                            WEFT_CHECK_DIM,
                            pair.input,
                            pair.dim,
                            place->second,
                            roomStride(pair),
                            0,
                            {},
                            {}});
    }
  }

  /// Elements between two places along the dimension that grows.
  int64_t roomStride(const InPlacePair &pair) {
    int64_t stride = 1;
    SmallVector<SymExpr> dims = callersInput(function, pair.input).getDims();
    for (SymExpr dim : ArrayRef(dims).drop_front(pair.dim + 1))
      stride *= *dim.asConstant();
    return stride;
  }

  /// That the room suffices is a check of its own, with the inputs it is about.
  bool isAboutRoom(const SymPred &fact) {
    return llvm::any_of(fact.symbols(), [&](StringAttr name) {
      return llvm::any_of(plan.inPlace, [&](auto &pair) { return pair.room == name; });
    });
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
    for (const InPlacePair &pair : plan.inPlace)
      plan.steps.push_back({EntryStep::Check,
                            WEFT_CHECK_ROOM,
                            pair.input,
                            pair.dim,
                            bound[pair.room],
                            roomStride(pair),
                            0,
                            pair.size,
                            {}});
    for (const SymPred &fact : contract) {
      if (isAboutRoom(fact))
        continue;
      plan.facts.push_back(fact.str());
      if (!isRange(fact))
        plan.steps.push_back({EntryStep::Check, WEFT_CHECK_FACT, 0, 0, 0, 1, 0, {}, fact});
    }
    plan.steps.push_back({EntryStep::Check, WEFT_CHECK_SIZE, 0, 0, 0, 1, 0, {}, {}});
    for (const SymPred &fact : plan.boundFacts)
      plan.facts.push_back(fact.str());
  }

  FunctionOpInterface function;
  SymFacts facts;
  ArrayRef<StringAttr> declared;
  SmallVector<SymPred> contract;
  EntryPlan plan;
  llvm::DenseMap<StringAttr, unsigned> bound;
  llvm::DenseSet<std::pair<unsigned, unsigned>> used;
};

std::string argumentName(FunctionOpInterface function, DictionaryAttr attributes, const char *kind,
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

llvm::Expected<EntryPlan> planEntry(FunctionOpInterface function) {
  return EntryPlanner(function).run();
}

OwningOpRef<FunctionOpInterface> withWholes(FunctionOpInterface function) {
  auto signature = cast<FunctionOpInterface>(function->cloneWithoutRegions());
  SmallVector<Type> inputs, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    inputs.push_back(wholeArgument(function, i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.push_back(wholeResult(function, i));
  signature.setType(signature.cloneTypeWith(inputs, results));
  return signature;
}

SymTensorType callersInput(FunctionOpInterface function, unsigned i) {
  return seenBy(function.getArgumentTypes()[i], function.getArgAttrOfType<DimsAttr>(i, kViewAttr));
}
SymTensorType callersOutput(FunctionOpInterface function, unsigned i) {
  auto aliases = function.getResultAttrOfType<AliasesAttr>(i, kAliasesAttr);
  return seenBy(function.getResultTypes()[i], aliases ? aliases.getSeen() : DimsAttr());
}

std::string inputName(FunctionOpInterface function, unsigned i) {
  return argumentName(function, function.getArgAttrDict(i), "input", i);
}
std::string outputName(FunctionOpInterface function, unsigned i) {
  return argumentName(function, function.getResultAttrDict(i), "output", i);
}

llvm::Expected<SymValues> EntryPlan::bind(ArrayRef<SmallVector<int64_t, 4>> inputDims,
                                          ArrayRef<std::string> names, SymValues values) const {
  auto place = [&](const EntryStep &step) {
    return "input '" + names[step.input] + "': dimension " + Twine(step.dim).str() + " is " +
           Twine(inputDims[step.input][step.dim]).str();
  };
  for (const EntryStep &step : steps) {
    const EntrySymbol *symbol = step.symbol < symbols.size() ? &symbols[step.symbol] : nullptr;
    int64_t have = step.input < inputDims.size() && step.dim < inputDims[step.input].size()
                       ? inputDims[step.input][step.dim]
                       : 0;
    if (step.kind == EntryStep::Bind)
      values[symbol->name] = have;
    if (step.kind != EntryStep::Check)
      continue;
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
    case WEFT_CHECK_ROOM:
    case WEFT_CHECK_SIZE:
    case WEFT_CHECK_DATA:
      break;
    }
  }
  for (const InPlacePair &pair : inPlace)
    values[pair.room] = std::max({values.lookup(pair.room), inputDims[pair.input][pair.dim],
                                  pair.size.evaluate(values).value_or(0)});
  return values;
}

} // namespace weft
