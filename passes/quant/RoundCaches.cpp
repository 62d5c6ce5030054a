//===- RoundCaches.cpp - What decoders keep between calls, in fewer bits -----------------------------------------===//
//
//   before   func @main(%past: [b, h, p, 64] f32, …)             after   func @main(%past: [b, h, p, 64] i8, …, %scales: [b, h, p, 1] f32)
//              %1 = weft.concat %past, %new dim 2                           %s = largest |%new| of each row / 127 ; %q = quantize %new, %s
//              … reads %past and %1 …                                       %2 = weft.concat %past, %q dim 2 ; %3 = weft.concat %scales, %s dim 2
//              return …, %1, …                                              … reads dequantize %past, %scales and dequantize %2, %3 …
//                                                                           return …, %2, …, %3
//
// A row is what a head has for a position, and has a scale of its own: so a position is rounded once, when it comes, and what it is rounded
// to depends on nothing else. Halves (f16, bf16) need no scales. What is new is read rounded, too, so that a prompt and its tokens one by one give the same numbers. A program
// that takes and gives other types is another program: nobody behind has to know. Who has calls of the one, and calls the other, asks for the
// program that makes them:
//
//   func @main(%past: [b, h, p, 64] f32, …)  { %s = … ; %q = quantize %past, %s ; return %q, %s }
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ExtendedInput.h"
#include "dialects/weft/ops/Quantize.h"
#include "passes/quant/Passes.h"
#include "passes/quant/RowScale.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_ROUNDCACHES
#include "passes/quant/Passes.h.inc"

namespace {

constexpr double kMostByte = 127;

constexpr StringLiteral kScaleSuffix = "_scale";

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// The last dimension that does not grow: a row's, with a scale for each; nothing where its size is no number.
std::optional<unsigned> rowDim(SymTensorType type, unsigned growing) {
  for (unsigned d = type.getRank(); d-- > 0;)
    if (d != growing)
      return type.getDim(d).asConstant() ? std::optional(d) : std::nullopt;
  return std::nullopt;
}

class CacheRounder {
public:
  CacheRounder(func::FuncOp function, Type element)
      : function(function), end(function.getBody().front().getTerminator()),
        b(function.getLoc(), function.getContext()), element(element) {}

  /// The number of caches.
  FailureOr<size_t> run() {
    FailureOr<size_t> found =
        forEach([&](BlockArgument input, const Cache &cache) { return round(input, cache); });
    if (succeeded(found) && *found)
      retype();
    return found;
  }

  /// Only what is called with: every cache, and its scales, out of those that the function takes.
  FailureOr<size_t> makeCalls() {
    SmallVector<Value> values;
    SmallVector<Attribute> names;
    FailureOr<size_t> found = forEach([&](BlockArgument input, const Cache &cache) {
      b.setInsertionPoint(end);
      b.setLoc(input.getLoc());
      Rounded rounded = this->rounded(input, cache);
      values.push_back(rounded.numbers);
      names.push_back(named(inputName(input)));
      if (rounded.scales) {
        values.push_back(rounded.scales);
        names.push_back(named(scaleName(input)));
      }
      return success();
    });
    if (failed(found) || !*found)
      return found;
    function.setResAttrsAttr({});
    end->setOperands(values);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (&op != end && op.use_empty())
        op.erase();
    retype();
    function.setAllResultAttrs(names);
    return found;
  }

private:
  struct Cache {
    ConcatOp concat;
    SymTensorType type; ///< of the input, as it was
    std::optional<unsigned> row;
  };
  /// What stands for a value, and the scales of its rows, if there are any.
  struct Rounded {
    Value numbers, scales;
  };
  bool hasScales() const { return element.isInteger(); }

  /// How many there were.
  FailureOr<size_t> forEach(function_ref<LogicalResult(BlockArgument, const Cache &)> change) {
    size_t found = 0;
    SmallVector<BlockArgument> inputs(function.getArguments());
    for (BlockArgument input : inputs) {
      llvm::Expected<ExtendedInput> extended = findExtension(input);
      if (!extended) {
        llvm::consumeError(extended.takeError());
        continue;
      }
      Cache cache{extended->concat, typeOf(input),
                  rowDim(typeOf(input), extended->concat.getDim())};
      if (!isFloat(cache.type.getElementType()) || (hasScales() && !cache.row))
        continue;
      if (failed(change(input, cache)))
        return failure();
      ++found;
    }
    return found;
  }

  LogicalResult round(BlockArgument input, const Cache &cache) {
    ConcatOp concat = cache.concat;
    Rounded past{input, {}};
    if (hasScales()) {
      std::string name = scaleName(input);
      if (isTaken(name))
        return function.emitError("cache '")
               << inputName(input) << "' needs an input '" << name << "', a name that another has";
      function.insertArgument(function.getNumArguments(), scalesOf(cache), named(name),
                              input.getLoc());
      past.scales = function.getArguments().back();
    }
    input.setType(cache.type.withElement(element));
    b.setInsertionPointToStart(&function.getBody().front());
    b.setLoc(concat.getLoc());
    Value before = restored(past, cache);
    input.replaceUsesWithIf(before, [&](OpOperand &use) {
      bool isExtended = use.getOwner() == concat && use.getOperandNumber() == 0;
      return !isExtended && !isRestoring(use.getOwner(), before);
    });
    eraseUnread(before);
    return extend(past, cache);
  }

  /// What was returned is rounded, and scales are a further output.
  LogicalResult extend(Rounded past, const Cache &cache) {
    ConcatOp concat = cache.concat;
    b.setInsertionPoint(concat);
    SmallVector<Value> numbers{past.numbers}, scales{past.scales};
    for (Value part : concat.getInputs().drop_front()) {
      Rounded rounded = this->rounded(part, cache);
      numbers.push_back(rounded.numbers);
      scales.push_back(rounded.scales);
    }
    Rounded present{joined(concat, numbers), hasScales() ? joined(concat, scales) : Value()};
    Value reals = restored(present, cache);
    std::string name;
    for (OpOperand &returned : end->getOpOperands())
      if (returned.get() == concat.getResult()) {
        if (name.empty())
          name = outputName(returned.getOperandNumber()) + kScaleSuffix.str();
        returned.set(present.numbers);
      }
    if (present.scales) {
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (outputName(i) == name)
          return function.emitError("a cache needs an output '")
                 << name << "', a name that another has";
      function.insertResult(function.getNumResults(), present.scales.getType(), named(name));
      end->insertOperands(end->getNumOperands(), present.scales);
    }
    concat.getResult().replaceAllUsesWith(reals);
    concat.erase();
    eraseUnread(reals);
    return success();
  }

  Rounded rounded(Value part, const Cache &cache) {
    if (!hasScales())
      return {converted(part, element), {}};
    Value reals = converted(part, b.getF32Type()),
          scale = scaleOfRows(b, reals, *cache.row, kMostByte);
    return {b.create<QuantizeOp>(reals, scale, byteFill(b, true, 0)), scale};
  }
  Value restored(Rounded rounded, const Cache &cache) {
    Value reals = rounded.numbers;
    if (rounded.scales)
      reals = b.create<DequantizeOp>(reals, rounded.scales, byteFill(b, true, 0));
    return converted(reals, cache.type.getElementType());
  }
  Value converted(Value value, Type to) {
    return typeOf(value).getElementType() == to ? value : b.create<ConvertOp>(value, to);
  }

  /// Parts side by side as `concat` has them.
  Value joined(ConcatOp concat, ArrayRef<Value> parts) {
    SymTensorType first = typeOf(parts[0]);
    SmallVector<SymExpr> dims(first.getDims());
    dims[concat.getDim()] = typeOf(concat.getResult()).getDim(concat.getDim());
    return b.create<ConcatOp>(SymTensorType::get(dims, first.getElementType()), parts,
                              concat.getDimAttr());
  }
  SymTensorType scalesOf(const Cache &cache) {
    SmallVector<SymExpr> dims(cache.type.getDims());
    dims[*cache.row] = SymExpr::constant(b.getContext(), 1);
    return SymTensorType::get(dims, b.getF32Type());
  }

  /// Whether an operation is on the way from what is rounded to `reals`.
  static bool isRestoring(Operation *op, Value reals) {
    for (Operation *maker = reals.getDefiningOp(); maker;
         maker = maker->getOperand(0).getDefiningOp())
      if (maker == op)
        return true;
    return false;
  }
  /// What was made for readers that there are not.
  static void eraseUnread(Value reals) {
    while (Operation *op = reals.getDefiningOp()) {
      if (!isa<DequantizeOp, ConvertOp>(op) || !op->use_empty())
        return;
      reals = op->getOperand(0);
      op->erase();
    }
  }

  DictionaryAttr named(StringRef name) {
    return b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
  }
  std::string outputName(unsigned index) {
    auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
    return name ? name.str() : "output" + std::to_string(index);
  }
  static std::string scaleName(BlockArgument input) {
    return inputName(input) + kScaleSuffix.str();
  }
  bool isTaken(StringRef name) {
    return llvm::any_of(function.getArguments(),
                        [&](BlockArgument input) { return inputName(input) == name; });
  }

  /// The signature that the rewritten body has.
  void retype() {
    function.setType(FunctionType::get(function.getContext(),
                                       function.getBody().front().getArgumentTypes(),
                                       end->getOperandTypes()));
  }

  func::FuncOp function;
  Operation *end;
  ImplicitLocOpBuilder b;
  Type element;
};

struct RoundCachesPass : impl::RoundCachesBase<RoundCachesPass> {
  using RoundCachesBase::RoundCachesBase;
  void runOnOperation() override {
    Builder b(&getContext());
    Type type = element == "i8"     ? Type(b.getI8Type())
                : element == "f16"  ? Type(b.getF16Type())
                : element == "bf16" ? Type(b.getBF16Type())
                                    : Type();
    if (!type)
      return refuse("caches cannot be of type '" + element + "'", "i8, f16 or bf16");
    size_t found = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      CacheRounder rounder(function, type);
      FailureOr<size_t> caches = calls ? rounder.makeCalls() : rounder.run();
      if (failed(caches))
        return signalPassFailure();
      found += *caches;
    }
    if (!found)
      refuse("there is no cache: no output is an input of floats with something behind it");
  }

  void refuse(const Twine &text, StringRef hint = "") {
    InFlightDiagnostic error = emitError(UnknownLoc::get(&getContext())) << text;
    if (!hint.empty())
      error.attachNote() << "hint: " << hint;
    signalPassFailure();
  }
};

} // namespace
} // namespace weft
