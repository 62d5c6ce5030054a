//===- Passes.td - All passes -------------------------------------------------------------------===//
#ifndef WEFT_PASSES_TD
#define WEFT_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldMoves : Pass<"weft-fold-moves", "::mlir::func::FuncOp"> {
  let summary = "products read and write in the order that is wanted";
  let description = [{
    Transposes around a product become the order of its rule's dimensions; scaling between a product and a move is done before the move.

    ```mlir
    %1 = weft.contract "b h m k, b h k n -> b h m n" %x, %y …
    %2 = weft.transpose %1 [0, 2, 1, 3]             ->        %2 = weft.contract "d0 d1 d2 d3, d0 d1 d3 d4 -> d0 d2 d1 d4" %x, %y …
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def GrowInPlace : Pass<"weft-grow-in-place", "::mlir::ModuleOp"> {
  let summary = "outputs that extend an input lie in its memory";
  let description = [{
    The input becomes a buffer with room, of which callers see the beginning; only what is new is written. `inputs` names the ones
    to take; without it, all that an output extends along another dimension than the first.

    ```mlir
    func @main(%past: [b, p, 64], …)                  func @main(%buffer: [b, room, 64], …)
    %1 = weft.concat %past, %new dim 1          ->    %1 = weft.concat %past, %new, %rest dim 1 {weft.in_place}
    return %1                                         return %1                       // %past, %rest: slices of %buffer
    ```
  }];
  let options = [ListOption<"inputs", "inputs", "std::string", "names of inputs; all that can when there is none">];
  let dependentDialects = ["::weft::WeftDialect"];
}

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

def ChannelsLast : Pass<"weft-channels-last", "::mlir::func::FuncOp"> {
  let summary = "convolutions and what follows them have channels as the last dimension";
  let description = [{
    Filters of one pixel become contractions. Transposes remain where a chain of such operators begins and ends. Convolutions of
    integers are always moved, those of floats when a function has only convolutions that can be, and at least four for every transpose
    that remains.

    ```mlir
    %1 = weft.conv %x, %w … accumulate i32         %0 = weft.transpose %x [0, 2, 3, 1]
    %2 = weft.quantize %1, …                 ->    %1 = weft.conv %0, %w … accumulate i32 {channels_last}
                                                   %2 = weft.transpose (weft.quantize %1, …) [0, 3, 1, 2]
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FoldScales : Pass<"weft-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "quantisations divide by their scale while compiling";
  let description = [{
    Sums of products with constants, and of restored integers, take the division into their constants.

    ```mlir
    %2 = weft.mul %1, %scales                     %3 = weft.multiply_add %1, %scales_s, %bias_s     // constants / %s
    %3 = weft.add %2, %bias             ->        %4 = weft.quantize %3, %one, %z
    %4 = weft.quantize %3, %s, %z
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FuseRounding : Pass<"weft-fuse-rounding", "::mlir::func::FuncOp"> {
  let summary = "what a kernel quantises and dequantises does not become an integer";
  let description = [{
    `dequantize` of `quantize` with one zero point becomes `fake_quantize` inside a kernel.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def BoundSums : Pass<"weft-bound-sums", "::mlir::func::FuncOp"> {
  let summary = "notes which convolutions of bytes have small sums, whatever their operand";
  let description = [{
    `weft.narrow_sums` on a `weft.conv` with a constant filter: no result takes more than 26 bits. It is removed from all others.

    ```mlir
    %1 = weft.conv %x, %f …        ->        %1 = weft.conv %x, %f … {weft.narrow_sums}
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

def NarrowWeights : Pass<"weft-narrow-weights", "::mlir::func::FuncOp"> {
  let summary = "rounds constant matrices of products to a float of 16 bits";
  let description = [{
    The schedule of the product then stores them as such; sums are computed as before.

    ```mlir
                                        %0 = weft.convert %w to bf16 …
    %2 = weft.contract … %x, %w    ->   %1 = weft.convert %0 to f32 …
                                        %2 = weft.contract … %x, %1
    ```
  }];
  let options = [Option<"element", "element", "std::string", "\"bf16\"", "bf16 or f16">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def RoundActivations : Pass<"weft-round-activations", "::mlir::func::FuncOp"> {
  let summary = "rows that are multiplied by weights with a scale per block are rounded to bytes";
  let description = [{
    The schedule of the product then sums in integers where the processor has products of bytes.

    ```mlir
    %1 = weft.dequantize_blocks %q, %s axis 0 block 32 …      %1 = weft.dequantize_blocks …
    %2 = weft.contract "m k, k n -> m n" %x, %1          ->   %r = weft.round_blocks %x block 32 …
                                                              %2 = weft.contract "m k, k n -> m n" %r, %1
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif
