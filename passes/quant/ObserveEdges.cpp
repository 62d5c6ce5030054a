//===- ObserveEdges.cpp - What layers read, as numbers that a call returns ------------------------===//
//
//   before   %1 = contract "m k, k n -> m n" %0, %w ; return %1
//   after    %least = reduce min %0 [0] ; %most = reduce max %0 [0] ; %squares = reduce sum %0 * %0 [0]
//            %counts = reduce sum (%0 * inverses <= thresholds) ; %peaks = sums of squares of rows' largest |%0| * strengths
//            return %1, %least, %most, %squares, %rows, %counts, %peaks
//
// One program answers for all sizes, and what it returns does not depend on them: least, largest and squares of each channel, the number of
// rows, and how large rows are, each divided by its channels' factors, for several sets of factors. Their inverses are an input, so the same
// program answers before and behind the choice of factors. So are the thresholds of a histogram, which are chosen when extremes are known: how
// many elements are no larger than each is a column of comparisons for every element, less than the product that reads it takes.
//
// What branches and loops read is observed there, each time, and combined.
//===------------------------------------------------------------------------------------------===//

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/quant/LayerChoice.h"
#include "passes/quant/Observation.h"
#include "passes/quant/Passes.h"
#include "passes/quant/PositionMask.h"
#include "passes/quant/RegionValues.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OBSERVEEDGES
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

class Observer {
public:
  Observer(func::FuncOp function, int64_t strengths, const PositionMask &mask)
      : function(function), b(function.getLoc(), function.getContext()), strengths(strengths),
        mask(mask) {}

  void run() {
    std::vector<IntegerLayer> layers = integerLayers(function);
    std::vector<Edge> edges = edgesOf(layers);
    if (int64_t count = strengths * peakChannels(edges); count > 0) {
      unsigned position = function.getNumArguments();
      function.insertArgument(position, tensorOf({constant(count)}), named(kFactorsInput),
                              function.getLoc());
      factors = function.getArgument(position);
    }
    if (!edges.empty()) {
      int64_t count = 0;
      for (const Edge &edge : edges)
        count += thresholdNumbers(edge);
      unsigned position = function.getNumArguments();
      function.insertArgument(position, tensorOf({constant(count)}), named(kThresholdsInput),
                              function.getLoc());
      thresholds = function.getArgument(position);
    }
    SmallVector<Value> given = resultsOf(layers); // before what observes reads them, too
    for (const Edge &edge : edges)
      observe(edge, blockReading(edge, layers));
    for (Value value : given)
      observeResult(value);
    addResults();
  }

private:
  SymExpr constant(int64_t number) { return SymExpr::constant(b.getContext(), number); }
  SymTensorType tensorOf(ArrayRef<SymExpr> dims) {
    return SymTensorType::get(dims, b.getF32Type());
  }
  DimsAttr dims(ArrayRef<SymExpr> list) { return DimsAttr::get(b.getContext(), list); }
  DictionaryAttr named(StringRef name) {
    return b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
  }

  /// Branches and loops get results themselves, so no operation of the program is known by its address from here on.
  void addResults() {
    Operation *end = function.getBody().front().getTerminator();
    for (auto [value, name] : llvm::zip_equal(ofWholeCall(seenValues), names)) {
      function.insertResult(function.getNumResults(), value.getType(), named(name));
      end->insertOperands(end->getNumOperands(), value);
    }
  }

  void give(CombinerKind kind, Value value, const Twine &name) {
    seenValues.push_back({value, kind});
    names.push_back(name.str());
  }

  static SmallVector<Value> resultsOf(ArrayRef<IntegerLayer> layers) {
    SmallVector<Value> given;
    for (const IntegerLayer &layer : layers)
      if (auto behind = layer.op->getAttrOfType<DenseI64ArrayAttr>(kObservedBehindAttr))
        for (int64_t operators : behind.asArrayRef())
          if (Value value = valueGivenBehind(layer.op, unsigned(operators)))
            given.push_back(value);
    return given;
  }

  void startIn(Block *block, Value value) {
    b.setInsertionPoint(block->getTerminator());
    b.setLoc(value.getLoc());
  }

  void observe(const Edge &edge, Block *block) {
    startIn(block, edge.value);
    SmallVector<int64_t> others;
    for (unsigned d = 0; d < typeOf(edge.value).getRank(); ++d)
      if (d != edge.channel)
        others.push_back(d);
    std::string name = "edge" + std::to_string(index++) + ".";
    Value seen = mask.applied(b, edge.value);
    Value squared = b.create<MulOp>(seen, seen);
    giveReduced(CombinerKind::Min, seen, others, name + "least");
    giveReduced(CombinerKind::Max, seen, others, name + "most");
    giveReduced(CombinerKind::Sum, squared, others, name + "squares");
    give(CombinerKind::Sum, mask.rows(b, edge.value, edge.channel), name + "rows");
    give(CombinerKind::Sum, counts(edge, seen), name + "counts");
    if (edge.hasRows)
      give(CombinerKind::Sum, peaks(edge, seen, others.size()), name + "peaks");
  }

  void observeResult(Value value) {
    startIn(value.getParentBlock(), value);
    Value seen = mask.applied(b, value);
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
    std::string name = "result" + std::to_string(results++) + ".";
    giveReduced(CombinerKind::Min, seen, all, name + "least");
    giveReduced(CombinerKind::Max, seen, all, name + "most");
  }

  void giveReduced(CombinerKind kind, Value value, ArrayRef<int64_t> dims, const Twine &name) {
    give(kind, b.create<ReduceOp>(kind, value, dims), name);
  }

  /// The numbers of a list that are not read yet, in a shape.
  Value take(Value list, int64_t &from, int64_t count, ArrayRef<SymExpr> shape) {
    Value part = b.create<SliceOp>(list, dims({constant(from)}), dims({constant(count)}),
                                   SmallVector<int64_t>{1});
    from += count;
    return b.create<ReshapeOp>(part, dims(shape));
  }

  /// How many elements, times their channel's inverse, are no larger than each threshold.
  Value counts(const Edge &edge, Value seen) {
    if (edge.channel) {
      SmallVector<SymExpr> along(typeOf(seen).getRank(), constant(1));
      along[*edge.channel] = constant(edge.channels);
      seen = b.create<MulOp>(seen, take(thresholds, counted, edge.channels, along));
    }
    SmallVector<SymExpr> spread(typeOf(seen).getDims());
    spread.push_back(constant(1));
    Value each = b.create<ReshapeOp>(seen, dims(spread));
    Value is = b.create<CompareOp>(CompareKind::LessEqual, each,
                                   take(thresholds, counted, kThresholds, {constant(kThresholds)}));
    return b.create<ReduceOp>(
        CombinerKind::Sum, b.create<ConvertOp>(is, b.getI32Type()),
        llvm::to_vector(llvm::seq<int64_t>(0, int64_t(typeOf(seen).getRank()))));
  }

  /// Squares of rows' largest magnitudes under each set of factors, summed over the rows.
  Value peaks(const Edge &edge, Value seen, size_t leading) {
    SymExpr channels = constant(edge.channels);
    Value inverse = take(factors, at, strengths * edge.channels, {constant(strengths), channels});
    SmallVector<SymExpr> spread(typeOf(seen).getDims());
    spread.insert(spread.end() - 1, constant(1));
    Value rows = b.create<ReshapeOp>(b.create<AbsOp>(seen), dims(spread));
    Value scaled = b.create<MulOp>(rows, inverse);
    Value largest = b.create<ReduceOp>(CombinerKind::Max, scaled, int64_t(leading + 1));
    Value squares = b.create<MulOp>(largest, largest);
    return b.create<ReduceOp>(CombinerKind::Sum, squares,
                              llvm::to_vector(llvm::seq<int64_t>(0, int64_t(leading))));
  }

  func::FuncOp function;
  ImplicitLocOpBuilder b;
  const int64_t strengths;
  const PositionMask &mask;
  Value factors, thresholds;
  int64_t at = 0, counted = 0; ///< of the factors and thresholds that are not read yet
  unsigned index = 0, results = 0;
  SmallVector<CombinedValue> seenValues; ///< that the function will return
  std::vector<std::string> names;        ///< of these
};

struct ObserveEdgesPass : impl::ObserveEdgesBase<ObserveEdgesPass> {
  using ObserveEdgesBase::ObserveEdgesBase;
  void runOnOperation() override {
    if (!getOperation().isPublic() || getOperation().isExternal())
      return;
    FailureOr<PositionMask> positions = PositionMask::of(getOperation(), mask);
    if (failed(positions))
      return signalPassFailure();
    Observer(getOperation(), strengths, *positions).run();
  }
};

} // namespace

int64_t peakChannels(const std::vector<Edge> &edges) {
  int64_t channels = 0;
  for (const Edge &edge : edges)
    channels += edge.hasRows ? edge.channels : 0;
  return channels;
}

} // namespace weft
