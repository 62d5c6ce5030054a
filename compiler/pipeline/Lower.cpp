//===- Lower.cpp - Outlines kernels, assigns buffers, plans memory ----------------------------------------===//

#include "compiler/pipeline/Lower.h"
#include "mlir/IR/IRMapping.h"
#include "weft/sha256.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {
namespace {

//===-- Specifications ---------------------------------------------------------------------------------===//

/// A kernel operation as a function of its own, with symbols s0, s1, … in order of appearance: equal work has equal text.
class SpecificationBuilder {
public:
  explicit SpecificationBuilder(KernelOp kernel) : kernel(kernel), context(kernel.getContext()) {}

  /// `isWeight[i]`: input i is a constant.
  OwningOpRef<ModuleOp> build(ArrayRef<bool> isWeight) {
    opaque = dimsAreOpaque();
    Block &body = kernel.getBody().front();
    for (Value argument : body.getArguments())
      collect(argument.getType());
    for (Operation &op : body) {
      for (Type type : op.getResultTypes())
        collect(type);
      for (NamedAttribute attribute : op.getAttrs())
        if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
          for (SymExpr dim : dims.getDims())
            collect(dim);
    }
    OpBuilder b(context);
    Location unknown = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
    b.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> inputs, results;
    for (Value argument : body.getArguments())
      inputs.push_back(renamed(argument.getType()));
    for (Type type : kernel.getResultTypes())
      results.push_back(renamed(type));
    auto function = b.create<func::FuncOp>(unknown, "kernel", b.getFunctionType(inputs, results));
    function->setAttr(kSymbolsAttr, SymbolsAttr::get(context, symbols, ArrayRef<SymPred>()));
    for (auto [i, weight] : llvm::enumerate(isWeight))
      if (weight)
        function.setArgAttr(i, "weft.weight", b.getUnitAttr());
    Block *entry = function.addEntryBlock();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(body.getArguments(), entry->getArguments()))
      mapping.map(from, to);
    b.setInsertionPointToEnd(entry);
    for (Operation &op : body.without_terminator())
      copy(b, op, mapping);
    SmallVector<Value> returned;
    for (Value value : body.getTerminator()->getOperands())
      returned.push_back(mapping.lookup(value));
    b.create<func::ReturnOp>(unknown, returned);
    return module;
  }

  /// Values of the specification's symbols in the function's symbols.
  SmallVector<SymExpr> values;
  SymMap toFunction;

private:
  /// Operators that look at dimensions only as extents: then a dimension such as b*s is one symbol of the kernel.
  bool dimsAreOpaque() {
    return llvm::all_of(kernel.getBody().front().without_terminator(), [](Operation &op) {
      if (isa<ConcatOp>(op) || llvm::any_of(op.getAttrs(), [](NamedAttribute a) { return isa<DimsAttr>(a.getValue()); }))
        return false;
      auto rule = dyn_cast<RuleOpInterface>(op);
      return !rule || StringRef(rule.ruleText()).find_first_of("({") == StringRef::npos;
    });
  }

  void collect(Type type) {
    if (auto tensor = dyn_cast<SymTensorType>(type))
      for (SymExpr dim : tensor.getDims())
        collect(dim);
  }

  void collect(SymExpr expr) {
    if (expr.asConstant() || exprs.count(expr))
      return;
    if (opaque) {
      exprs[expr] = fresh(expr);
      return;
    }
    for (StringAttr symbol : expr.symbols())
      if (!renames.count(symbol))
        renames[symbol] = fresh(SymExpr::symbol(symbol));
    exprs[expr] = expr.substitute(renames);
  }

  SymExpr fresh(SymExpr value) {
    StringAttr name = StringAttr::get(context, "s" + std::to_string(symbols.size()));
    symbols.push_back(name);
    values.push_back(value);
    toFunction[name] = value;
    return SymExpr::symbol(name);
  }

  SymExpr renamed(SymExpr expr) { return expr.asConstant() ? expr : exprs.lookup(expr); }

  Type renamed(Type type) {
    auto tensor = cast<SymTensorType>(type);
    SmallVector<SymExpr> dims = tensor.getDims();
    for (SymExpr &dim : dims)
      dim = renamed(dim);
    return SymTensorType::get(context, DimsAttr::get(context, dims).getDimAttributes(), tensor.getElementType());
  }

  void copy(OpBuilder &b, Operation &op, IRMapping &mapping) {
    Operation *clone = b.clone(op, mapping);
    clone->setLoc(b.getUnknownLoc());
    for (Value result : clone->getResults())
      result.setType(renamed(result.getType()));
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op.getAttrs()) {
      if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
        attribute.setValue(DimsAttr::get(context, llvm::map_to_vector(dims.getDims(), [&](SymExpr e) { return renamed(e); })));
      attributes.push_back(attribute);
    }
    clone->setAttrs(attributes);
  }

  KernelOp kernel;
  MLIRContext *context;
  bool opaque = false;
  SmallVector<StringAttr> symbols;
  SymMap renames;
  llvm::DenseMap<SymExpr, SymExpr> exprs;
};

//===-- Functions --------------------------------------------------------------------------------------===//

void collectNodes(Location location, std::vector<std::string> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (nodes.empty() || nodes.back() != name.getName())
      nodes.push_back(name.getName().str());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location each : fused.getLocations())
      collectNodes(each, nodes);
  }
}

SymExpr bytesOf(SymTensorType type) {
  unsigned bits = type.getElementType().isInteger(1) ? 8 : elementBits(type.getElementType());
  return bits >= 8 ? type.getElements() * int64_t(bits / 8) : SymExpr::ceildiv(type.getElements() * int64_t(bits), 8);
}

class FunctionLowering {
public:
  FunctionLowering(Program &program, func::FuncOp function, const Target &target) : program(program), target(target) {
    lowered.function = function;
    lowered.flops = lowered.bytesMoved = SymExpr::constant(function.getContext(), 0);
  }

  FailureOr<LoweredFunction> run() {
    llvm::Expected<EntryPlan> entry = planEntry(lowered.function);
    if (!entry)
      return lowered.function.emitError() << llvm::toString(entry.takeError());
    lowered.entry = std::move(*entry);
    Block &body = lowered.function.getBody().front();
    for (auto [i, argument] : llvm::enumerate(body.getArguments()))
      buffers[argument] = {Buffer::Input, unsigned(i)};
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      outputs[base(value)] = i;
    for (Operation &op : body.without_terminator())
      if (auto kernel = dyn_cast<KernelOp>(op); kernel && failed(lowerKernel(kernel)))
        return failure();
    SmallVector<StringAttr> symbols;
    for (const EntrySymbol &symbol : lowered.entry.symbols)
      symbols.push_back(symbol.name);
    SymFacts facts(lowered.function.getContext());
    if (auto attribute = lowered.function->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
      facts = attribute.asFacts();
    lowered.plan = planMemory(lowered.classes, symbols, facts, lowered.function.getContext());
    return std::move(lowered);
  }

  /// The value whose memory a chain of reshapes names.
  static Value base(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return value;
  }

private:
  LogicalResult lowerKernel(KernelOp kernel) {
    SmallVector<bool> isWeight;
    for (Value input : kernel.getInputs())
      isWeight.push_back(base(input).getDefiningOp<ConstantOp>() != nullptr);
    SpecificationBuilder specification(kernel);
    OwningOpRef<ModuleOp> module = specification.build(isWeight);
    auto function = *module->getOps<func::FuncOp>().begin();
    std::optional<KernelChoice> chosen = target.choose(function);
    if (!chosen)
      return kernel.emitError("no schedule of target '") << target.name() << "' can compute this kernel";
    KernelChoice choice = *chosen;
    KernelCall call;
    call.kernel = kernelRow(*module, choice, kernel);
    step = lowered.calls.size();
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      call.pointers.push_back(inputBuffer(input, choice.layouts[i]));
      lowered.bytesMoved = lowered.bytesMoved + bytesOf(cast<SymTensorType>(input.getType()));
    }
    for (Value result : kernel.getResults()) {
      call.pointers.push_back(resultBuffer(result));
      lowered.bytesMoved = lowered.bytesMoved + bytesOf(cast<SymTensorType>(result.getType()));
    }
    for (Operation &op : kernel.getBody().front())
      if (auto rule = dyn_cast<RuleOpInterface>(op))
        if (SymExpr points = rule.rule().points())
          lowered.flops = lowered.flops + points * rule.scalarCost();
    call.values = specification.values;
    call.units = choice.units.substitute(specification.toFunction);
    call.grain = choice.grain.substitute(specification.toFunction);
    SymExpr scratch = choice.scratch.substitute(specification.toFunction);
    if (!scratch.isConstant(0) && !llvm::is_contained(lowered.scratch, scratch))
      lowered.scratch.push_back(scratch);
    if (call.pointers.size() + call.values.size() > WEFT_MAX_WORDS)
      return kernel.emitError("a kernel needs more than ") << WEFT_MAX_WORDS << " operands and symbols";
    lowered.calls.push_back(std::move(call));
    return success();
  }

  unsigned kernelRow(ModuleOp module, const KernelChoice &choice, KernelOp kernel) {
    std::string text = "// " + target.name() + " " + choice.schedule + "\n";
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    unsigned row = 0;
    while (row < program.kernels.size() && program.kernels[row].text != text)
      ++row;
    if (row == program.kernels.size()) {
      KernelCode code;
      code.text = text;
      code.schedule = choice.schedule;
      uint8_t hash[32];
      weft_sha256(text.data(), text.size(), hash);
      memcpy(code.key, hash, sizeof(code.key));
      code.symbol = "weft_k_" + choice.schedule + "_" + llvm::toHex(ArrayRef(hash, 6), /*LowerCase=*/true);
      program.kernels.push_back(std::move(code));
    }
    collectNodes(kernel.getLoc(), program.kernels[row].nodes);
    ++program.kernels[row].calls;
    return row;
  }

  Buffer inputBuffer(Value input, StringRef layout) {
    Value value = base(input);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return {Buffer::Weight, weightRow(constant, layout, cast<SymTensorType>(layout.empty() ? value.getType() : input.getType()))};
    Buffer buffer = buffers.lookup(value);
    if (buffer.kind == Buffer::Arena)
      lowered.classes[buffer.index].death = step;
    return buffer;
  }

  Buffer resultBuffer(Value result) {
    if (auto it = outputs.find(result); it != outputs.end())
      return buffers[result] = {Buffer::Output, it->second};
    SymExpr bytes = SymExpr::ceildiv(bytesOf(cast<SymTensorType>(result.getType())), 64) * int64_t(64);
    lowered.classes.push_back({bytes, step, step});
    return buffers[result] = {Buffer::Arena, unsigned(lowered.classes.size() - 1)};
  }

  unsigned weightRow(ConstantOp constant, StringRef layout, SymTensorType type) {
    for (auto [i, weight] : llvm::enumerate(program.weights))
      if (weight.value == constant.getValue() && weight.layout == layout && weight.type == type)
        return i;
    StoredWeight weight;
    auto name = dyn_cast<FlatSymbolRefAttr>(constant.getValue());
    weight.name = name ? name.getValue().str() : "constant" + std::to_string(program.weights.size());
    weight.layout = layout.str();
    weight.type = type;
    weight.value = constant.getValue();
    program.weights.push_back(std::move(weight));
    return program.weights.size() - 1;
  }

  Program &program;
  const Target &target;
  LoweredFunction lowered;
  llvm::DenseMap<Value, Buffer> buffers;
  llvm::DenseMap<Value, unsigned> outputs;
  unsigned step = 0;
};

} // namespace

bool allAccepted(ModuleOp module, const Target &target) {
  return !module
              .walk([&](KernelOp kernel) {
                SmallVector<bool> isWeight;
                for (Value input : kernel.getInputs())
                  isWeight.push_back(FunctionLowering::base(input).getDefiningOp<ConstantOp>() != nullptr);
                OwningOpRef<ModuleOp> specification = SpecificationBuilder(kernel).build(isWeight);
                bool accepted = target.choose(*specification->getOps<func::FuncOp>().begin()).has_value();
                return accepted ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

FailureOr<Program> lowerProgram(ModuleOp module, const Target &target) {
  Program program;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FailureOr<LoweredFunction> lowered = FunctionLowering(program, function, target).run();
    if (failed(lowered))
      return failure();
    program.functions.push_back(std::move(*lowered));
  }
  if (program.functions.empty())
    return module.emitError("the model has no public function");
  return program;
}

} // namespace weft
