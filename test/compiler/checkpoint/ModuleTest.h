//===- ModuleTest.h - Running modules in tests of the builder and of checkpoints --------------===//
//
//   Run run(module);
//   run.input("x", {2, 3}, {1, 2, 3, 4, 5, 6});
//   CHECK(run.results().at("y").reals[0] == 1);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_COMPILER_CHECKPOINT_MODULETEST_H
#define WEFT_TEST_COMPILER_CHECKPOINT_MODULETEST_H

#include "compiler/eval/Evaluate.h"
#include "compiler/model/ModuleImpl.h"
#include <catch2/catch.hpp>

namespace weft {

/// "where: text" of every finding, one line each.
inline std::string findings(const std::vector<Diagnostic> &diagnostics) {
  std::string text;
  for (const Diagnostic &d : diagnostics)
    text += (text.empty() ? "" : "\n") + d.where + ": " + d.text;
  return text;
}

inline Module built(Result<Module> result) {
  INFO(findings(result.diagnostics()));
  REQUIRE(result);
  return *result;
}

inline mlir::func::FuncOp mainOf(const Module &module) {
  auto function = module.get().module->lookupSymbol<mlir::func::FuncOp>("main");
  REQUIRE(function);
  return function;
}

/// "b s | 1 <= b | s <= 512": names and facts of `main`.
inline std::string symbolsOf(const Module &module) {
  auto symbols = mainOf(module)->getAttrOfType<SymbolsAttr>(kSymbolsAttr);
  std::string text;
  for (mlir::StringAttr name : symbols.getNames())
    text += (text.empty() ? "" : " ") + name.str();
  for (const SymPred &fact : symbols.getFacts())
    text += " | " + fact.str();
  return text;
}

/// One evaluation of `main` by the reference semantics.
class Run {
public:
  explicit Run(const Module &module)
      : module(module), function(mainOf(module)), inputs(function.getNumArguments()) {}

  template <typename T>
  void input(const std::string &name, llvm::ArrayRef<int64_t> dims, const std::vector<T> &values) {
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (function.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).getValue() == name) {
        auto type = mlir::cast<SymTensorType>(function.getArgument(i).getType());
        inputs[i] = RefTensor(type.getElementType(), dims);
        REQUIRE(inputs[i].size() == int64_t(values.size()));
        for (size_t at = 0; at < values.size(); ++at)
          inputs[i].set(at, Scalar::of(values[at]));
        return;
      }
    FAIL("no input is called " << name);
  }

  std::map<std::string, RefTensor> results() {
    EvaluateOptions options;
    options.weight = [&](llvm::StringRef name) { return module.get().weightBytes(name); };
    auto values = evaluateFunction(function, inputs, options);
    std::string error = values ? "" : llvm::toString(values.takeError());
    REQUIRE(error == "");
    std::map<std::string, RefTensor> named;
    for (unsigned i = 0; i < values->size(); ++i)
      named[function.getResultAttrOfType<mlir::StringAttr>(i, kNameAttr).str()] = (*values)[i];
    return named;
  }

private:
  Module module;
  mlir::func::FuncOp function;
  std::vector<RefTensor> inputs;
};

} // namespace weft

#endif // WEFT_TEST_COMPILER_CHECKPOINT_MODULETEST_H
