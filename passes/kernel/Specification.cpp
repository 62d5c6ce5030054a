//===- Specification.cpp - Copies a kernel and renames its symbols -----------------------------------------===//

#include "passes/kernel/Specification.h"
#include "dialects/weft/WeightArguments.h"
#include "mlir/IR/IRMapping.h"
#include "passes/kernel/ConstantParts.h"

using namespace mlir;

namespace weft {
namespace {

class SpecificationBuilder {
public:
  explicit SpecificationBuilder(KernelOp kernel) : kernel(kernel), context(kernel.getContext()) {}

  /// `weights[i]`: of which constant input i is all or a part; null: it is none.
  OwningOpRef<ModuleOp> build(ArrayRef<SymTensorType> weights) {
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
    for (auto [i, whole] : llvm::enumerate(weights)) {
      if (whole)
        function.setArgAttr(i, kWeightAttr, b.getUnitAttr());
      if (whole && whole.getConstantDims() && whole != inputs[i])
        function.setArgAttr(i, kPartOfAttr, TypeAttr::get(whole));
    }
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
      if (isa<ConcatOp>(op) ||
          llvm::any_of(op.getAttrs(), [](NamedAttribute a) { return isa<DimsAttr>(a.getValue()); }))
        return false;
      auto rule = dyn_cast<RuleOpInterface>(op);
      return !rule || rule.rule().seesExtentsOnly();
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
    return SymTensorType::get(context, DimsAttr::get(context, dims).getDimAttributes(),
                              tensor.getElementType());
  }

  void copy(OpBuilder &b, Operation &op, IRMapping &mapping) {
    Operation *clone = b.clone(op, mapping);
    clone->setLoc(b.getUnknownLoc());
    for (Value result : clone->getResults())
      result.setType(renamed(result.getType()));
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op.getAttrs()) {
      if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
        attribute.setValue(DimsAttr::get(
            context, llvm::map_to_vector(dims.getDims(), [&](SymExpr e) { return renamed(e); })));
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

} // namespace

Value baseOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The constant that an input is, or that it is a matrix of rows and columns of; what is given other dimensions is a constant of its own.
static SymTensorType weightOf(Value input, bool gathers) {
  if (gathers && gatheredPart(input))
    return cast<SymTensorType>(input.getType());
  std::optional<ConstantPart> part = constantPart(baseOf(input));
  if (!part)
    return {};
  auto type = cast<SymTensorType>(input.getType());
  bool isMatrix = !part->at.empty() && input == baseOf(input) && type.getRank() == 2;
  return isMatrix ? part->type : type;
}

Specification specify(KernelOp kernel, bool gathers) {
  SmallVector<SymTensorType> weights;
  for (Value input : kernel.getInputs())
    weights.push_back(weightOf(input, gathers));
  SpecificationBuilder builder(kernel);
  OwningOpRef<ModuleOp> module = builder.build(weights);
  return {std::move(module), std::move(builder.values), std::move(builder.toFunction)};
}

} // namespace weft
