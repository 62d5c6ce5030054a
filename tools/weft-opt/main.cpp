// weft-opt: reads textual IR, runs passes, prints. For tests and for people who write passes.
#include "compiler/driver/Pipeline.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/parallel/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/quant/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<weft::WeftDialect, weft::SymDialect, weft::plan::PlanDialect,
                  mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  weft::registerGraphPasses();
  weft::registerQuantPasses();
  weft::registerParallelPasses();
  weft::registerKernelPasses();
  weft::registerPlanPasses();
  weft::registerPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "weft optimizer driver\n", registry));
}
