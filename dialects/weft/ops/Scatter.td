//===- Scatter.td - Elements written at positions that come from data ---------------------------===//
#ifndef WEFT_OPS_SCATTER_TD
#define WEFT_OPS_SCATTER_TD

include "dialects/weft/ops/Base.td"

def Weft_ScatterKind : I32EnumAttr<"ScatterKind", "what an update does to the element it meets", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]> {
  let cppNamespace = "::weft";
}

class Weft_Scatter<string mnemonic> : Weft_PureOp<mnemonic, [Weft_Reference, Weft_Positions,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind", "emitSerial"]>]>;

def Weft_ScatterElementsOp : Weft_Scatter<"scatter_elements"> {
  let summary = "the first operand with one update per position, which replaces the index along `axis`";
  let description = [{
    `result[indices[i, j], j] = updates[i, j]` for axis 0 and kind `set`; other kinds combine the update with what is there. Updates run
    in row-major order: with `set` the last one wins. Positions are those of `gather`; updates at `clamped` ones outside are left out.

    (R1) All operands have the same rank, and `axis` is one of its dimensions.
    (R2) `indices` are i32 or i64.
    (R3) `updates` has the dimensions of `indices` and the elements of the operand.

    ```mlir
    %y = weft.scatter_elements add %x, %i, %u axis 1
       : (!weft.tensor<[b, 9], f32>, !weft.tensor<[b, 2], i64>, !weft.tensor<[b, 2], f32>) -> !weft.tensor<[b, 9], f32>
    ```
  }];
  let arguments = (ins Weft_ScatterKind:$kind, Weft_Tensor:$input, Weft_Tensor:$indices, Weft_Tensor:$updates, I64Attr:$axis,
                       Weft_OutsideAttr:$outside);
  let assemblyFormat = "$kind $input `,` $indices `,` $updates `axis` $axis (`outside` $outside^)? attr-dict `:` functional-type(operands, results)";
}

def Weft_ScatterNdOp : Weft_Scatter<"scatter_nd"> {
  let summary = "the first operand with slices updated at index tuples";
  let description = [{
    The last dimension of `indices` holds tuples that index the operand's first dimensions; `updates` has the dimensions of `indices`
    without the last, then those of the operand that no tuple indexes. Order, kinds and positions as in `scatter_elements`.

    (R1) The last dimension of `indices` is a constant, at most the operand's rank.
    (R2) `indices` are i32 or i64.
    (R3) `updates` has these dimensions and the elements of the operand.

    ```mlir
    %y = weft.scatter_nd set %x, %i, %u
       : (!weft.tensor<[h, w, 3], f32>, !weft.tensor<[n, 2], i64>, !weft.tensor<[n, 3], f32>) -> !weft.tensor<[h, w, 3], f32>
    ```
  }];
  let arguments = (ins Weft_ScatterKind:$kind, Weft_Tensor:$input, Weft_Tensor:$indices, Weft_Tensor:$updates, Weft_OutsideAttr:$outside);
  let assemblyFormat = "$kind $input `,` $indices `,` $updates (`outside` $outside^)? attr-dict `:` functional-type(operands, results)";
}

#endif
