//===- HostProgram.cpp - Emits bind and run ---------------------------------------------------------------===//
//
//   bind(in, values)   reads symbols from dimensions, checks, fills values: symbols, arena bytes, output dimensions
//   run(frame)         computes the plan's offsets, then per kernel: words, units, one call of the host's `parallel`
//===------------------------------------------------------------------------------------------===//

#include "compiler/pipeline/HostProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "weft/artifact.h"
#include <cstddef>

using namespace mlir;

namespace weft {

std::string bindSymbol(unsigned i) { return "weft_bind_" + std::to_string(i); }
std::string runSymbol(unsigned i) { return "weft_run_" + std::to_string(i); }

namespace {

/// Expressions live in the compiler's context, code in another: only names cross.
class HostEmitter {
public:
  HostEmitter(ModuleOp module, const Program &program) : b(module.getLoc(), module.getContext()), module(module), program(program) {
    pointer = LLVM::LLVMPointerType::get(b.getContext());
    i64 = b.getI64Type();
    i32 = b.getI32Type();
    b.setInsertionPointToEnd(module.getBody());
  }

  void emitData(StringRef descriptor) {
    addGlobal(kDescriptorSymbol, descriptor, "", 64);
    std::string note;
    uint32_t header[3] = {sizeof(WEFT_NOTE_NAME), sizeof(weft_file_v1), WEFT_NOTE_TYPE};
    note.append(reinterpret_cast<char *>(header), sizeof(header));
    note.append(WEFT_NOTE_NAME, sizeof(WEFT_NOTE_NAME));
    note.resize(llvm::alignTo(note.size(), 4));
    note.append(sizeof(weft_file_v1), '\0');
    addGlobal("weft_note", note, ".note.weft", 8);
  }

  void emitFunction(unsigned i) {
    lowered = &program.functions[i];
    source = lowered->function;
    emitBind(bindSymbol(i));
    emitRun(runSymbol(i));
  }

private:
  void addGlobal(StringRef name, StringRef bytes, StringRef section, unsigned align) {
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    auto global = b.create<LLVM::GlobalOp>(type, /*isConstant=*/true, LLVM::Linkage::External, name, b.getStringAttr(bytes), align);
    global.setVisibility_(LLVM::Visibility::Hidden);
    if (!section.empty())
      global.setSection(section);
  }

  //===-- Small things ----------------------------------------------------------------------------------===//
  Value constant(int64_t v) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(v)); }
  Value at(Value base, int64_t byteOffset) {
    return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(byteOffset)});
  }
  Value load(Type type, Value base, int64_t byteOffset) { return b.create<LLVM::LoadOp>(type, at(base, byteOffset), 8); }
  void store(Value value, Value base, int64_t byteOffset) { b.create<LLVM::StoreOp>(value, at(base, byteOffset), 8); }
  Value compare(arith::CmpIPredicate p, Value a, Value c) { return b.create<arith::CmpIOp>(p, a, c); }

  /// An expression of the compiler's context as i64, evaluated here.
  Value emit(SymExpr expr) {
    if (auto value = expr.asConstant())
      return constant(*value);
    if (Value known = emitted.lookup(expr))
      return known;
    return emitted[expr] = combine(
               expr, [&](int64_t v) { return constant(v); }, [&](Value a, Value c) -> Value { return b.create<arith::AddIOp>(a, c); },
               [&](Value a, Value c) -> Value { return b.create<arith::MulIOp>(a, c); },
               [&](Value a, Value c) -> Value { return b.create<arith::FloorDivSIOp>(a, c); },
               [&](Value a) -> Value { return b.create<arith::MaxSIOp>(a, constant(0)); },
               [&](Value a, Value c) -> Value {
                 return b.create<arith::SelectOp>(compare(arith::CmpIPredicate::eq, a, constant(1)), c, a);
               },
               [&](StringAttr name) { return symbols.lookup(name.getValue()); });
  }

  /// The same in double arithmetic: sizes too large for int64 are noticed before any integer wraps.
  Value emitReal(SymExpr expr) {
    auto real = [&](double v) -> Value { return b.create<arith::ConstantOp>(b.getF64FloatAttr(v)); };
    return combine(
        expr, [&](int64_t v) { return real(double(v)); }, [&](Value a, Value c) -> Value { return b.create<arith::AddFOp>(a, c); },
        [&](Value a, Value c) -> Value { return b.create<arith::MulFOp>(a, c); },
        [&](Value a, Value c) -> Value { return b.create<math::FloorOp>(b.create<arith::DivFOp>(a, c).getResult()); },
        [&](Value a) -> Value { return b.create<arith::MaxNumFOp>(a, real(0)); },
        [&](Value a, Value c) -> Value {
          return b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, real(1)), c, a);
        },
        [&](StringAttr name) -> Value { return b.create<arith::SIToFPOp>(b.getF64Type(), symbols.lookup(name.getValue())); });
  }

  template <typename Constant, typename Add, typename Mul, typename Div, typename Pos, typename BCast, typename Symbol>
  Value combine(SymExpr expr, Constant number, Add add, Mul mul, Div div, Pos pos, BCast bcast, Symbol symbol) {
    auto recurse = [&](SymExpr e) { return combine(e, number, add, mul, div, pos, bcast, symbol); };
    Value sum;
    for (const SymTerm &term : expr.terms()) {
      Value product;
      if (term.coefficient != 1 || term.factors.empty())
        product = number(term.coefficient);
      for (auto [atom, power] : term.factors) {
        Value value;
        SmallVector<SymExpr, 2> operands = atom.atomOperands();
        switch (*atom.asAtom()) {
        case AtomKind::Symbol: value = symbol(atom.asSymbol()); break;
        case AtomKind::FloorDiv: value = div(recurse(operands[0]), recurse(operands[1])); break;
        case AtomKind::Pos: value = pos(recurse(operands[0])); break;
        case AtomKind::BCast: value = bcast(recurse(operands[0]), recurse(operands[1])); break;
        }
        for (unsigned i = 0; i < power; ++i)
          product = product ? mul(product, value) : value;
      }
      sum = sum ? add(sum, product) : product;
    }
    return sum ? sum : number(0);
  }

  func::FuncOp begin(StringRef name, ArrayRef<Type> arguments) {
    b.setInsertionPointToEnd(module.getBody());
    auto function = b.create<func::FuncOp>(name, b.getFunctionType(arguments, {i32}));
    b.setInsertionPointToStart(function.addEntryBlock());
    symbols.clear();
    emitted.clear();
    return function;
  }

  void finish(int32_t code) { b.create<func::ReturnOp>(ValueRange{b.create<arith::ConstantOp>(b.getI32IntegerAttr(code))}); }

  //===-- bind ------------------------------------------------------------------------------------------===//
  Value dimension(Value in, unsigned input, unsigned dim) {
    return load(i64, in, input * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * dim);
  }

  /// Continues in a new block when `holds`, else returns `row` + 1.
  void require(func::FuncOp function, Value holds, int32_t row) {
    Block *good = function.addBlock(), *bad = function.addBlock();
    b.create<cf::CondBranchOp>(holds, good, ValueRange(), bad, ValueRange());
    b.setInsertionPointToEnd(bad);
    finish(row + 1);
    b.setInsertionPointToEnd(good);
  }

  void emitBind(StringRef name) {
    func::FuncOp function = begin(name, {pointer, pointer});
    Value in = function.getArgument(0), values = function.getArgument(1);
    int32_t row = 0;
    for (const EntryStep &step : lowered->entry.steps) {
      if (step.kind == EntryStep::Bind) {
        symbols[lowered->entry.symbols[step.symbol].name.getValue()] = dimension(in, step.input, step.dim);
        continue;
      }
      emitCheck(function, in, step, row++);
    }
    for (auto [i, symbol] : llvm::enumerate(lowered->entry.symbols))
      store(symbols.lookup(symbol.name.getValue()), values, 8 * i);
    int64_t slot = lowered->entry.symbols.size();
    store(planOffsets().second, values, 8 * slot++);
    for (Type type : source.getResultTypes())
      for (SymExpr dim : cast<SymTensorType>(type).getDims())
        store(emit(dim), values, 8 * slot++);
    finish(0);
  }

  void emitCheck(func::FuncOp function, Value in, const EntryStep &step, int32_t row) {
    const EntrySymbol *symbol = step.symbol < lowered->entry.symbols.size() ? &lowered->entry.symbols[step.symbol] : nullptr;
    auto value = [&] { return symbols.lookup(symbol->name.getValue()); };
    switch (step.check) {
    case WEFT_CHECK_SOLVE: {
      Value have = dimension(in, step.input, step.dim), rest = b.create<arith::SubIOp>(have, constant(step.addend));
      Value enough = compare(arith::CmpIPredicate::sge, rest, constant(0));
      Value exact = compare(arith::CmpIPredicate::eq, b.create<arith::RemSIOp>(rest, constant(step.factor)), constant(0));
      require(function, b.create<arith::AndIOp>(enough, exact), row);
      symbols[symbol->name.getValue()] = b.create<arith::DivSIOp>(rest, constant(step.factor));
      return;
    }
    case WEFT_CHECK_DIM:
      require(function, compare(arith::CmpIPredicate::eq, dimension(in, step.input, step.dim), emit(step.expected)), row);
      return;
    case WEFT_CHECK_MIN:
      require(function, compare(arith::CmpIPredicate::sge, value(), constant(symbol->min)), row);
      return;
    case WEFT_CHECK_MAX:
      require(function, compare(arith::CmpIPredicate::sle, value(), constant(symbol->max)), row);
      return;
    case WEFT_CHECK_MULTIPLE:
      require(function, compare(arith::CmpIPredicate::eq, b.create<arith::RemSIOp>(value(), constant(symbol->multiple)), constant(0)), row);
      return;
    case WEFT_CHECK_FACT: {
      Value holds;
      for (const SymRelation &relation : step.fact->relations()) {
        auto predicate = relation.kind == SymRelation::Equal ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
        Value here = compare(predicate, emit(relation.lhs), emit(relation.rhs));
        holds = holds ? Value(b.create<arith::OrIOp>(holds, here)) : here;
      }
      require(function, holds, row);
      return;
    }
    case WEFT_CHECK_SIZE:
      emitSizeCheck(function, row);
      return;
    }
  }

  /// Every size and the peak stay below 2^62, judged in double arithmetic.
  void emitSizeCheck(func::FuncOp function, int32_t row) {
    Value limit = b.create<arith::ConstantOp>(b.getF64FloatAttr(4.0e18)), largest = b.create<arith::ConstantOp>(b.getF64FloatAttr(0));
    SmallVector<SymExpr> sizes(lowered->plan.peaks);
    for (Type type : source.getArgumentTypes())
      sizes.push_back(cast<SymTensorType>(type).getElements() * int64_t(8));
    for (Type type : source.getResultTypes())
      sizes.push_back(cast<SymTensorType>(type).getElements() * int64_t(8));
    llvm::append_range(sizes, lowered->scratch);
    for (SymExpr size : sizes)
      if (!size.asConstant())
        largest = b.create<arith::MaxNumFOp>(largest, emitReal(size));
    require(function, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, largest, limit), row);
  }

  /// Offsets of all storage classes, and the peak.
  std::pair<SmallVector<Value>, Value> planOffsets() {
    SmallVector<Value> offsets(lowered->classes.size()), tops(lowered->classes.size());
    Value peak = constant(0);
    for (unsigned i : lowered->plan.order) {
      Value offset = constant(0);
      for (unsigned j : lowered->plan.below[i])
        offset = b.create<arith::MaxSIOp>(offset, tops[j]);
      offsets[i] = offset;
      tops[i] = b.create<arith::AddIOp>(offset, emit(lowered->classes[i].bytes));
      peak = b.create<arith::MaxSIOp>(peak, tops[i]);
    }
    return {offsets, peak};
  }

  //===-- run -------------------------------------------------------------------------------------------===//
  void emitRun(StringRef name) {
    func::FuncOp function = begin(name, {pointer});
    Value frame = function.getArgument(0);
    Value values = load(pointer, frame, offsetof(weft_frame_v1, values));
    for (auto [i, symbol] : llvm::enumerate(lowered->entry.symbols))
      symbols[symbol.name.getValue()] = load(i64, values, 8 * i);
    Value host = load(pointer, frame, offsetof(weft_frame_v1, host));
    Value parallel = load(pointer, host, offsetof(weft_host_v1, parallel));
    bases = {load(pointer, frame, offsetof(weft_frame_v1, arena)), load(pointer, frame, offsetof(weft_frame_v1, in)),
             load(pointer, frame, offsetof(weft_frame_v1, out)), load(pointer, frame, offsetof(weft_frame_v1, weights))};
    SmallVector<Value> offsets = planOffsets().first;
    Value words = b.create<LLVM::AllocaOp>(pointer, i64, constant(WEFT_MAX_WORDS), 8);
    for (const KernelCall &call : lowered->calls) {
      unsigned word = 0;
      for (const Buffer &buffer : call.pointers)
        store(address(buffer, offsets), words, 8 * word++);
      for (SymExpr value : call.values)
        store(emit(value), words, 8 * word++);
      Value kernel = b.create<LLVM::AddressOfOp>(pointer, program.kernels[call.kernel].symbol);
      Value id = b.create<arith::ConstantOp>(b.getI32IntegerAttr(call.kernel));
      auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer, i64, i64, i32});
      b.create<LLVM::CallOp>(type, ValueRange{parallel, frame, kernel, words, emit(call.units), emit(call.grain), id});
    }
    finish(0);
  }

  Value address(const Buffer &buffer, ArrayRef<Value> offsets) {
    switch (buffer.kind) {
    case Buffer::Arena: return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), bases[0], ArrayRef<LLVM::GEPArg>{offsets[buffer.index]});
    case Buffer::Input: return load(pointer, bases[1], buffer.index * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, data));
    case Buffer::Output: return load(pointer, bases[2], buffer.index * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, data));
    case Buffer::Weight:
      return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), bases[3],
                                   ArrayRef<LLVM::GEPArg>{constant(int64_t(program.weights[buffer.index].offset))});
    }
    llvm_unreachable("closed set of buffers");
  }

  ImplicitLocOpBuilder b;
  ModuleOp module;
  const Program &program;
  const LoweredFunction *lowered = nullptr;
  func::FuncOp source; ///< of `lowered`, in the compiler's context
  Type pointer, i64, i32;
  llvm::StringMap<Value> symbols;
  llvm::DenseMap<SymExpr, Value> emitted;
  SmallVector<Value, 4> bases;
};

} // namespace

void emitHostProgram(ModuleOp module, const Program &program, StringRef descriptor) {
  HostEmitter emitter(module, program);
  emitter.emitData(descriptor);
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  for (const KernelCode &kernel : program.kernels)
    b.create<LLVM::LLVMFuncOp>(kernel.symbol, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64, pointer}));
  for (unsigned i = 0; i < program.functions.size(); ++i)
    emitter.emitFunction(i);
}

} // namespace weft
