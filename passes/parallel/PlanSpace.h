//===- PlanSpace.h - What of a program can be placed on a mesh, and what that costs ----------------------===//
//
//   PlanSpace space(module, sizes, links);         // of functions that `weft-place` has given a mesh
//   PlanChoice choice = space.nothing();
//   choice[space.at(variable, axis)] = option;     // kOpen, or one of variables()[variable].options
//   Price price = space.priceOf(choice);           // splits a short copy of the program, once for each choice
//
// Weights of products that equal layers read alike are one variable, and all inputs are one: a size, along which they are split. What has a placement
// is no variable.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_PLANSPACE_H
#define WEFT_PASSES_PARALLEL_PLANSPACE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/parallel/Layers.h"
#include "passes/parallel/Price.h"
#include "passes/parallel/RankPlan.h"
#include <set>

namespace weft {

/// For every variable and axis an option.
using PlanChoice = std::vector<int>;
constexpr int kOpen = -1;

/// What a product does along a dimension of a weight.
enum class WeightDim { Other, Outputs, Sums };

/// Values that are placed alike.
struct PlanVariable {
  struct Member {
    std::string name;
    mlir::Value value; ///< in the short program, where it may have no uses
  };
  struct Option {
    std::vector<std::optional<unsigned>> dims; ///< of each member
    WeightDim kind = WeightDim::Other;
    bool isGathered = false; ///< parts are read, the whole is used
    SymExpr size;            ///< of inputs: what all are split along
  };
  std::vector<Member> members;
  std::vector<Option> options;
  std::vector<mlir::Operation *> products; ///< that read weights; none of inputs

  bool isInputs() const { return products.empty(); }
};

class PlanSpace {
public:
  using Sizes = std::vector<SymValues>; ///< of each function that is split
  PlanSpace(mlir::ModuleOp placed, MeshAttr mesh, Sizes sizes, const Links &links);

  MeshAttr getMesh() const { return mesh; }
  unsigned axes() const { return mesh.getAxes().size(); }
  const std::vector<PlanVariable> &variables() const { return list; }
  PlanChoice nothing() const { return PlanChoice(list.size() * axes(), kOpen); }
  size_t at(size_t variable, unsigned axis) const { return variable * axes() + axis; }

  /// Of the program with its stacks of layers shortened.
  const Price &priceOf(const PlanChoice &choice);
  /// Of all of it.
  Price priceOfAll(const PlanChoice &choice);
  /// Whether placements of a choice cut a product that reads the weights.
  bool isCut(const PlanChoice &choice, size_t variable, unsigned axis);

  /// How much work all prices were, in operations that were split.
  size_t getOperationsPriced() const { return operationsPriced; }

  /// As text, without what was placed before.
  std::vector<std::string> placementsOf(const PlanChoice &choice) const;
  /// Of one member: null when it is left open.
  PlacementAttr placementOf(const PlanChoice &choice, size_t variable, size_t member) const;

private:
  void addFunction(mlir::func::FuncOp function);
  void addWeight(const std::string &name, mlir::Value value, Layers &layers);
  void addOptions(PlanVariable &variable, const Layers &layers);
  static void addGathered(PlanVariable &variable);
  void dropUnread(mlir::func::FuncOp copy);
  void addInputs();
  void findKinds(const Layers &layers, mlir::Value value, unsigned dim, std::set<WeightDim> &kinds,
                 std::vector<mlir::Operation *> &products) const;
  void place(const PlanChoice &choice);

  mlir::ModuleOp module;
  MeshAttr mesh;
  Sizes sizes;
  const Links &links;
  std::vector<mlir::OwningOpRef<mlir::func::FuncOp>> shorts;
  std::vector<PlanVariable> list;
  std::map<std::string, size_t> byName;                 ///< variables of members
  std::map<std::pair<size_t, unsigned>, size_t> byKind; ///< of a function
  std::vector<PlanVariable::Member> inputs;
  std::map<PlanChoice, Price> known;
  size_t operationCount = 0, operationsPriced = 0;
};

/// The functions of a module that are to be split, in order.
std::vector<mlir::func::FuncOp> functionsToSplit(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_PLANSPACE_H
