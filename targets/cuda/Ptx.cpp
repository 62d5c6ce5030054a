//===- Ptx.cpp - MLIR to LLVM IR to PTX, in process ----------------------------------------------------===//

#include "targets/cuda/Ptx.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/cpu/Codegen.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BypassSlowDivision.h"
#include "llvm/Transforms/Utils/IntegerDivision.h"

using namespace mlir;

namespace weft {
namespace {

constexpr const char *kTriple = "nvptx64-nvidia-cuda";
/// The last line of what every text begins with.
constexpr llvm::StringLiteral kHeaderEnd = ".address_size 64\n";

/// How mathematical functions are expanded for a thread: scalars, fused multiply-add, conversions of f16.
const VectorMachine &threadMath() {
  VectorMachine::Traits traits;
  traits.hasFma = traits.hasHalves = true;
  static const VectorMachine machine(traits);
  return machine;
}

/// What the back end and the assembler know of the kernel from its annotations. Tables get names of its own: texts are joined.
void annotate(llvm::Module &module, StringRef symbol, BlockShape blocks) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Function *kernel = module.getFunction(symbol);
  llvm::NamedMDNode *list = module.getOrInsertNamedMetadata("nvvm.annotations");
  auto add = [&](const char *what, int64_t value) {
    auto *number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
    list->addOperand(llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(kernel),
                                                 llvm::MDString::get(context, what),
                                                 llvm::ConstantAsMetadata::get(number)}));
  };
  add("kernel", 1);
  add("maxntidx", blocks.threads);
  // So many blocks have to fit a multiprocessor: else the assembler spills registers so that a few more do.
  add("minctasm", blocks.atOnce);
  // All threads of a warp execute these together, which LLVM knows of other instructions of that kind: it may give them to no branch.
  for (llvm::Function &function : module)
    if (function.getName().starts_with("llvm.nvvm.mma.") ||
        function.getName().starts_with("llvm.nvvm.ldmatrix."))
      function.addFnAttr(llvm::Attribute::Convergent);
  for (llvm::Instruction &each : llvm::instructions(*kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&each); call && call->isInlineAsm())
      call->addFnAttr(llvm::Attribute::Convergent);
  for (llvm::GlobalVariable &table : module.globals())
    table.setName(symbol + "_" + table.getName());
}

/// Quotients of 64 bits are a function that the assembler calls, with a stack. Numbers here are nearly always smaller: those are divided in
/// 32 bits, and the others bit by bit.
void takeApartDivisions(llvm::Module &module) {
  const llvm::DenseMap<unsigned, unsigned> widths = {{64, 32}};
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : llvm::make_early_inc_range(function))
      llvm::bypassSlowDivision(&block, widths);
  llvm::SmallVector<llvm::BinaryOperator *> left;
  for (llvm::Function &function : module)
    for (llvm::Instruction &each : llvm::instructions(function))
      if (each.isIntDivRem() && each.getType()->isIntegerTy(64) &&
          !llvm::isa<llvm::Constant>(each.getOperand(1)))
        left.push_back(llvm::cast<llvm::BinaryOperator>(&each));
  for (llvm::BinaryOperator *each : left)
    if (each->getOpcode() == llvm::Instruction::UDiv ||
        each->getOpcode() == llvm::Instruction::SDiv)
      llvm::expandDivisionUpTo64Bits(each);
    else
      llvm::expandRemainderUpTo64Bits(each);
}

} // namespace

llvm::Expected<std::string> compileToPtx(ModuleOp module, StringRef symbol, BlockShape blocks,
                                         const SimtMachine &machine) {
  if (llvm::Error error = lowerToLlvmDialect(module, threadMath()))
    return std::move(error);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return llvm::createStringError("translation to LLVM IR failed");
  llvm::Expected<const llvm::Target *> target = findLlvmTarget(kTriple);
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::TargetMachine> generator(
      (*target)->createTargetMachine(kTriple, machine.architecture, machine.features, {},
                                     std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  code->setTargetTriple(kTriple);
  code->setDataLayout(generator->createDataLayout());
  annotate(*code, symbol, blocks);
  optimize(*code, *generator, Optimization::Full);
  takeApartDivisions(*code);
  // The end of a loop stays behind its begin: lanes that come to a barrier there do so from branches further up.
  code->getFunction(symbol)->addFnAttr(llvm::Attribute::OptimizeForSize);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  if (generator->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot write PTX as text");
  emit.run(*code);
  return std::string(text);
}

std::string joinPtx(ArrayRef<std::string> kernels) {
  std::string text;
  for (StringRef kernel : kernels) {
    size_t header = kernel.find(kHeaderEnd) + kHeaderEnd.size();
    text += text.empty() ? kernel : kernel.drop_front(header);
  }
  return text;
}

} // namespace weft
