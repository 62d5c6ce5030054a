//===- FoldScales.cpp - Quantisations divide by constants while compiling ------------------------------===//
//
//   before   %1 = mul %0, %scales ; %2 = add %1, %bias ; quantize %2, %s, %z
//   after    %2 = multiply_add %0, %scales / %s, %bias / %s ; quantize %2, 1, %z
//
// What is quantised is often a sum of products with constants, and of restored integers. Each of its constants takes the division by the
// scale; so it does what channels are multiplied by in between, where that is positive, which is how they are equalised. The result is as near
// to the model's reals: constants are divided in double and rounded once.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include <cmath>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/quant/Passes.h.inc"

namespace {

constexpr int64_t kMostElements = 1 << 16; ///< of a constant

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

class Folder {
public:
  Folder(func::FuncOp function, WeightReader weight)
      : b(function.getLoc(), function.getContext()), constants(std::move(weight)) {}

  void fold(QuantizeOp op) {
    const RefTensor *scale = constants.find(op.getScale());
    if (!scale || scale->reals.size() != 1 || !(scale->reals[0] > 0))
      return;
    const Divisor whole{{}, {scale->reals[0]}};
    by = whole;
    Value input = equalised(op.getInput());
    if (!input || !isDivisible(input)) {
      by = whole;
      input = op.getInput();
      if (!isDivisible(input))
        return;
    }
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.getInputMutable().assign(divided(input));
    DimsAttr none = DimsAttr::get(b.getContext(), ArrayRef<SymExpr>());
    auto scalar = SymTensorType::get(b.getContext(), none.getDimAttributes(), b.getF32Type());
    op.getScaleMutable().assign(b.create<FillOp>(scalar, b.getF32FloatAttr(1)));
  }

private:
  /// What constants are divided by: one number, or one for each element of a shape, whose outer ones are left out.
  struct Divisor {
    SmallVector<int64_t> dims;
    std::vector<double> numbers;
    double at(size_t element) const { return numbers[numbers.size() > 1 ? element : 0]; }
  };

  static SmallVector<int64_t> withoutOuterOnes(ArrayRef<int64_t> dims) {
    return llvm::to_vector(dims.drop_while([](int64_t dim) { return dim == 1; }));
  }

  /// What a value is times positive constants, by which `by` is divided then; null where it is no such product.
  Value equalised(Value value) {
    auto mul = value.getDefiningOp<MulOp>();
    const RefTensor *factors = mul && mul->hasOneUse() ? constants.find(mul.getRhs()) : nullptr;
    if (!factors || mul.getLhs().getType() != mul.getType() || factors->reals.empty() ||
        !llvm::all_of(factors->reals, [](double f) { return f > 0 && std::isfinite(f); }))
      return {};
    double scale = by.numbers[0];
    by.dims = withoutOuterOnes(factors->dims);
    by.numbers = factors->reals;
    for (double &number : by.numbers)
      number = scale / number;
    return mul.getLhs();
  }

  /// Whether all elements are known, and their quotients numbers that f32 holds with all its digits.
  bool isConstant(Value value) {
    auto count = typeOf(value).getElements().asConstant();
    if (!count || *count > kMostElements || !typeOf(value).getElementType().isF32())
      return false;
    const RankValues *values = constants.ofRanks(value);
    return values && llvm::all_of(values->tensors, [&](const RefTensor &tensor) {
             bool fits = by.numbers.size() == 1 ||
                         (values->tensors.size() == 1 && withoutOuterOnes(tensor.dims) == by.dims);
             return fits && llvm::all_of(llvm::enumerate(tensor.reals), [&](auto element) {
                      return element.value() == 0 ||
                             std::isnormal(float(element.value() / by.at(element.index())));
                    });
           });
  }

  /// Whether the value is something times constants, which nobody else reads.
  bool isDivisible(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<DequantizeOp>(op))
      return isConstant(cast<DequantizeOp>(op).getScale());
    if (!op || !op->hasOneUse())
      return false;
    auto isTerm = [&](Value operand) { return isConstant(operand) || isDivisible(operand); };
    if (auto mul = dyn_cast<MulOp>(op))
      return isConstant(mul.getRhs());
    if (auto add = dyn_cast<AddOp>(op))
      return isTerm(add.getLhs()) && isTerm(add.getRhs());
    auto activation = dyn_cast<ActivationOp>(op);
    return activation && activation.getKind() == ActivationKind::Relu &&
           isDivisible(activation.getInput());
  }

  Value divided(Value value) {
    if (isConstant(value))
      return dividedConstant(value);
    Operation *op = value.getDefiningOp();
    if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
      Value scale = dividedConstant(dequantize.getScale());
      if (typeOf(scale).getRank() == 0 && scale.getDefiningOp<ConstantOp>())
        scale.getDefiningOp()->setAttr(kParameterAttr, b.getUnitAttr());
      return b.create<DequantizeOp>(dequantize.getType(), dequantize.getInput(), scale,
                                    dequantize.getZero());
    }
    if (auto mul = dyn_cast<MulOp>(op))
      return b.create<MulOp>(mul.getLhs(), dividedConstant(mul.getRhs()));
    if (auto add = dyn_cast<AddOp>(op))
      return dividedSum(add);
    Operation *activation = b.clone(*op);
    activation->setOperand(0, divided(op->getOperand(0)));
    activation->moveAfter(activation->getOperand(0).getDefiningOp());
    return activation->getResult(0);
  }

  /// A product in a sum is rounded together with it.
  Value dividedSum(AddOp add) {
    for (auto [term, other] : {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}})
      if (auto mul = term.getDefiningOp<MulOp>(); mul && !isConstant(term)) {
        Value addend = divided(other);
        return b.create<MultiplyAddOp>(add.getType(), mul.getLhs(), dividedConstant(mul.getRhs()),
                                       addend);
      }
    Value lhs = divided(add.getLhs());
    return b.create<AddOp>(lhs, divided(add.getRhs()));
  }

  Value dividedConstant(Value value) {
    const RankValues &from = *constants.ofRanks(value);
    RefTensor elements = from.joined();
    for (auto [i, element] : llvm::enumerate(elements.reals))
      element /= by.at(i);
    return storedConstant(b, typeOf(value), from.group, elements);
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants;
  Divisor by;
};

struct FoldScalesPass : impl::FoldScalesBase<FoldScalesPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Folder folder(getOperation(), weight);
    SmallVector<QuantizeOp> all;
    getOperation().walk([&](QuantizeOp op) { all.push_back(op); });
    for (QuantizeOp op : all)
      folder.fold(op);
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createFoldScales(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<FoldScalesPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
