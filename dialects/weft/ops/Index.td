//===- Index.td - Positions that come from data -------------------------------------------------===//
#ifndef WEFT_OPS_INDEX_TD
#define WEFT_OPS_INDEX_TD

include "dialects/weft/ops/Base.td"

class Weft_Gather<string mnemonic> : Weft_PureOp<mnemonic, [DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>,
    Weft_Reference, Weft_Positions]>;

def Weft_GatherOp : Weft_Gather<"gather"> {
  let summary = "slices of the first operand along `axis` at the positions of the second";
  let description = [{
    The result has the operand's dimensions with `axis` replaced by those of `indices`. Negative positions count from the end. A call
    with a position outside is refused, unless `outside` says that they are `clamped`; `unchecked` ones may read any memory.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$indices, I64Attr:$axis, Weft_OutsideAttr:$outside);
  let assemblyFormat = "$input `,` $indices `axis` $axis (`outside` $outside^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string splitText();";
}

def Weft_GatherElementsOp : Weft_Gather<"gather_elements"> {
  let summary = "one element per position, which replaces the index along `axis`";
  let description = [{
    `result[i, j] = input[indices[i, j], j]` for axis 0. Positions are those of `gather`. Indices in other dimensions are clamped where the
    operand is smaller; from an empty dimension come zeros.

    (R1) Both operands have the same rank, and `axis` is one of its dimensions.
    (R2) `indices` are i32 or i64.
    (R3) Where both are constants, the other dimensions of `indices` are not larger than the operand's.

    ```mlir
    %y = weft.gather_elements %x, %i axis 1 : (!weft.tensor<[b, 9], f32>, !weft.tensor<[b, 2], i64>) -> !weft.tensor<[b, 2], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$indices, I64Attr:$axis, Weft_OutsideAttr:$outside);
  let assemblyFormat = "$input `,` $indices `axis` $axis (`outside` $outside^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string splitText();";
}

def Weft_GatherNdOp : Weft_Gather<"gather_nd"> {
  let summary = "slices of the first operand at index tuples";
  let description = [{
    The last dimension of `indices` holds tuples that index the operand's dimensions after the first `batch`, which both have in common.
    The result has the dimensions of `indices` without the last, then those of the operand that no tuple indexes. Positions are those of
    `gather`; where clamped ones find an empty dimension come zeros.

    (R1) The last dimension of `indices` is a constant, and there are as many dimensions after the batch.
    (R2) `indices` are i32 or i64.
    (R3) The first `batch` dimensions agree.

    ```mlir
    %y = weft.gather_nd %x, %i batch 0 : (!weft.tensor<[h, w, 3], f32>, !weft.tensor<[n, 2], i64>) -> !weft.tensor<[n, 3], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$indices, I64Attr:$batch, Weft_OutsideAttr:$outside);
  let assemblyFormat = "$input `,` $indices `batch` $batch (`outside` $outside^)? attr-dict `:` functional-type(operands, results)";
}

#endif
