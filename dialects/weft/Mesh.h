//===- Mesh.h - Ranks, groups of them, and parts of dimensions ----------------------------------===//
//
//   MeshAttr mesh = meshOf(function);                        // null: one rank
//   SymExpr own = partSize(n, 4, placeIn(group));            // of dimension n, over rank symbols
//   for (ArrayRef<int64_t> members : groupsOf(mesh, group))  // ranks, by their places
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_MESH_H
#define WEFT_DIALECTS_WEFT_MESH_H

#include "dialects/weft/Weft.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace weft {

/// Name of the function attribute that holds a MeshAttr.
constexpr llvm::StringLiteral kMeshAttr = "weft.mesh";

/// Name of the function attribute that holds the MeshAttr which it is to be split over.
constexpr llvm::StringLiteral kSplitOverAttr = "weft.split_over";
/// Name of the attribute of arguments and operations that holds a PlacementAttr.
constexpr llvm::StringLiteral kPlacementAttr = "weft.placement";
/// On an argument or result of which each rank has its own part: the type of the whole. The placement beside it says which part.
constexpr llvm::StringLiteral kWholeAttr = "weft.whole";
/// Those of a function, null or the type itself where ranks have all of it.
PlacementAttr localArgument(mlir::FunctionOpInterface function, unsigned i);
PlacementAttr localResult(mlir::FunctionOpInterface function, unsigned i);
SymTensorType wholeArgument(mlir::FunctionOpInterface function, unsigned i);
SymTensorType wholeResult(mlir::FunctionOpInterface function, unsigned i);
/// On a collective that nobody asked for: which operations disagree.
constexpr llvm::StringLiteral kBecauseAttr = "weft.because";
/// Whether that says what a rank sends, and lets it say so, also when it is something else now.
bool saysBytes(CollectiveOpInterface exchange);
void sayBytes(CollectiveOpInterface exchange);

/// Reads `[tp, _]`, which stands alone.
llvm::Expected<PlacementAttr> parsePlacement(mlir::MLIRContext *context, llvm::StringRef text);
/// The rules of PlacementAttr, for the dialect's verifier.
mlir::LogicalResult verifySplitOver(mlir::Operation *op, mlir::Attribute attribute);
mlir::LogicalResult verifyPlacement(mlir::Operation *op, mlir::Type type,
                                    mlir::Attribute attribute);
/// Of an argument or a result, with all that is said of it.
mlir::LogicalResult verifyWhole(mlir::Operation *function, mlir::Type type,
                                mlir::DictionaryAttr said);

/// Of the function that an operation is or is in; null when one rank runs it.
MeshAttr meshOf(mlir::Operation *op);

/// The rules of Mesh.td about functions, for the dialect's verifier.
mlir::LogicalResult verifyMesh(mlir::Operation *op, mlir::Attribute attribute);

/// The symbol that says where a rank stands along an axis.
mlir::StringAttr rankSymbol(mlir::StringAttr axis);
/// Those of all axes, and their values for a rank.
llvm::SmallVector<mlir::StringAttr> rankSymbols(MeshAttr mesh);
SymValues rankValues(MeshAttr mesh, int64_t rank);

/// The place of a rank in its group: a number below the group's ranks.
SymExpr placeIn(MeshAttr group);
/// An expression of a rank as another one of its group has it, whose place is given. What is once around a ring is the same again.
SymExpr atPlace(SymExpr expr, MeshAttr group, SymExpr place);
/// Whether ranks of a group have other values.
bool differsIn(SymExpr expr, MeshAttr group);
/// That places along axes are below their sizes.
SymFacts placeFacts(MeshAttr group);
/// The groups of a mesh, each in the order of places.
std::vector<llvm::SmallVector<int64_t>> groupsOf(MeshAttr mesh, MeshAttr group);

/// Part `place` of a dimension over so many ranks: where it begins, and how long it is.
SymExpr partBegin(SymExpr extent, int64_t ranks, SymExpr place);
SymExpr partSize(SymExpr extent, int64_t ranks, SymExpr place);
/// The same of numbers.
struct Part {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Part partOf(int64_t extent, int64_t ranks, int64_t place);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_MESH_H
