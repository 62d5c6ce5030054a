//===- Codegen.cpp - MLIR to LLVM IR to object code, in process ----------------------------------------===//

#include "targets/cpu/Codegen.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/common/KernelTarget.h"
#include "targets/cpu/KernelPasses.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace weft {

void registerCodegenDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context
      .loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                   LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

static llvm::Error fail(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// Every function is compiled for the same processor; nothing may become a call of the C library.
static void setAttributes(llvm::Module &module, const CodegenOptions &options) {
  std::string width = std::to_string(options.machine->vectorBits());
  for (llvm::GlobalValue &value : module.global_values()) {
    if (value.hasLocalLinkage())
      continue;
    value.setVisibility(llvm::GlobalValue::HiddenVisibility); // nothing is exported: no relocations
    value.setDSOLocal(true);
  }
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.cpu);
    function.addFnAttr("target-features", options.features);
    if (!options.core.empty())
      function.addFnAttr("tune-cpu", options.core);
    if (unsigned scale = options.vectorScale)
      function.addFnAttr(
          llvm::Attribute::getWithVScaleRangeArgs(module.getContext(), scale, scale));
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("no-builtins");
    function.addFnAttr("stackrealign");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setUWTableKind(llvm::UWTableKind::None);
  }
}

/// Of more than some hundred calls. A host's program runs once per call of the model, and what optimises straight lines takes the square of
/// their length.
static bool isLong(const llvm::Module &module) {
  const unsigned most = 2000;
  return llvm::any_of(
      module, [](const llvm::Function &function) { return function.getInstructionCount() > most; });
}

namespace {
/// For the fast selector, which knows neither maxima nor comparisons of booleans: it would leave all of the block before one to the slow
/// selector, whose scheduler takes time by the square of a block's length, half a minute for 7,000 calls.
struct SpellForFastSelector : llvm::PassInfoMixin<SpellForFastSelector> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::Value *other = spelled(instruction)) {
        instruction.replaceAllUsesWith(other);
        instruction.eraseFromParent();
      }
    return llvm::PreservedAnalyses::none();
  }

  /// Nothing for what is known.
  static llvm::Value *spelled(llvm::Instruction &instruction) {
    llvm::IRBuilder<> builder(&instruction);
    if (auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction)) {
      llvm::Value *lhs = extreme->getLHS(), *rhs = extreme->getRHS();
      return builder.CreateSelect(builder.CreateICmp(extreme->getPredicate(), lhs, rhs), lhs, rhs);
    }
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
    if (!compare || compare->getPredicate() != llvm::CmpInst::ICMP_NE ||
        !compare->getOperand(0)->getType()->isIntegerTy(1))
      return nullptr;
    return builder.CreateXor(compare->getOperand(0), compare->getOperand(1));
  }
};
} // namespace

void optimize(llvm::Module &module, llvm::TargetMachine &machine, Optimization optimization) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false; // generators emit vectors themselves
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  if (optimization == Optimization::None)
    builder.registerPipelineStartEPCallback(
        [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(SpellForFastSelector()));
        });
  if (optimization == Optimization::None)
    builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0).run(module, modules);
  else if (optimization == Optimization::Full)
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
  else
    kernelPasses(builder, optimization == Optimization::ShortLoops).run(module, modules);
}

llvm::Expected<const llvm::Target *> findLlvmTarget(const std::string &triple) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target)
    return fail("LLVM has no target '" + triple + "': " + why);
  return target;
}

llvm::Expected<std::string> compileToObject(ModuleOp module, const CodegenOptions &options) {
  bool isHost = bool(module->removeAttr(kHostProgramAttr));
  if (llvm::Error error = lowerToLlvmDialect(module, *options.machine))
    return std::move(error);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return fail("translation to LLVM IR failed");
  const Optimization optimization =
      isHost && isLong(*code) ? Optimization::None : options.optimization;
  llvm::Expected<const llvm::Target *> target = findLlvmTarget(options.triple);
  if (!target)
    return target.takeError();
  llvm::TargetOptions targetOptions;
  targetOptions.FunctionSections = false;
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      options.triple, options.cpu, options.features, targetOptions, llvm::Reloc::PIC_,
      llvm::CodeModel::Small,
      optimization == Optimization::None ? llvm::CodeGenOptLevel::None
                                         : llvm::CodeGenOptLevel::Default));
  code->setTargetTriple(options.triple);
  code->setDataLayout(machine->createDataLayout());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(*code, options);
  optimize(*code, *machine, optimization);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return fail("LLVM cannot write object files for '" + options.triple + "'");
  emit.run(*code);
  return std::string(object);
}

} // namespace weft
