//===- Index.td - Positions that come from data -------------------------------------------------===//
#ifndef WEFT_OPS_INDEX_TD
#define WEFT_OPS_INDEX_TD

include "dialects/weft/ops/Base.td"

def Weft_GatherOp : Weft_PureOp<"gather", [DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>]> {
  let summary = "slices of the first operand along `axis` at the positions of the second";
  let description = [{
    The result has the operand's dimensions with `axis` replaced by those of `indices`. Negative positions count from the end;
    positions outside are clamped.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$indices, I64Attr:$axis);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)";
}

#endif
