//===- Passes.td - Passes that make kernels and change them ------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_TD
#define WEFT_PASSES_KERNEL_TD

include "mlir/Pass/PassBase.td"

def DecomposeComposites : Pass<"weft-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "writes softmaxes and normalisations that no schedule takes with smaller operators";
  let description = [{
    ```mlir
    %1 = weft.softmax %0          ->        %1 = weft.reduce max %0 [1]; %2 = weft.reshape %1 to [m, 1]
                                            %3 = weft.sub %0, %2; %4 = weft.exp %3
                                            %5 = weft.reduce sum %4 [1]; %6 = weft.reshape %5 to [m, 1]
                                            %7 = weft.div %4, %6
    ```

    Elements narrower than f32 are computed in f32. In `weft-opt`, where no target can be asked, all are rewritten.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"decomposed", "decomposed", "operators written with smaller ones">];
}

def FormKernels : Pass<"weft-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "groups operators that share one pass over memory";
  let description = [{
    Afterwards a function consists of constants, reshapes of values in memory, and kernels.

    ```mlir
    %0 = weft.add %a, %b                  %1 = weft.kernel "loop"(%a, %b) … {
    %1 = weft.mul %0, %c          ->        %2 = weft.add … ; %3 = weft.mul … ; weft.yield %3 }
    ```

    Softmax between two contractions becomes one kernel where the target takes it: it is asked for each. In `weft-opt`, where no target
    can be asked, all are taken; `--weft-fuse` asks one.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "whether kernels say why their inputs are not computed in them">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def CollapseDims : Pass<"weft-collapse-dims", "::mlir::func::FuncOp"> {
  let summary = "merges neighbouring dimensions that every value of a kernel walks alike";
  let description = [{
    A kernel on `[b, s, 384]` and `[384]` becomes one on `[b*s, 384]` and `[384]`; reshapes around it cost nothing.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def CollapseReductions : Pass<"weft-collapse-reductions", "::mlir::func::FuncOp"> {
  let summary = "merges neighbouring dimensions that a kernel reduces together";
  let description = [{
    A kernel on `[n, c, h, w]` that reduces `[2, 3]` becomes one on `[n, c, h*w]` that reduces `[2]`, where all values in front of the reduction
    walk the two alike; reshapes around it cost nothing.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif
