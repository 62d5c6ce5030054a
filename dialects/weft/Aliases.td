//===- Aliases.td - Results that lie in the memory of an argument -------------------------------===//
#ifndef WEFT_ALIASES_TD
#define WEFT_ALIASES_TD

include "dialects/weft/WeftDialect.td"

def Weft_AliasesAttr : AttrDef<Weft_Dialect, "Aliases"> {
  let mnemonic = "aliases";
  let summary = "In which argument's memory a result of a function lies, and what callers see of it";
  let description = [{
    An argument with `weft.view = #weft.dims<...>` is a buffer with room: callers see those dimensions of it. The result that lies in
    the buffer has `weft.aliases`: which argument it is, and what is seen afterwards.

    ```mlir
    func.func @main(%x: !weft.tensor<[b, s, 8], f32>, %k: !weft.tensor<[b, room, 8], f32> {weft.view = #weft.dims<[b, p, 8]>})
        -> (!weft.tensor<[b, room, 8], f32> {weft.aliases = #weft.aliases<argument 1 seen [b, p + s, 8]>})
    ```

    (R1) Callers see all of a buffer but for one dimension, not the first, where the buffer has a symbol. What lies behind that
    dimension has constant sizes of at least 1, so that the distance between lines says how much room there is.
    (R2) A result names an argument with room, has its type, and differs from it in what is seen where the argument does.
    (R3) Every argument with room has exactly one result in its memory.
    (R4) What is returned there is that argument with a part replaced: a `weft.concat` with `weft.in_place`, or a kernel that yields
    one.
    (R5) `weft.in_place` marks a concatenation of three: a slice of a tensor of the result's type from its beginning, what is new, and
    the rest of the same tensor. Only what is new is stored.
    (R6) What is seen is said in declared symbols of the signature.
  }];
  let parameters = (ins "unsigned":$argument, "::weft::DimsAttr":$seen);
  let hasCustomAssemblyFormat = 1;
}

#endif
