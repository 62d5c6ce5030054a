//===- Reducible.cpp --------------------------------------------------------------------------===//

#include "tools/weft/reduce/Reducible.h"
#include "compiler/import/onnx/Onnx.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/reduce/WriteProgram.h"
#include "tools/weft/model/ModelImport.h"

#include <unistd.h>

namespace weft::cli {
namespace {

/// Pairs of a name and a type, each with its length before it.
class Messages {
public:
  static void send(int report, const std::string &text) {
    uint64_t length = text.size();
    std::string whole(reinterpret_cast<const char *>(&length), sizeof length);
    whole += text;
    for (size_t at = 0; at < whole.size();) {
      ssize_t written = write(report, whole.data() + at, whole.size() - at);
      if (written <= 0)
        return;
      at += size_t(written);
    }
  }

  explicit Messages(const std::string &text) : text(text) {}
  /// Nothing at the end, and where the sender was cut off.
  std::optional<std::string> next() {
    uint64_t length;
    if (text.size() - at < sizeof length)
      return std::nullopt;
    memcpy(&length, text.data() + at, sizeof length);
    if (text.size() - at - sizeof length < length)
      return std::nullopt;
    size_t begin = at + sizeof length;
    at = begin + length;
    return text.substr(begin, length);
  }

private:
  const std::string &text;
  size_t at = 0;
};

Failure unreadable(const std::string &path, const ChildEnd &end) {
  if (end.stopped)
    return {ExitInterrupted, "interrupted", "", ""};
  return {ExitInputRefused,
          path + (end.signal ? ": reading the model crashes" : ": reading the model does not end") +
              ", so there are no parts to take away",
          "send the file itself", ""};
}

/// The types that Weft infers, as far as it comes. A crash on the way is no obstacle.
OnnxTypes inferredTypes(const std::string &path, const ImportOptions &import, OnnxTypes types,
                        const Isolate &isolate) {
  ChildEnd end = isolate([&](int report) {
    OnnxImportOptions options{import.facts, import.constants, import.operators, import.limits, {}};
    options.onValue = [&](const std::string &name, SymTensorType type) {
      if (std::optional<std::string> message = onnxType(type)) {
        Messages::send(report, name);
        Messages::send(report, *message);
      }
    };
    importOnnx(path, options);
    return 0;
  });
  Messages messages(end.report);
  while (std::optional<std::string> name = messages.next())
    if (std::optional<std::string> type = messages.next())
      types[*name] = *type;
  return types;
}

} // namespace

Result<Reducible<OnnxDraft>> reducibleOnnx(const std::string &path, const ImportOptions &import,
                                           const Isolate &isolate) {
  ChildEnd end = isolate([&](int) {
    llvm::Expected<OnnxDraft> draft = OnnxDraft::read(path, import.limits);
    llvm::consumeError(draft.takeError());
    return 0;
  });
  if (end.stopped || end.signal || end.timedOut)
    return unreadable(path, end);
  llvm::Expected<OnnxDraft> draft = OnnxDraft::read(path, import.limits);
  if (!draft) {
    llvm::Error why = draft.takeError();
    const char *code = isOverLimit(why) ? "W0203" : "W0202";
    return Failure{ExitInputRefused,
                   llvm::toString(std::move(why)) + "; there are no parts to take away", "", code};
  }
  OnnxTypes types = inferredTypes(path, import, declaredTypes(*draft), isolate);
  Reducible<OnnxDraft> kind{*draft, onnxReductions(std::move(types)), ".onnx", "nodes", {}, {}, {}};
  kind.count = [](const OnnxDraft &model) { return model.nodes.size(); };
  kind.write = [](const OnnxDraft &model, const std::string &file) {
    llvm::Expected<std::string> bytes = model.serialize();
    return bytes ? writeWhole(file, *bytes) : bytes.takeError();
  };
  kind.constants = [](const OnnxDraft &model) {
    std::set<std::string> names;
    for (const OnnxPart &input : model.inputs)
      names.insert(input.name);
    return names;
  };
  return kind;
}

Result<Reducible<Module>> reducibleProgram(const std::string &path, const Limits &limits,
                                           const Isolate &isolate) {
  ImportOptions import;
  import.limits = limits;
  ChildEnd end = isolate([&](int) { return Compiler().importFile(path, import) ? 0 : 1; });
  if (end.stopped || end.signal || end.timedOut)
    return unreadable(path, end);
  weft::Result<Module> module = Compiler().importFile(path, import);
  if (!module) {
    Failure why = failureOf(module.diagnostics());
    return Failure{why.exitCode, why.message + "; there are no parts to take away", why.hint,
                   why.code};
  }
  Reducible<Module> kind{*module,        moduleReductions(), ".mlir", "operators",
                         countOperators, writeProgram,       {}};
  kind.constants = [](const Module &) { return std::set<std::string>(); };
  return kind;
}

} // namespace weft::cli
