// Products and convolutions of f16, of bf16, and of f32 that --compute rounds to them. Each reads inputs, as they are or behind an operator
// that changes no number but its sign: what two right computations round to 16 bits is the same to the last bit.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "test/differential/Makers.h"
#include "test/differential/RandomProgram.h"

using namespace mlir;

namespace weft::test {
namespace {

class Generator {
public:
  Generator(ModuleOp module, unsigned seed, const Trial &trial) : g(module, seed, trial.sizes) {
    g.b.setInsertionPointToEnd(module.getBody());
  }

  std::vector<char> run() {
    SmallVector<Type> inputs = inputTypes();
    auto function = g.b.create<func::FuncOp>("main", g.b.getFunctionType(inputs, {}));
    g.b.setInsertionPointToStart(function.addEntryBlock());
    for (BlockArgument argument : function.getArguments())
      describe(argument);
    SmallVector<Value> results = products();
    g.b.create<func::ReturnOp>(results);
    function.setType(g.b.getFunctionType(inputs, ValueRange(results).getTypes()));
    function->setAttr(kSymbolsAttr, g.symbols());
    return g.weights;
  }

private:
  Type anyElement() {
    return g.dice.oneOf<Type>(
        {g.b.getF32Type(), g.b.getF32Type(), g.b.getBF16Type(), g.b.getF16Type()});
  }

  SmallVector<Type> inputTypes() {
    SymExpr m = g.symbol("m"), n = g.symbol("n");
    auto number = [&](int64_t value) { return g.number(value); };
    const SmallVector<SymExpr> shapes[] = {
        {m, n},
        {m, number(33)},
        {n, number(16)},
        {number(2), m, number(17)},
        {number(1), number(16), number(5), n},
        {number(1), number(4), n + 2, number(7)},
        {number(1), number(6), n, number(16)},
        {m, number(2), n},
    };
    SmallVector<Type> types{g.tensor(shapes[0], anyElement())};
    for (int64_t i = 0, count = 1 + g.dice(3); i < count; ++i)
      types.push_back(g.tensor(shapes[g.dice(std::size(shapes))], anyElement()));
    return types;
  }

  /// Numbers of the type that few 16-bit floats are, where it is wider.
  void describe(BlockArgument argument) {
    Type e = g.element(argument);
    Knowledge k{2, e.isF32() ? 12 : e.isF16() ? 9 : 6, 0, false};
    argument.setLoc(k.locate(g.b.getContext()));
    g.add(argument, k);
    if (g.dice.chance(1, 3))
      g.add(g.b.create<NegOp>(argument), k);
  }

  SmallVector<Value> products() {
    SmallVector<Maker> makers;
    for (ArrayRef<Maker> family : {productMakers(), windowMakers()})
      for (const Maker &maker : family)
        if (llvm::is_contained({"linear", "einsum", "convolution"}, StringRef(maker.name)))
          makers.push_back(maker);
    SmallVector<Value> results, read = g.values;
    for (unsigned tries = 0; results.size() < 2 && tries < 20; ++tries)
      if (makers[g.dice(makers.size())].make(g)) {
        results.push_back(g.values.back());
        g.values = read;
      }
    return results;
  }

  Graph g;
};

} // namespace

RandomProgram halfProgram(unsigned seed) {
  Dice dice(seed);
  Trial trial;
  trial.seed = seed;
  auto size = [&] { return dice.oneOf<int64_t>({0, 1, 15, 16, 17, 33}); };
  for (unsigned i = 0; i < 3; ++i)
    trial.sizes.push_back({{"m", size()}, {"n", size()}});
  trial.threads = dice.oneOf({1, 1, 3});
  trial.compute = dice.oneOf({"bf16", "bf16", "f16"});
  RandomProgram program = programOf(trial, [&](ModuleOp module) {
    return Generator(module, unsigned(dice.engine()), trial).run();
  });
  mlir::IRRewriter rewriter(program.module.get().context.get());
  (void)mlir::runRegionDCE(rewriter, program.module.get().module->getOperation()->getRegions());
  return program;
}

} // namespace weft::test
