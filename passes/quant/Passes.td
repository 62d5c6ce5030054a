//===- Passes.td - Passes on quantised models and narrow numbers -------------------------------===//
#ifndef WEFT_PASSES_QUANT_TD
#define WEFT_PASSES_QUANT_TD

include "mlir/Pass/PassBase.td"

def MoveQuantisations : Pass<"weft-move-quantisations", "::mlir::func::FuncOp"> {
  let summary = "bytes are moved instead of what they are restored to";
  let description = [{
    `dequantize` goes behind views, concatenations of one scale, maxima and what ranks give each other; `quantize`, and other functions of
    single elements, go before views. Quantising what was dequantised by the same parameters is nothing.

    ```mlir
    %1 = weft.dequantize %x, %s, %z             %2 = weft.transpose %x [1, 0]
    %2 = weft.transpose %1 [1, 0]       ->      %1 = weft.dequantize %2, %s, %z
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def UnsignBytes : Pass<"weft-unsign-bytes", "::mlir::func::FuncOp"> {
  let summary = "signed bytes that products read become unsigned ones";
  let description = [{
    With a zero point that is 128 larger they stand for the same reals. For processors that multiply four bytes at once only where one of
    each two is unsigned. What is moved, or put together, with them changes, too; where anything but `dequantize` reads them, they stay.

    ```mlir
    %q = weft.quantize %x, %s, %z : … i8           %q = weft.quantize %x, %s, %u : … ui8      // %u is %z + 128
    %a = weft.dequantize %q, %s, %z         ->     %a = weft.dequantize %q, %s, %u
    ```
  }];
  let options = [Option<"wanted", "wanted", "bool", "true", "products of the target take unsigned rows in fewer steps">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def UseIntegers : Pass<"weft-use-integers", "::mlir::func::FuncOp"> {
  let summary = "contractions and convolutions of dequantised operands are computed with integers";
  let description = [{
    For 8-bit operands of which one is constant, or a part of a constant that a rank has, with one scale and zero point for the other. Ranks
    then add integers, so their sums are exact. With `shorts`, signed rows of 16 bits without zero points meet such a constant, too, where its
    bytes are so small that no sum takes more than 32 bits.

    ```mlir
    %a = weft.dequantize %p, %s, %z         %2 = weft.contract "m k, k n -> m n" %p, %q accumulate i32
    %b = weft.dequantize %q, %t, %zero  ->  %3 = weft.sub %2, %correction     // %z * the sums of %q's columns
    %1 = weft.contract … %a, %b             %4 = weft.convert %3 to f32
                                            %1 = weft.mul %4, %scales         // %s * %t
    ```
  }];
  let options = [Option<"shorts", "shorts", "bool", "false", "rows of 16 bits are multiplied by bytes in pairs">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def StoreParameters : Pass<"weft-store-parameters", "::mlir::func::FuncOp"> {
  let summary = "what integers are restored with becomes constants, read from memory";
  let description = [{
    Small values that depend on constants only are computed, filters of bytes that are multiplied by floats are floats, and scales and zero
    points of single numbers are parameters: layers that differ in them share their code.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FoldScales : Pass<"weft-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "quantisations divide by their scale while compiling";
  let description = [{
    Sums of products with constants, and of restored integers, take the division into their constants, and with it positive factors of channels
    that they are multiplied by behind an activation.

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

def TabulateBytes : Pass<"weft-tabulate-bytes", "::mlir::func::FuncOp"> {
  let summary = "functions of one byte become tables";
  let description = [{
    A byte that is computed element by element from one tensor of bytes and constant numbers is looked up among 256, which are computed by
    reference semantics. Not where that takes longer than the few operations that it saves.

    ```mlir
    %1 = weft.dequantize %x, %s, %z
    %2 = weft.activation sigmoid %1     ->     %3 = weft.look_up %x, %table
    %3 = weft.quantize %2, %t, %u
    ```
  }];
  let options = [Option<"atOnce", "at-once", "bool", "false", "vectors of bytes are looked up by instructions">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def BoundPairs : Pass<"weft-bound-pairs", "::mlir::func::FuncOp"> {
  let summary = "notes how many pairs of products of bytes fit 16 bits, whatever their operand";
  let description = [{
    `weft.pair_sums` on a `weft.contract` or `weft.conv` of bytes with a constant weight of signed bytes: so many pairs of products, one of
    each group of four that follows, are together a number of 16 bits, even where all that they are multiplied by is 255. 1, 2 or 4; it is
    removed from all others. For processors that multiply bytes in pairs whose sums saturate: they ask for this pass.

    ```mlir
    %1 = weft.contract … %x, %w …        ->        %1 = weft.contract … %x, %w … {weft.pair_sums = 2 : i64}
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def BoundNumbers : Pass<"weft-bound-numbers", "::mlir::func::FuncOp"> {
  let summary = "notes in how few bits the numbers of weights in blocks fit";
  let description = [{
    `weft.number_bits` on a `weft.dequantize_blocks` of a constant of unsigned bytes, all of which fit in 6 bits or in 5. It is removed from
    all others. Kernels then read no more bits.

    ```mlir
    %1 = weft.dequantize_blocks %w, …        ->        %1 = weft.dequantize_blocks %w, … {weft.number_bits = 6 : i64}
    ```
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

def RoundOperands : Pass<"weft-round-operands", "::mlir::func::FuncOp"> {
  let summary = "operands of products and convolutions of f32 are rounded to a float of 16 bits";
  let description = [{
    Sums stay f32, and so do results and all other operators. A value is rounded once, in front of views, where the kernel that computes it can
    store it so, and in front of exchanges that only such products read. Products with an operand that integers stand for, or without dimensions, are computed as before, and so are convolutions in
    groups, along three dimensions or of an odd number of channels: units multiply channels in pairs, and no schedule uses them there.

    ```mlir
                                                    %r = weft.convert %0 to bf16 …
    %1 = weft.transpose %0 [1, 0] …                 %1 = weft.transpose %r [1, 0] …
    %2 = weft.contract … %1, %w accumulate f32  ->  %2 = weft.contract … %1, %c accumulate f32     // %c = weft.convert %w to bf16
    ```
  }];
  let options = [Option<"element", "element", "std::string", "\"bf16\"", "bf16 or f16">,
                 ListOption<"keep", "keep", "std::string", "products and convolutions of nodes with such a name stay; `*` is any text, `?` any character">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def RoundStorage : Pass<"weft-round-storage", "::mlir::func::FuncOp"> {
  let summary = "values of f32 that kernels hand over in memory are rounded to a float of 16 bits";
  let description = [{
    The kernel that computes a value stores it rounded, and those that read it widen it as they load; what is computed and read in one kernel stays
    f32, and so do inputs, constants and results of the function, what a reduction leaves, masks made of conditions and positions,
    what a kept product or convolution reads, and what an operator of the host or one with loops of its own reads. Windows over such a value are computed of 16 bits, with their constants, and sums in f32.

    ```mlir
                                               %r = weft.convert %0 to bf16 …
                                               %w = weft.convert %r to f32 …
    %1 = weft.normalize %0 …                   %1 = weft.normalize %w …
    %2 = weft.convert %0 to bf16 …
    %3 = weft.contract … %2, %c            ->  %3 = weft.contract … %r, %c
    %4 = weft.add %3, %0                       %4 = weft.add %3, %w
    ```
  }];
  let options = [Option<"element", "element", "std::string", "\"bf16\"", "bf16 or f16">,
                 ListOption<"keep", "keep", "std::string", "what nodes with such a name read stays; `*` is any text, `?` any character">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def RoundCaches : Pass<"weft-round-caches", "::mlir::ModuleOp"> {
  let summary = "what a decoder keeps between calls is bytes, each row with a scale of its own, or halves";
  let description = [{
    Of every input of floats that an output extends. A row, which a head has for a position, is rounded when it comes; its scale lies in another input and
    output, which are the last ones and named after theirs. What is new is read rounded, too.

    ```mlir
    func @main(%past: [b, h, p, 64] f32)          func @main(%past: [b, h, p, 64] i8, %scales: [b, h, p, 1] f32)
    %1 = weft.concat %past, %new dim 2      ->    %1 = weft.concat %past, %q dim 2            // %q = quantize %new, %s
    return %1                                     %2 = weft.concat %scales, %s dim 2          // %s = largest |%new| of a row / 127
                                                  return %1, %2
    ```

    With `calls` it is the program that takes calls of the one and gives what calls of the other have instead.
  }];
  let options = [Option<"element", "element", "std::string", "\"i8\"", "i8, f16 or bf16">,
                 Option<"calls", "calls", "bool", "false", "the program that rounds what calls have">];
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

def BareWeights : Pass<"weft-bare-weights", "::mlir::ModuleOp"> {
  let summary = "what products and convolutions multiply with are constants, not views of them";
  let description = [{
    Of constants of f32: reshapes and slices of elements that follow each other become constants of their own, which lie in the same bytes, and
    products read in the order that a constant has.

    ```mlir
    %w = weft.transpose (weft.reshape %all …) [1, 0]           %w = weft.constant @"all[98304]"
    %y = weft.contract "m k, k n -> m n" %x, %w …        ->    %y = weft.contract "m k, n k -> m n" %x, %w …
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def ObserveEdges : Pass<"weft-observe-edges", "::mlir::func::FuncOp"> {
  let summary = "a function also returns what its products and convolutions read, as statistics";
  let description = [{
    Of every value that a product or convolution with a constant weight reads: least, largest and sum of squares of each channel, the number of
    rows, how many elements are no larger than each of the thresholds that are an input, and sums of squares of rows' largest magnitudes when
    channels are multiplied by sets of numbers that are an input.

    ```mlir
    return %y                ->        return %y, %least, %most, %squares, %rows, %counts, %peaks
    ```
  }];
  let options = [Option<"strengths", "strengths", "int64_t", "1", "how many sets of factors rows are measured with">,
                 Option<"mask", "mask", "std::string", "\"\"", "the input where whose elements are 0 nothing counts">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def ObserveMoments : Pass<"weft-observe-moments", "::mlir::func::FuncOp"> {
  let summary = "a function returns how channels of what its products read go along with each other";
  let description = [{
    Of each value that is named by its position among those that products and convolutions with a constant weight read: the sums over all rows
    of the product of every two channels. They are all that the function returns.

    ```mlir
                                      %moments = weft.contract "m k, m l -> k l" %0, %0 accumulate f32
    return %y                ->       return %moments
    ```
  }];
  let options = [ListOption<"edges", "edges", "int64_t", "which values, in the order in which they are first read">,
                 Option<"mask", "mask", "std::string", "\"\"", "the input where whose elements are 0 nothing counts">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def SimulateChoices : Pass<"weft-simulate-choices", "::mlir::ModuleOp"> {
  let summary = "layers compute any of their choices, as an input says";
  let description = [{
    Scales and zero points of static choices are inputs, too. One compiled program answers for every strategy. Reads of tables with
    `weft.bytes` are of f32 or of bytes in the same way.

    ```mlir
                                                   %1 = weft.if %plain … {
                                                     %2 = weft.contract … %0, %w
    %1 = weft.contract … %0, %w                      weft.yield %2
           {weft.choices = [ {rows} ]}       ->    } else {
                                                     %3 = weft.contract … (dequantize %q, …), (dequantize %bytes, …)
                                                     weft.yield %3
                                                   }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def RealiseChoices : Pass<"weft-realise-choices", "::mlir::ModuleOp"> {
  let summary = "layers become what was chosen for them";
  let description = [{
    A choice is a static scale with its zero point, or rows with scales of their own, or a weight in blocks of 4 bits (`{blocks}`) and an input
    that stays, rounded to nearest unless `numbers`, `scales` and `zeros` say what it was rounded to, or both in bf16 (`{half}`); channels may be divided by factors before, which the weight takes over. A table with `weft.bytes = 1` is stored as bytes with a scale for every row, which are restored where they are read.

    ```mlir
                                                      %q = weft.quantize %0, %s, %z
    %1 = weft.contract … %0, %w {weft.choices =       %a = weft.dequantize %q, %s, %z
      [ {scale = 1.0, zero = 3} ], weft.chosen = 1} ->  %b = weft.dequantize %bytes, %t, %zero
                                                      %1 = weft.contract … %a, %b
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif
