#include "test/differential/RandomProgram.h"
#include "compiler/pipeline/ModuleImpl.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <numeric>
#include <random>

using namespace mlir;

namespace weft::test {
namespace {

class Generator {
public:
  Generator(MLIRContext *context, unsigned seed)
      : b(UnknownLoc::get(context), context), random(seed) {}

  OwningOpRef<ModuleOp> run(unsigned operators) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    SymExpr m = symbol("m"), n = symbol("n");
    Type f32 = b.getF32Type();
    SmallVector<Type> inputs{SymTensorType::get({m, n}, f32),
                             SymTensorType::get({n, number(16)}, f32),
                             SymTensorType::get({m, number(1), number(8)}, f32),
                             SymTensorType::get({m}, b.getI64Type())};
    auto function = b.create<func::FuncOp>("main", b.getFunctionType(inputs, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    for (Value argument : ArrayRef<BlockArgument>(function.getArguments()).take_front(3))
      add(argument, /*exact=*/true);
    ids = function.getArgument(3);
    while (operators > 0)
      operators -= grow();
    SmallVector<Value> results;
    for (size_t i = 0, count = 1 + random() % 3; i < count; ++i)
      results.push_back(values[values.size() - 1 - random() % std::min<size_t>(values.size(), 4)]);
    b.create<func::ReturnOp>(results);
    function.setType(b.getFunctionType(inputs, ValueRange(results).getTypes()));
    SmallVector<StringAttr> names{b.getStringAttr("m"), b.getStringAttr("n")};
    function->setAttr(kSymbolsAttr, SymbolsAttr::get(b.getContext(), names, ArrayRef<SymPred>()));
    return module;
  }

private:
  SymExpr symbol(StringRef name) { return SymExpr::symbol(b.getContext(), name); }
  SymExpr number(int64_t value) { return SymExpr::constant(b.getContext(), value); }
  static SymTensorType type(Value v) { return cast<SymTensorType>(v.getType()); }
  DimsAttr dims(ArrayRef<SymExpr> list) { return DimsAttr::get(b.getContext(), list); }
  Value pick() { return values[random() % values.size()]; }
  Value bounded(Value x) { return b.create<TanhOp>(x); }
  bool isExact(Value v) const { return exact.contains(v); }

  void add(Value value, bool isExact) {
    values.push_back(value);
    if (isExact)
      exact.insert(value);
  }

  /// One operator, when the one drawn fits.
  bool grow() {
    Value x = pick();
    switch (random() % 14) {
    case 0:
      return unary(x);
    case 1:
    case 2:
      return binary(x);
    case 3:
      return transpose(x);
    case 4:
      return reshape(x);
    case 5:
      return slice(x);
    case 6:
      return concat(x);
    case 7:
      return pad(x);
    case 8:
      return expand(x);
    case 9:
      return reduce(x);
    case 10:
      return line(x);
    case 11:
      return product(x);
    case 12:
      return gather(x);
    default:
      return choose(x);
    }
  }

  bool unary(Value x) {
    static constexpr ActivationKind kinds[] = {ActivationKind::Relu, ActivationKind::Sigmoid,
                                               ActivationKind::Gelu, ActivationKind::Silu};
    switch (random() % 5) {
    case 0:
      add(b.create<TanhOp>(x), false);
      break;
    case 1:
      add(b.create<NegOp>(x), isExact(x));
      break;
    case 2:
      add(b.create<AbsOp>(x), isExact(x));
      break;
    case 3:
      add(b.create<ErfOp>(x), false);
      break;
    default:
      add(b.create<ActivationOp>(type(x), kinds[random() % 4], x, llvm::APFloat(0.0),
                                 llvm::APFloat(0.0)),
          false);
    }
    return true;
  }

  static bool compatible(SymTensorType a, SymTensorType c) {
    for (unsigned i = 1; i <= std::min(a.getRank(), c.getRank()); ++i) {
      SymExpr x = a.getDim(a.getRank() - i), y = c.getDim(c.getRank() - i);
      if (x != y && !x.isConstant(1) && !y.isConstant(1))
        return false;
    }
    return true;
  }

  bool binary(Value x) {
    Value y = pick();
    if (!compatible(type(x), type(y)))
      return false;
    switch (random() % 5) {
    case 0:
      add(b.create<AddOp>(x, y), false);
      break;
    case 1:
      add(b.create<SubOp>(x, y), false);
      break;
    case 2:
      add(b.create<MulOp>(bounded(x), y), false);
      break;
    case 3:
      add(b.create<MinimumOp>(x, y), isExact(x) && isExact(y));
      break;
    default:
      add(b.create<MaximumOp>(x, y), isExact(x) && isExact(y));
    }
    return true;
  }

  bool transpose(Value x) {
    SmallVector<int64_t> order(type(x).getRank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    add(b.create<TransposeOp>(x, order), isExact(x));
    return true;
  }

  /// Merges two neighbours, or splits a dimension with a constant divisor.
  bool reshape(Value x) {
    SmallVector<SymExpr> list = type(x).getDims();
    if (list.size() >= 2 && random() % 2) {
      size_t at = random() % (list.size() - 1);
      list[at] = list[at] * list[at + 1];
      list.erase(list.begin() + at + 1);
    } else {
      if (list.empty() || list.size() >= 5)
        return false;
      size_t at = random() % list.size();
      int64_t divisor = list[at].asConstant().value_or(1) % 2 == 0 ? 2 : 1;
      SymExpr rest = SymExpr::floordiv(list[at], divisor);
      list[at] = number(divisor);
      list.insert(list.begin() + at + 1, rest);
    }
    add(b.create<ReshapeOp>(x, dims(list)), isExact(x));
    return true;
  }

  bool slice(Value x) {
    SmallVector<SymExpr> sizes = type(x).getDims(), starts(sizes.size(), number(0));
    SmallVector<int64_t> steps(sizes.size(), 1);
    if (sizes.empty())
      return false;
    size_t at = random() % sizes.size();
    switch (random() % 3) {
    case 0: // every second
      steps[at] = 2;
      sizes[at] = SymExpr::ceildiv(sizes[at], 2);
      break;
    case 1: // backwards
      steps[at] = -1;
      starts[at] = sizes[at] - 1;
      break;
    default: // without the first, if there is one
      starts[at] = SymExpr::min(sizes[at], number(1));
      sizes[at] = SymExpr::max(sizes[at] - 1, number(0));
    }
    add(b.create<SliceOp>(x, dims(starts), dims(sizes), steps), isExact(x));
    return true;
  }

  bool concat(Value x) {
    if (type(x).getRank() == 0)
      return false;
    SmallVector<Value> parts{x};
    for (Value y : values)
      if (y.getType() == x.getType() && random() % 2 && parts.size() < 3)
        parts.push_back(y);
    bool isExactAll = llvm::all_of(parts, [&](Value v) { return isExact(v); });
    add(b.create<ConcatOp>(parts, random() % type(x).getRank()), isExactAll);
    return true;
  }

  bool pad(Value x) {
    unsigned rank = type(x).getRank();
    if (rank == 0)
      return false;
    SmallVector<SymExpr> low(rank, number(0)), high(rank, number(0));
    low[random() % rank] = number(random() % 3);
    high[random() % rank] = number(random() % 2);
    Value value =
        b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getF32Type()),
                         b.getF32FloatAttr(0.5));
    add(b.create<PadOp>(x, value, dims(low), dims(high)), isExact(x));
    return true;
  }

  bool expand(Value x) {
    SmallVector<SymExpr> list = type(x).getDims();
    if (list.size() >= 4)
      return false;
    size_t at = random() % (list.size() + 1);
    list.insert(list.begin() + at, number(1));
    Value unit = b.create<ReshapeOp>(x, dims(list));
    list[at] = random() % 2 ? symbol("m") : number(3);
    add(b.create<ExpandOp>(unit, dims(list)), isExact(x));
    return true;
  }

  bool reduce(Value x) {
    unsigned rank = type(x).getRank();
    if (rank == 0)
      return false;
    SmallVector<int64_t> axes;
    for (unsigned d = 0; d < rank; ++d)
      if (random() % 2)
        axes.push_back(d);
    add(b.create<ReduceOp>(CombinerKind::Sum, bounded(x), axes), false);
    return true;
  }

  bool line(Value x) {
    unsigned rank = type(x).getRank();
    if (rank == 0)
      return false;
    if (random() % 2) {
      add(b.create<SoftmaxOp>(x.getType(), x, random() % 2 ? b.getUnitAttr() : UnitAttr()), false);
      return true;
    }
    auto lineType = SymTensorType::get({type(x).getDim(rank - 1)}, b.getF32Type());
    Value scale = b.create<FillOp>(lineType, b.getF32FloatAttr(1.5)),
          shift = b.create<FillOp>(lineType, b.getF32FloatAttr(-0.25));
    add(b.create<NormalizeOp>(x.getType(), x, scale, shift, b.getF64FloatAttr(1e-3),
                              b.getBoolAttr(random() % 2)),
        false);
    return true;
  }

  bool product(Value x) {
    unsigned rank = type(x).getRank();
    if (rank == 0)
      return false;
    for (size_t tries = 0; tries < 8; ++tries) {
      Value y = pick();
      if (type(y).getRank() != 2)
        continue;
      bool rows = type(y).getDim(0) == type(x).getDim(rank - 1),
           columns = type(y).getDim(1) == type(x).getDim(rank - 1);
      if (!rows && !columns)
        continue;
      Value left = bounded(x), right = bounded(y);
      add(b.create<ContractOp>(rows ? "... k, k n -> ... n" : "... k, n k -> ... n", left, right,
                               b.getF32Type()),
          false);
      return true;
    }
    return false;
  }

  bool gather(Value x) {
    for (unsigned d = 0; d < type(x).getRank(); ++d)
      if (type(x).getDim(d).asConstant().value_or(0) > 0 && type(x).getRank() < 5) {
        add(b.create<GatherOp>(x, ids, d), isExact(x));
        return true;
      }
    return false;
  }

  bool choose(Value x) {
    if (!isExact(x))
      return false;
    Value zero =
        b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getF32Type()),
                         b.getF32FloatAttr(0.25));
    Value test =
        b.create<CompareOp>(type(x).withElement(b.getI1Type()), CompareKind(random() % 6), x, zero);
    add(b.create<SelectOp>(test, x, zero), true);
    return true;
  }

  ImplicitLocOpBuilder b;
  std::mt19937 random;
  SmallVector<Value> values;
  llvm::DenseSet<Value> exact;
  Value ids;
};

} // namespace

Module randomProgram(unsigned seed, unsigned operators) {
  auto impl = Module::Impl::create("random");
  impl->module = Generator(impl->context.get(), seed).run(operators);
  return Module(impl);
}

} // namespace weft::test
