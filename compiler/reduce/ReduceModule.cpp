//===- ReduceModule.cpp - The edits of programs -----------------------------------------------===//

#include "compiler/reduce/ReduceModule.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/reduce/ModuleEdits.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weft {
namespace {

SmallVector<func::FuncOp> functionsOf(const Module &module) {
  return llvm::to_vector(module.get().module->getOps<func::FuncOp>());
}

/// What edits of one kind are about, in program order: the same in a module and in its copies.
template <typename Part> using Parts = SmallVector<Part>;

template <typename Op> Parts<Op> allOf(const Module &module) {
  Parts<Op> found;
  module.get().module->walk<WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
  return found;
}

/// Weights that no constant names any more.
void dropWeights(ModuleOp module) {
  llvm::DenseSet<StringRef> named;
  module.walk([&](ConstantOp op) {
    if (auto name = dyn_cast<FlatSymbolRefAttr>(op.getValue()))
      named.insert(name.getValue());
  });
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!named.contains(weight.getSymName()))
      weight.erase();
}

/// A copy with an edit made, whole again; nothing when it is no program.
std::optional<Module> edited(const Module &module,
                             llvm::function_ref<bool(const Module &copy)> edit) {
  Module copy(module.get().clone());
  DiagnosticCollector silence(copy.get().context.get(), "");
  if (!edit(copy))
    return std::nullopt;
  for (func::FuncOp function : functionsOf(copy))
    if (!function.isExternal())
      tidy(function);
  dropWeights(*copy.get().module);
  if (failed(verify(*copy.get().module)))
    return std::nullopt;
  return copy;
}

template <typename Part, typename F>
Reduction<Module> reduction(std::string what, F partsOf, std::function<bool(ArrayRef<Part>)> edit) {
  return {std::move(what), [=](const Module &module) { return size_t(partsOf(module).size()); },
          [=](const Module &module, const Edits &edits) {
            return edited(module, [&](const Module &copy) {
              Parts<Part> chosen;
              for (auto [i, part] : llvm::enumerate(partsOf(copy)))
                if (edits[i])
                  chosen.push_back(part);
              return edit(chosen);
            });
          }};
}

/// A function's argument, result or fact.
struct Place {
  func::FuncOp function;
  unsigned index;
};

Parts<Place> places(const Module &module, unsigned (*count)(func::FuncOp),
                    bool (*offers)(func::FuncOp, unsigned)) {
  Parts<Place> found;
  for (func::FuncOp function : functionsOf(module))
    for (unsigned i = 0, n = function.isExternal() ? 0 : count(function); i < n; ++i)
      if (offers(function, i))
        found.push_back({function, i});
  return found;
}

Reduction<Module> functions() {
  return reduction<func::FuncOp>("functions", functionsOf, [](ArrayRef<func::FuncOp> chosen) {
    Operation *module = chosen.front()->getParentOp();
    for (func::FuncOp function : chosen)
      function.erase();
    return !cast<ModuleOp>(module).getOps<func::FuncOp>().empty();
  });
}

Reduction<Module> results() {
  auto parts = [](const Module &module) {
    return places(
        module, [](func::FuncOp f) { return f.getNumResults(); },
        [](func::FuncOp f, unsigned) { return f.getNumResults() > 1; });
  };
  return reduction<Place>("results", parts, [](ArrayRef<Place> chosen) {
    for (Place place : llvm::reverse(chosen)) {
      place.function.getBody().front().getTerminator()->eraseOperand(place.index);
      place.function.eraseResult(place.index);
      if (place.function.getNumResults() == 0)
        return false;
    }
    return true;
  });
}

Reduction<Module> operators() {
  auto parts = [](const Module &module) {
    Parts<Operation *> found;
    for (func::FuncOp function : functionsOf(module))
      llvm::append_range(found, operatorsOf(function));
    return found;
  };
  return reduction<Operation *>("operators", parts, [](ArrayRef<Operation *> chosen) {
    llvm::MapVector<Operation *, llvm::SetVector<Operation *>> byFunction;
    for (Operation *op : chosen)
      byFunction[op->getParentOp()].insert(op);
    return llvm::all_of(byFunction, [](auto &each) {
      return removeOperators(cast<func::FuncOp>(each.first), each.second);
    });
  });
}

/// Without what surrounds it, an operator may be right: this one keeps values connected.
Reduction<Module> forwarded() {
  auto parts = [](const Module &module) {
    Parts<Operation *> found;
    module.get().module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (forwardedOperand(op))
        found.push_back(op);
    });
    return found;
  };
  return reduction<Operation *>("operators between", parts, [](ArrayRef<Operation *> chosen) {
    for (Operation *op : llvm::reverse(chosen)) { // what lies in a region goes before what holds it
      op->getResult(0).replaceAllUsesWith(forwardedOperand(op));
      op->erase();
    }
    return true;
  });
}

Reduction<Module> branches(bool yes) {
  return reduction<IfOp>(yes ? "conditions" : "conditions (else)", allOf<IfOp>,
                         [yes](ArrayRef<IfOp> chosen) {
                           return llvm::all_of(llvm::reverse(chosen), [&](IfOp op) {
                             return inlineBranch(op, yes ? op.getYes() : op.getNo());
                           });
                         });
}

TypedAttr number(Type element, int value) {
  Builder b(element.getContext());
  return isFloat(element) ? TypedAttr(floatAttribute(element, value))
                          : TypedAttr(b.getIntegerAttr(element, value));
}

Reduction<Module> constants(int value) {
  return reduction<ConstantOp>(
      "constants", allOf<ConstantOp>, [value](ArrayRef<ConstantOp> chosen) {
        for (ConstantOp op : chosen) {
          OpBuilder b(op);
          auto type = cast<SymTensorType>(op.getResult().getType());
          op.getResult().replaceAllUsesWith(
              b.create<FillOp>(op.getLoc(), type, number(type.getElementType(), value)));
          op->erase();
        }
        return true;
      });
}

Reduction<Module> arguments() {
  auto parts = [](const Module &module) {
    return places(
        module, [](func::FuncOp f) { return f.getNumArguments(); },
        [](func::FuncOp f, unsigned i) { return f.getArgument(i).use_empty(); });
  };
  return reduction<Place>("arguments", parts, [](ArrayRef<Place> chosen) {
    for (Place place : llvm::reverse(chosen))
      place.function.eraseArgument(place.index);
    return true;
  });
}

Reduction<Module> facts() {
  auto parts = [](const Module &module) {
    return places(
        module, [](func::FuncOp f) { return unsigned(symbolsOf(f).getFactAttributes().size()); },
        [](func::FuncOp, unsigned) { return true; });
  };
  return reduction<Place>("facts", parts, [](ArrayRef<Place> chosen) {
    for (Place place : llvm::reverse(chosen)) {
      SymbolsAttr symbols = symbolsOf(place.function);
      SmallVector<SymPred> left = symbols.getFacts();
      left.erase(left.begin() + place.index);
      place.function->setAttr(kSymbolsAttr,
                              SymbolsAttr::get(symbols.getContext(), symbols.getNames(), left,
                                               symbols.getBoundNames()));
    }
    return true;
  });
}

} // namespace

const std::vector<Reduction<Module>> &moduleReductions() {
  static const std::vector<Reduction<Module>> all = {
      functions(),     results(),    operators(),  results(),   forwarded(), branches(true),
      branches(false), constants(0), constants(1), arguments(), facts()};
  return all;
}

Module reduceModule(const Module &module, llvm::function_ref<bool(const Module &)> stillFails,
                    const ReduceOptions<Module> &options) {
  return reduce<Module>(
      Module(module.get().clone()), moduleReductions(),
      [&](const Module &candidate) { return stillFails(candidate); }, options);
}

size_t countOperators(const Module &module) {
  size_t count = 0;
  for (func::FuncOp function : functionsOf(module))
    count += operatorsOf(function).size();
  return count;
}

} // namespace weft
