#include "test/differential/RandomProgram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "test/differential/Makers.h"

using namespace mlir;

namespace weft::test {
namespace {

/// Sizes of one program: some programs meet empty dimensions, others none, so that operators that need elements can be made.
std::vector<Sizes> randomSizes(Dice &dice) {
  int64_t least = dice.oneOf({0, 0, 1, 1, 2, 3});
  std::vector<Sizes> all;
  for (size_t i = 0; i < 3; ++i)
    all.push_back({{"m", std::max(least, dice.oneOf<int64_t>({0, 1, 1, 2, 3, 5, 8}))},
                   {"n", std::max(least, dice.oneOf<int64_t>({0, 1, 3, 7, 16, 17, 33}))}});
  return all;
}

class Generator {
public:
  Generator(ModuleOp module, unsigned seed, const Trial &trial, bool hasChoices)
      : g(module, seed, trial.sizes) {
    g.fused = trial.target != "x86:v2";
    g.hasChoices = hasChoices;
    g.grow = [this](unsigned operators) { grow(operators); };
    g.b.setInsertionPointToEnd(module.getBody());
  }

  std::vector<char> run(unsigned operators) {
    for (const char *name : {"m", "n"})
      if (int64_t least = g.least(g.symbol(name)); least > 0 && g.dice(2))
        g.facts.push_back(SymPred::le(g.number(g.dice(2) ? 1 : least), g.symbol(name)));
    SmallVector<Type> inputs = inputTypes();
    auto function = g.b.create<func::FuncOp>("main", g.b.getFunctionType(inputs, {}));
    g.b.setInsertionPointToStart(function.addEntryBlock());
    for (BlockArgument argument : function.getArguments())
      describe(argument);
    grow(operators);
    SmallVector<Value> results = leaves();
    g.b.create<func::ReturnOp>(results);
    function.setType(g.b.getFunctionType(inputs, ValueRange(results).getTypes()));
    function->setAttr(kSymbolsAttr, g.symbols());
    eraseDead(function);
    return g.weights;
  }

private:
  //===-- Inputs ------------------------------------------------------------------------------===//

  SmallVector<Type> inputTypes() {
    SymExpr m = g.symbol("m"), n = g.symbol("n");
    auto number = [&](int64_t value) { return g.number(value); };
    const SmallVector<SymExpr> shapes[] = {
        {m, n},
        {n, number(16)},
        {m, number(1), number(8)},
        {m},
        {m, number(8), n},
        {number(1), number(3), n + 2, number(7)},
        {m, number(8), number(6), n},
        {m, number(16), n + 1, n + 1},
        {n * 2},
        {n + m, number(4)},
        {m, n, number(32)},
        {SymExpr::floordiv(n, 2) + 1, m},
        {},
        {number(3), number(64)},
        {m, number(4), n, number(8)},
    };
    Type f32 = g.b.getF32Type();
    SmallVector<Type> types{g.tensor(shapes[0], g.dice(3) ? f32 : g.randomElement())};
    for (size_t i = 0, count = 2 + g.dice(3); i < count; ++i)
      types.push_back(
          g.tensor(shapes[g.dice(std::size(shapes))], g.dice(2) ? f32 : g.randomElement()));
    if (g.dice(2))
      types.push_back(g.tensor({m}, g.b.getI64Type()));
    return types;
  }

  /// What numbers an input gets.
  void describe(BlockArgument argument) {
    Type e = g.element(argument);
    Knowledge k{2, 2, 0, false};
    if (!isFloat(e)) {
      bool positions = elementBits(e) >= 32 && g.dice(2);
      k = g.integers(e, g.dice(2) || positions ? 6 : 1e30);
    } else if (elementBits(e) > 8) {
      k.quantum = g.dice.oneOf({0, 1, 2, 4});
      k.special = g.dice.chance(1, 8);
    }
    argument.setLoc(k.locate(g.b.getContext()));
    g.add(argument, k);
  }

  //===-- Operators ---------------------------------------------------------------------------===//

  struct Family {
    ArrayRef<Maker> makers;
    unsigned weight;
  };

  void grow(unsigned operators) {
    static const Family families[] = {
        {elementwiseMakers(), 8}, {integerMakers(), 3}, {moveMakers(), 6},
        {lineMakers(), 4},        {indexMakers(), 3},   {productMakers(), 4},
        {quantizedMakers(), 4},   {windowMakers(), 4},  {controlMakers(), 2},
    };
    unsigned all = 0, made = 0;
    for (const Family &family : families)
      all += family.weight;
    for (unsigned tries = 0; made < operators && tries < 12 * operators; ++tries) {
      if (g.hasChoices && g.dice(2)) { // half of all tries are of what may have some
        unsigned which = g.dice(6);
        made += growIn(which < 3 ? productMakers() : which < 5 ? controlMakers() : windowMakers());
        continue;
      }
      unsigned at = g.dice(all);
      const Family *family = families;
      while (at >= family->weight)
        at -= (family++)->weight;
      made += growIn(family->makers);
    }
  }

  bool growIn(ArrayRef<Maker> makers) {
    unsigned all = 0;
    for (const Maker &maker : makers)
      all += maker.weight;
    unsigned at = g.dice(all);
    const Maker *maker = makers.begin();
    while (at >= maker->weight)
      at -= (maker++)->weight;
    return maker->make(g);
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// Values that nothing reads, the youngest first, and sometimes one that is read.
  SmallVector<Value> leaves() {
    SmallVector<Value> results;
    for (Value v : llvm::reverse(g.values))
      if (results.size() < 6 && v.use_empty() && v.getDefiningOp())
        results.push_back(v);
    Value any = g.values[g.dice(g.values.size())];
    if (results.empty() || (g.dice(3) == 0 && !llvm::is_contained(results, any)))
      results.push_back(any);
    return results;
  }

  void eraseDead(func::FuncOp function) {
    SmallVector<Operation *> all;
    function.walk([&](Operation *op) { all.push_back(op); }); // regions before their operation
    for (Operation *op : llvm::reverse(all))
      if (op->use_empty() && isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
          op->getNumRegions() == 0)
        op->erase();
  }

  Graph g;
};

} // namespace

RandomProgram programOf(const Trial &trial,
                        llvm::function_ref<std::vector<char>(ModuleOp)> generate) {
  auto impl = Module::Impl::create("random");
  impl->module = ModuleOp::create(UnknownLoc::get(impl->context.get()));
  RandomProgram program{Module(impl), trial};
  std::vector<char> weights = generate(*impl->module);
  program.trial.weights = std::make_shared<std::vector<char>>(std::move(weights));
  if (!program.trial.weights->empty())
    impl->files[kWeightsFile.str()] = MappedFile::view(kWeightsFile, *program.trial.weights);
  return program;
}

static RandomProgram randomProgram(unsigned seed, bool hasChoices) {
  Dice dice(seed);
  Trial trial;
  trial.seed = seed;
  trial.sizes = randomSizes(dice);
  trial.target = dice.oneOf({"x86:host", "x86:host", "x86:host", "x86:v3", "x86:v3", "x86:v2"});
  trial.threads = dice.oneOf({1, 1, 3});
  return programOf(trial, [&](ModuleOp module) {
    Generator generator(module, dice.engine(), trial, hasChoices);
    return generator.run(4 + dice(14));
  });
}

RandomProgram randomProgram(unsigned seed) { return randomProgram(seed, /*hasChoices=*/false); }
RandomProgram chosenProgram(unsigned seed) { return randomProgram(seed, /*hasChoices=*/true); }

RandomProgram wildProgram(unsigned seed) {
  RandomProgram program = randomProgram(seed);
  program.trial.mayRefuse = true;
  // What nobody reads is not compiled, but would be evaluated. What only an unread 'if' reads goes behind it.
  mlir::IRRewriter rewriter(program.module.get().context.get());
  while (succeeded(
      mlir::runRegionDCE(rewriter, program.module.get().module->getOperation()->getRegions())))
    continue;
  program.module.get().module->walk(
      [](PositionsOpInterface op) { op.setOutside(Outside::Refused); });
  return program;
}

} // namespace weft::test
