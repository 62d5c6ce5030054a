// Products of tokens that ranks have parts of: what they read is gathered, or what they make is summed, while they compute. Several may read the same
// tokens, and something stands between, behind and around them. Sizes give no pieces, a few and many.
#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/differential/Graph.h"
#include "test/differential/RandomProgram.h"

using namespace mlir;

namespace weft::test {
namespace {

class Generator {
public:
  Generator(ModuleOp module, unsigned seed, const Trial &trial)
      : g(module, seed, trial.sizes), axis(StringAttr::get(module.getContext(), "t")) {
    g.fused = trial.target != "x86:v2";
    g.b.setInsertionPointToEnd(module.getBody());
  }

  std::vector<char> run() {
    width = g.dice.oneOf({4, 8, 16, 17});
    Type input = tokens(width);
    auto function = g.b.create<func::FuncOp>("main", g.b.getFunctionType({input}, {}));
    g.b.setInsertionPointToStart(function.addEntryBlock());
    BlockArgument x = function.getArgument(0);
    Knowledge k{2, 2, 0, false};
    x.setLoc(k.locate(g.b.getContext()));
    g.note(x, k);
    Value result = pair(x);
    if (g.dice(3) == 0)
      result = pair(g.tame(result, 2));
    g.b.create<func::ReturnOp>(ValueRange(result));
    function.setType(g.b.getFunctionType({input}, {result.getType()}));
    function->setAttr(kSymbolsAttr, g.symbols());
    function->setAttr(kSplitOverAttr, MeshAttr::get(g.b.getContext(), {axis},
                                                    {g.dice.oneOf<int64_t>({2, 2, 3, 4, 8})}));
    return g.weights;
  }

private:
  SymTensorType tokens(int64_t elements) {
    return g.tensor({g.symbol("n"), g.symbol("m"), g.number(elements)}, g.b.getF32Type());
  }

  /// Ranks have parts of dimension `dim` of three, or of two.
  void place(Value value, unsigned dim) {
    SmallVector<ArrayAttr> dims(g.rank(value), g.b.getArrayAttr({}));
    dims[dim] = g.b.getArrayAttr({axis});
    value.getDefiningOp()->setAttr(kPlacementAttr, PlacementAttr::get(g.b.getContext(), dims));
  }

  /// f32, or numbers of 16 bits of it.
  Value weight(int64_t in, int64_t out) {
    Type f32 = g.b.getF32Type();
    Type stored = g.dice.oneOf<Type>({f32, f32, g.b.getBF16Type(), g.b.getF16Type()});
    Value w = g.constant({in, out}, stored, 1, 3);
    return stored == f32 ? w : g.note(g.b.create<ConvertOp>(w, f32), g.know(w));
  }

  Value product(Value x, int64_t in, int64_t out) {
    Value w = weight(in, out);
    return g.note(g.b.create<ContractOp>("... k, k n -> ... n", x, w, g.b.getF32Type()),
                  g.sumOfProducts(x, w, double(in), g.b.getF32Type()));
  }

  /// Something point by point, or nothing.
  Value changed(Value x) {
    Knowledge k = g.know(x);
    switch (g.dice(4)) {
    case 0:
      return g.note(g.b.create<NegOp>(x), k);
    case 1:
      return g.note(g.b.create<TanhOp>(x), g.smooth(x, 1, 1));
    case 2: {
      Value bias =
          g.constant({g.type(x).getDims().back().asConstant().value()}, g.b.getF32Type(), 1, 3);
      return sum(x, bias);
    }
    default:
      return x;
    }
  }

  Value sum(Value x, Value y) {
    const Knowledge &a = g.know(x), &b = g.know(y);
    Knowledge k{a.most + b.most, std::max(a.quantum, b.quantum), a.error + b.error, false};
    return g.note(g.b.create<AddOp>(x, y), g.rounded(g.b.getF32Type(), k));
  }

  /// One to three products of the same tokens, added, and one back, perhaps with the tokens added.
  Value pair(Value x) {
    Value in = g.note(g.b.create<NegOp>(x), g.know(x)); // computed, as all have the whole of inputs
    if (g.dice(4))
      place(in, 1);
    int64_t inner = g.dice.oneOf({8, 16, 24});
    Value made;
    for (int64_t i = 0, count = 1 + g.dice(3); i < count; ++i) {
      Value one = product(in, width, inner);
      place(one, 2);
      one = changed(one);
      made = made ? sum(made, one) : one;
    }
    Value out = product(g.tame(made, 8), inner, width);
    if (g.dice(2))
      place(out, 1);
    out = changed(out);
    return g.dice(2) ? sum(out, x) : out;
  }

  Graph g;
  StringAttr axis;
  int64_t width = 0;
};

} // namespace

RandomProgram fusedProgram(unsigned seed) {
  Dice dice(seed);
  Trial trial;
  trial.seed = seed;
  trial.overRanks = trial.computesMeanwhile = true;
  trial.sizes = {{{"m", dice.oneOf<int64_t>({0, 1, 7, 33})}, {"n", dice.oneOf<int64_t>({1, 2, 3})}},
                 {{"m", dice.oneOf<int64_t>({64, 70, 100, 131})}, {"n", 1}}};
  trial.target = dice.oneOf({"x86:host", "x86:host", "x86:v3", "x86:v2"});
  trial.threads = dice.oneOf({1, 1, 3});
  return programOf(trial, [&](ModuleOp module) {
    return Generator(module, unsigned(dice.engine()), trial).run();
  });
}

} // namespace weft::test
