//===- Onnx.cpp - ONNX models to modules of the graph level -----------------------------------===//
//
// A model is imported several times: sizes that one pass had to require of its inputs ("seq <= 512")
// are facts for the next, which then writes shorter types. It is over when nothing new is required.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/Onnx.h"
#include "compiler/import/onnx/GraphImport.h"
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/readers/ReadError.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace weft {
using namespace onnx;

namespace {

constexpr unsigned kMostPasses = 4;
/// Of the file format (`ir_version`), which says what a graph and its types mean.
constexpr int64_t kNewestIrVersion = 14;
constexpr const char *kWrongModel = "W0201", *kUnreadable = "W0202", *kOverLimit = "W0203",
                     *kWrongConstant = "W0205", *kOutputDiffers = "W0206", *kUnsupported = "W0207";

const char *codeOf(Refusal::Kind kind) {
  return kind == Refusal::Wrong       ? kWrongModel
         : kind == Refusal::OverLimit ? kOverLimit
                                      : kUnsupported;
}

weft::Diagnostic problem(const char *code, const std::string &where, const std::string &text,
                         const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, where, text, hint};
}

/// What came out of the last pass.
struct Imported {
  std::shared_ptr<Module::Impl> impl; ///< with a module when everything was imported
  std::vector<RefusedNode> refused;
  std::vector<weft::Diagnostic> diagnostics;
};

class ModelImport {
public:
  ModelImport(const std::string &path, const OnnxImportOptions &options)
      : path(path), options(options) {}

  Imported run() {
    Imported result;
    llvm::Expected<OnnxModel> model = readOnnxFile(path, options.limits);
    if (!model) {
      llvm::Error why = model.takeError();
      const char *code = isOverLimit(why) ? kOverLimit : kUnreadable;
      result.diagnostics.push_back(problem(code, "", llvm::toString(std::move(why))));
      return result;
    }
    MLIRContext types(MLIRContext::Threading::DISABLED);
    llvm::Expected<GivenConstants> read = readInputConstants(&types, *model, options.constants);
    if (!read) {
      result.diagnostics.push_back(problem(kWrongConstant, path, llvm::toString(read.takeError())));
      return result;
    }
    given = std::move(*read);
    if (Result<void> done = checkModel(*model); !done) {
      result.diagnostics = done.diagnostics();
      return result;
    }
    if (Result<void> done = operators.read(options.operators, options.limits); !done) {
      result.diagnostics = done.diagnostics();
      return result;
    }
    for (unsigned pass = 0; pass < kMostPasses; ++pass) {
      result = Imported();
      if (!importOnce(*model, result) || !foundMore)
        break;
    }
    return result;
  }

private:
  Result<void> checkModel(const OnnxModel &model) {
    if (model.irVersion > kNewestIrVersion)
      return problem(kUnsupported, path,
                     "the model is written in version " + std::to_string(model.irVersion) +
                         " of ONNX's format, but " + std::to_string(kNewestIrVersion) +
                         " is the newest that is supported");
    std::optional<int64_t> version = model.opsetVersion("");
    if (version && *version > kNewestOpset)
      return problem(kUnsupported, path,
                     "the model uses version " + std::to_string(*version) +
                         " of the operator set, but " + std::to_string(kNewestOpset) +
                         " is the newest that is supported");
    llvm::StringSet<> initialized;
    for (const OnnxTensor &tensor : model.graph.initializers)
      initialized.insert(tensor.name);
    llvm::StringSet<> declared;
    for (const OnnxValueInfo &input : model.graph.inputs) {
      std::string name = "input " + quotedText(input.name);
      if (!declared.insert(input.name).second)
        return problem(kWrongModel, path, name + " is declared twice");
      if (initialized.contains(input.name))
        continue;
      if (input.type.kind != OnnxType::Kind::Tensor)
        return problem(kUnsupported, path, name + " is not a tensor, which is not supported");
      if (!input.type.hasShape && !given.find(input.name))
        return problem(kUnsupported, path, name + " has no declared rank");
    }
    return {};
  }

  /// True when the whole graph was imported.
  bool importOnce(const OnnxModel &model, Imported &result) {
    auto impl = Module::Impl::create(llvm::sys::path::stem(path).str());
    auto forget = llvm::make_scope_exit([&] { operators.forget(); });
    if (Result<void> done = operators.parseInto(impl->context.get()); !done) {
      result.diagnostics = done.diagnostics();
      return false;
    }
    Requirements known = readRequirements(impl->context.get());
    Contract contract(impl->context.get(), options.facts, known);
    DiagnosticCollector collector(impl->context.get(), kWrongModel);
    std::vector<const OnnxValueInfo *> inputs;
    llvm::StringSet<> initialized;
    for (const OnnxTensor &tensor : model.graph.initializers)
      initialized.insert(tensor.name);
    for (const OnnxValueInfo &input : model.graph.inputs)
      if (!initialized.contains(input.name))
        inputs.push_back(&input);
    if (Result<void> done = contract.declare(inputs); !done) {
      result.diagnostics = done.diagnostics();
      return false;
    }
    GraphImport import(model, given, *impl, contract, operators, options.limits);
    import.onValue = options.onValue;
    bool complete = import.run();
    keepRequirements(contract);
    result.refused = import.refusals();
    if (import.problem())
      result.diagnostics.push_back(
          problem(codeOf(import.problem()->kind), path, import.problem()->text));
    if (!complete)
      return false;
    for (const std::string &text : import.warnings())
      result.diagnostics.push_back({weft::Diagnostic::Warning, kOutputDiffers, path, text, ""});
    for (const std::string &name : operators.unused())
      result.diagnostics.push_back({weft::Diagnostic::Warning, kWrongOperator, path,
                                    "operator " + name + " is given, but no node needs it", ""});
    if (llvm::Error conflict = contract.checkPromise()) {
      result.diagnostics.push_back(
          problem(kContradictingFact, path, llvm::toString(std::move(conflict))));
      return false;
    }
    if (failed(verify(*impl->module))) {
      for (weft::Diagnostic &diagnostic : collector.take()) {
        diagnostic.where = path + ": " + diagnostic.where;
        result.diagnostics.push_back(diagnostic);
      }
      return false;
    }
    result.impl = impl;
    return true;
  }

  //===-- Requirements live in a context, and each pass has its own -----------------------------===//

  using Requirements = std::vector<Requirement>;

  Requirements readRequirements(MLIRContext *context) {
    Requirements list;
    for (auto &[text, place] : texts) {
      llvm::Expected<SymPred> pred = parseSymPred(context, text);
      if (pred)
        list.push_back({*pred, place});
      else
        llvm::consumeError(pred.takeError()); // too long to be read back: it is found again
    }
    return list;
  }

  void keepRequirements(const Contract &contract) {
    foundMore = !contract.newRequirements().empty();
    for (const Requirement &requirement : contract.newRequirements())
      texts.push_back({requirement.pred.str(), requirement.place});
  }

  const std::string &path;
  const OnnxImportOptions &options;
  GivenConstants given;
  GivenOperators operators; ///< their functions live in the pass's context
  std::vector<std::pair<std::string, std::string>> texts;
  bool foundMore = false;
};

/// The reason of a group: what the refusal says, or nothing when the operator as a whole is missing. A model that breaks ONNX's rules, as one
/// without its file of weights, may do so in nodes of several operators. `firstOf` receives the first node of each.
std::vector<UnsupportedGroup> groupRefusals(ArrayRef<RefusedNode> refused,
                                            std::vector<const RefusedNode *> *firstOf = nullptr) {
  std::vector<UnsupportedGroup> groups;
  std::map<std::tuple<std::string, std::string, int64_t, std::string>, size_t> index;
  for (const RefusedNode &node : refused) {
    std::string reason = node.wholeOperator ? "" : node.refusal.text;
    bool isOfModel = !node.wholeOperator && node.refusal.kind == Refusal::Wrong;
    auto [found, isNew] =
        isOfModel ? index.try_emplace({"", "", 0, reason}, groups.size())
                  : index.try_emplace({node.domain, node.op, node.opset, reason}, groups.size());
    if (isNew)
      groups.push_back({node.domain, node.op, node.opset, 0, {}, reason});
    if (isNew && firstOf)
      firstOf->push_back(&node);
    UnsupportedGroup &group = groups[found->second];
    if (++group.count <= 3)
      group.firstNodes.push_back(node.name);
  }
  return groups;
}

std::string andMore(uint64_t count) {
  return count < 2 ? "" : " and " + std::to_string(count - 1) + " more like it";
}

/// One line per group of refused nodes.
void reportRefusals(const std::string &path, ArrayRef<RefusedNode> refused,
                    std::vector<weft::Diagnostic> &out) {
  std::vector<const RefusedNode *> firstOf;
  std::vector<UnsupportedGroup> groups = groupRefusals(refused, &firstOf);
  for (auto [group, first] : llvm::zip(groups, firstOf)) {
    bool whole = group.reason.empty();
    std::string name = (group.domain.empty() ? "" : group.domain + ":") + group.op;
    std::string text =
        whole ? "operator " + name + " (opset " + std::to_string(group.opset) + ") is not supported"
              : group.reason;
    out.push_back(problem(whole ? kUnsupported : codeOf(first->refusal.kind),
                          path + ": " + group.firstNodes[0] + andMore(group.count), text,
                          whole ? operatorHint(group.domain, group.op) : first->refusal.hint));
  }
}

} // namespace

std::string operatorHint(const std::string &domain, const std::string &op) {
  if (domain.empty())
    return "";
  if (domain == "com.microsoft.nchwc")
    return "ONNX Runtime saved this file with its weights laid out for one processor; save it at "
           "level "
           "ORT_ENABLE_EXTENDED, or take the file it was made from";
  return "give it as a function of Weft: --op " + domain + ":" + op + "=FILE.mlir";
}

Result<Module> importOnnx(const std::string &path, const OnnxImportOptions &options) {
  Imported imported = ModelImport(path, options).run();
  reportRefusals(path, imported.refused, imported.diagnostics);
  if (!imported.impl)
    return imported.diagnostics;
  Result<Module> result = Module(imported.impl);
  result.diagnostics() = imported.diagnostics;
  return result;
}

Result<std::vector<UnsupportedGroup>> checkOnnx(const std::string &path,
                                                const OnnxImportOptions &options) {
  Imported imported = ModelImport(path, options).run();
  if (!imported.impl && imported.refused.empty())
    return imported.diagnostics;
  return groupRefusals(imported.refused);
}

} // namespace weft
