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

def Weft_PlacementAttr : AttrDef<Weft_Dialect, "Placement"> {
  let mnemonic = "placement";
  let summary = "Which axes of a mesh a value's dimensions are split over";
  let description = [{
    `weft.placement = #weft.placement<[tp, _]>` on an argument, or on an operation for its first result: ranks along `tp` have parts of the
    first dimension, and all have the second. `[dp+tp, _]` cuts a dimension over one axis and its parts over the next. An axis that a placement does not
    name is left open, except that `[_, _]` says that every rank has the whole. `[dp*, _]` is of a weight: a rank reads its part along `dp`, and all parts are
    gathered before the weight is used; how its readers are cut along `dp` is left open.

    A function with `weft.split_over = #weft.mesh<tp = 2>` is written for one rank, with whole values; `weft-split-functions` makes ranks share
    its work as placements say, and a function with `weft.mesh` of it.

    (R1) There is an entry for every dimension of the value.
    (R2) No axis is there twice, and all are axes of what the function is split over.
    (R3) Functions that are split over a mesh have no `weft.mesh`.
    (R4) Only constants have axes with a star, and none whose elements share bytes.

    `weft.whole = !weft.tensor<[n, 4], f32>` beside it says that each rank gives, or gets, its own part and not the whole, whose type that is. In a function that
    is not split yet it is the type itself.

    (R5) `weft.whole` is of an argument or result with a placement, has the same element type and rank, and differs only in dimensions that are split.
    (R6) What has parts does not grow in place, and its elements share no bytes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The dimension that is split over an axis.
    std::optional<unsigned> getDim(::mlir::StringAttr axis) const;
    /// Whether no dimension is split.
    bool isWhole() const;
    /// What remains to be cut when that has been done along an axis; null when nothing does.
    ::weft::PlacementAttr without(::mlir::StringAttr axis) const;
    /// Axes in the order of dimensions.
    ::llvm::SmallVector<::mlir::StringAttr> getAxes() const;
    /// As users write it: `[tp, _]`.
    std::string str() const;
  }];
}

#endif
