//===- WeftDialect.cpp - Registration, inlining, and the scope of symbols ----------------------===//

#include "dialects/weft/Weft.h"
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

/// Reports the first symbol in `type` that `known` lacks.
LogicalResult checkScope(Operation *op, Type type, const llvm::DenseSet<StringAttr> &known) {
  auto tensor = dyn_cast<SymTensorType>(type);
  if (!tensor)
    return success();
  if (std::string why = refuseDims(tensor); !why.empty())
    return op->emitError() << "gives a value of type " << type << ": " << why;
  for (SymExpr dim : tensor.getDims())
    for (StringAttr name : dim.symbols())
      if (!known.contains(name))
        return op->emitError() << "symbol '" << name.getValue() << "' is not declared by 'weft.symbols' of the function";
  return success();
}

} // namespace

void WeftDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/weft/WeftOps.cpp.inc"
      >();
  addInterfaces<WeftInliner>();
}

/// Every symbol in a type inside the function is declared; facts speak of declared symbols only.
LogicalResult WeftDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kSymbolsAttr)
    return success();
  auto function = dyn_cast<func::FuncOp>(op);
  auto symbols = dyn_cast<SymbolsAttr>(attribute.getValue());
  if (!function || !symbols)
    return op->emitError() << "'weft.symbols' is an attribute of functions and holds #weft.symbols<...>";
  llvm::DenseSet<StringAttr> known;
  for (StringAttr name : symbols.getNames())
    if (!known.insert(name).second)
      return op->emitError() << "symbol '" << name.getValue() << "' is declared twice";
  for (const SymPred &fact : symbols.getFacts())
    for (StringAttr name : fact.symbols())
      if (!known.contains(name))
        return op->emitError() << "fact '" << fact.str() << "' speaks of '" << name.getValue() << "', which is not declared";
  for (Type type : function.getArgumentTypes())
    if (failed(checkScope(op, type, known)))
      return failure();
  WalkResult result = function.walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      if (failed(checkScope(inner, type, known)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace weft
