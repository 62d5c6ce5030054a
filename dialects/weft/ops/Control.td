//===- Control.td - What the host program does between kernels -----------------------------------===//
#ifndef WEFT_OPS_CONTROL_TD
#define WEFT_OPS_CONTROL_TD

include "dialects/weft/ops/Base.td"

/// An operation that binds a symbol is kept for the symbol, also when nobody reads its results.
defvar Weft_KeptForSymbols = DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;
defvar Weft_Host = DeclareOpInterfaceMethods<Weft_HostInterface, ["symbolsAfter"]>;

def Weft_BindOp : Weft_Op<"bind", [Weft_Host]> {
  let summary = "an element of a tensor becomes a symbol";
  let description = [{
    The only way in which data enters shapes. The value must be at least 0 and satisfy the facts about the symbol; otherwise the call
    ends with an error that names the symbol.

    (R1) The operand has one element, an integer of 32 or 64 bits.

    ```mlir
    weft.bind "u0" %count : !weft.tensor<[], i64>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Weft_Tensor:$value);
  let assemblyFormat = "$symbol $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Weft_CheckPositionsOp : Weft_Op<"check_positions", [Weft_HostInterface]> {
  let summary = "positions from data are inside";
  let description = [{
    Every position is at least -size and less than size; otherwise the call ends with an error that says which is not. Where there are
    several sizes, each place of the last dimension has its own.

    (R1) Positions have 32 or 64 bits.
    (R2) There is one size, or one for each place of the last dimension.

    ```mlir
    weft.check_positions %ids sizes [30522] : <[b, s], i64>
    ```
  }];
  let arguments = (ins Weft_Tensor:$positions, Weft_DimsAttr:$sizes);
  let assemblyFormat = "$positions `sizes` custom<DimList>($sizes) attr-dict `:` type($positions)";
  let hasVerifier = 1;
}

def Weft_IfOp : Weft_Op<"if", [Weft_Host, Weft_KeptForSymbols, RecursiveMemoryEffects, NoRegionArguments, SingleBlock]> {
  let summary = "one of two regions";
  let description = [{
    Each region yields the results. Where their dimensions differ the result's is a symbol of `binds`, whose value is the dimension of
    what was yielded.

    (R1) The condition is one `i1`.
    (R2) Both regions yield the results' types, but for dimensions that are symbols of `binds`.
    (R3) Each symbol of `binds` is a dimension of a result.

    ```mlir
    %y = weft.if %c attributes {binds = ["j"]} : (!weft.tensor<[], i1>) -> !weft.tensor<[j], f32> {
      weft.yield %a : !weft.tensor<[n], f32>
    } else {
      weft.yield %b : !weft.tensor<[2*n], f32>
    }
    ```
  }];
  let arguments = (ins Weft_Tensor:$condition, DefaultValuedAttr<StrArrayAttr, "{}">:$binds);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$yes, SizedRegion<1>:$no);
  let assemblyFormat = "$condition attr-dict-with-keyword `:` functional-type($condition, $results) $yes `else` $no";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimension that each symbol of `binds` stands for when `yielded` are the results.
    ::llvm::SmallVector<::weft::SymExpr> boundDims(::mlir::ValueRange yielded);
  }];
}

def Weft_LoopOp : Weft_Op<"loop", [DeclareOpInterfaceMethods<Weft_HostInterface, ["symbolsInside", "symbolsAfter"]>,
                                   Weft_KeptForSymbols, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a region repeated, with values carried from one time to the next and values stacked";
  let description = [{
    The region runs for `index` = 0, 1, ... below `trips`. Operands are the first carried values; the region gets the carried values and
    yields the next ones, then the elements of the stacked results, whose first dimension is the number of times. With `count` the loop
    also ends when a condition is false: the first operand is the condition to begin at all, the region yields the one to go on first,
    and the symbol `count` is the number of times.

    A fact `index <= ...` limits what depends on the index; it must hold at the end too, where the index would be `trips`.

    (R1) Carried values keep their types.
    (R2) A stacked result has the number of times, then the dimensions of what is yielded.
    (R3) Conditions are one `i1`.

    ```mlir
    %sum, %each = weft.loop "i" trips [n] (%zero) : (!weft.tensor<[4], f32>) -> (!weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>) {
    ^bb0(%s: !weft.tensor<[4], f32>):
      %row = weft.slice %x [i, 0] sizes [1, 4] ...
      weft.yield %next, %next : !weft.tensor<[4], f32>, !weft.tensor<[4], f32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$index, Weft_DimsAttr:$trips, Variadic<Weft_Tensor>:$inits, OptionalAttr<StrAttr>:$count);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $index `trips` custom<DimList>($trips) `(` $inits `)` attr-dict-with-keyword `:` functional-type($inits, $results) $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isConditional() { return getCount().has_value(); }
    /// Operands without the condition.
    ::mlir::ValueRange carriedInits() { return getInits().drop_front(isConditional()); }
    ::mlir::ValueRange yielded() { return getBody().front().getTerminator()->getOperands().drop_front(isConditional()); }
    /// The number of times: trips, or the symbol `count`.
    ::weft::SymExpr times();
  }];
}

#endif
