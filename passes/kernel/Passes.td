//===- Passes.td - Passes that make kernels and change them ------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_TD
#define WEFT_PASSES_KERNEL_TD

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"weft-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "groups operators that share one pass over memory";
  let description = [{
    Afterwards a function consists of constants, reshapes of values in memory, and kernels.

    ```mlir
    %0 = weft.add %a, %b                  %1 = weft.kernel "loop"(%a, %b) … {
    %1 = weft.mul %0, %c          ->        %2 = weft.add … ; %3 = weft.mul … ; weft.yield %3 }
    ```
  }];
  let options = [Option<"attention", "attention", "bool", "true", "whether softmax between two contractions becomes one kernel">,
                 Option<"explain", "explain", "bool", "false", "whether kernels say why their inputs are not computed in them">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def CollapseDims : Pass<"weft-collapse-dims", "::mlir::func::FuncOp"> {
  let summary = "merges neighbouring dimensions that every value of a kernel walks alike";
  let description = [{
    A kernel on `[b, s, 384]` and `[384]` becomes one on `[b*s, 384]` and `[384]`; reshapes around it cost nothing.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif
