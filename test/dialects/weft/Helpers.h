//===- Helpers.h - Text of one operator in, diagnostics or values out ---------------------------===//
//
//   CHECK(refusal("pool max %a kernel [0] …", {"[4], f32"}, {"[4], f32"}) == "'weft.pool' kernel sizes must be positive");
//   CHECK(evaluate("cumulate sum %a axis 0", {"[3], f32"}, {{1, 2, 3}}, {"[3], f32"})[0] == Numbers{1, 3, 6});
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIALECTS_WEFT_HELPERS_H
#define WEFT_TEST_DIALECTS_WEFT_HELPERS_H

#include "compiler/eval/Evaluate.h"
#include "dialects/weft/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace weft::test {

inline mlir::MLIRContext &context() {
  static auto *context = [] {
    auto *made = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    made->loadDialect<WeftDialect, SymDialect, mlir::func::FuncDialect>();
    made->printOpOnDiagnostic(false);
    return made;
  }();
  return *context;
}

/// A module, or null with the first diagnostic in `error`.
inline mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text, std::string &error) {
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return mlir::success();
  });
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context());
}

/// The first error of a program, and its notes as "line:column: text".
struct Refusal {
  std::string error;
  std::vector<std::string> notes;
};

inline Refusal refusalOfText(const std::string &text) {
  Refusal refusal;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    if (!refusal.error.empty())
      return mlir::success();
    refusal.error = diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(note.getLocation()))
        refusal.notes.push_back(std::to_string(place.getLine()) + ":" +
                                std::to_string(place.getColumn()) + ": " + note.str());
    return mlir::success();
  });
  mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  return refusal;
}

inline std::string typeList(const std::vector<std::string> &types) {
  std::string text;
  for (const std::string &type : types)
    text += (text.empty() ? "!weft.tensor<" : ", !weft.tensor<") + type + ">";
  return text;
}

/// A function of one operator whose operands are %a, %b, ….
inline std::string functionOf(const std::string &op, const std::vector<std::string> &inputs,
                              const std::vector<std::string> &results,
                              const std::string &symbols = "m, n") {
  std::string arguments, values;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments +=
        (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": !weft.tensor<" + inputs[i] + ">";
  for (size_t i = 0; i < results.size(); ++i)
    values += (i ? ", %r#" : "%r#") + std::to_string(i);
  return "func.func @main(" + arguments + ") -> (" + typeList(results) +
         ") attributes {weft.symbols = #weft.symbols<" + symbols +
         ">} {\n  %r:" + std::to_string(results.size()) + " = weft." + op + " : (" +
         typeList(inputs) + ") -> (" + typeList(results) + ")\n  return " + values + " : " +
         typeList(results) + "\n}\n";
}

/// Why a function of one operator is refused; empty when it is not.
inline std::string refusal(const std::string &op, const std::vector<std::string> &inputs,
                           const std::vector<std::string> &results) {
  std::string error;
  parse(functionOf(op, inputs, results), error);
  return error;
}

using Numbers = std::vector<double>;

/// Results of one operator on operands with these elements, row-major. Throws what refuses or fails.
inline std::vector<Numbers> evaluate(const std::string &op, const std::vector<std::string> &inputs,
                                     const std::vector<Numbers> &elements,
                                     const std::vector<std::string> &results) {
  std::string error;
  auto module = parse(functionOf(op, inputs, results, ""), error);
  if (!module)
    throw std::runtime_error(error);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<RefTensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto type = mlir::cast<SymTensorType>(function.getArgumentTypes()[i]);
    RefTensor tensor(type.getElementType(), *type.getConstantDims());
    for (size_t k = 0; k < elements[i].size(); ++k)
      tensor.set(k, tensor.kind == Scalar::Real ? Scalar::of(elements[i][k])
                                                : Scalar::of(int64_t(elements[i][k])));
    tensors.push_back(std::move(tensor));
  }
  llvm::Expected<std::vector<RefTensor>> computed = evaluateFunction(function, tensors, {});
  if (!computed)
    throw std::runtime_error(llvm::toString(computed.takeError()));
  std::vector<Numbers> values;
  for (const RefTensor &tensor : *computed) {
    Numbers &numbers = values.emplace_back();
    for (int64_t i = 0; i < tensor.size(); ++i)
      numbers.push_back(tensor.at(i).asReal());
  }
  return values;
}

} // namespace weft::test

#endif // WEFT_TEST_DIALECTS_WEFT_HELPERS_H
