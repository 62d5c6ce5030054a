//===- PlanSpace.cpp ------------------------------------------------------------------------------===//

#include "passes/parallel/PlanSpace.h"
#include "dialects/weft/Gathered.h"
#include "passes/parallel/Assignment.h"
#include "passes/parallel/SplitFunctions.h"

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kMostInputSizes = 6;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

bool isProduct(Operation *op) {
  auto ruled = dyn_cast<RuleOpInterface>(op);
  return ruled && isa<SplitOpInterface>(op) && !ruled.rule().reducedFactors().empty();
}

/// Of a constant or an argument; empty when placements cannot name it.
std::string nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto name = cast<func::FuncOp>(argument.getOwner()->getParentOp())
                    .getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    return name ? name.str() : "";
  }
  auto constant = dyn_cast_or_null<ConstantOp>(value.getDefiningOp());
  auto weight = constant ? dyn_cast<FlatSymbolRefAttr>(constant.getValue()) : FlatSymbolRefAttr();
  return weight ? weight.getValue().str() : "";
}

void setPlacement(Value value, PlacementAttr placement) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    StringAttr name = StringAttr::get(value.getContext(), kPlacementAttr);
    if (placement)
      function.setArgAttr(argument.getArgNumber(), name, placement);
    else
      function.removeArgAttr(argument.getArgNumber(), name);
  } else if (placement) {
    value.getDefiningOp()->setAttr(kPlacementAttr, placement);
  } else {
    value.getDefiningOp()->removeAttr(kPlacementAttr);
  }
}

/// What can be placed in a function, in its order.
std::vector<Value> placeable(func::FuncOp function) {
  std::vector<Value> values;
  for (BlockArgument argument : function.getArguments())
    values.push_back(argument);
  for (Operation &op : function.getBody().front())
    if (isa<ConstantOp>(op))
      values.push_back(op.getResult(0));
  llvm::erase_if(values, [](Value value) { return nameOf(value).empty(); });
  return values;
}

} // namespace

std::vector<func::FuncOp> functionsToSplit(ModuleOp module) {
  std::vector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function->hasAttr(kSplitOverAttr))
      functions.push_back(function);
  return functions;
}

PlanSpace::PlanSpace(ModuleOp placed, MeshAttr mesh, Sizes sizes, const Links &links)
    : module(placed), mesh(mesh), sizes(std::move(sizes)), links(links) {
  for (func::FuncOp function : functionsToSplit(placed))
    addFunction(function);
  llvm::erase_if(list, [](const PlanVariable &variable) { return variable.options.empty(); });
  llvm::DenseMap<Operation *, size_t> places;
  for (OwningOpRef<func::FuncOp> &function : shorts)
    for (Operation &op : function->getBody().front())
      places[&op] = places.size();
  operationCount = places.size();
  llvm::stable_sort(list, [&](const PlanVariable &a, const PlanVariable &b) {
    return places.lookup(a.products.front()) < places.lookup(b.products.front());
  });
  addInputs();
}

//===-- Variables --------------------------------------------------------------------------------===//

void PlanSpace::addFunction(func::FuncOp function) {
  func::FuncOp copy = function.clone();
  shorts.emplace_back(copy);
  Layers layers(copy);
  layers.keepThree();
  size_t first = list.size();
  for (Value value : placeable(copy)) {
    std::string name = nameOf(value);
    std::set<WeightDim> kinds;
    std::vector<Operation *> products;
    for (unsigned dim = 0; dim < typeOf(value).getRank(); ++dim)
      findKinds(layers, value, dim, kinds, products);
    if (weft::placementOf(value))
      continue;
    // Of a layer that is left out nothing reads its weights: they are of a kind with those that are read.
    bool isRead = !products.empty() || byKind.count({shorts.size(), layers.kindOf(value)}),
         isInput = isa<BlockArgument>(value) &&
                   (!isRead || !typeOf(value).getElements().symbols().empty());
    if (isInput)
      inputs.push_back({name, value});
    else if (typeOf(value).getRank() >= 2)
      addWeight(name, value, layers);
  }
  for (size_t i = first; i < list.size(); ++i)
    addOptions(list[i], layers);
  dropUnread(copy);
}

/// Constants of layers that are left out: members that stand for them are those of a layer that is kept.
void PlanSpace::dropUnread(func::FuncOp copy) {
  auto isUnread = [](Value value) { return value.getDefiningOp() && value.use_empty(); };
  for (PlanVariable &variable : list) {
    auto kept = llvm::find_if(variable.members, [&](const PlanVariable::Member &member) {
      return !isUnread(member.value);
    });
    for (PlanVariable::Member &member : variable.members)
      if (kept != variable.members.end() && isUnread(member.value))
        member.value = kept->value;
  }
  for (ConstantOp constant : llvm::make_early_inc_range(copy.getOps<ConstantOp>()))
    if (constant->use_empty())
      constant->erase();
}

/// Values of one name, and those of one kind.
void PlanSpace::addWeight(const std::string &name, Value value, Layers &layers) {
  auto kind = std::make_pair(shorts.size(), layers.kindOf(value));
  auto found = byName.find(name);
  size_t variable =
      found != byName.end() ? found->second : byKind.try_emplace(kind, list.size()).first->second;
  byKind.try_emplace(kind, variable);
  if (variable == list.size())
    list.emplace_back();
  byName[name] = variable;
  list[variable].members.push_back({name, value});
}

/// Dimensions by which products that read the weights can be cut.
void PlanSpace::addOptions(PlanVariable &variable, const Layers &layers) {
  SymTensorType type = typeOf(variable.members.front().value);
  for (const PlanVariable::Member &member : variable.members)
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      std::set<WeightDim> kinds;
      findKinds(layers, member.value, dim, kinds, variable.products);
      auto found = llvm::find_if(variable.options, [&](const PlanVariable::Option &option) {
        return option.dims.front() == dim;
      });
      if (kinds.empty() || found != variable.options.end())
        continue;
      bool isOutputs = kinds.count(WeightDim::Outputs), isSums = kinds.count(WeightDim::Sums);
      variable.options.push_back(
          {std::vector<std::optional<unsigned>>(variable.members.size(), dim),
           isOutputs == isSums ? WeightDim::Other
           : isOutputs         ? WeightDim::Outputs
                               : WeightDim::Sums,
           {}});
    }
  llvm::sort(variable.options, [](const auto &a, const auto &b) { return a.dims < b.dims; });
  addGathered(variable);
  llvm::sort(variable.products,
             [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  variable.products.erase(llvm::unique(variable.products), variable.products.end());
}

/// Parts of columns, which packed weights have behind each other, else of what else can be cut.
void PlanSpace::addGathered(PlanVariable &variable) {
  bool canBe = llvm::all_of(
      variable.members, [](const PlanVariable::Member &member) { return canGather(member.value); });
  if (!canBe || variable.options.empty())
    return;
  auto outputs = llvm::find_if(variable.options, [](const PlanVariable::Option &option) {
    return option.kind == WeightDim::Outputs;
  });
  PlanVariable::Option option =
      outputs == variable.options.end() ? variable.options.front() : *outputs;
  option.isGathered = true;
  variable.options.push_back(std::move(option));
}

/// Follows a dimension through what is known when compiling.
void PlanSpace::findKinds(const Layers &layers, Value value, unsigned dim,
                          std::set<WeightDim> &kinds, std::vector<Operation *> &products) const {
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    auto splits = dyn_cast<SplitOpInterface>(reader);
    if (!splits || reader->getBlock() != value.getParentBlock())
      continue;
    bool isMoved = layers.isConstant(reader->getResult(0));
    if (!isMoved && !isProduct(reader))
      continue;
    for (const Cut &cut : splits.cuts()) {
      const std::optional<Cut::Dim> &own = cut.operands[use.getOperandNumber()];
      if (!own || own->dim != dim)
        continue;
      if (isMoved && cut.results[0])
        findKinds(layers, reader->getResult(0), cut.results[0]->dim, kinds, products);
      if (isMoved)
        continue;
      kinds.insert(cut.partial ? WeightDim::Sums : WeightDim::Outputs);
      products.push_back(reader);
    }
  }
}

/// One variable: a size that all inputs are split along which have it.
void PlanSpace::addInputs() {
  PlanVariable variable;
  variable.members = inputs;
  std::vector<SymExpr> seen;
  for (const PlanVariable::Member &input : inputs)
    for (SymExpr size : typeOf(input.value).getDims())
      if (size.asConstant().value_or(2) >= 2 && !llvm::is_contained(seen, size) &&
          seen.size() < kMostInputSizes)
        seen.push_back(size);
  for (SymExpr size : seen) {
    PlanVariable::Option option;
    option.size = size;
    for (const PlanVariable::Member &input : inputs) {
      SmallVector<SymExpr> dims = typeOf(input.value).getDims();
      auto found = llvm::find(dims, size);
      bool isSplit = found != dims.end() && !isPacked(typeOf(input.value).getElementType());
      option.dims.push_back(isSplit ? std::optional<unsigned>(found - dims.begin()) : std::nullopt);
    }
    variable.options.push_back(std::move(option));
  }
  if (!variable.options.empty())
    list.push_back(std::move(variable));
}

//===-- Prices -----------------------------------------------------------------------------------===//

PlacementAttr PlanSpace::placementOf(const PlanChoice &choice, size_t variable,
                                     size_t member) const {
  MLIRContext *context = mesh.getContext();
  const PlanVariable &of = list[variable];
  SmallVector<SmallVector<Attribute>> dims(typeOf(of.members[member].value).getRank());
  bool isPlaced = false;
  for (unsigned axis = 0; axis < axes(); ++axis)
    if (int option = choice[at(variable, axis)]; option != kOpen)
      if (std::optional<unsigned> dim = of.options[option].dims[member]) {
        StringAttr name = mesh.getAxes()[axis];
        dims[*dim].push_back(of.options[option].isGathered ? gatheredAxis(name) : name);
        isPlaced = true;
      }
  SmallVector<ArrayAttr> arrays = llvm::map_to_vector(
      dims, [&](ArrayRef<Attribute> axes) { return ArrayAttr::get(context, axes); });
  return isPlaced ? PlacementAttr::get(context, arrays) : PlacementAttr();
}

std::vector<std::string> PlanSpace::placementsOf(const PlanChoice &choice) const {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i)
    for (auto [m, member] : llvm::enumerate(list[i].members))
      if (PlacementAttr placement = placementOf(choice, i, m);
          placement && seen.insert(member.name).second)
        texts.push_back(placementText(member.name, placement));
  return texts;
}

void PlanSpace::place(const PlanChoice &choice) {
  for (size_t i = 0; i < list.size(); ++i)
    for (auto [m, member] : llvm::enumerate(list[i].members))
      setPlacement(member.value, placementOf(choice, i, m));
}

static Price priceOfSplit(func::FuncOp function, const SymValues &sizes, const Links &links) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  splitOverMesh(*copy);
  return weft::priceOf(*copy, sizes, links);
}

const Price &PlanSpace::priceOf(const PlanChoice &choice) {
  auto [found, isNew] = known.try_emplace(choice);
  if (!isNew)
    return found->second;
  place(choice);
  operationsPriced += operationCount;
  for (auto [function, values] : llvm::zip_equal(shorts, sizes))
    found->second += priceOfSplit(*function, values, links);
  return found->second;
}

Price PlanSpace::priceOfAll(const PlanChoice &choice) {
  std::map<std::string, PlacementAttr> named;
  for (size_t i = 0; i < list.size(); ++i)
    for (auto [m, member] : llvm::enumerate(list[i].members))
      named[member.name] = placementOf(choice, i, m);
  Price price;
  for (auto [function, values] : llvm::zip_equal(functionsToSplit(module), sizes)) {
    OwningOpRef<func::FuncOp> copy = function.clone();
    for (Value value : placeable(*copy))
      if (PlacementAttr placement = named[nameOf(value)])
        setPlacement(value, placement);
    price += priceOfSplit(*copy, values, links);
  }
  return price;
}

bool PlanSpace::isCut(const PlanChoice &choice, size_t variable, unsigned axis) {
  place(choice);
  StringAttr name = mesh.getAxes()[axis];
  for (OwningOpRef<func::FuncOp> &function : shorts) {
    Assignment assignment(*function, name);
    if (llvm::any_of(list[variable].products,
                     [&](Operation *op) { return assignment.cutOf(op) != nullptr; }))
      return true;
  }
  return false;
}

} // namespace weft
