//===- GivenOperators.cpp ---------------------------------------------------------------------===//

#include "compiler/import/onnx/GivenOperators.h"
#include "compiler/import/text/ImportText.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft::onnx {

bool GivenOperators::fail(const std::string &where, const Twine &text, const std::string &hint) {
  diagnostics.push_back({weft::Diagnostic::Error, kWrongOperator, where, text.str(), hint});
  return false;
}

bool GivenOperators::read(const std::vector<OperatorFile> &files, const Limits &given) {
  limits = given;
  for (const OperatorFile &file : files) {
    auto [domain, name] = StringRef(file.name).rsplit(':');
    if (name.empty()) // no ':'
      std::swap(domain, name);
    if (domain == "ai.onnx")
      domain = "";
    if (name.empty())
      return fail(file.path, "the operator has no name", "write DOMAIN:NAME=FILE.mlir");
    for (const Operator &other : operators)
      if (other.domain == domain && other.name == name)
        return fail(file.path, "operator " + file.name + " is given twice");
    auto buffer = llvm::MemoryBuffer::getFile(file.path);
    if (!buffer)
      return fail(file.path, "cannot be read: " + buffer.getError().message());
    operators.push_back(
        {domain.str(), name.str(), file.path, (*buffer)->getBuffer().str(), false, {}, {}});
  }
  return true;
}

bool GivenOperators::parseInto(MLIRContext *context) {
  for (Operator &each : operators) {
    Result<OwningOpRef<ModuleOp>> module = parseText(context, each.path, each.text, limits);
    if (!module) {
      for (weft::Diagnostic found : module.diagnostics()) {
        found.code = kWrongOperator;
        diagnostics.push_back(found);
      }
      return false;
    }
    each.module = std::move(*module);
    if (!choose(each) || !checkBody(each))
      return false;
  }
  return true;
}

void GivenOperators::forget() {
  for (Operator &each : operators) {
    each.function = {};
    each.module = {};
  }
}

/// The only function, or the one with the operator's name.
bool GivenOperators::choose(Operator &each) {
  SmallVector<func::FuncOp> all(each.module->getOps<func::FuncOp>());
  each.function = {};
  for (func::FuncOp function : all)
    if (all.size() == 1 || function.getName() == each.name)
      each.function = function;
  if (each.function && each.function.isExternal())
    return fail(each.path, "function '" + each.function.getName() + "' has no body");
  if (each.function)
    return true;
  return fail(each.path, all.empty() ? Twine("has no function")
                                     : "has " + Twine(all.size()) + " functions, none of them '" +
                                           each.name + "'");
}

bool GivenOperators::checkBody(Operator &each) {
  std::string why;
  each.function->walk([&](Operation *op) {
    if (!why.empty() || op == each.function || isa<func::ReturnOp>(op))
      return;
    if (auto call = dyn_cast<func::CallOp>(op))
      why = call.getCallee() == each.function.getName()
                ? "it calls itself"
                : ("it calls '" + call.getCallee() + "': a function of an operator calls no others")
                      .str();
    else if (!isa<WeftDialect>(op->getDialect()))
      why = ("operation '" + op->getName().getStringRef() + "' is not one of Weft").str();
    else if (auto constant = dyn_cast<ConstantOp>(op);
             constant && isa<FlatSymbolRefAttr>(constant.getValue()))
      why = "it reads a weight of a file; write dense elements";
  });
  return why.empty() || fail(each.path, "function '" + each.function.getName() + "': " + why);
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
