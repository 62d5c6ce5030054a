//===- BindProgram.cpp - Emits bind -----------------------------------------------------------------------===//
#include "compiler/host/BindProgram.h"
#include "compiler/host/HostCode.h"
#include "weft/artifact.h"
#include <cstddef>

using namespace mlir;

namespace weft {

namespace {

class BindEmitter : HostCode {
public:
  BindEmitter(ModuleOp module, const PlannedFunction &planned) : HostCode(module, planned) {}

  void emitBind(StringRef name) {
    func::FuncOp function = begin(name, {pointer, pointer});
    Value in = function.getArgument(0), values = function.getArgument(1);
    loadPlaces(values);
    int32_t row = 0;
    for (const EntryStep &step : planned.entry.steps) {
      if (step.kind == EntryStep::Bind) {
        symbols[planned.entry.symbols[step.symbol].name.getValue()] =
            dimension(in, step.input, step.dim);
        continue;
      }
      if (step.kind == EntryStep::BindRoom) {
        symbols[planned.entry.symbols[step.symbol].name.getValue()] = room(in, step);
        continue;
      }
      emitCheck(function, in, step, row++);
    }
    int64_t slot = 0;
    for (const EntrySymbol &symbol : planned.entry.symbols)
      store(symbols.lookup(symbol.name.getValue()), values, 8 * slot++);
    for (StringAttr name : planned.entry.boundSymbols) {
      SymExpr most = symbolsOf(source).getUpperBound(SymExpr::symbol(name));
      store(most ? emit(most) : constant(-1), values, 8 * slot++);
    }
    slot += planned.entry.rankSymbols.size(); // they are there
    store(placeIn(Value(), planned.isArenaLoose ? planned.arena : ArrayRef<SymExpr>()), values,
          8 * slot++);
    for (ArrayRef<SymExpr> dims : planned.outputDims)
      for (SymExpr dim : dims)
        store(dim ? emit(dim) : constant(-1), values, 8 * slot++);
    finish(0);
  }

private:
  Value dimension(Value in, unsigned input, unsigned dim) {
    return load(i64, in, input * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * dim);
  }

  /// How long the buffer of an input is along a dimension: what the stride in front of it says, where there is one.
  Value room(Value in, const EntryStep &step) {
    Value stride = load(i64, in,
                        step.input * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, stride) +
                            8 * (step.dim - 1));
    Value isNone = compare(arith::CmpIPredicate::eq, stride, constant(0));
    Value places = b.create<arith::DivSIOp>(stride, constant(step.factor));
    return b.create<arith::SelectOp>(isNone, dimension(in, step.input, step.dim), places);
  }

  void emitCheck(func::FuncOp function, Value in, const EntryStep &step, int32_t row) {
    const EntrySymbol *symbol =
        step.symbol < planned.entry.symbols.size() ? &planned.entry.symbols[step.symbol] : nullptr;
    auto value = [&] { return symbols.lookup(symbol->name.getValue()); };
    switch (step.check) {
    case WEFT_CHECK_SOLVE: {
      Value have = dimension(in, step.input, step.dim),
            rest = b.create<arith::SubIOp>(have, constant(step.addend));
      Value enough = compare(arith::CmpIPredicate::sge, rest, constant(0));
      Value exact = compare(arith::CmpIPredicate::eq,
                            b.create<arith::RemSIOp>(rest, constant(step.factor)), constant(0));
      require(function, b.create<arith::AndIOp>(enough, exact), row);
      symbols[symbol->name.getValue()] = b.create<arith::DivSIOp>(rest, constant(step.factor));
      return;
    }
    case WEFT_CHECK_DIM:
      require(function,
              compare(arith::CmpIPredicate::eq, dimension(in, step.input, step.dim),
                      emit(step.expected)),
              row);
      return;
    case WEFT_CHECK_MIN:
      require(function, compare(arith::CmpIPredicate::sge, value(), constant(symbol->min)), row);
      return;
    case WEFT_CHECK_MAX:
      require(function, compare(arith::CmpIPredicate::sle, value(), constant(symbol->max)), row);
      return;
    case WEFT_CHECK_MULTIPLE:
      require(function,
              compare(arith::CmpIPredicate::eq,
                      b.create<arith::RemSIOp>(value(), constant(symbol->multiple)), constant(0)),
              row);
      return;
    case WEFT_CHECK_FACT:
      require(function, emit(*step.fact), row);
      return;
    case WEFT_CHECK_ROOM: {
      Value isShared = compare(arith::CmpIPredicate::eq, room(in, step), value());
      Value isEnough = compare(arith::CmpIPredicate::sge, value(), emit(step.expected));
      require(function, b.create<arith::AndIOp>(isShared, isEnough), row);
      return;
    }
    case WEFT_CHECK_SIZE:
      emitSizeCheck(function, row);
      return;
    case WEFT_CHECK_DATA: // of symbols that run binds
      return;
    }
  }

  /// Every size and the peak stay below 2^62, judged in double arithmetic.
  void emitSizeCheck(func::FuncOp function, int32_t row) {
    Value largest = b.create<arith::ConstantOp>(b.getF64FloatAttr(0));
    SmallVector<SymExpr> sizes(planned.arena);
    for (Type type : source.getArgumentTypes())
      sizes.push_back(cast<SymTensorType>(type).getElements() * int64_t(8));
    for (ArrayRef<SymExpr> dims : planned.outputDims) {
      if (llvm::is_contained(dims, SymExpr()))
        continue; // judged when run provides it
      SymExpr elements = SymExpr::constant(source.getContext(), 8);
      for (SymExpr dim : dims)
        elements = elements * dim;
      sizes.push_back(elements);
    }
    llvm::append_range(sizes, planned.scratch);
    for (SymExpr size : sizes)
      if (!size.asConstant())
        largest = b.create<arith::MaxNumFOp>(largest, emitReal(size));
    requireSmall(function, largest, row);
  }
};

} // namespace

void emitBind(ModuleOp module, const PlannedFunction &function, StringRef name) {
  BindEmitter(module, function).emitBind(name);
}

} // namespace weft
