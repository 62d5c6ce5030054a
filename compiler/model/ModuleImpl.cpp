//===- ModuleImpl.cpp - Contexts, weights and diagnostics of a module -------------------------------===//

#include "compiler/model/ModuleImpl.h"
#include "compiler/model/BytesInText.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weft {

std::shared_ptr<Module::Impl> Module::Impl::create(std::string name) {
  auto impl = std::make_shared<Impl>();
  impl->context = std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  impl->context->loadDialect<WeftDialect, SymDialect, plan::PlanDialect, func::FuncDialect>();
  impl->context->printOpOnDiagnostic(false); // people see names, not IR
  impl->name = std::move(name);
  return impl;
}

std::shared_ptr<Module::Impl> Module::Impl::clone() const {
  auto copy = std::make_shared<Impl>();
  copy->context = context;
  copy->module = mlir::OwningOpRef<ModuleOp>(ModuleOp(*module).clone());
  copy->files = files;
  copy->name = name;
  copy->facts = facts;
  return copy;
}

std::string Module::text() const {
  return impl->textOf(*impl->module, OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
}

std::string Module::Impl::textOf(ModuleOp program, const OpPrintingFlags &flags) const {
  AsmState state(program, flags);
  state.attachResourcePrinter(kBytesInText, [&](Operation *, AsmResourceBuilder &resources) {
    llvm::StringSet<> written;
    for (auto weight : program.getOps<WeightOp>()) {
      auto file = files.find(weight.getFile().str());
      if (file != files.end() && file->second->isView() && written.insert(file->first).second)
        resources.buildString(keyOfBytes(file->first),
                              llvm::toHex(llvm::toStringRef(file->second->bytes())));
    }
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  program->print(os, state);
  return text;
}

const char *Module::Impl::weightBytes(StringRef symbol) {
  auto weight = SymbolTable::lookupSymbolIn(*module, symbol);
  auto op = dyn_cast_or_null<WeightOp>(weight);
  return op ? bytesOf(op) : nullptr;
}

const char *Module::Impl::bytesOf(WeightOp weight) const {
  auto it = files.find(weight.getFile().str());
  if (it == files.end())
    return nullptr;
  uint64_t offset = weight.getOffset(), bytes = weight.getBytes();
  if (offset > it->second->size() || bytes > it->second->size() - offset)
    return nullptr;
  return it->second->bytes().data() + offset;
}

struct DiagnosticCollector::Handler {
  ScopedDiagnosticHandler scope;
  template <typename F> Handler(MLIRContext *context, F &&f) : scope(context, std::forward<F>(f)) {}
};

/// "model.onnx: node '/a/b'" or "file:line:column".
static std::string describe(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      if (std::string text = describe(each); !text.empty())
        return text;
  return "";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, std::string code) {
  handler = std::make_unique<Handler>(context, [this, code](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    weft::Diagnostic found;
    found.severity = diagnostic.getSeverity() == DiagnosticSeverity::Error ? weft::Diagnostic::Error
                     : diagnostic.getSeverity() == DiagnosticSeverity::Warning
                         ? weft::Diagnostic::Warning
                         : weft::Diagnostic::Note;
    found.code = code;
    found.where = describe(diagnostic.getLocation());
    found.text = diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string text = note.str(), where = describe(note.getLocation());
      StringRef hint(text);
      if (hint.consume_front("hint: "))
        found.hint = hint.str();
      else if (!hint.consume_back(" here"))
        found.text += "; " + text;
      else if (!where.empty() && where != found.where) // another place, in the same line
        found.text += "; " + hint.str() + " at " + where;
    }
    list.push_back(std::move(found));
    return success();
  });
}

DiagnosticCollector::~DiagnosticCollector() = default;

} // namespace weft
