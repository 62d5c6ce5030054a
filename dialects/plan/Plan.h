//===- Plan.h - The dialect of what the host does between kernels ----------------------------------===//
//
//   for (plan::FuncOp function : module.getOps<plan::FuncOp>())
//     function.walk([](plan::LaunchOp launch) { … launch.reads() … });
//
// A buffer is an SSA value of one address: what writes through another value is independent of it. plan.part makes another value of
// memory that is written by itself.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_PLAN_PLAN_H
#define WEFT_DIALECTS_PLAN_PLAN_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "dialects/plan/PlanDialect.h.inc"
#include "dialects/plan/PlanEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.h.inc"

#include "dialects/plan/PlanInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.h.inc"

namespace weft::plan {

/// Name of the module's attribute that says which target the host's program is compiled for. Kernels name their own.
constexpr llvm::StringLiteral kTargetAttr = "plan.target";
/// Of an exchange beside products: nanoseconds of both one after the other, and together.
constexpr llvm::StringLiteral kPricesAttr = "plan.prices";

/// Exchanges of a function that are on their way beside launches, at most: as many as transports have room for.
constexpr unsigned kMostBeside = 8;

/// Whether the module's functions are planned.
bool isPlan(mlir::ModuleOp module);

} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_PLAN_H
