//===- Passes.td - Passes on the program of operators ------------------------------------------===//
#ifndef WEFT_PASSES_GRAPH_TD
#define WEFT_PASSES_GRAPH_TD

include "mlir/Pass/PassBase.td"

def RequireSizes : Pass<"weft-require-sizes", "::mlir::func::FuncOp"> {
  let summary = "sizes that could be below zero become facts, which calls check";
  let description = [{
    Of what is written by hand, such as padding with fewer elements than there are: operators do not ask for it themselves.

    ```mlir
    func @f(%x: [n]) … symbols<n>                   ->  func @f(%x: [n]) … symbols<n : "1 <= n">
      %1 = weft.pad %x … low [0] high [-1]                %1 = weft.pad %x … low [0] high [-1]
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FoldConstants : Pass<"weft-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "what follows from constants alone is computed once";
  let description = [{
    When it takes no more memory than the constants it comes from, or is a small table. Views and what integers stand for stay as they are,
    and so does what comes from numbers and positions only: kernels compute that where they read it.

    ```mlir
    %1 = weft.mul %v, %v …                       // %v, %g: constants
    %2 = weft.reduce sum %1 [1] …          ->    %w = weft.constant …
    %w = weft.mul %v, (weft.div %g, %2) …
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def ConvolvePhases : Pass<"weft-convolve-phases", "::mlir::func::FuncOp"> {
  let summary = "transposed convolutions by constant filters become convolutions";
  let description = [{
    Every place of a result gets the products of some taps, which ones repeats with the stride: so there are `stride` filters for each, and
    views put what they give in its place. What follows point by point is computed before. Filters of integers stay such.

    ```mlir
    %y = weft.conv_transpose %x, %w strides [2] low [1] high [1] …        // [b, c, n], [c, o, 4] -> [b, o, 2*n]
    ->
    %1 = weft.conv %x, %v strides [1] low [1] high [1] …                  // [b, c, n], [2*o, c, 2] -> [b, 2*o, n + 1]
    %2 = weft.reshape %1 to [b, 1, 2, o, n + 1]
    %3 = weft.transpose %2 [0, 1, 3, 4, 2]
    %4 = weft.reshape %3 to [b, o, 2*n + 2]
    %y = weft.slice %4 from [0, 0, 1] size [b, o, 2*n] …
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FlattenProducts : Pass<"weft-flatten-products", "::mlir::func::FuncOp"> {
  let summary = "products with a constant are of rows and a matrix";
  let description = [{
    Where the summed dimensions are the last of the rows and what the weight gives is the last of the result; moves stand behind. An access
    `1` goes, and a transpose of dimensions of 1 is a reshape.

    ```mlir
    %0 = weft.transpose %x [1, 0, 2]                                    %1 = weft.contract "... k, k n -> ... n" %x, %w …
    %1 = weft.contract "a b k, k n -> a b n" %0, %w …           ->      %2 = weft.transpose %1 [1, 0, 2]
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FoldMoves : Pass<"weft-fold-moves", "::mlir::func::FuncOp"> {
  let summary = "products read and write in the order that is wanted";
  let description = [{
    Transposes around a product become the order of its rule's dimensions; scaling between a product and a move is done before the move. A
    constant is reshaped before it is converted.

    ```mlir
    %1 = weft.contract "b h m k, b h k n -> b h m n" %x, %y …
    %2 = weft.transpose %1 [0, 2, 1, 3]             ->        %2 = weft.contract "d0 d1 d2 d3, d0 d1 d3 d4 -> d0 d2 d1 d4" %x, %y …
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def ScatterRows : Pass<"weft-scatter-rows", "::mlir::func::FuncOp"> {
  let summary = "positions of rows are read once, and rows move whole";
  let description = [{
    Elements scattered along the first axis by positions that were copied along rows.

    ```mlir
    %1 = weft.expand %i to [n, 64]
    %2 = weft.scatter_elements add %x, %1, %u axis 0       ->      %2 = weft.scatter_nd add %x, %i, %u
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

def NestConcats : Pass<"weft-nest-concats", "::mlir::func::FuncOp"> {
  let summary = "long concatenations become concatenations of shorter ones";
  let description = [{
    A call of a kernel hands over 64 tensors and sizes at most.

    ```mlir
    %100 = weft.concat %0, … %99 dim 0    ->    %100 = weft.concat %0, … %31 dim 0     // and %101, %102, %103
                                                %104 = weft.concat %100, %101, %102, %103 dim 0
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def CheckPositions : Pass<"weft-check-positions", "::mlir::func::FuncOp"> {
  let summary = "positions from data are checked, unless nothing can be outside";
  let description = [{
    What is known before the call is compared now. Checks stand where groups of operators begin or end, so that no kernel is cut: kernels
    are safe without. With `outside` set to `clamped` or `unchecked`, operators get that instead of checks.

    ```mlir
                                              weft.check_positions %ids sizes [30522]
    %1 = weft.gather %table, %ids axis 0  ->  %1 = weft.gather %table, %ids axis 0
    ```
  }];
  let options = [Option<"outside", "outside", "::weft::Outside", "::weft::Outside::Refused", "what positions outside do", [{::llvm::cl::values(
    clEnumValN(::weft::Outside::Refused, "refused", "the call ends"), clEnumValN(::weft::Outside::Clamped, "clamped", "they become the nearest inside"),
    clEnumValN(::weft::Outside::Unchecked, "unchecked", "any memory may be read and written"))}]>];
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

#endif
