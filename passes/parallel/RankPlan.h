//===- RankPlan.h - A mesh with placements, as text --------------------------------------------------===//
//
//   # a comment
//   mesh tp=2
//   place encoder.layer.0.intermediate.dense.weight=[tp, _]
//
//   llvm::Expected<RankPlan> plan = readRankPlan(context, text, "plan.txt");     // errors begin "plan.txt:3: "
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_RANKPLAN_H
#define WEFT_PASSES_PARALLEL_RANKPLAN_H

#include "dialects/weft/Mesh.h"

namespace weft {

/// As the options of pass `weft-place` take them.
struct RankPlan {
  std::string mesh;
  std::vector<std::string> placements;

  /// What readRankPlan takes, without comments.
  std::string str() const;
};

llvm::Expected<RankPlan> readRankPlan(mlir::MLIRContext *context, llvm::StringRef text,
                                      llvm::StringRef path);

/// Reads `dp=2,tp=4`.
llvm::Expected<MeshAttr> parseMesh(mlir::MLIRContext *context, llvm::StringRef text);
/// `dp=2,tp=4`
std::string textOf(MeshAttr mesh);

/// The placement of a value with exactly this name.
std::string placementText(llvm::StringRef name, PlacementAttr placement);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_RANKPLAN_H
