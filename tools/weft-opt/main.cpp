// weft-opt: reads textual IR, runs passes, prints. For tests and for people who write passes.
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/quant/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<weft::WeftDialect, weft::SymDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  weft::registerGraphPasses();
  weft::registerQuantPasses();
  weft::registerKernelPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "weft optimizer driver\n", registry));
}
