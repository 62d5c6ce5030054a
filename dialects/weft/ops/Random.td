//===- Random.td - Numbers that look random ------------------------------------------------------===//
#ifndef WEFT_OPS_RANDOM_TD
#define WEFT_OPS_RANDOM_TD

include "dialects/weft/ops/Base.td"

def Weft_RandomUniformOp : Weft_Op<"random_uniform", [Pure, Weft_Reference,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind", "emitSerial", "serialScratch"]>]> {
  let summary = "numbers that look drawn from [0, 1), and follow from a seed";
  let description = [{
    The elements in row-major order are the numbers that the generator MT19937 gives after `init_genrand(seed mod 2^32)`, each made of 53
    random bits of two words: `(a >> 5, b >> 6)` (Matsumoto and Nishimura 1998; what `numpy.random.RandomState(seed).random_sample` gives).
    Equal seeds give equal numbers, on every machine: a program stays a function of its inputs, and whoever wants other numbers per call
    makes the seed an input. A number of a longer tensor follows from all before it, so one thread draws them.

    (R1) `seed` is one `i64`.
    (R2) The elements are `f64`.

    ```mlir
    %u = weft.random_uniform %seed : (!weft.tensor<[], i64>) -> !weft.tensor<[b, 10], f64>
    ```
  }];
  let arguments = (ins Weft_Tensor:$seed);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$seed attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
