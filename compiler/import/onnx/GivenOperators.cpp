//===- GivenOperators.cpp ---------------------------------------------------------------------===//

#include "compiler/import/onnx/GivenOperators.h"
#include "compiler/import/text/ImportText.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft::onnx {

static weft::Diagnostic error(const std::string &where, const Twine &text,
                              const std::string &hint = "") {
  return {weft::Diagnostic::Error, kWrongOperator, where, text.str(), hint};
}

Result<void> GivenOperators::read(const std::vector<OperatorFile> &files, const Limits &given) {
  limits = given;
  for (const OperatorFile &file : files) {
    auto [domain, name] = StringRef(file.name).rsplit(':');
    if (name.empty()) // no ':'
      std::swap(domain, name);
    if (domain == "ai.onnx")
      domain = "";
    if (name.empty())
      return error(file.path, "the operator has no name", "write DOMAIN:NAME=FILE.mlir");
    for (const Operator &other : operators)
      if (other.domain == domain && other.name == name)
        return error(file.path, "operator " + file.name + " is given twice");
    auto buffer = llvm::MemoryBuffer::getFile(file.path);
    if (!buffer)
      return error(file.path, "cannot be read: " + buffer.getError().message());
    operators.push_back(
        {domain.str(), name.str(), file.path, (*buffer)->getBuffer().str(), false, {}, {}});
  }
  return {};
}

Result<void> GivenOperators::parseInto(MLIRContext *context) {
  for (Operator &each : operators) {
    Result<OwningOpRef<ModuleOp>> module = parseText(context, each.path, each.text, limits);
    if (!module) {
      for (weft::Diagnostic &found : module.diagnostics())
        found.code = kWrongOperator;
      return module.diagnostics();
    }
    each.module = std::move(*module);
    if (Result<void> done = choose(each); !done)
      return done;
    if (Result<void> done = checkBody(each); !done)
      return done;
  }
  return {};
}

void GivenOperators::forget() {
  for (Operator &each : operators) {
    each.function = {};
    each.module = {};
  }
}

/// The only function, or the one with the operator's name.
Result<void> GivenOperators::choose(Operator &each) {
  SmallVector<func::FuncOp> all(each.module->getOps<func::FuncOp>());
  each.function = {};
  for (func::FuncOp function : all)
    if (all.size() == 1 || function.getName() == each.name)
      each.function = function;
  if (each.function && each.function.isExternal())
    return error(each.path, "function '" + each.function.getName() + "' has no body");
  if (each.function)
    return {};
  return error(each.path, all.empty() ? Twine("has no function")
                                      : "has " + Twine(all.size()) + " functions, none of them '" +
                                            each.name + "'");
}

Result<void> GivenOperators::checkBody(Operator &each) {
  Result<void> done;
  each.function->walk([&](Operation *op) {
    done = checkOperation(each, op);
    return done ? WalkResult::advance() : WalkResult::interrupt();
  });
  return done;
}

Result<void> GivenOperators::checkOperation(Operator &each, Operation *op) {
  auto wrong = [&](const Twine &text) {
    return error(each.path, "function '" + each.function.getName() + "': " + text);
  };
  if (op == each.function || isa<func::ReturnOp>(op))
    return {};
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCallee() == each.function.getName()
               ? wrong("it calls itself")
               : wrong("it calls '" + call.getCallee() +
                       "': a function of an operator calls no others");
  if (!isa<WeftDialect>(op->getDialect()))
    return wrong("operation '" + op->getName().getStringRef() + "' is not one of Weft");
  auto constant = dyn_cast<ConstantOp>(op);
  if (constant && isa<FlatSymbolRefAttr>(constant.getValue()))
    return wrong("it reads a weight of a file; write dense elements");
  return {};
}

func::FuncOp GivenOperators::find(StringRef domain, StringRef name) {
  for (Operator &each : operators)
    if (each.domain == domain && each.name == name) {
      each.used = true;
      return each.function;
    }
  return {};
}

std::vector<std::string> GivenOperators::unused() const {
  std::vector<std::string> names;
  for (const Operator &each : operators)
    if (!each.used)
      names.push_back(each.domain.empty() ? each.name : each.domain + ":" + each.name);
  return names;
}

} // namespace weft::onnx
