//===- Passes.td - All passes -------------------------------------------------------------------===//
#ifndef WEFT_PASSES_TD
#define WEFT_PASSES_TD

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
  let options = [Option<"attention", "attention", "bool", "true", "whether softmax between two contractions becomes one kernel">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def UseIntegers : Pass<"weft-use-integers", "::mlir::func::FuncOp"> {
  let summary = "contractions and convolutions of dequantised operands are computed with integers";
  let description = [{
    For 8-bit operands of which one is constant, with one scale and zero point for the other:

    ```mlir
    %a = weft.dequantize %p, %s, %z         %2 = weft.contract "m k, k n -> m n" %p, %q accumulate i32
    %b = weft.dequantize %q, %t, %zero  ->  %3 = weft.sub %2, %correction     // %z * the sums of %q's columns
    %1 = weft.contract … %a, %b             %4 = weft.convert %3 to f32
                                            %1 = weft.mul %4, %scales         // %s * %t
    ```
  }];
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
