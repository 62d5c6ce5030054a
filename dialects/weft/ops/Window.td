//===- Window.td - Sums and maxima over moving windows ------------------------------------------===//
#ifndef WEFT_OPS_WINDOW_TD
#define WEFT_OPS_WINDOW_TD

include "dialects/weft/ops/Base.td"

/// Attributes that all convolutions share: one entry per spatial dimension.
class Weft_Convolution<string mnemonic, list<Trait> traits>
    : Weft_PureOp<mnemonic, [Weft_Rule, Weft_ReferenceInterface] # traits> {
  dag convolutionArguments = (ins Weft_Tensor:$input, Weft_Tensor:$filter, DenseI64ArrayAttr:$strides,
                              DenseI64ArrayAttr:$dilations, Weft_DimsAttr:$low, Weft_DimsAttr:$high,
                              I64Attr:$groups, TypeAttr:$accumulate);
  let assemblyFormat = [{
    $input `,` $filter `strides` $strides `dilations` $dilations `low` custom<DimList>($low)
    `high` custom<DimList>($high) `groups` $groups `accumulate` $accumulate attr-dict `:`
    functional-type(operands, results)
  }];
}

def Weft_ConvOp : Weft_Convolution<"conv", [
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar", "rootKind"]>]> {
  let summary = "a filter moved over the trailing dimensions";
  let description = [{
    Rule in two dimensions: `n (g c) s*p+d*x-low t*q+e*y-top, (g o) c x y -> n (g o) p q` with strides s, t and dilations d, e.
    The operand is surrounded by `low` and `high` zeros per dimension (negative amounts crop); group g of the filters sees group g
    of the channels. A result dimension is `floordiv(h + low + high - d*(x - 1) - 1, s) + 1`.
    With `channels_last`, channels of the operand and filters of the result are the last dimension instead of the second; the filter
    stays as it is.

    (R1) Both operands have the same rank, 3 to 5; strides, dilations, low and high have an entry for each spatial dimension.
    (R2) Both operands have the same element type, or are 8-bit integers.
    (R3) Products and sums are computed in `accumulate`, which is also the result's element type.
    (R4) `groups` divides the filters, and the operand has `groups` times the channels of a filter.
    (R5) Strides and dilations are positive.

    ```mlir
    %y = weft.conv %x, %w strides [2, 2] dilations [1, 1] low [3, 3] high [3, 3] groups 1 accumulate f32
       : (!weft.tensor<[b, 3, 224, 224], f32>, !weft.tensor<[64, 3, 7, 7], f32>) -> !weft.tensor<[b, 64, 112, 112], f32>
    ```
  }];
  let arguments = !con(convolutionArguments, (ins UnitAttr:$channels_last));
  let extraClassDeclaration = "int64_t scalarCost() { return 2; }";
}

def Weft_ConvTransposeOp : Weft_Convolution<"conv_transpose", [
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>]> {
  let summary = "the transpose of a convolution: every element adds its multiple of the filter";
  let description = [{
    Rule in two dimensions: `n (g c) p q, (g c) o x y -> n (g o) s*p+d*x-low t*q+e*y-top`: windows lie on the result's side and
    overlap. `low` and `high` elements are cut off per dimension; a negative `high` adds zeros at the end (ONNX `output_padding`).
    A result dimension is `(h - 1)*s + d*(x - 1) + 1 - low - high`.

    (R1) to (R3) and (R5) as in `conv`.
    (R4) `groups` divides the channels, and the filter has as many as the operand.

    ```mlir
    %y = weft.conv_transpose %x, %w strides [2] dilations [1] low [1] high [0] groups 1 accumulate f32
       : (!weft.tensor<[b, 3, n], f32>, !weft.tensor<[3, 8, 3], f32>) -> !weft.tensor<[b, 8, 2*n], f32>
    ```
  }];
  let arguments = convolutionArguments;
  let extraClassDeclaration = [{
    int64_t scalarCost() { return 2; }
    ::llvm::LogicalResult evaluate(::weft::ReferenceCall &call);
  }];
}

def Weft_PoolKind : I32EnumAttr<"PoolKind", "what becomes of a window", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">,
    I32EnumAttrCase<"Sum", 2, "sum">]> {
  let cppNamespace = "::weft";
}

/// Windows over the trailing dimensions of one operand.
class Weft_Windows<string mnemonic, list<Trait> traits>
    : Weft_PureOp<mnemonic, [Weft_Rule, Weft_ReferenceInterface,
        DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>] # traits> {
  dag windowArguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                         DenseI64ArrayAttr:$dilations, Weft_DimsAttr:$low, Weft_DimsAttr:$high,
                         OptionalAttr<Weft_DimsAttr>:$sizes);
  string windowFormat = [{
    $input `kernel` $kernel `strides` $strides `dilations` $dilations `low` custom<DimList>($low)
    `high` custom<DimList>($high) attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = "::llvm::LogicalResult evaluate(::weft::ReferenceCall &call);";
}

def Weft_PoolOp : Weft_Windows<"pool", []> {
  let summary = "the maximum, average or sum of moving windows";
  let description = [{
    Rule in two dimensions: `... s*p+d*x-low t*q+e*y-top -> ... p q : max` with strides s, t and dilations d, e; other dimensions are
    points. Elements outside the operand take no part: the maximum of none is the least value, their sum is 0. An average divides by
    the number of elements inside, or with `count_padding` by those inside the operand widened by `low` and `high`.
    A result dimension is `floordiv(h + low + high - d*(x - 1) - 1, s) + 1`, or given by `sizes` (one per window dimension), which is
    how windows that start inside but end outside are kept (ONNX `ceil_mode`). With `channels_last`, one more dimension of points
    follows those with windows.

    (R1) kernel, strides, dilations, low and high (and sizes) have one entry for each of the dimensions with windows.
    (R2) Kernel sizes, strides and dilations are positive.
    (R3) Averages are of floats.

    ```mlir
    %y = weft.pool max %x kernel [3, 3] strides [2, 2] dilations [1, 1] low [1, 1] high [1, 1]
       : (!weft.tensor<[b, 64, 112, 112], f32>) -> !weft.tensor<[b, 64, 56, 56], f32>
    ```
  }];
  let arguments = !con((ins Weft_PoolKind:$kind), windowArguments, (ins UnitAttr:$count_padding, UnitAttr:$channels_last));
  let assemblyFormat = "$kind " # windowFormat;
}

def Weft_PoolIndexOp : Weft_Windows<"pool_index", []> {
  let summary = "where the maximum of each moving window is";
  let description = [{
    Rule and constraints as in `pool max`. The result is the row-major position, within the dimensions with windows, of the first of
    the largest elements, as `i64`; a nan is larger than all. A window without elements gives the largest `i64`.

    ```mlir
    %i = weft.pool_index %x kernel [2] strides [2] dilations [1] low [0] high [0]
       : (!weft.tensor<[b, 8, 2*n], f32>) -> !weft.tensor<[b, 8, n], i64>
    ```
  }];
  let arguments = windowArguments;
  let assemblyFormat = windowFormat;
}

#endif
