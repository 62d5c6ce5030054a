//===- LlvmDialect.cpp - From structured operations to the LLVM dialect -------------------------------===//

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/Extremes.h"
#include "targets/cpu/IndexDivision.h"
#include "targets/cpu/WholeVectors.h"
#include "targets/cpu/math/VectorMath.h"
#include "targets/cpu/math/WideComparisons.h"

using namespace mlir;

namespace weft {

static llvm::Error fail(const char *what) { return llvm::createStringError(what); }

/// What has no counterpart in LLVM becomes splats and shuffles. Blocks that do the same become one on the way: lanes of a GPU meet there, and
/// a host's program returns from one place.
static void takeApartVectors(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  // Whether it found an end does not matter: the conversion refuses what is left.
  (void)applyPatternsAndFoldGreedily(module, std::move(patterns));
}

/// One conversion for all dialects: passes of their own go over the whole function once each.
static LogicalResult convertAll(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  populateVectorToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

llvm::Error lowerToLlvmDialect(ModuleOp module, const VectorMachine &machine) {
  // Verifying behind every pass took a twelfth of the time of a compilation: what a schedule emitted is verified once, and what the last
  // pass leaves when it becomes LLVM IR.
  PassManager simplify(module.getContext());
  simplify.enableVerifier(false);
  // What changed is followed within one walk: a second one changed no kernel. Blocks, which only host programs have here, are merged later.
  GreedyRewriteConfig once;
  once.maxIterations = 1;
  once.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  simplify.addPass(createCanonicalizerPass(once));
  simplify.addPass(createCSEPass());
  if (failed(simplify.run(module)) || failed(verify(module)))
    return fail("simplification before code generation failed");
  preferWholeVectors(module, machine);
  preferExtremes(module, machine);
  divideIndicesInDoubles(module);
  if (failed(expandVectorMath(module, machine)))
    return fail("a mathematical function has no expansion");
  PassManager flatten(module.getContext());
  flatten.enableVerifier(false);
  flatten.addPass(arith::createArithExpandOpsPass());
  flatten.addPass(createConvertSCFToCFPass());
  if (failed(flatten.run(module)))
    return fail("flattening loops failed");
  takeApartVectors(module);
  if (failed(convertAll(module)))
    return fail("lowering to LLVM failed");
  keepComparisonsWide(module);
  return llvm::Error::success();
}

} // namespace weft
