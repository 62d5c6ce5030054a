//===- Order.td - Positions of extremes, prefixes, the largest of a line ------------------------===//
#ifndef WEFT_OPS_ORDER_TD
#define WEFT_OPS_ORDER_TD

include "dialects/weft/ops/Base.td"
include "dialects/weft/ops/Reduction.td"

def Weft_ExtremumKind : I32EnumAttr<"ExtremumKind", "which end of an order", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">]> {
  let cppNamespace = "::weft";
}

def Weft_ArgReduceOp : Weft_PureOp<"arg_reduce", [Weft_Rule, Weft_Reference,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>]> {
  let summary = "where the largest or smallest element of each line is";
  let description = [{
    Rule: `a r b -> a b` with the axis as r. The result is the position along `axis` as `i64`: of the first such element, with
    `select_last` of the last. A nan is larger and smaller than all others. A line without elements gives the largest `i64`, with
    `select_last` -1.

    (R1) `axis` is a dimension of the operand.

    ```mlir
    %i = weft.arg_reduce max %x axis 1 : (!weft.tensor<[b, 1000], f32>) -> !weft.tensor<[b], i64>
    ```
  }];
  let arguments = (ins Weft_ExtremumKind:$kind, Weft_Tensor:$input, I64Attr:$axis, UnitAttr:$select_last);
  let assemblyFormat = "$kind $input `axis` $axis attr-dict `:` functional-type(operands, results)";
}

/// Works on lines one after the other, each with plain loops.
defvar Weft_SerialLines = DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind", "emitSerial", "serialUnits"]>;

def Weft_CumulateOp : Weft_PureOp<"cumulate", [Weft_Rule, Weft_Reference, Weft_SerialLines]> {
  let summary = "each element combined with all that come before it along an axis";
  let description = [{
    Rule: `a r> b -> a r> b`. With `exclusive` an element does not take part in its own result, so that the first is the combiner's
    identity; with `reverse` lines run from the end. Sums are in order, so the result does not depend on the number of threads.

    (R1) `axis` is a dimension of the operand.

    ```mlir
    %y = weft.cumulate sum %x axis 1 {exclusive} : (!weft.tensor<[b, s], f32>) -> !weft.tensor<[b, s], f32>
    ```
  }];
  let arguments = (ins Weft_CombinerAttr:$kind, Weft_Tensor:$input, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = "$kind $input `axis` $axis attr-dict `:` functional-type(operands, results)";
}

def Weft_TopKOp : Weft_PureOp<"top_k", [Weft_Rule, Weft_Reference,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind", "emitSerial", "serialUnits", "serialScratch"]>]> {
  let summary = "the k largest or smallest elements of each line, in order, and their positions";
  let description = [{
    Rule: `a n! b -> a k b, a k b`. Largest first, or smallest first with `smallest`; equal elements in the order of their positions; a nan
    is larger than all others. With k the length of the lines this is a stable sort. Where a line has fewer than k elements the rest is
    0 at position -1.

    (R1) `axis` is a dimension of the operand, `k` one expression.
    (R2) `k` is not negative and, as far as both are constants, at most the length of the lines.

    ```mlir
    %v, %i = weft.top_k %x k [5] axis 1
           : (!weft.tensor<[b, 1000], f32>) -> (!weft.tensor<[b, 5], f32>, !weft.tensor<[b, 5], i64>)
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_DimsAttr:$k, I64Attr:$axis, UnitAttr:$smallest);
  let results = (outs Weft_Tensor:$values, Weft_Tensor:$positions);
  let assemblyFormat = "$input `k` custom<DimList>($k) `axis` $axis attr-dict `:` functional-type(operands, results)";
}

#endif
