//===- Compile.cpp - weft::Compiler::compile ------------------------------------------------------------------------------===//
//
//   facts → the phases of Pipeline.h → kernels, and host programs beside them → link → write
//
// Everything up to code happens once per target, as what a target accepts decides what is grouped. Kernels and host programs of all
// variants are one image. The caller's module is not changed: passes work on a copy.
//===------------------------------------------------------------------------------------------===//

#include "compiler/artifact/WeightBytes.h"
#include "compiler/artifact/Writer.h"
#include "compiler/driver/Explain.h"
#include "compiler/driver/KernelImages.h"
#include "compiler/driver/MemoryLimit.h"
#include "compiler/driver/Numerics.h"
#include "compiler/driver/Partition.h"
#include "compiler/driver/PassPrograms.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Predict.h"
#include "compiler/driver/RankManifest.h"
#include "compiler/driver/Tuned.h"
#include "compiler/embed/Embed.h"
#include "compiler/host/DescriptorData.h"
#include "compiler/host/HostProgram.h"
#include "compiler/model/Facts.h"
#include "compiler/model/ModuleImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mlir;

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kOthersShown = 3; ///< processors
#ifdef NDEBUG
constexpr bool kHasAssertions = false;
#else
constexpr bool kHasAssertions = true;
#endif

weft::Diagnostic error(const char *code, const Twine &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, "", text.str(), hint};
}

class Compilation {
public:
  Compilation(const Module &module, const CompileOptions &options)
      : impl(module.get()), options(options) {}

  Result<Artifact> run() {
    if (Result<void> done = prepare(); !done)
      return done.diagnostics();
    HostObjects hosts;
    std::vector<Job> jobs = kernels.jobs(variants, options);
    bool areHostsBeside = !options.embedding && !callsDevices();
    if (areHostsBeside)
      jobs.insert(jobs.begin(), [&] { return compileHosts(hosts); });
    if (llvm::Error failure = runJobs(jobs, options))
      return error("W0390", llvm::toString(std::move(failure)));
    std::vector<std::string> objects = kernels.takeObjects(variants);
    if (wasCancelled())
      return interruption();
    if (options.embedding)
      return embed(std::move(objects));
    if (!areHostsBeside)
      if (llvm::Error failure = compileHosts(hosts))
        return error("W0390", llvm::toString(std::move(failure)));
    llvm::move(hosts.objects, std::back_inserter(objects));
    reportCode();
    if (Result<void> done = keepTemporaries(objects); !done)
      return done.diagnostics();
    return wasCancelled() ? Result<Artifact>(interruption()) : write(hosts.descriptor, objects);
  }

  Result<Artifact> check() {
    if (Result<void> done = prepare(); !done)
      return done.diagnostics();
    return withWarnings(describe());
  }

  /// For the best target, when there are several.
  Result<std::string> programAfter(StringRef phase) {
    if (!llvm::is_contained(phases(), phase))
      return error("W0305", "there is no phase '" + phase + "'",
                   "the phases are " + llvm::join(phases().drop_back(), ", ") + " and " +
                       phases().back().str());
    if (Result<void> done = runBest(phase); !done)
      return done.diagnostics();
    return impl.textOf(*variants[0].module) + "\n";
  }

  /// For the best target.
  Result<Explanation> explain() {
    explains = true;
    if (Result<void> done = runBest("fuse"); !done)
      return done.diagnostics();
    Variant &best = variants[0];
    Explanation explanation = explainKernels(*best.target.kernels, *best.module, tuning);
    explanation.plan = plan;
    DiagnosticCollector collector(impl.context.get(), "W0300");
    if (Result<void> done = runUntil("plan", best, collector); !done) // it may refuse a kernel
      return done.diagnostics();
    explainExchanges(*best.module, tuning, explanation);
    return explanation;
  }

  Result<void> readPlan(function_ref<void(ModuleOp plan)> read) {
    Result<void> done = runBest("plan");
    if (done)
      read(*variants[0].module);
    return done;
  }

  Result<std::vector<PassProgram>> programsAfterPasses() {
    programs.emplace();
    if (Result<void> done = runBest("plan"); !done)
      return done.diagnostics();
    return std::move(*programs);
  }

private:
  using List = std::vector<weft::Diagnostic>;

  /// The program for the best target, up to a phase.
  Result<void> runBest(StringRef phase) {
    DiagnosticCollector collector(impl.context.get(), "W0300");
    if (Result<void> done = checkOneMesh(options); !done)
      return done;
    if (Result<void> done = findVariants(); !done)
      return done;
    if (Result<void> done = start(variants[0]); !done)
      return done;
    if (programs)
      keepProgram("import", *variants[0].module);
    return runUntil(phase, variants[0], collector);
  }

  Result<void> findVariants() {
    if (Result<void> done = checkNumerics(options.numerics, *impl.module); !done)
      return done.diagnostics();
    if (Result<void> done = checkUnsplit(impl, options); !done)
      return done.diagnostics();
    llvm::Expected<std::vector<FoundTarget>> targets =
        findTargets(options.target, options.numerics.exact);
    if (!targets)
      return error("W0301", llvm::toString(targets.takeError()), accuracyHint());
    Result<std::vector<std::string>> meshes = meshesOf(options);
    if (!meshes)
      return meshes.diagnostics();
    for (const FoundTarget &target : *targets)
      for (const std::string &mesh : *meshes) {
        variants.emplace_back();
        variants.back().target = target;
        variants.back().mesh = mesh;
      }
    if (variants.size() > WEFT_MAX_VARIANTS)
      return error("W0301", std::to_string(targets->size()) + " targets for " +
                                std::to_string(meshes->size()) + " meshes are more than the " +
                                std::to_string(WEFT_MAX_VARIANTS) + " variants of a file");
    return readTuning();
  }

  /// Accuracies were parts of targets' names once.
  std::string accuracyHint() const {
    auto [target, accuracy] = StringRef(options.target).rsplit(':');
    return accuracy == "exact" || accuracy == "bytes"
               ? ("--target " + target + " --accuracy " + accuracy).str()
               : "";
  }

  Result<void> readTuning() {
    if (options.tuningFiles.empty())
      return {};
    llvm::Expected<Tuning> read = Tuning::read(options.tuningFiles, options.tunedFor);
    if (!read)
      return error("W0307", llvm::toString(read.takeError()));
    tuning = std::move(*read);
    if (tuning.others().empty())
      return {};
    std::string others = llvm::join(ArrayRef(tuning.others()).take_front(kOthersShown), "', '");
    warnings.push_back({weft::Diagnostic::Warning, "W0308", "",
                        "no record of the tuning files is for '" + tuning.processor() +
                            "'; they are for '" + others + "'" +
                            (tuning.others().size() > kOthersShown ? " and others" : ""),
                        ""});
    return {};
  }

  /// A copy of the program with all facts.
  Result<void> start(Variant &variant) {
    variant.module = impl.module->clone();
    variant.phase = phaseOf(*variant.module);
    return applyFacts(*variant.module, options.facts);
  }

  /// All that comes before code.
  Result<void> prepare() {
    if (Result<void> done = findVariants(); !done)
      return done;
    for (Variant &variant : variants)
      if (Result<void> done = prepare(variant); !done)
        return done;
    placeWeights(weights);
    if (phaseOf(*impl.module) == "import")
      adviseOnSpeed(options.numerics, *variants[0].target.kernels, *impl.module, warnings);
    return options.embedding ? checkEmbeddable(variants) : Result<void>();
  }

  Result<void> prepare(Variant &variant) {
    DiagnosticCollector collector(impl.context.get(), "W0300");
    if (Result<void> done = start(variant); !done)
      return done;
    for (auto [i, phase] : llvm::enumerate(phases())) {
      if (Result<void> done = runUntil(phase, variant, collector); !done)
        return done;
      if (Result<void> done = dump(std::to_string(i) + "-" + phase.str(), variant); !done)
        return done;
    }
    if (failed(variant.findKernelTargets()) ||
        (plan::isPlan(*impl.module) && failed(variant.checkPlan())))
      return diagnostics(collector);
    FailureOr<Program> program = programOf(*variant.module);
    if (failed(program))
      return diagnostics(collector);
    variant.program = std::move(*program);
    if (variant.program.mesh && variant.target.kernels->isForDevice())
      return error("W0301", "for target '" + variant.target.kernels->name().str() +
                                "' no model is split over ranks yet");
    addWeights(*variant.module, weights);
    if (!tuning.empty())
      report("tuning", tuned(variant).text(tuning.processor()), &variant);
    if (options.maxMemory > 0)
      if (Result<void> done = checkMemory(variant.program, options.maxMemory); !done)
        return done;
    report("plan", "peak = " + variant.peakText(), &variant);
    if (wasCancelled())
      return interruption();
    return {};
  }

  bool wasCancelled() const { return options.cancelled && options.cancelled(); }
  static weft::Diagnostic interruption() { return error("W0399", "interrupted"); }

  static Result<void> writeFile(const std::string &folder, const std::string &name,
                                StringRef bytes) {
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
    return {};
  }

  /// What tells files of the variants apart: nothing when there is one, else ".x86-v4", ".tp-2".
  std::string ending(const Variant &variant) const {
    std::string name;
    if (targetText() != variant.target.kernels->name().str())
      name = "." + variant.target.kernels->name().str();
    if (options.mesh.size() > 1)
      name += "." + variant.mesh;
    for (char &letter : name)
      letter = llvm::StringRef(":=,").contains(letter) ? '-' : letter;
    return name;
  }

  Result<void> dump(const std::string &phase, Variant &variant) {
    if (options.dumpDirectory.empty())
      return {};
    return writeFile(options.dumpDirectory, phase + ending(variant) + ".mlir",
                     impl.textOf(*variant.module) + "\n");
  }

  /// SYMBOL.mlir and SYMBOL.o, or SYMBOL.ptx for a device, of every kernel; the host program's object is weft_host.o.
  Result<void> keepTemporaries(const std::vector<std::string> &objects) {
    if (options.temporariesDirectory.empty())
      return {};
    const std::string &folder = options.temporariesDirectory, *object = objects.data();
    auto keep = [&](const std::string &name, StringRef bytes) {
      return writeFile(folder, name, bytes);
    };
    for (auto [target, kernel] : distinctKernels(variants)) {
      if (Result<void> done = keep(kernel->symbol + ".mlir", kernel->text); !done)
        return done;
      bool isPtx = target->isForDevice();
      if (Result<void> done = keep(kernel->symbol + (isPtx ? ".ptx" : ".o"),
                                   isPtx ? kernels.text(*kernel) : *object++);
          !done)
        return done;
    }
    for (const Variant &variant : variants)
      if (Result<void> done = keep("weft_host" + ending(variant) + ".o", *object++); !done)
        return done;
    return {};
  }

  List diagnostics(DiagnosticCollector &collector) {
    List list = collector.take();
    if (list.empty())
      list.push_back(
          error("W0390", "the compilation failed without a reason; this is a fault of Weft"));
    return list;
  }

  /// `variant` is named when there are several.
  void report(const std::string &phase, std::string summary, const Variant *variant = nullptr) {
    Clock::time_point now = Clock::now();
    if (variant && options.mesh.size() > 1)
      summary = variant->mesh + ": " + summary;
    if (variant && targetText() != variant->target.kernels->name().str())
      summary = variant->target.kernels->name().str() + ": " + summary;
    if (options.onPhase)
      options.onPhase(phase, summary, std::chrono::duration<double>(now - since).count());
    since = now;
  }

  /// A tensor whose byte count does not fit 64 bits whatever the symbols are is refused by name, before any pass multiplies dimensions.
  LogicalResult checkSizes(ModuleOp module) {
    auto check = [](Location location, Type type) -> LogicalResult {
      auto tensor = dyn_cast<SymTensorType>(type);
      if (!tensor || !(tensor.getElements() * 64).isOverflow())
        return success();
      return emitError(location) << "a value of type " << type
                                 << " has more bytes than 64 bits count";
    };
    WalkResult result = module.walk([&](Operation *op) {
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

  /// Runs the phases that the variant's program does not have behind it, `last` as the last.
  Result<void> runUntil(StringRef last, Variant &variant, DiagnosticCollector &collector) {
    if (failed(checkSizes(*variant.module)))
      return diagnostics(collector);
    ArrayRef<StringRef> list = phases();
    for (auto next = llvm::find(list, variant.phase) + 1; next <= llvm::find(list, last); ++next) {
      if (failed(runPhase(*next, variant)))
        return *next == "partition" ? cannotSplit(collector) : diagnostics(collector);
      variant.phase = *next;
    }
    return {};
  }

  LogicalResult runPhase(StringRef phase, Variant &variant) {
    PipelineOptions pipeline = pipelineFor(variant);
    if (phase == "partition" && failed(choosePlacements(variant, pipeline)))
      return failure();
    if (failed(runPasses(*variant.module, passesOf(phase, pipeline))))
      return failure();
    if (phase != "fuse")
      return success();
    unsigned kernels = 0;
    variant.module->walk([&](KernelOp) { ++kernels; });
    report("fuse", std::to_string(kernels) + " kernel calls", &variant);
    return success();
  }

  /// Once for all variants of a mesh, whose programs are still the same.
  LogicalResult choosePlacements(const Variant &variant, PipelineOptions &pipeline) {
    auto [found, isNew] = placed.try_emplace(variant.mesh);
    if (isNew) {
      std::optional<PlanResult> searched;
      FailureOr<PipelineOptions> chosen =
          partitionOptions(*variant.module, options, variant.mesh, searched);
      if (failed(chosen))
        return failure();
      found->second = RankPlan{chosen->mesh, chosen->placements};
      if (searched)
        report("ranks", searched->summary());
      plan = std::move(searched);
    }
    pipeline.mesh = found->second.mesh;
    pipeline.placements = found->second.placements;
    return success();
  }

  PipelineOptions pipelineFor(const Variant &variant) {
    PipelineOptions pipeline = partitionOptions(options, variant.mesh);
    pipeline.fuseComm = options.fuseComm;
    pipeline.links = options.links;
    pipeline.roundOperands = options.numerics.compute;
    pipeline.keepOperands = options.numerics.keepF32;
    pipeline.roundStorage = options.numerics.storage;
    pipeline.narrowWeights = options.numerics.weights;
    pipeline.roundActivations = options.numerics.roundActivations;
    pipeline.outside = outside();
    pipeline.inPlace = options.inPlace;
    pipeline.inPlaceInputs = options.inPlaceInputs;
    pipeline.explain = explains;
    pipeline.weight = [this](StringRef name) { return impl.weightBytes(name); };
    auto chooser = std::make_shared<TunedTarget>(variant.target.kernels, tuning);
    pipeline.chooser = chooser;
    pipeline.records = chooser;
    return pipeline;
  }

  Outside outside() const {
    switch (options.indices) {
    case Indices::Check:
      return Outside::Refused;
    case Indices::Clamp:
      return Outside::Clamped;
    case Indices::Unchecked:
      return Outside::Unchecked;
    }
    llvm_unreachable("closed set");
  }

  void keepProgram(StringRef pass, ModuleOp module) {
    if (programs)
      programs->push_back({pass.str(), module.clone()});
  }

  /// One pass after another, each over the whole module. Programs are verified behind each where a build has assertions, else behind the last.
  LogicalResult runPasses(ModuleOp module, std::vector<std::unique_ptr<Pass>> passes) {
    for (auto [i, pass] : llvm::enumerate(passes)) {
      std::string name = pass->getArgument().str();
      if (failed(runPass(module, std::move(pass), kHasAssertions || i + 1 == passes.size())))
        return failure();
      keepProgram(name, module);
    }
    return success();
  }

  Tuned tuned(const Variant &variant) const {
    return tunedOf(variant.program, tuning, variant.target.kernels->scope());
  }

  size_t kernelCount() const { return distinctKernels(variants).size(); }

  /// Host programs of all variants, one after the other: their sizes are expressions of one context.
  struct HostObjects {
    Descriptor descriptor;
    std::vector<std::string> objects;
  };

  llvm::Error compileHosts(HostObjects &hosts) {
    hosts.descriptor = buildDescriptor(variants, weights, impl.name);
    for (unsigned v = 0; v < variants.size(); ++v)
      if (llvm::Error failure = compileHost(v, hosts.descriptor, hosts.objects.emplace_back()))
        return failure;
    return llvm::Error::success();
  }

  /// Then host programs say what kernels need, which is known when those are compiled.
  bool callsDevices() const {
    return llvm::any_of(variants,
                        [](const Variant &each) { return each.target.kernels->isForDevice(); });
  }

  /// The descriptor goes with the first variant's.
  llvm::Error compileHost(unsigned v, const Descriptor &descriptor, std::string &object) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    const HostTarget &target = *variants[v].target.host;
    target.loadDialects(context);
    OwningOpRef<ModuleOp> host = ModuleOp::create(UnknownLoc::get(&context));
    if (v == 0)
      emitDescriptor(*host, descriptor.bytes);
    emitHostProgram(*host, v, variants[v], weights);
    (*host)->setAttr(kHostProgramAttr, UnitAttr::get(&context));
    llvm::Expected<std::string> compiled = target.compile(*host);
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
        writeArtifact(options.outputPath, *image, descriptor, weights, impl, manifest());
    if (!size)
      return error("W0310", llvm::toString(size.takeError()));
    Artifact artifact = describe();
    artifact.path = options.outputPath;
    artifact.bytes = *size;
    artifact.codeBytes = image->bytes.size();
    report("write", "");
    return withWarnings(std::move(artifact));
  }

  void reportCode() {
    size_t kept = kernels.kept();
    report("code", std::to_string(kernelCount()) + " kernels" +
                       (kept ? ", " + std::to_string(kept) + " kept" : ""));
  }

  Result<Artifact> embed(std::vector<std::string> objects) {
    reportCode();
    EmbeddedFiles files(*options.embedding, variants[0], weights, impl);
    llvm::Expected<EmbeddedSizes> sizes = files.write(options.outputPath, std::move(objects));
    if (!sizes)
      return error("W0310", llvm::toString(sizes.takeError()));
    Artifact artifact = describe();
    artifact.path = options.outputPath;
    artifact.bytes = sizes->all;
    artifact.codeBytes = sizes->code;
    report("write", "");
    return withWarnings(std::move(artifact));
  }

  Result<Artifact> withWarnings(Result<Artifact> artifact) {
    artifact.diagnostics() = warnings;
    return artifact;
  }

  Artifact describe() {
    Artifact artifact;
    for (const StoredWeight &weight : weights)
      artifact.weightBytes += weight.bytes;
    artifact.kernels = kernelCount();
    for (const Variant &variant : variants)
      artifact.tunedKernels += tuned(variant).kernels;
    artifact.target = targetText();
    artifact.peak = variants[0].peakText();
    if (placed.size() == 1 && !placed.begin()->second.mesh.empty())
      artifact.plan = (plan ? "# " + plan->summary() + "\n" : "") + placed.begin()->second.str();
    return artifact;
  }

  /// "x86:v4, x86:v3"
  std::string targetText() const {
    std::vector<std::string> names;
    for (const Variant &variant : variants)
      if (std::string name = variant.target.kernels->name().str(); !llvm::is_contained(names, name))
        names.push_back(std::move(name));
    return llvm::join(names, ", ");
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
                              {"target", targetText()},
                              {"facts", std::move(facts)}};
    if (options.numerics.exact)
      object["accuracy"] = "exact";
    if (!options.numerics.weights.empty())
      object["weights"] = options.numerics.weights;
    if (!options.numerics.compute.empty())
      object["compute"] = options.numerics.compute + (options.numerics.storage ? ",storage" : "");
    if (!options.numerics.keepF32.empty())
      object["keep_f32"] = llvm::json::Array(options.numerics.keepF32);
    if (options.numerics.roundActivations)
      object["activations"] = "bytes";
    if (options.indices != Indices::Check)
      object["indices"] = stringifyOutside(outside()).str();
    if (llvm::any_of(variants, [&](const Variant &each) { return tuned(each).any(); }))
      object["tuned_for"] = tuning.processor();
    std::vector<const Program *> programs;
    for (const Variant &variant : variants)
      programs.push_back(&variant.program);
    describeRanks(programs, options.fuseComm, object);
    llvm::json::Object byUnit;
    for (auto &[unit, symbols] : kernels.byUnit())
      byUnit[nameOf(unit)] = llvm::json::Array(symbols);
    if (!byUnit.empty())
      object["units"] = std::move(byUnit);
    // A plan that names them is for one host.
    if (std::vector<std::string> others = variants[0].otherTargets(); !others.empty())
      object["kernel_targets"] = llvm::json::Array(others);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
    return text;
  }

  Module::Impl &impl;
  const CompileOptions &options;
  bool explains = false; ///< kernels keep why they are apart
  Tuning tuning;
  List warnings; ///< and notes
  std::vector<Variant> variants;
  std::map<std::string, RankPlan> placed; ///< by mesh, once it is known
  std::optional<PlanResult> plan;         ///< the last, with its reasons, when one was looked for
  std::vector<StoredWeight> weights;      ///< of all variants
  KernelImages kernels;
  std::optional<std::vector<PassProgram>> programs; ///< kept while there is a list
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

Result<Explanation> explain(const Module &module, const CompileOptions &options) {
  return Compilation(module, options).explain();
}

Result<void> readPlan(const Module &module, const CompileOptions &options,
                      function_ref<void(ModuleOp plan)> read) {
  return Compilation(module, options).readPlan(read);
}

Result<std::vector<PassProgram>> programsAfterPasses(const Module &module,
                                                     const CompileOptions &options) {
  return Compilation(module, options).programsAfterPasses();
}

} // namespace weft
