//===- Compile.cpp - weft::Compiler::compile ------------------------------------------------------------------------------===//
//
//   facts → use-integers → fold-scales → channels-last → form-kernels → fuse-rounding → collapse-dims → lower → kernels in parallel, host program → link → write
//
// The caller's module is not changed: passes work on a copy.
//===------------------------------------------------------------------------------------------===//

#include "compiler/artifact/Writer.h"
#include "compiler/pipeline/Facts.h"
#include "compiler/pipeline/HostProgram.h"
#include "compiler/pipeline/MemoryLimit.h"
#include "compiler/pipeline/ModuleImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "targets/cpu/Codegen.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace mlir;

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

weft::Diagnostic error(const char *code, const Twine &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, "", text.str(), hint};
}

class Compilation {
public:
  Compilation(const Module &module, const CompileOptions &options)
      : impl(module.get()), options(options) {}

  Result<Artifact> run() {
    if (std::optional<List> bad = prepare())
      return *bad;
    std::vector<std::string> objects(program.kernels.size() + 1);
    if (llvm::Error failure = compileKernels(objects))
      return error("W0390", llvm::toString(std::move(failure)));
    if (wasCancelled())
      return interruption();
    Descriptor descriptor = buildDescriptor(program, impl.name, *target);
    if (llvm::Error failure = compileHost(descriptor, objects.back()))
      return error("W0390", llvm::toString(std::move(failure)));
    report("code", std::to_string(program.kernels.size()) + " kernels");
    if (std::optional<weft::Diagnostic> bad = keepTemporaries(objects))
      return *bad;
    return wasCancelled() ? Result<Artifact>(interruption()) : write(descriptor, objects);
  }

  Result<Artifact> check() {
    if (std::optional<List> bad = prepare())
      return *bad;
    return describe();
  }

  Result<std::string> programAfter(StringRef phase) {
    DiagnosticCollector collector(impl.context.get(), "W0300");
    if (phase != "import" && phase != "fuse")
      return error("W0305", "there is no phase '" + phase + "'", "the phases are import and fuse");
    if (std::optional<List> bad = start())
      return *bad;
    if (phase == "fuse")
      if (std::optional<List> bad = group(collector))
        return *bad;
    return textOf(*copy);
  }

private:
  using List = std::vector<weft::Diagnostic>;

  /// The target, and a copy of the program with all facts.
  std::optional<List> start() {
    if (!options.weights.empty() && options.weights != "bf16" && options.weights != "f16")
      return List{error("W0306", "weights cannot be stored as '" + options.weights + "'",
                        "they can be stored as bf16 and f16")};
    StringRef name = options.target;
    roundsActivations = name.consume_back(":bytes");
    llvm::Expected<std::unique_ptr<Target>> found = findTarget(name);
    if (!found)
      return List{error("W0301", llvm::toString(found.takeError()))};
    target = std::move(*found);
    copy = impl.module->clone();
    if (std::optional<weft::Diagnostic> bad = applyFacts(*copy, options.facts))
      return List{*bad};
    return std::nullopt;
  }

  /// All that comes before code.
  std::optional<List> prepare() {
    DiagnosticCollector collector(impl.context.get(), "W0300");
    if (std::optional<List> bad = start())
      return bad;
    if (std::optional<weft::Diagnostic> bad = dump("0-import"))
      return List{*bad};
    if (std::optional<List> bad = group(collector))
      return bad;
    if (std::optional<weft::Diagnostic> bad = dump("1-fuse"))
      return List{*bad};
    FailureOr<Program> lowered = lowerProgram(*copy, *target);
    if (failed(lowered))
      return diagnostics(collector);
    program = std::move(*lowered);
    placeWeights(program);
    if (options.maxMemory > 0)
      if (std::optional<weft::Diagnostic> bad = refuseMemory(program, options.maxMemory))
        return List{*bad};
    report("plan", "peak = " + peakText());
    if (wasCancelled())
      return List{interruption()};
    return std::nullopt;
  }

  bool wasCancelled() const { return options.cancelled && options.cancelled(); }
  static weft::Diagnostic interruption() { return error("W0399", "interrupted"); }

  static std::string textOf(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text + "\n";
  }

  static std::optional<weft::Diagnostic> writeFile(const std::string &folder,
                                                   const std::string &name, StringRef bytes) {
    std::error_code why = llvm::sys::fs::create_directories(folder);
    std::string path = folder + "/" + name;
    if (!why) {
      llvm::raw_fd_ostream os(path, why);
      if (!why) {
        os << bytes;
        os.close();
        why = os.error();
        os.clear_error(); // said here; the destructor would end the process
      }
    }
    if (why)
      return error("W0311", "cannot write '" + path + "': " + why.message());
    return std::nullopt;
  }

  std::optional<weft::Diagnostic> dump(const std::string &phase) {
    if (options.dumpDirectory.empty())
      return std::nullopt;
    return writeFile(options.dumpDirectory, phase + ".mlir", textOf(*copy));
  }

  /// SYMBOL.mlir and SYMBOL.o of every kernel; the host program's object is weft_host.o.
  std::optional<weft::Diagnostic> keepTemporaries(const std::vector<std::string> &objects) {
    if (options.temporariesDirectory.empty())
      return std::nullopt;
    for (auto [kernel, object] : llvm::zip(program.kernels, objects))
      for (auto &[ending, bytes] :
           {std::pair<const char *, const std::string &>(".mlir", kernel.text), {".o", object}})
        if (std::optional<weft::Diagnostic> bad =
                writeFile(options.temporariesDirectory, kernel.symbol + ending, bytes))
          return bad;
    return writeFile(options.temporariesDirectory, "weft_host.o", objects.back());
  }

  List diagnostics(DiagnosticCollector &collector) {
    List list = collector.take();
    if (list.empty())
      list.push_back(
          error("W0390", "the compilation failed without a reason; this is a fault of Weft"));
    return list;
  }

  void report(const std::string &phase, const std::string &summary) {
    Clock::time_point now = Clock::now();
    if (options.onPhase)
      options.onPhase(phase, summary, std::chrono::duration<double>(now - since).count());
    since = now;
  }

  /// A tensor whose byte count does not fit 64 bits whatever the symbols are is refused by name, before any pass multiplies dimensions.
  LogicalResult checkSizes() {
    auto check = [](Location location, Type type) -> LogicalResult {
      auto tensor = dyn_cast<SymTensorType>(type);
      if (!tensor || !(tensor.getElements() * 64).isOverflow())
        return success();
      return emitError(location) << "a value of type " << type
                                 << " has more bytes than 64 bits count";
    };
    WalkResult result = copy->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (failed(check(argument.getLoc(), argument.getType())))
              return WalkResult::interrupt();
      for (Value value : op->getResults())
        if (failed(check(op->getLoc(), value.getType())))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  std::optional<List> group(DiagnosticCollector &collector) {
    if (failed(checkSizes()))
      return diagnostics(collector);
    if (failed(useIntegers()))
      return diagnostics(collector);
    OwningOpRef<ModuleOp> ungrouped = copy->clone();
    if (failed(group(/*attention=*/true)))
      return diagnostics(collector);
    if (allAccepted(*copy, *target))
      return std::nullopt;
    // A form of attention that no schedule knows: in separate kernels, then.
    copy = std::move(ungrouped);
    if (failed(group(/*attention=*/false)))
      return diagnostics(collector);
    return std::nullopt;
  }

  LogicalResult useIntegers() {
    PassManager pm(copy->getContext());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    auto weight = [this](StringRef name) { return impl.weightBytes(name); };
    pm.addNestedPass<func::FuncOp>(createUseIntegers(weight));
    pm.addNestedPass<func::FuncOp>(createFoldScales(weight));
    pm.addNestedPass<func::FuncOp>(createChannelsLast());
    return pm.run(*copy);
  }

  LogicalResult group(bool attention) {
    PassManager pm(copy->getContext());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    if (!options.weights.empty()) {
      NarrowWeightsOptions narrow;
      narrow.element = options.weights;
      pm.addNestedPass<func::FuncOp>(createNarrowWeights(narrow));
    }
    if (roundsActivations)
      pm.addNestedPass<func::FuncOp>(createRoundActivations());
    pm.addNestedPass<func::FuncOp>(createFoldMoves());
    FormKernelsOptions form;
    form.attention = attention;
    pm.addNestedPass<func::FuncOp>(createFormKernels(form));
    pm.addNestedPass<func::FuncOp>(createFuseRounding());
    pm.addNestedPass<func::FuncOp>(createCollapseDims());
    if (failed(pm.run(*copy)))
      return failure();
    unsigned kernels = 0;
    copy->walk([&](KernelOp) { ++kernels; });
    report("fuse", std::to_string(kernels) + " kernel calls");
    return success();
  }

  std::string peakText() {
    std::string text;
    for (SymExpr peak : program.functions[0].plan.peaks)
      text += (text.empty() ? "" : ", ") + peak.str();
    return program.functions[0].plan.peaks.size() > 1 ? "max(" + text + ")" : text;
  }

  llvm::Error compileKernels(std::vector<std::string> &objects) {
    std::atomic<size_t> next{0};
    std::vector<std::string> failures(program.kernels.size());
    auto work = [&] {
      for (size_t i; (i = next++) < program.kernels.size() && !wasCancelled();) {
        const KernelCode &kernel = program.kernels[i];
        llvm::Expected<std::string> object =
            target->compileKernel(kernel.text, kernel.symbol, kernel.schedule);
        if (object)
          objects[i] = std::move(*object);
        else
          failures[i] = llvm::toString(object.takeError());
      }
    };
    unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < std::min<size_t>(jobs, program.kernels.size()); ++t)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (const std::string &failure : failures)
      if (!failure.empty())
        return llvm::createStringError(failure);
    return llvm::Error::success();
  }

  llvm::Error compileHost(const Descriptor &descriptor, std::string &object) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    OwningOpRef<ModuleOp> host = ModuleOp::create(UnknownLoc::get(&context));
    emitHostProgram(*host, program, descriptor.bytes);
    llvm::Expected<std::string> compiled = target->compileHost(*host);
    if (!compiled)
      return compiled.takeError();
    object = std::move(*compiled);
    return llvm::Error::success();
  }

  Result<Artifact> write(const Descriptor &descriptor, const std::vector<std::string> &objects) {
    llvm::Expected<Image> image = linkImage(objects);
    if (!image)
      return error("W0391", llvm::toString(image.takeError()));
    llvm::Expected<uint64_t> size =
        writeArtifact(options.outputPath, *image, descriptor, program, impl, manifest());
    if (!size)
      return error("W0310", llvm::toString(size.takeError()));
    Artifact artifact = describe();
    artifact.path = options.outputPath;
    artifact.bytes = *size;
    artifact.codeBytes = image->bytes.size();
    report("write", "");
    return artifact;
  }

  Artifact describe() {
    Artifact artifact;
    for (const StoredWeight &weight : program.weights)
      artifact.weightBytes += weight.bytes;
    artifact.kernels = program.kernels.size();
    artifact.target = target->name();
    artifact.peak = peakText();
    return artifact;
  }

  /// How the artifact was made. No paths and no times: the same model and options give the same bytes.
  std::string manifest() {
    llvm::json::Array facts;
    for (ArrayRef<std::string> list : {ArrayRef(impl.facts), ArrayRef(options.facts)})
      for (const std::string &fact : list)
        facts.push_back(fact);
    llvm::json::Object object{{"schema", "weft.manifest/1"},
                              {"producer", kProducer.str()},
                              {"model", impl.name},
                              {"target", target->name()},
                              {"facts", std::move(facts)}};
    if (!options.weights.empty())
      object["weights"] = options.weights;
    if (roundsActivations)
      object["activations"] = "bytes";
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
    return text;
  }

  Module::Impl &impl;
  const CompileOptions &options;
  std::unique_ptr<Target> target;
  bool roundsActivations = false; ///< "x86:v4:bytes": rows that meet weights in blocks become bytes
  OwningOpRef<ModuleOp> copy;
  Program program;
  Clock::time_point since = Clock::now();
};

} // namespace

Result<Artifact> Compiler::compile(const Module &module, const CompileOptions &options) {
  return Compilation(module, options).run();
}

Result<Artifact> Compiler::check(const Module &module, const CompileOptions &options) {
  return Compilation(module, options).check();
}

Result<std::string> Compiler::programAfter(const std::string &phase, const Module &module,
                                           const CompileOptions &options) {
  return Compilation(module, options).programAfter(phase);
}

} // namespace weft
