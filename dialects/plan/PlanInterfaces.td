//===- PlanInterfaces.td - What passes ask of the plan's operations ---------------------------------===//
#ifndef WEFT_PLAN_INTERFACES_TD
#define WEFT_PLAN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Plan_AccessInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    Which memory an operation reads and writes while it runs. Operations that only name memory (`plan.input`, `plan.part`, …) do not
    have it.
  }];
  let methods = [
    InterfaceMethod<"Buffers that it reads.", "::llvm::SmallVector<::mlir::Value>", "reads", (ins), "", "return {};">,
    InterfaceMethod<"Buffers that it writes.", "::llvm::SmallVector<::mlir::Value>", "writes", (ins), "", "return {};">
  ];
}

#endif
