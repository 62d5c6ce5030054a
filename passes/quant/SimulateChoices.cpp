//===- SimulateChoices.cpp - One program that computes every choice of every layer ----------------===//
//
//   before   %1 = contract … %0, %w {weft.choices = [{scale = 0.1, zero = 3}]}
//   after    %1 = if (%chosen[0] == 0) { yield contract … %0, %w }
//                 else { yield contract … (dequantize (quantize %0, %scales[0], %zeros[0])), (dequantize %bytes, …) }
//
// Which choice a layer takes, and by what scale and zero point, are inputs: the program is compiled once and answers for every strategy. Its
// branches are what --weft-realise-choices would write, so what is simulated is what will be computed, integers and all, at the speed of integers.
//===------------------------------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/quant/ByteTables.h"
#include "passes/quant/Passes.h"
#include "passes/quant/RoundOperands.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/ValueProducts.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SIMULATECHOICES
#include "passes/quant/Passes.h.inc"

namespace {

class Simulator {
public:
  Simulator(func::FuncOp function, const WeightFiles &files)
      : function(function), files(files), b(function.getLoc(), function.getContext()) {}

  LogicalResult run() {
    std::vector<IntegerLayer> layers = integerLayers(function);
    int64_t decisions = 0, scaled = 0;
    for (const IntegerLayer &layer : layers) {
      FailureOr<std::vector<LayerChoice>> list = choicesOf(layer);
      if (failed(list))
        return failure();
      choices.push_back(std::move(*list));
      decisions += !choices.back().empty();
      scaled += llvm::count_if(choices.back(),
                               [](const LayerChoice &c) { return c.form == LayerChoice::Static; });
    }
    std::vector<ByteTable> tables = byteTables(function);
    llvm::erase_if(tables, [](const ByteTable &t) { return !t.read->hasAttr(kTableChosenAttr); });
    std::vector<ValueProducts> groups = valueProducts(function);
    llvm::erase_if(groups,
                   [](const ValueProducts &g) { return !g.first()->hasAttr(kValuesChosenAttr); });
    decisions += int64_t(tables.size() + groups.size());
    if (decisions == 0)
      return success();
    chosen = addInput(kChosenInput, decisions, b.getI64Type());
    if (scaled > 0) {
      scales = addInput(kScalesInput, scaled, b.getF32Type());
      zeros = addInput(kZerosInput, scaled, b.getIntegerType(8, false));
    }
    findPlaces();
    std::vector<GivenResult> results = givenResults(layers, choices);
    simulateEverywhere(layers);
    simulateResults(layers, results);
    for (auto [layer, list] : llvm::zip_equal(layers, choices))
      if (!list.empty() && failed(simulate(layer, list)))
        return failure();
    for (const ByteTable &table : tables)
      if (failed(simulate(table)))
        return failure();
    for (const ValueProducts &group : groups)
      simulate(group);
    return success();
  }

private:
  SymExpr constant(int64_t number) { return SymExpr::constant(b.getContext(), number); }
  DimsAttr dims(ArrayRef<SymExpr> list) { return DimsAttr::get(b.getContext(), list); }

  Value addInput(StringRef name, int64_t size, Type element) {
    unsigned position = function.getNumArguments();
    DictionaryAttr named = b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
    function.insertArgument(position, SymTensorType::get({constant(size)}, element), named,
                            function.getLoc());
    return function.getArgument(position);
  }

  /// An element of a list as a number.
  Value numberOf(Value list, int64_t at) {
    Value part =
        b.create<SliceOp>(list, dims({constant(at)}), dims({constant(1)}), SmallVector<int64_t>{1});
    return b.create<ReshapeOp>(part, dims({}));
  }

  /// Where a layer's numbers stand among the inputs; `everywhere` is the choice that rounds its input so, or 0.
  struct Place {
    int64_t decision, scale;
    unsigned everywhere;
  };

  void findPlaces() {
    int64_t decisions = 0, statics = 0;
    for (const std::vector<LayerChoice> &list : choices) {
      places.push_back({decisions, 0, 0});
      for (auto [i, choice] : llvm::enumerate(list)) {
        if (choice.everywhere)
          places.back() = {decisions, statics, unsigned(i + 1)};
        statics += choice.form == LayerChoice::Static;
      }
      decisions += !list.empty();
    }
  }

  const LayerChoice *everywhereOf(size_t i) const {
    return places[i].everywhere ? &choices[i][places[i].everywhere - 1] : nullptr;
  }

  /// Whether the number of a decision is (or is not) that of a choice.
  Value takes(int64_t decision, unsigned choice, CompareKind how) {
    auto number = SymTensorType::get(ArrayRef<SymExpr>(), b.getI64Type());
    return b.create<CompareOp>(how, numberOf(chosen, decision),
                               b.create<FillOp>(number, b.getI64IntegerAttr(choice)));
  }

  /// What is no layer reads an input rounded where the choice is taken that rounds it everywhere.
  void simulateEverywhere(ArrayRef<IntegerLayer> layers) {
    roundEverywhere(
        b, layers, [&](size_t i) { return everywhereOf(i); },
        [&](size_t i, const LayerChoice &) {
          const Place &place = places[i];
          return roundedWhere(layers[i].input,
                              takes(place.decision, place.everywhere, CompareKind::Equal),
                              {numberOf(scales, place.scale), numberOf(zeros, place.scale)});
        });
  }

  /// What a layer gives is rounded where a choice is taken that rounds it, and none that rounds it everywhere.
  void simulateResults(ArrayRef<IntegerLayer> layers, ArrayRef<GivenResult> results) {
    for (const GivenResult &given : results)
      roundResult(b, given.value, [&](Value value) {
        Value where = takes(places[given.layer].decision, given.choice, CompareKind::Equal);
        if (auto reader =
                roundsEverywhere(layers, value, [&](size_t j) { return everywhereOf(j); })) {
          const Place &place = places[*reader];
          where = b.create<AndOp>(where,
                                  takes(place.decision, place.everywhere, CompareKind::NotEqual));
        }
        return roundedWhere(value, where, constantScale(b, given.rounded));
      });
  }

  Value roundedWhere(Value input, Value is, StaticScale scale) {
    auto branches = b.create<IfOp>(TypeRange{input.getType()}, is, b.getStrArrayAttr({}));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branches.getYes().emplaceBlock());
    b.create<YieldOp>(restored(b, input, scale));
    b.setInsertionPointToStart(&branches.getNo().emplaceBlock());
    b.create<YieldOp>(input);
    return branches.getResult(0);
  }

  LogicalResult simulate(IntegerLayer layer, ArrayRef<LayerChoice> list) {
    layer.input = layer.op->getOperand(0); // which may have been a layer, too
    b.setInsertionPoint(layer.op);
    b.setLoc(layer.op->getLoc());
    Value which = numberOf(chosen, decision++);
    SmallVector<StaticScale> given;
    for (const LayerChoice &choice : list) {
      given.push_back({});
      if (choice.form != LayerChoice::Static)
        continue;
      given.back() = {numberOf(scales, scale), numberOf(zeros, scale)};
      ++scale;
    }
    Value result = branch(layer, list, given, which);
    if (!result)
      return layer.op->emitOpError("has a weight whose elements are not known");
    layer.op->getResult(0).replaceAllUsesWith(result);
    layer.op->erase();
    return success();
  }

  /// The layer as it is where `which` is 0, else by the choice of that number. The innermost branch is the last choice.
  Value branch(const IntegerLayer &layer, ArrayRef<LayerChoice> list, ArrayRef<StaticScale> given,
               Value which) {
    auto number = SymTensorType::get(ArrayRef<SymExpr>(), b.getI64Type());
    OpBuilder::InsertionGuard guard(b);
    Value outer;
    for (unsigned i = 0; i <= list.size(); ++i) {
      Value value;
      IfOp branches;
      if (i < list.size()) {
        Value wanted = b.create<FillOp>(number, b.getI64IntegerAttr(i));
        Value is = b.create<CompareOp>(CompareKind::Equal, which, wanted);
        branches =
            b.create<IfOp>(TypeRange{layer.op->getResult(0).getType()}, is, b.getStrArrayAttr({}));
        value = branches.getResult(0);
      } else if (!(value = buildChoice(b, layer, list[i - 1], given[i - 1], files)))
        return {};
      if (i == 0)
        outer = value;
      else
        b.create<YieldOp>(value);
      if (!branches)
        break;
      b.setInsertionPointToStart(&branches.getYes().emplaceBlock());
      Value inside =
          i == 0 ? plain(layer) : buildChoice(b, layer, list[i - 1], given[i - 1], files);
      if (!inside)
        return {};
      b.create<YieldOp>(inside);
      b.setInsertionPointToStart(&branches.getNo().emplaceBlock());
    }
    return outer;
  }

  Value plain(const IntegerLayer &layer) {
    Operation *same = b.clone(*layer.op);
    same->removeAttr(kChoicesAttr);
    return same->getResult(0);
  }

  /// The read as it is where its number is 0, else of bytes.
  LogicalResult simulate(const ByteTable &table) {
    b.setInsertionPoint(table.read);
    b.setLoc(table.read.getLoc());
    auto number = SymTensorType::get(ArrayRef<SymExpr>(), b.getI64Type());
    Value none = b.create<FillOp>(number, b.getI64IntegerAttr(0));
    Value is = b.create<CompareOp>(CompareKind::Equal, numberOf(chosen, decision++), none);
    auto branches =
        b.create<IfOp>(TypeRange{table.read.getResult().getType()}, is, b.getStrArrayAttr({}));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branches.getYes().emplaceBlock());
    Operation *same = b.clone(*table.read);
    same->removeAttr(kTableChosenAttr);
    b.create<YieldOp>(same->getResult(0));
    b.setInsertionPointToStart(&branches.getNo().emplaceBlock());
    Value bytes = buildTable(b, table, files);
    if (!bytes)
      return table.read->emitOpError("reads a table whose elements are not known");
    b.create<YieldOp>(bytes);
    table.read.getResult().replaceAllUsesWith(branches.getResult(0));
    table.read->erase();
    return success();
  }

  /// All of them as they are where their number is 0, else of bf16, so that each branch becomes the kernel that the program would have.
  void simulate(const ValueProducts &group) {
    SmallVector<Value> results;
    for (Operation *op : group.operations)
      for (Value result : op->getResults())
        if (isReadOutside(result, group))
          results.push_back(result);
    b.setInsertionPointAfter(group.operations.back());
    b.setLoc(group.operations.back()->getLoc());
    auto number = SymTensorType::get(ArrayRef<SymExpr>(), b.getI64Type());
    Value none = b.create<FillOp>(number, b.getI64IntegerAttr(0));
    Value is = b.create<CompareOp>(CompareKind::Equal, numberOf(chosen, decision++), none);
    auto branches = b.create<IfOp>(ValueRange(results).getTypes(), is, b.getStrArrayAttr({}));
    for (auto [old, by] : llvm::zip_equal(results, branches.getResults()))
      old.replaceUsesWithIf(by, [&](OpOperand &use) {
        return !llvm::is_contained(group.operations, use.getOwner());
      });
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branches.getYes().emplaceBlock());
    copy(group, results);
    b.setInsertionPointToStart(&branches.getNo().emplaceBlock());
    roundOperands(copy(group, results), b.getBF16Type());
    for (Operation *op : llvm::reverse(group.operations))
      op->erase();
  }

  static bool isReadOutside(Value result, const ValueProducts &group) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !llvm::is_contained(group.operations, user);
    });
  }

  /// A branch that gives the results; its products.
  SmallVector<Operation *> copy(const ValueProducts &group, ArrayRef<Value> results) {
    IRMapping copies;
    SmallVector<Operation *> products;
    for (Operation *op : group.operations) {
      Operation *same = b.clone(*op, copies);
      same->removeAttr(kValuesChosenAttr);
      if (llvm::is_contained(group.products, op))
        products.push_back(same);
    }
    b.create<YieldOp>(llvm::map_to_vector(results, [&](Value v) { return copies.lookup(v); }));
    return products;
  }

  func::FuncOp function;
  const WeightFiles &files;
  ImplicitLocOpBuilder b;
  std::vector<std::vector<LayerChoice>> choices; ///< by layer
  std::vector<Place> places;                     ///< alike
  Value chosen, scales, zeros;
  int64_t decision = 0, scale = 0;
};

struct SimulateChoicesPass : impl::SimulateChoicesBase<SimulateChoicesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() && failed(Simulator(function, files).run()))
        return signalPassFailure();
  }
  WeightFiles files;
};

} // namespace

std::unique_ptr<Pass> createSimulateChoices(WeightFiles files) {
  auto pass = std::make_unique<SimulateChoicesPass>();
  pass->files = std::move(files);
  return pass;
}

} // namespace weft
