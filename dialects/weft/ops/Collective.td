//===- Collective.td - What ranks give each other -----------------------------------------------===//
#ifndef WEFT_OPS_COLLECTIVE_TD
#define WEFT_OPS_COLLECTIVE_TD

include "dialects/weft/Mesh.td"
include "dialects/weft/ops/Base.td"

class Weft_Collective<string mnemonic> : Weft_PureOp<mnemonic, [Weft_HostInterface,
    DeclareOpInterfaceMethods<Weft_CollectiveInterface, ["exchange", "getForm", "sentBytes", "sentMessages"]>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = "std::string splitText();";
}

def Weft_AllReduceOp : Weft_Collective<"all_reduce"> {
  let summary = "combines the operands of all ranks of a group: every rank gets the same";
  let description = [{
    Ranks are combined in the order of their places, so results have the same bits everywhere. Each rank combines its part of the
    elements and sends it to all others.

    (R1) No dimension differs between the ranks of the group.
  }];
  let arguments = (ins Weft_CombinerAttr:$kind, Weft_Tensor:$input, Weft_MeshAttr:$group);
  let assemblyFormat = "$kind $input `over` `` $group attr-dict `:` functional-type(operands, results)";
}

def Weft_AllGatherOp : Weft_Collective<"all_gather"> {
  let summary = "puts the parts of all ranks of a group together: every rank gets the whole";
  let description = [{
    (R1) Dimension `dim` is the rank's part of `extent` ([meshes](#weftmesh)).
    (R2) No other dimension, nor `extent`, differs between the ranks of the group.

    ```mlir
    %y = weft.all_gather %x dim 0 to [n] over<tp = 2>
       : (!weft.tensor<[min(ceildiv(n, 2), max(n - rank_tp*ceildiv(n, 2), 0)), 8], f32>) -> !weft.tensor<[n, 8], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$dim, Weft_DimsAttr:$extent, Weft_MeshAttr:$group);
  let assemblyFormat = "$input `dim` $dim `to` custom<DimList>($extent) `over` `` $group attr-dict `:` functional-type(operands, results)";
}

def Weft_ReduceScatterOp : Weft_Collective<"reduce_scatter"> {
  let summary = "combines the operands of all ranks of a group: every rank gets its part along `dim`";
  let description = [{
    In the order of places, as `all_reduce`.

    (R1) The operand has a dimension `dim`, and none that differs between the ranks of the group.
  }];
  let arguments = (ins Weft_CombinerAttr:$kind, Weft_Tensor:$input, I64Attr:$dim, Weft_MeshAttr:$group);
  let assemblyFormat = "$kind $input `dim` $dim `over` `` $group attr-dict `:` functional-type(operands, results)";
}

def Weft_AllToAllOp : Weft_Collective<"all_to_all"> {
  let summary = "splits along one dimension and puts together along another";
  let description = [{
    Every rank gets its part along `split` of what all ranks of the group have, and all of `extent` along `join`.

    (R1) Dimension `join` is the rank's part of `extent`; `split` is another dimension.
    (R2) No other dimension, nor `extent`, differs between the ranks of the group.
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$split, I64Attr:$join, Weft_DimsAttr:$extent, Weft_MeshAttr:$group);
  let assemblyFormat = "$input `split` $split `join` $join `to` custom<DimList>($extent) `over` `` $group attr-dict `:` functional-type(operands, results)";
}

def Weft_BroadcastOp : Weft_Collective<"broadcast"> {
  let summary = "every rank of a group gets the operand of one of them";
  let description = [{
    (R1) `root` is a place in the group.
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$root, Weft_MeshAttr:$group);
  let assemblyFormat = "$input `from` $root `over` `` $group attr-dict `:` functional-type(operands, results)";
}

def Weft_PermuteOp : Weft_Collective<"permute"> {
  let summary = "every rank of a group gets the operand of the rank `shift` places before it, around";
  let description = [{
    With shift 1 the rank at place `p` gets what place `p - 1` has, and place 0 what the last one has: a step of a ring.
    With a negative shift, -s, it gets what place `s - p` has, around, which may be its own: places are mirrored.

    (R1) `shift` is not 0 and, without its sign, smaller than the number of ranks in the group, or there is one rank.
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$shift, Weft_MeshAttr:$group);
  let assemblyFormat = "$input `by` $shift `over` `` $group attr-dict `:` functional-type(operands, results)";
}

#endif
