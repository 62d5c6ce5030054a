//===- Mesh.td - The ranks that run a function together -----------------------------------------===//
#ifndef WEFT_MESH_TD
#define WEFT_MESH_TD

include "dialects/weft/WeftDialect.td"

def Weft_MeshAttr : AttrDef<Weft_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "Ranks as a grid with named axes";
  let description = [{
    All ranks run the same function. `weft.mesh = #weft.mesh<dp = 2, tp = 4>` on it says that there are eight, of which the last axis
    tells neighbours apart: rank 5 is at `dp` 1 and `tp` 1. Where a rank stands along `tp` is the symbol `rank_tp` of the function,
    when it is declared: a number from 0 to 3.

    ```mlir
    func.func @main(%x: !weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32>
        attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">}
    ```

    A dimension `n` over `t` ranks has parts of `ceildiv(n, t)`, of which the last ones are smaller or empty: rank `r` has those from
    `min(r*ceildiv(n, t), n)` on. Collectives name axes with their sizes, as in `over <tp = 4>`: the ranks that differ along these
    alone are a group, and what one rank gives all of its group get.

    (R1) A mesh has at least one axis, no axis twice, and sizes of at least 1; at most 65536 ranks.
    (R2) A collective stands in a function with a mesh that has its axes with these sizes.
    (R3) All ranks of its group come to a collective: conditions of branches and loops around it are the same for them. What is computed
    from the place of a rank, or from its part of a value, may differ until a collective gives all the same.
    (R4) Sizes of its operand that data decide are the same for them, too.
    (R5) A mesh is an attribute of a function, and facts about places alone hold on every rank.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// How many ranks there are.
    int64_t getRanks() const;
    /// Of an axis, when there is such a one.
    std::optional<int64_t> getSize(::mlir::StringAttr axis) const;
    /// Where a rank stands along the axes.
    ::llvm::SmallVector<int64_t> getPlaces(int64_t rank) const;
  }];
}

#endif
