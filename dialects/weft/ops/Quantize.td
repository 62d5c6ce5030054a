//===- Quantize.td - Integers that stand for reals ----------------------------------------------===//
#ifndef WEFT_OPS_QUANTIZE_TD
#define WEFT_OPS_QUANTIZE_TD

include "dialects/weft/ops/Base.td"

/// Scale and zero point lie beside the data: one for all, or one per index of some of its dimensions.
class Weft_Quantization<string mnemonic, list<string> element>
    : Weft_PureOp<mnemonic, [Weft_RuleInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar"] # element>,
                             Weft_ReferenceInterface]> {
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$scale, Weft_Tensor:$zero);
}

def Weft_QuantizeOp : Weft_Quantization<"quantize", []> {
  let summary = "the integer that stands for a real";
  let description = [{
    Rule: `..., ..., ... -> ...`. `round(x / scale) + zero`, ties to even, saturated to the type of `zero`; nan gives the least value.

    (R1) Elements and scales are f32, zero points and results integers of at most 16 bits.
    (R2) Per dimension, operands agree or are the literal 1.

    ```mlir
    %q = weft.quantize %x, %s, %z : (!weft.tensor<[m, 384], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 384], ui8>
    ```
  }];
  let extraClassDeclaration = [{
    std::string ruleText() { return "..., ..., ... -> ..."; }
    int64_t scalarCost() { return 4; }
  }];
}

def Weft_DequantizeOp : Weft_Quantization<"dequantize", ["rootKind"]> {
  let summary = "the real that an integer stands for";
  let description = [{
    Rule: `..., ..., ... -> ...`. `(x - zero) * scale`. A contraction or convolution of two dequantised operands, of which one is constant, is
    computed with integers (`--weft-use-integers`).

    (R1) Elements and zero points have one integer type, scales and results are f32.
    (R2) Per dimension, operands agree or are the literal 1.

    ```mlir
    %x = weft.dequantize %q, %s, %z : (!weft.tensor<[m, 384], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 384], f32>
    ```
  }];
  let extraClassDeclaration = [{
    std::string ruleText() { return "..., ..., ... -> ..."; }
    int64_t scalarCost() { return 2; }
  }];
}

def Weft_FakeQuantizeOp : Weft_PureOp<"fake_quantize", [Weft_RuleInterface, Weft_ReferenceInterface,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar"]>]> {
  let summary = "a real rounded to those that integers stand for";
  let description = [{
    Rule: `..., ..., ..., ... -> ...`. `(quantize(input, scale, zero) - zero) * step`; `step` is `scale`, or what the result is measured in.
    In a kernel, this is what remains of `quantize` followed by `dequantize`.

    (R1) Elements, scales and steps are f32, zero points integers of at most 16 bits.
    (R2) Per dimension, operands agree or are the literal 1.

    ```mlir
    %y = weft.fake_quantize %x, %s, %z, %s : (!weft.tensor<[m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>, !weft.tensor<[], f32>)
       -> !weft.tensor<[m], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$scale, Weft_Tensor:$zero, Weft_Tensor:$step);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    std::string ruleText() { return "..., ..., ..., ... -> ..."; }
    int64_t scalarCost() { return 6; }
  }];
}

def Weft_LookUpOp : Weft_PureOp<"look_up", [Weft_RuleInterface, Weft_Reference,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>]> {
  let summary = "what a table has for each byte";
  let description = [{
    Rule: `..., 1 -> ...`. `table[x]`; bytes below zero count from the end, so that the bits of a byte are its place. Any function of one byte is
    such a table (`--weft-tabulate-bytes`).

    (R1) Elements of both are integers of 8 bits.
    (R2) The table has the dimensions `[256]`.

    ```mlir
    %y = weft.look_up %x, %t : (!weft.tensor<[m, n], ui8>, !weft.tensor<[256], i8>) -> !weft.tensor<[m, n], i8>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$table);
  let extraClassDeclaration = [{
    static constexpr int64_t kEntries = 256;
    std::string ruleText() { return "..., 1 -> ..."; }
    int64_t scalarCost() { return 2; }
  }];
}

#endif
