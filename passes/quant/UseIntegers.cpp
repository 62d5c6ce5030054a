//===- UseIntegers.cpp - Products of dequantised operands become products of integers ---------------===//
//
// sum over k of (a - za) * sa * (w - zw) * sw with constant w, one sa and za, and an sw and zw per column (or filter), is
//
//   sa * sw * (sum of a * w  -  za * sum of w  -  zw * sum of a  +  count * za * zw)
//
// Signed rows of 16 bits are multiplied as integers, too, where the target has pairs of such products, no zero point is in the way, and the
// weight's bytes are so small that no row makes a sum overflow.
//
// The sums are exact integers, so the result is nearer to the model's reals than one computed in floats. Ranks exchange integers, too: those
// of a sum are exact however it is split, so results have the bits of one rank.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Resize.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include "passes/quant/ProductDims.h"
#include "passes/quant/QuantisedViews.h"
#include "passes/quant/WeightBytes.h"
#include "passes/quant/ZeroPointSums.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_USEINTEGERS
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

class Rewriter {
public:
  Rewriter(func::FuncOp function, WeightReader weight, bool multipliesShorts)
      : b(function.getLoc(), function.getContext()), constants(weight), weight(std::move(weight)),
        multipliesShorts(multipliesShorts) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          run(inner);
      at(&op);
      if (auto exchange = dyn_cast<CollectiveOpInterface>(op))
        moveBehindSum(exchange);
      else if (auto contract = dyn_cast<ContractOp>(op))
        replace(&op, rewrite(contract));
      else if (auto conv = dyn_cast<ConvOp>(op))
        replace(&op, rewrite(conv));
    }
    eraseUnused(block);
    constants.forget();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      at(&op);
      if (auto transpose = dyn_cast<TransposeOp>(op))
        moveIntoContraction(transpose);
      else if (auto dequantize = dyn_cast<DequantizeOp>(op);
               dequantize && dequantize.rootKind() == RootKind::Loop && hasOneScale(dequantize))
        replace(dequantize,
                movedBeforeViews(
                    b, dequantize,
                    movesElements)); // its floats are stored: where the integers are computed
    }
  }

private:
  void at(Operation *op) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
  }

  void replace(Operation *op, Value by) {
    if (by)
      replaceBy(op, by);
  }

  /// A sum of integers times what all ranks have is that of the integers, multiplied once.
  void moveBehindSum(CollectiveOpInterface sum) {
    if (sum.getForm().combiner != Combiner(CombinerKind::Sum))
      return;
    auto scaled = sum->getOperand(0).getDefiningOp<MulOp>();
    auto real = scaled ? scaled.getLhs().getDefiningOp<ConvertOp>() : ConvertOp();
    if (!real || !scaled->hasOneUse() || !typeOf(real.getInput()).getElementType().isInteger(32) ||
        scaled.getType() != real.getType() || !constants.find(scaled.getRhs()) ||
        !isSameBehind(sum, scaled.getRhs()))
      return;
    Value whole = viewOf(b, sum, real.getInput());
    Value restored = b.create<ConvertOp>(whole, real.getTo());
    replace(sum, b.create<MulOp>(restored, scaled.getRhs()));
  }

  /// Whether a factor has one number for the dimensions that have other sizes behind a collective.
  static bool isSameBehind(CollectiveOpInterface op, Value factor) {
    auto before = typeOf(op->getOperand(0)), after = typeOf(op->getResult(0));
    for (unsigned d = 0, rank = typeOf(factor).getRank(); d < rank; ++d) {
      unsigned at = d + before.getRank() - rank;
      if (!typeOf(factor).getDim(d).isConstant(1) && before.getDim(at) != after.getDim(at))
        return false;
    }
    return true;
  }

  /// transpose(f(contract)) is a contraction with its result's dimensions in another order.
  void moveIntoContraction(TransposeOp transpose) {
    SmallVector<Operation *> between;
    Value x = transpose.getInput();
    while (x.hasOneUse() && isElementwise(x.getDefiningOp())) {
      between.push_back(x.getDefiningOp());
      x = between.back()->getOperand(0);
    }
    auto contract = x.getDefiningOp<ContractOp>();
    if (!contract || !x.hasOneUse() ||
        transpose.getOrder().back() + 1 != int64_t(transpose.getOrder().size()))
      return;
    std::optional<std::string> rule =
        IterationRule::reordered(contract.getRule(), transpose.getOrder());
    if (!rule)
      return;
    Value moved = b.create<ContractOp>(b.getStringAttr(*rule), contract.getLhs(), contract.getRhs(),
                                       contract.getAccumulateAttr());
    for (Operation *op : llvm::reverse(between)) {
      Operation *clone = b.clone(*op);
      clone->setOperand(0, moved);
      clone->getResult(0).setType(
          typeOf(moved).withElement(typeOf(op->getResult(0)).getElementType()));
      moved = clone->getResult(0);
    }
    replace(transpose, moved);
  }

  /// Operands as the formula above has them.
  struct Operands {
    DequantizeOp a, w;
  };

  /// `channel` is the dimension of the weight whose indices have scales of their own. Where `summed`
  /// dimensions of the other operand are named, rows along its others may have them, too.
  std::optional<Operands> match(Value lhs, Value rhs, unsigned channel,
                                ArrayRef<int64_t> summed = {}) {
    auto a = lhs.getDefiningOp<DequantizeOp>(), w = rhs.getDefiningOp<DequantizeOp>();
    if (!a || !w || !isByte(w.getInput()) || !constantBehind(w.getInput()) ||
        !(isByte(a.getInput()) || (!summed.empty() && sumsShorts(a, w, channel))) ||
        !isOne(a.getZero()) || !(isOne(a.getScale()) || isPerRow(a.getScale(), lhs, summed)) ||
        !isPerChannel(w.getScale(), rhs, channel) || !isPerChannel(w.getZero(), rhs, channel))
      return std::nullopt;
    return Operands{a, withSigns(w)};
  }

  /// Whether no rows of 16 bits make a sum that takes more than 32.
  bool sumsShorts(DequantizeOp a, DequantizeOp w, unsigned channel) {
    ConstantOp constant = constantBehind(w.getInput());
    auto stored = typeOf(constant.getResult());
    std::optional<SmallVector<int64_t>> sizes = stored.getConstantDims();
    if (!multipliesShorts || !typeOf(a.getInput()).getElementType().isSignlessInteger(16) ||
        !constants.isZero(a.getZero()) || !constants.isZero(w.getZero()) || !sizes ||
        stored.getRank() != typeOf(w.getInput()).getRank() || isUnsigned(stored.getElementType()))
      return false;
    std::optional<SmallVector<int8_t>> bytes = bytesOf(constant, weight);
    if (!bytes)
      return false;
    size_t columns = size_t((*sizes)[channel]), behind = 1;
    for (int64_t size : ArrayRef(*sizes).drop_front(channel + 1))
      behind *= size_t(size);
    SmallVector<int64_t> least(columns, 0), most(columns, 0);
    for (auto [i, byte] : llvm::enumerate(*bytes)) {
      int64_t low = int64_t(byte) * INT16_MIN, high = int64_t(byte) * INT16_MAX;
      least[i / behind % columns] += std::min(low, high);
      most[i / behind % columns] += std::max(low, high);
    }
    return llvm::all_of(llvm::concat<int64_t>(least, most),
                        [](int64_t sum) { return llvm::isInt<32>(sum); });
  }

  /// Unsigned integers of a weight as signed ones, 128 below with their zero point: instructions multiply unsigned bytes by signed ones.
  DequantizeOp withSigns(DequantizeOp w) {
    auto constant = w.getInput().getDefiningOp<ConstantOp>();
    auto type = typeOf(w.getInput());
    std::optional<int64_t> count = type.getElements().asConstant();
    const char *bytes = constant && count && isUnsigned(type.getElementType())
                            ? constants.bytesOf(constant)
                            : nullptr;
    if (!bytes)
      return w;
    std::vector<char> below(bytes, bytes + *count);
    for (char &byte : below)
      byte = char(uint8_t(byte) ^ 0x80);
    Type i8 = b.getI8Type();
    auto shaped = RankedTensorType::get(*type.getConstantDims(), i8);
    Value integers = b.create<ConstantOp>(type.withElement(i8),
                                          DenseElementsAttr::getFromRawBuffer(shaped, below));
    Value zero = widen(w.getZero());
    Value half = b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), b.getI32Type()),
                                  b.getI32IntegerAttr(128));
    Value moved = b.create<ConvertOp>(b.create<SubOp>(zero, half), TypeAttr::get(i8));
    return b.create<DequantizeOp>(integers, w.getScale(), moved);
  }

  /// Whether the scale has one number for all that is summed, and some dimension is.
  static bool isPerRow(Value scale, Value rows, ArrayRef<int64_t> summed) {
    return typeOf(scale).getRank() == typeOf(rows).getRank() && !summed.empty() &&
           llvm::all_of(summed, [&](int64_t d) { return typeOf(scale).getDim(d).isConstant(1); });
  }

  /// Whether the parameter's dimensions are 1 but for that of the channels.
  static bool isPerChannel(Value parameter, Value weight, unsigned channel) {
    unsigned rank = typeOf(weight).getRank(), have = typeOf(parameter).getRank();
    for (unsigned d = 0; d < have; ++d)
      if (!typeOf(parameter).getDim(d).isConstant(1) && d + rank - have != channel)
        return false;
    return true;
  }

  /// A parameter as [n, 1, …]: a list, or one number, with `behind` dimensions of 1 behind.
  Value perChannel(Value parameter, unsigned behind) {
    if (isOne(parameter))
      return scalar(b, parameter);
    SmallVector<SymExpr> dims{typeOf(parameter).getElements()};
    dims.append(behind, SymExpr::constant(b.getContext(), 1));
    DimsAttr attribute = DimsAttr::get(b.getContext(), dims);
    return b.create<ReshapeOp>(SymTensorType::get(b.getContext(), attribute.getDimAttributes(),
                                                  typeOf(parameter).getElementType()),
                               parameter, attribute);
  }

  /// The scales of rows, which lead the result's dimensions.
  Value perRow(Value scale, SymTensorType result) {
    SmallVector<SymExpr> dims(result.getDims());
    dims.back() = SymExpr::constant(b.getContext(), 1);
    return b.create<ReshapeOp>(scale, DimsAttr::get(b.getContext(), dims));
  }

  Value widen(Value x) { return b.create<ConvertOp>(x, TypeAttr::get(b.getI32Type())); }

  /// What the zero point of the other operand is multiplied by: the sum of (w - zw) for each channel.
  Value sumWeight(const Operands &o, unsigned channel, bool aroundW) {
    DequantizeOp w = o.w;
    Value sums = sumOfWeight(b, w.getInput(), channel);
    auto type = typeOf(w.getInput());
    if (!aroundW)
      return sums;
    int64_t count = *type.getElements().asConstant() / *type.getDim(channel).asConstant();
    Value times = b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), b.getI32Type()),
                                   b.getI32IntegerAttr(int32_t(count)));
    return b.create<SubOp>(sums, b.create<MulOp>(widen(perChannel(w.getZero(), 0)), times));
  }

  /// sa * sw * (sum - correction); `behind` dimensions of the result follow the channel.
  Value scaled(Value sum, Value correction, const Operands &o, unsigned behind) {
    if (correction)
      sum = b.create<SubOp>(sum, correction);
    Value real = b.create<ConvertOp>(sum, TypeAttr::get(b.getF32Type()));
    DequantizeOp a = o.a, w = o.w;
    Value columns = perChannel(w.getScale(), behind);
    if (isOne(a.getScale()))
      return b.create<MulOp>(real, b.create<MulOp>(columns, scalar(b, a.getScale())));
    return b.create<MulOp>(b.create<MulOp>(real, columns), perRow(a.getScale(), typeOf(sum)));
  }

  Value rewrite(ContractOp op) {
    // the weight: one factor is the result's last dimension, the others are summed, and the other operand has all of those
    std::optional<ProductDims> dims = productDims(op);
    if (!dims)
      return {};
    unsigned channel = dims->column;
    ArrayRef<int64_t> summed = dims->summed;
    std::optional<Operands> o =
        match(op.getLhs(), op.getRhs(), channel, dims->rowsLead ? summed : ArrayRef<int64_t>());
    if (!o)
      return {};
    bool aroundA = !constants.isZero(o->a.getZero()), aroundW = !constants.isZero(o->w.getZero());
    if (aroundW && !(dims->rowsLead && typeOf(o->w.getInput()).getConstantDims()))
      return {};
    Value a = o->a.getInput(), w = o->w.getInput();
    Value sum = b.create<ContractOp>(op.getRuleAttr(), a, w, TypeAttr::get(b.getI32Type()));
    Value correction;
    auto add = [&](Value term) {
      correction = correction ? Value(b.create<AddOp>(correction, term)) : term;
    };
    Value za = widen(scalar(b, o->a.getZero())), zw = widen(perChannel(o->w.getZero(), 0));
    if (aroundA)
      add(b.create<MulOp>(sumWeight(*o, channel, aroundW), za));
    if (aroundW)
      add(b.create<MulOp>(sumOfRows(b, a, w, op, channel), zw));
    return scaled(sum, correction, *o, 0);
  }

  Value rewrite(ConvOp op) {
    auto filter = typeOf(op.getFilter());
    if (!op.getAccumulate().isF32() || filter.getRank() > 4 || op.getGroups() > 1)
      return {};
    std::optional<Operands> o = match(op.getInput(), op.getFilter(), 0);
    if (!o)
      return {};
    bool aroundA = !constants.isZero(o->a.getZero()), aroundW = !constants.isZero(o->w.getZero());
    if (aroundW && !typeOf(o->w.getInput()).getConstantDims())
      return {};
    unsigned behind = filter.getRank() - 2;
    Value x = o->a.getInput(), w = o->w.getInput(), correction;
    DimsAttr low = op.getLowAttr(), high = op.getHighAttr();
    if (aroundA) { // the border is za
      auto none = [](DimsAttr amounts) {
        return llvm::all_of(amounts.getDims(), [](SymExpr e) { return e.isConstant(0); });
      };
      SymExpr zero = SymExpr::constant(b.getContext(), 0);
      if (!none(low) || !none(high)) {
        SmallVector<SymExpr> before(2, zero), after(2, zero);
        llvm::append_range(before, low.getDims());
        llvm::append_range(after, high.getDims());
        x = b.create<PadOp>(x, scalar(b, o->a.getZero()), DimsAttr::get(b.getContext(), before),
                            DimsAttr::get(b.getContext(), after));
        low = high = DimsAttr::get(b.getContext(), SmallVector<SymExpr>(behind, zero));
      }
      correction = b.create<MulOp>(perChannel(sumWeight(*o, 0, aroundW), behind),
                                   widen(scalar(b, o->a.getZero())));
    }
    if (aroundW) {
      Value term = b.create<MulOp>(sumOfWindows(b, x, op, low, high),
                                   widen(perChannel(o->w.getZero(), behind)));
      correction = correction ? Value(b.create<AddOp>(correction, term)) : term;
    }
    Value sum = b.create<ConvOp>(x, w, op.getStridesAttr(), op.getDilationsAttr(), low, high,
                                 op.getGroupsAttr(), TypeAttr::get(b.getI32Type()), UnitAttr());
    sum.setType(
        typeOf(op.getResult()).withElement(b.getI32Type())); // the padded sizes are the same
    return scaled(sum, correction, *o, behind);
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants;
  WeightReader weight;
  bool multipliesShorts;
};

struct UseIntegersPass : impl::UseIntegersBase<UseIntegersPass> {
  using UseIntegersBase::UseIntegersBase;
  void runOnOperation() override {
    if (!getOperation().isExternal() && isQuantised(getOperation()))
      Rewriter(getOperation(), weight, shorts).run(getOperation().getBody().front());
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createUseIntegers(WeightReader weight, const UseIntegersOptions &options) {
  auto pass = std::make_unique<UseIntegersPass>(options);
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
