//===- GrowInPlace.cpp - Caches are extended where they lie -----------------------------------------------===//
//
// Finds inputs that an output extends along one dimension, and makes buffers with room of them: the output lies in the input's memory, and
// only what is new is written.
//
//   before   func @main(%past: [b, h, p, 64], …) -> [b, h, p + s, 64]     after   func @main(%buffer: [b, h, room, 64], …) -> [b, h, room, 64]
//              %1 = weft.concat %past, %new dim 2                                   %past = weft.slice %buffer from [0, 0, 0, 0] size [b, h, p, 64]
//              … reads %past and %1 …                                               %1 = weft.concat %past, %new, (the rest of %buffer) dim 2 {weft.in_place}
//              return %1                                                            %present = weft.slice %1 from [0, 0, 0, 0] size [b, h, p + s, 64]
//                                                                                   … reads %past and %present …
//                                                                                   return %1
//
// `weft.view` and `weft.aliases` keep the dimensions that callers see; `room` is bound by the distance between the input's lines. Pairs that grow to the same
// size share one symbol. Reads of %past need no order: the insertion writes behind it. Reads of %present follow the insertion as its users.
// Runs last before kernels are formed, so that no other pass has to know buffers.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Aliases.h"
#include "dialects/weft/ExtendedInput.h"
#include "passes/graph/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_GROWINPLACE
#include "passes/graph/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

llvm::Error fail(const Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), reason);
}

class Growing {
public:
  explicit Growing(func::FuncOp function)
      : function(function), symbols(symbolsOf(function)),
        end(function.getBody().front().getTerminator()) {}

  /// The error says why there is none.
  llvm::Expected<ExtendedInput> find(BlockArgument input) {
    llvm::Expected<ExtendedInput> pair = findExtension(input);
    if (pair)
      if (llvm::Error reason = checkGrowth(pair->concat))
        return std::move(reason);
    return pair;
  }

  void rewrite(BlockArgument input, const ExtendedInput &pair) {
    OpBuilder b(pair.concat);
    ConcatOp concat = pair.concat;
    SymTensorType past = typeOf(input), present = typeOf(concat.getResult());
    unsigned dim = concat.getDim();
    SmallVector<SymExpr> dims = past.getDims();
    dims[dim] = roomFor(present.getDim(dim));
    auto buffer = SymTensorType::get(dims, past.getElementType());
    input.setType(buffer);
    Value rows = rowsOf(b, concat);
    SmallVector<SymExpr> zeros(past.getRank(), SymExpr::constant(b.getContext(), 0)),
        behind = zeros;
    behind[dim] = present.getDim(dim);
    Value old = sliceOf(b, input, zeros, past.getDims());
    dims[dim] = dims[dim] - present.getDim(dim);
    Value rest = sliceOf(b, input, behind, dims);
    auto grown = b.create<ConcatOp>(concat.getLoc(), buffer, ValueRange{old, rows, rest},
                                    concat.getDimAttr());
    grown->setAttr(kInPlaceAttr, b.getUnitAttr());
    Value seen = sliceOf(b, grown, zeros, present.getDims());
    end->setOperand(pair.output, grown);
    concat.getResult().replaceAllUsesWith(seen);
    concat.erase();
    b.setInsertionPointToStart(&function.getBody().front());
    Value before = sliceOf(b, input, zeros, past.getDims());
    input.replaceUsesWithIf(before, [&](OpOperand &use) {
      return !llvm::is_contained(
          {before.getDefiningOp(), old.getDefiningOp(), rest.getDefiningOp()}, use.getOwner());
    });
    for (Value value : {before, seen})
      if (value.use_empty())
        value.getDefiningOp()->erase();
    unsigned i = input.getArgNumber();
    function.setArgAttr(i, kViewAttr, DimsAttr::get(b.getContext(), past.getDims()));
    function.setResultAttr(
        pair.output, kAliasesAttr,
        AliasesAttr::get(b.getContext(), i, DimsAttr::get(b.getContext(), present.getDims())));
  }

  /// The signature that the rewritten body has.
  void finish() {
    function.setType(FunctionType::get(function.getContext(),
                                       function.getBody().front().getArgumentTypes(),
                                       end->getOperandTypes()));
    SmallVector<StringAttr> names(symbols.getNames());
    SmallVector<SymPred> facts = symbols.getFacts();
    for (auto [size, room] : rooms) {
      names.push_back(room.asSymbol());
      facts.push_back(SymPred::le(size, room));
    }
    function->setAttr(kSymbolsAttr, SymbolsAttr::get(function.getContext(), names, facts,
                                                     symbols.getBoundNames()));
  }

private:
  /// Whether past and present can lie in one buffer.
  llvm::Error checkGrowth(ConcatOp concat) {
    SymTensorType past = typeOf(concat.getInputs()[0]), present = typeOf(concat.getResult());
    unsigned dim = concat.getDim();
    if (dim == 0)
      return fail(
          "it grows along its first dimension, so that no stride says how much room it has");
    if (isPacked(past.getElementType()))
      return fail("its elements share bytes");
    for (unsigned d = dim + 1; d < past.getRank(); ++d)
      if (past.getDim(d).asConstant().value_or(0) < 1)
        return fail("dimension " + Twine(d) + ", behind the one that grows, is '" +
                    past.getDim(d).str() + "', which is no positive number");
    for (StringAttr name : present.getDim(dim).symbols())
      if (llvm::is_contained(symbols.getBoundNames(), name))
        return fail("the contents of tensors decide how much it grows");
    return llvm::Error::success();
  }

  /// What is behind the past.
  static Value rowsOf(OpBuilder &b, ConcatOp concat) {
    ValueRange rest = concat.getInputs().drop_front();
    if (rest.size() == 1)
      return rest[0];
    SmallVector<SymExpr> dims = typeOf(rest[0]).getDims();
    unsigned dim = concat.getDim();
    for (Value each : rest.drop_front())
      dims[dim] = dims[dim] + typeOf(each).getDim(dim);
    auto type = SymTensorType::get(dims, typeOf(rest[0]).getElementType());
    return b.create<ConcatOp>(concat.getLoc(), type, rest, concat.getDimAttr());
  }

  static Value sliceOf(OpBuilder &b, Value buffer, ArrayRef<SymExpr> starts,
                       ArrayRef<SymExpr> sizes) {
    MLIRContext *context = b.getContext();
    SmallVector<int64_t> ones(sizes.size(), 1);
    auto type = SymTensorType::get(sizes, typeOf(buffer).getElementType());
    return b.create<SliceOp>(buffer.getLoc(), type, buffer, DimsAttr::get(context, starts),
                             DimsAttr::get(context, sizes), b.getDenseI64ArrayAttr(ones));
  }

  SymExpr roomFor(SymExpr size) {
    for (auto [known, room] : rooms)
      if (known == size)
        return room;
    std::string name = "room";
    auto isTaken = [&](StringRef text) {
      auto has = [&](StringAttr each) { return each.getValue() == text; };
      return llvm::any_of(symbols.getNames(), has) || llvm::any_of(symbols.getBoundNames(), has) ||
             llvm::any_of(rooms, [&](auto &pair) { return has(pair.second.asSymbol()); });
    };
    for (unsigned n = 2; isTaken(name); ++n)
      name = "room" + std::to_string(n);
    rooms.push_back({size, SymExpr::symbol(StringAttr::get(function.getContext(), name))});
    return rooms.back().second;
  }

  func::FuncOp function;
  SymbolsAttr symbols;
  Operation *end;
  SmallVector<std::pair<SymExpr, SymExpr>>
      rooms; ///< what pairs grow to, and the symbol of their room
};

struct GrowInPlace : impl::GrowInPlaceBase<GrowInPlace> {
  using GrowInPlaceBase::GrowInPlaceBase;

  void runOnOperation() override {
    Location nowhere = UnknownLoc::get(&getContext());
    llvm::StringSet<> wanted;
    for (const std::string &name : inputs)
      wanted.insert(name);
    size_t found = 0;
    llvm::StringSet<> seen;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal()) {
        FailureOr<size_t> pairs = grow(function, wanted, seen);
        if (failed(pairs))
          return signalPassFailure();
        found += *pairs;
      }
    for (const std::string &name : inputs)
      if (!seen.contains(name)) {
        emitError(nowhere) << "there is no input '" << name << "' that could grow in place";
        return signalPassFailure();
      }
    if (!found) {
      std::string reason = "no output is an input with something behind it";
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (function.isPublic() && !function.isExternal() && putsOutputsTogether(function))
          reason = "ranks have parts of outputs, which they put together elsewhere";
      emitError(nowhere) << "no input can grow in place: " << reason;
      signalPassFailure();
    }
  }

  /// The number of pairs; fails when a wanted input is none.
  static FailureOr<size_t> grow(func::FuncOp function, const llvm::StringSet<> &wanted,
                                llvm::StringSet<> &seen) {
    Growing growing(function);
    size_t found = 0;
    for (BlockArgument input : function.getArguments()) {
      std::string text = inputName(input);
      bool isWanted = wanted.contains(text);
      if (!wanted.empty() && !isWanted)
        continue;
      seen.insert(text);
      llvm::Expected<ExtendedInput> pair = growing.find(input);
      if (pair) {
        growing.rewrite(input, *pair);
        ++found;
        continue;
      }
      std::string reason = llvm::toString(pair.takeError());
      if (isWanted)
        return function.emitError("input '") << text << "' cannot grow in place: " << reason;
    }
    if (found)
      growing.finish();
    return found;
  }
};

} // namespace
} // namespace weft
