//===- BareWeights.cpp - What layers multiply with are constants, not views of them -----------------===//
//
//   before   %1 = slice %all from [1, 0, 0] size [1, 384, 256] ; %w = reshape %1 to [384, 256] ; %y = contract "m k, n k -> m n" %x, %w
//   after    weft.weight @"all[98304]" from … at … : <[384, 256], f32>
//            %w = constant @"all[98304]" ; %y = contract "m k, n k -> m n" %x, %w
//
//   before   %w = transpose %c [1, 0] ; %y = contract "m k, k n -> m n" %x, %w
//   after    %y = contract "m k, n k -> m n" %x, %c
//
// Gates of recurrent networks have their matrices as parts of one tensor, and exporters leave transposes of weights behind. Views whose elements
// do not follow each other stay, and so do those with attributes.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/quant/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_BAREWEIGHTS
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Elements of a constant of f32 that follow each other, from the first one on.
struct Run {
  mutable ConstantOp whole; ///< a handle; its methods are not const
  int64_t first;
};

/// The first element that a slice takes, where those that it takes follow each other.
std::optional<int64_t> firstOf(SliceOp slice) {
  auto dims = typeOf(slice.getInput()).getConstantDims(),
       sizes = typeOf(slice.getResult()).getConstantDims();
  if (!dims || !sizes || llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  int64_t first = 0;
  bool isWhole = false; // all dimensions from here on
  for (auto [dim, size, start] : llvm::zip_equal(*dims, *sizes, slice.getStarts().getDims())) {
    auto begin = start.asConstant();
    if (!begin || (isWhole && size != dim))
      return std::nullopt;
    isWhole |= size != 1;
    first = first * dim + *begin;
  }
  return first;
}

/// Nothing behind a view, or of a constant, that something is said of, as where ranks have its parts: that would be lost.
std::optional<Run> runBehind(Value value) {
  for (int64_t first = 0;;) {
    Operation *op = value.getDefiningOp();
    if (op && !op->getDiscardableAttrs().empty())
      return std::nullopt;
    if (auto constant = dyn_cast_or_null<ConstantOp>(op))
      return typeOf(value).getElementType().isF32() ? std::optional(Run{constant, first})
                                                    : std::nullopt;
    auto slice = dyn_cast_or_null<SliceOp>(op);
    std::optional<int64_t> more = slice ? firstOf(slice) : 0;
    if (!more || !isa_and_nonnull<SliceOp, ReshapeOp>(op))
      return std::nullopt;
    first += *more;
    value = op->getOperand(0);
  }
}

/// A rule whose second operand has its dimensions in the order in which they were moved; nothing where it leaves some open.
std::optional<std::string> ruleBefore(StringRef rule, ArrayRef<int64_t> order) {
  auto [lhs, others] = rule.split(',');
  auto [rhs, result] = others.split("->");
  SmallVector<StringRef> names;
  rhs.trim().split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (names.size() != order.size() || llvm::is_contained(names, "..."))
    return std::nullopt;
  SmallVector<StringRef> before(names);
  for (auto [i, from] : llvm::enumerate(order))
    before[size_t(from)] = names[i];
  return (lhs + ", " + llvm::join(before, " ") + " ->" + result).str();
}

class Barer {
public:
  explicit Barer(ModuleOp module) : module(module), symbols(module), b(module.getContext()) {}

  void run() {
    module.walk([&](ContractOp op) {
      readUnmoved(op);
      replace(op.getRhsMutable());
    });
    module.walk([&](ConvOp op) { replace(op.getFilterMutable()); });
  }

private:
  void readUnmoved(ContractOp op) {
    auto move = op.getRhs().getDefiningOp<TransposeOp>();
    if (!move || !move->getDiscardableAttrs().empty() || !runBehind(move.getInput()))
      return;
    if (std::optional<std::string> rule = ruleBefore(op.getRule(), move.getOrder())) {
      op.setRule(*rule);
      op.getRhsMutable().assign(move.getInput());
    }
  }

  void replace(OpOperand &weight) {
    std::optional<Run> run = runBehind(weight.get());
    SymTensorType type = typeOf(weight.get());
    if (!run || run->whole.getResult() == weight.get() || !type.getConstantDims())
      return;
    b.setInsertionPoint(weight.getOwner());
    weight.set(b.create<ConstantOp>(run->whole.getLoc(), type, elementsOf(*run, type)));
  }

  Attribute elementsOf(const Run &run, SymTensorType type) {
    int64_t count = *type.getElements().asConstant();
    if (auto name = dyn_cast<FlatSymbolRefAttr>(run.whole.getValue()))
      return FlatSymbolRefAttr::get(
          partOf(symbols.lookup<WeightOp>(name.getValue()), run.first, type));
    auto all = cast<DenseElementsAttr>(run.whole.getValue());
    auto shape = RankedTensorType::get(*type.getConstantDims(), b.getF32Type());
    if (all.isSplat())
      return all.resizeSplat(shape);
    auto from = all.value_begin<float>() + run.first;
    return DenseElementsAttr::get(shape, ArrayRef<float>(SmallVector<float>(from, from + count)));
  }

  /// The same for all that read it.
  WeightOp partOf(WeightOp whole, int64_t first, SymTensorType type) {
    WeightOp &part = parts[{whole.getOperation(), first, Type(type)}];
    if (part)
      return part;
    uint64_t at = whole.getOffset() + uint64_t(first) * sizeof(float),
             bytes = uint64_t(*type.getElements().asConstant()) * sizeof(float);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(whole);
    part = b.create<WeightOp>(whole.getLoc(), (whole.getSymName() + "[" + Twine(first) + "]").str(),
                              whole.getFile(), at, bytes, type);
    symbols.insert(part); // under another name where there is one
    return part;
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder b;
  llvm::DenseMap<std::tuple<Operation *, int64_t, Type>, WeightOp> parts;
};

struct BareWeightsPass : impl::BareWeightsBase<BareWeightsPass> {
  void runOnOperation() override { Barer(getOperation()).run(); }
};

} // namespace
} // namespace weft
