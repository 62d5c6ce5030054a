//===- WeftDialect.cpp - Registration, inlining, and the scope of symbols ----------------------===//

#include "dialects/weft/Aliases.h"
#include "dialects/weft/Mesh.h"
#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Random.h"
#include "dialects/weft/ops/Rounding.h"
#include "dialects/weft/ranks/Together.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

#include "dialects/weft/WeftDialect.cpp.inc"
#include "dialects/weft/WeftInterfaces.cpp.inc"

namespace weft {
namespace {

struct WeftInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

/// Walks a function and knows the symbols in scope: those of the signature, and bound ones behind or inside what binds them.
class ScopeCheck {
public:
  explicit ScopeCheck(SymbolsAttr symbols) : symbols(symbols) {
    for (StringAttr name : symbols.getNames())
      known.insert(name);
  }

  LogicalResult checkBlock(Block &block) {
    for (Operation &op : block)
      if (failed(checkOperation(op)))
        return failure();
    return success();
  }

  LogicalResult checkType(Operation *op, Type type) {
    auto tensor = dyn_cast<SymTensorType>(type);
    if (!tensor)
      return success();
    auto emitError = [&] { return op->emitError() << "gives a value of type " << type << ": "; };
    if (failed(verifyDims(emitError, tensor)))
      return failure();
    return llvm::success(
        llvm::all_of(tensor.getDims(), [&](SymExpr dim) { return succeeded(checkExpr(op, dim)); }));
  }

private:
  LogicalResult checkExpr(Operation *op, SymExpr expr) {
    for (StringAttr name : expr.symbols()) {
      if (known.contains(name))
        continue;
      if (llvm::is_contained(symbols.getBoundNames(), name))
        return op->emitError() << "symbol '" << name.getValue() << "' has no value here";
      return op->emitError() << "symbol '" << name.getValue()
                             << "' is not declared by 'weft.symbols' of the function";
    }
    return success();
  }

  LogicalResult bind(Operation *op, ArrayRef<StringAttr> names) {
    for (StringAttr name : names) {
      if (!llvm::is_contained(symbols.getBoundNames(), name))
        return op->emitError() << "binds '" << name.getValue()
                               << "', which 'weft.symbols' of the function does not list as bound";
      auto [first, isNew] = bound.try_emplace(name, op);
      if (!isNew) {
        InFlightDiagnostic error = op->emitError()
                                   << "binds '" << name.getValue() << "' a second time";
        error.attachNote(first->second->getLoc()) << "it is bound here";
        return error;
      }
      known.insert(name);
    }
    return success();
  }

  LogicalResult checkOperation(Operation &op) {
    for (NamedAttribute attribute : op.getAttrs())
      if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
        for (SymExpr expr : dims.getDims())
          if (failed(checkExpr(&op, expr)))
            return failure();
    auto host = dyn_cast<HostOpInterface>(op);
    llvm::DenseSet<StringAttr> before = known;
    if (host && failed(bind(&op, host.symbolsInside())))
      return failure();
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        llvm::DenseSet<StringAttr> entered = known;
        for (BlockArgument argument : block.getArguments())
          if (failed(checkType(&op, argument.getType())))
            return failure();
        if (failed(checkBlock(block)))
          return failure();
        known = entered;
      }
    known = before;
    if (host && failed(bind(&op, host.symbolsAfter())))
      return failure();
    for (Type type : op.getResultTypes())
      if (failed(checkType(&op, type)))
        return failure();
    return success();
  }

  SymbolsAttr symbols;
  llvm::DenseSet<StringAttr> known;
  llvm::DenseMap<StringAttr, Operation *> bound; ///< and what binds it
};

} // namespace

void WeftDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/weft/WeftOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/weft/CollectiveOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/weft/QuantizeOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/weft/RandomOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/weft/RoundingOps.cpp.inc"
      >();
  addInterfaces<WeftInliner>();
  registerTogether(getContext());
}

/// Every symbol in a type inside the function is declared; facts speak of declared symbols only.
LogicalResult WeftDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kInPlaceAttr && !isa<ConcatOp>(op))
    return op->emitError() << "'" << kInPlaceAttr << "' marks a concatenation of three";
  if (attribute.getName() == kMeshAttr)
    return verifyMesh(op, attribute.getValue());
  if (attribute.getName() == kSplitOverAttr)
    return verifySplitOver(op, attribute.getValue());
  if (attribute.getName() == kPlacementAttr)
    return verifyPlacement(op, op->getNumResults() ? op->getResult(0).getType() : Type(),
                           attribute.getValue());
  if (attribute.getName() != kSymbolsAttr)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto symbols = dyn_cast<SymbolsAttr>(attribute.getValue());
  if (!function || !symbols)
    return op->emitError()
           << "'weft.symbols' is an attribute of functions and holds #weft.symbols<...>";
  llvm::DenseSet<StringAttr> known;
  for (ArrayRef<StringAttr> names : {symbols.getNames(), symbols.getBoundNames()})
    for (StringAttr name : names)
      if (!known.insert(name).second)
        return op->emitError() << "symbol '" << name.getValue() << "' is declared twice";
  for (const SymPred &fact : symbols.getFacts())
    for (StringAttr name : fact.symbols())
      if (!known.contains(name))
        return op->emitError() << "fact '" << fact.str() << "' speaks of '" << name.getValue()
                               << "', which is not declared";
  ScopeCheck scope(symbols);
  for (Type type : function.getArgumentTypes())
    if (failed(scope.checkType(op, type)))
      return failure();
  for (Block &block : function.getFunctionBody())
    if (failed(scope.checkBlock(block)))
      return failure();
  return success();
}

LogicalResult WeftDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kPlacementAttr)
    return verifyPlacement(op, cast<FunctionOpInterface>(op).getArgumentTypes()[argument],
                           attribute.getValue());
  if (attribute.getName() == kWholeAttr)
    return verifyWhole(op, cast<FunctionOpInterface>(op).getArgumentTypes()[argument],
                       cast<FunctionOpInterface>(op).getArgAttrDict(argument));
  return attribute.getName() == kViewAttr ? verifyView(op, argument) : success();
}

LogicalResult WeftDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                       NamedAttribute attribute) {
  auto function = cast<FunctionOpInterface>(op);
  if (attribute.getName() == kPlacementAttr)
    return verifyPlacement(op, function.getResultTypes()[result], attribute.getValue());
  if (attribute.getName() == kWholeAttr)
    return verifyWhole(op, function.getResultTypes()[result], function.getResultAttrDict(result));
  return attribute.getName() == kAliasesAttr ? verifyAliases(op, result) : success();
}

} // namespace weft
