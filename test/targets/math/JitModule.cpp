//===- JitModule.cpp - Compile lane-wise MLIR snippets in process and call them ---------------===//

#include "JitModule.h"
#include "targets/cpu/WholeVectors.h"
#include "targets/cpu/math/VectorMath.h"
#include "targets/x86/X86Machine.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cstdlib>
#include <stdexcept>

using namespace mlir;

namespace weft::test {

//===- Machines -------------------------------------------------------------------------------===//

std::vector<Machine> machines() {
  std::vector<Machine> found = {{"x86-64-v2", &x86Machine("v2"), 4}};
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<const char *> names) {
    return llvm::all_of(names, [&](const char *name) { return features.lookup(name); });
  };
  if (has({"avx2", "fma", "f16c", "bmi2"}))
    found.push_back({"x86-64-v3", &x86Machine("v3"), 8});
  if (has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    found.push_back({"x86-64-v4", &x86Machine("v4"), 16});
  return found;
}

//===- Text -----------------------------------------------------------------------------------===//

static std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

static std::string laneType(const std::string &element, int lanes) {
  return lanes ? "vector<" + std::to_string(lanes) + "x" + element + ">" : element;
}

/// A loop over the arrays with the snippet inside.
static std::string functionText(const Snippet &snippet, int lanes) {
  std::string text = R"(
func.func @$name(%pa: !llvm.ptr, %pb: !llvm.ptr, %pr: !llvm.ptr, %count: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant $step : i64
  scf.for %i = %zero to %count step %step : i64 {
    %qa = llvm.getelementptr %pa[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $ea
    %qb = llvm.getelementptr %pb[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $eb
    %qr = llvm.getelementptr %pr[%i] : (!llvm.ptr, i64) -> !llvm.ptr, $er
    %a = llvm.load %qa {alignment = 1 : i64} : !llvm.ptr -> $A
    $loadb
    $body
    llvm.store %r, %qr {alignment = 1 : i64} : $T, !llvm.ptr
  }
  return
}
)";
  bool binary = snippet.body.find("%b") != std::string::npos;
  std::string loadB = "%b = llvm.load %qb {alignment = 1 : i64} : !llvm.ptr -> $B";
  text = replaceAll(text, "$loadb", binary ? loadB : "");
  text = replaceAll(text, "$body", snippet.body);
  text = replaceAll(text, "$name", snippet.name);
  text = replaceAll(text, "$step", std::to_string(std::max(1, lanes)));
  text = replaceAll(text, "$ea", snippet.a);
  text = replaceAll(text, "$eb", snippet.b);
  text = replaceAll(text, "$er", snippet.result);
  text = replaceAll(text, "$A", laneType(snippet.a, lanes));
  text = replaceAll(text, "$B", laneType(snippet.b, lanes));
  return replaceAll(text, "$T", laneType(snippet.result, lanes));
}

//===- MLIR to LLVM IR ------------------------------------------------------------------------===//

static void lower(ModuleOp module, const VectorMachine &vectors) {
  preferWholeVectors(module, vectors);
  if (failed(expandVectorMath(module, vectors)))
    throw std::runtime_error("expandVectorMath failed");
  PassManager passes(module.getContext());
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    throw std::runtime_error("lowering to LLVM failed");
}

static std::unique_ptr<llvm::Module>
translate(const std::string &text, const VectorMachine &vectors, llvm::LLVMContext &llvmContext) {
  DialectRegistry registry;
  insertVectorMathDialects(registry);
  registry.insert<func::FuncDialect, cf::ControlFlowDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    throw std::runtime_error("cannot parse:\n" + text);
  lower(*module, vectors);
  auto translated = translateModuleToLLVMIR(*module, llvmContext);
  if (!translated)
    throw std::runtime_error("translation to LLVM IR failed");
  return translated;
}

//===- LLVM IR to code ------------------------------------------------------------------------===//

static std::unique_ptr<llvm::TargetMachine> createTarget(const std::string &cpu) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    throw std::runtime_error(error);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

static llvm::SmallVector<char, 0> emit(llvm::Module &module, llvm::TargetMachine &target,
                                       llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, kind))
    throw std::runtime_error("the target cannot emit this file type");
  passes.run(module);
  return bytes;
}

template <typename T> static T check(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

static std::vector<std::string> listUndefined(llvm::MemoryBufferRef buffer) {
  auto object = check(llvm::object::ObjectFile::createObjectFile(buffer));
  std::vector<std::string> names;
  for (llvm::object::SymbolRef symbol : object->symbols())
    if (check(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      if (llvm::StringRef name = check(symbol.getName()); !name.empty())
        names.push_back(name.str());
  return names;
}

JitModule::JitModule(const std::vector<Snippet> &snippets, const Machine &machine, int lanes) {
  std::string text;
  for (const Snippet &snippet : snippets)
    text += functionText(snippet, lanes);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::TargetMachine> target = createTarget(machine.cpu);
  auto module = translate(text, *machine.vectors, llvmContext);
  module->setDataLayout(target->createDataLayout());
  module->setTargetTriple(target->getTargetTriple().str());
  optimize(*module, *target);
  // WEFT_MATH_ASSEMBLY=1 keeps the assembly, to count instructions.
  if (std::getenv("WEFT_MATH_ASSEMBLY")) {
    auto copy = llvm::CloneModule(*module);
    auto bytes = emit(*copy, *target, llvm::CodeGenFileType::AssemblyFile);
    assembly.assign(bytes.begin(), bytes.end());
  }
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
      emit(*module, *target, llvm::CodeGenFileType::ObjectFile));
  undefined = listUndefined(*buffer);
  jit = check(llvm::orc::LLJITBuilder().create());
  if (llvm::Error error = jit->addObjectFile(std::move(buffer)))
    throw std::runtime_error(llvm::toString(std::move(error)));
}

JitModule::~JitModule() = default;

void JitModule::call(const std::string &name, const void *a, const void *b, void *out,
                     size_t count) const {
  lookUp(name)(a, b, out, static_cast<int64_t>(count));
}

JitModule::Function JitModule::lookUp(const std::string &name) const {
  return check(jit->lookup(name)).toPtr<Function>();
}

} // namespace weft::test
