//===- Pipeline.h - The phases of compilation, as one list ---------------------------------------------===//
//
//   for (llvm::StringRef phase : phases())
//     for (std::unique_ptr<mlir::Pass> &pass : passesOf(phase, options)) …
//
// Behind every phase the program can be printed, edited, read back and compiled on; weft-opt runs them by name, --weft-plan="target=x86:v3".
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PIPELINE_H
#define WEFT_COMPILER_DRIVER_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/cost/KernelChoice.h"
#include "passes/cost/OverlapOffer.h"
#include "weft/compiler.hpp"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

struct PipelineOptions {
  std::string mesh; ///< axes of the ranks that share the work; empty: as the program says
  std::vector<std::string> placements;    ///< PATTERN=[AXES, …]
  int64_t maxReshard = 0;                 ///< bytes of an exchange that nobody asked for; 0: any
  std::vector<std::string> planSizes;     ///< SYMBOL=NUMBER, at which that is asked
  FuseComm fuseComm = FuseComm::Never;    ///< ranks compute while an exchange goes on
  std::vector<std::string> links;         ///< what they have between them, by which that is chosen
  std::string roundOperands;              ///< bf16 or f16: what products read; empty: as it is
  std::vector<std::string> keepOperands;  ///< patterns: products of such nodes read it as it is
  bool roundStorage = false;              ///< what lies between kernels is of that type, too
  std::string narrowWeights;              ///< bf16 or f16; empty: as they are
  bool roundActivations = false;          ///< rows that meet weights in blocks become bytes
  Outside outside = Outside::Refused;     ///< what positions from data do that are outside
  bool inPlace = false;                   ///< outputs that extend an input lie in its memory
  std::vector<std::string> inPlaceInputs; ///< those inputs; empty: all that can
  bool explain = false;                   ///< kernels keep why they are apart
  std::function<const char *(llvm::StringRef)> weight; ///< bytes of a named weight
  std::shared_ptr<const KernelChooser> chooser;        ///< of all phases but "partition"
  std::shared_ptr<const OverlapChooser> records;       ///< of exchanges; null: as estimated
};

/// "import" (no passes), "partition", "graph", "fuse", "plan".
llvm::ArrayRef<llvm::StringRef> phases();
/// The last phase that the module has behind it.
llvm::StringRef phaseOf(mlir::ModuleOp module);
std::vector<std::unique_ptr<mlir::Pass>> passesOf(llvm::StringRef phase,
                                                  const PipelineOptions &options);
/// Runs it over the whole module.
mlir::LogicalResult runPass(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass,
                            bool verifies = true);

/// --weft-graph, --weft-fuse and --weft-plan in tools that parse options of passes.
void registerPipelines();

} // namespace weft

#endif
