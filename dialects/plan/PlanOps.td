//===- PlanOps.td - Operations of the plan ------------------------------------------------------------===//
#ifndef WEFT_PLAN_OPS_TD
#define WEFT_PLAN_OPS_TD

include "dialects/plan/PlanDialect.td"
include "dialects/plan/PlanInterfaces.td"
include "dialects/weft/WeftDialect.td"
include "dialects/weft/interfaces/Interfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
defvar Plan_Host = DeclareOpInterfaceMethods<Weft_HostInterface, ["symbolsAfter"]>;
class Plan_Access<list<string> methods> : DeclareOpInterfaceMethods<Plan_AccessInterface, methods>;

//===-- The program ------------------------------------------------------------------------------------===//

def Plan_FuncOp : Plan_Op<"func", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a public function, planned";
  let description = [{
    Signature, names and contract are those of the model's function; `weft.symbols` lists what binds its symbols.
    (R1) Arguments and results are tensors of Weft.

    ```mlir
    plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
      %in = plan.input 0
      %out = plan.output 0
      plan.launch @weft_k_loop_0011aabbccdd(%in) -> (%out) [n] units [n] grain [4096]
      plan.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, SymbolTable, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a distinct kernel: its specification, and what one call costs";
  let description = [{
    The region holds the specification, a function `@kernel` on tensors. `target` compiles it by a `schedule`; kernels of one plan may
    have different ones. `flops`, `moves` (bytes) and `work` are formulas over the specification's symbols.

    (R1) The region holds one function.
    (R2) Target and schedule have names.

    ```mlir
    plan.kernel @weft_k_row_0011aabbccdd target "some:level" schedule "row" flops [8*s0] moves [8*s0] work [24*s0] { func.func @kernel … }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target, StrAttr:$schedule, Weft_DimsAttr:$flops, Weft_DimsAttr:$moves, Weft_DimsAttr:$work);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `target` $target `schedule` $schedule `flops` custom<DimList>($flops) `moves` custom<DimList>($moves) `work` custom<DimList>($work)
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::func::FuncOp specification();
  }];
}

def Plan_ReturnOp : Plan_Op<"return", [Terminator, HasParent<"FuncOp">]> {
  let summary = "ends a function";
  let assemblyFormat = "attr-dict";
}

//===-- Memory -----------------------------------------------------------------------------------------===//

def Plan_InputOp : Plan_Op<"input"> {
  let summary = "the memory of an argument";
  let description = "(R1) The function has such an argument.";
  let arguments = (ins I64Attr:$index);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Plan_OutputOp : Plan_Op<"output"> {
  let summary = "the memory of a result";
  let description = "(R1) The function has such a result.";
  let arguments = (ins I64Attr:$index);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Plan_WeightOp : Plan_Op<"weight", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a constant as the artifact stores it";
  let description = [{
    `value` is the name of a `weft.weight` or the elements; `layout` is the order that a schedule asks for, empty for row-major.
    Where ranks have parts of it, all `size` large, `part` counts along every dimension which one it is. A part that is a range of the packed
    whole, or rows of its panels (`panels<32 of 768>`, so that the distance between panels is the whole's), is that range of the one constant
    that is stored for all meshes; others are stored as constants by themselves.

    (R1) There is such a layout.
    (R2) Parts divide all dimensions of the whole, and have as many elements as the tensor.
    (R3) A layout with the rows of a whole is that of a part, which is a range of these.
    (R4) Where ranks have parts of several sizes, which are symbols of the tensor, `size` is that of the largest, the first ones, and parts are
    ranges of the whole.
    (R5) The sizes of the whole are numbers, and the constant has as many elements, of its type.

    ```mlir
    %0 = plan.weight @w as "panels<32>" : !weft.tensor<[384, 1536], f32>
    %1 = plan.weight @w as "panels<32>" part [0, rank_tp] size [384, 768] of !weft.tensor<[384, 1536], f32> : !weft.tensor<[384, 768], f32>
    %2 = plan.weight @v as "panels<32 of 1536>" part [rank_tp, 0] size [768, 384] of !weft.tensor<[1536, 384], f32> : !weft.tensor<[768, 384], f32>
    %3 = plan.weight @u as "panels<32>" part [0, rank_tp] size [384, 64] of !weft.tensor<[384, 96], f32> : !weft.tensor<[384, 64 - 32*rank_tp], f32>
    ```
  }];
  let arguments = (ins AnyAttr:$value, StrAttr:$layout, OptionalAttr<Weft_DimsAttr>:$part, OptionalAttr<DenseI64ArrayAttr>:$size,
                       OptionalAttr<TypeAttrOf<Weft_Tensor>>:$whole, TypeAttrOf<Weft_Tensor>:$tensor);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = [{
    $value `as` $layout (`part` custom<DimList>($part)^ `size` $size `of` $whole)? attr-dict `:` $tensor
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Of all elements of the constant.
    ::weft::SymTensorType wholeType();
    /// Bytes from one part to the next along every dimension, where parts are ranges of the whole as it is stored.
    std::optional<llvm::SmallVector<int64_t>> distances();
    /// Whether the tensor has these sizes, but for dimensions that ranks have several sizes of.
    bool isOfSizes();
    /// Of parts that are stored by themselves: in this order, the last dimension's side by side; null: there is only the whole.
    ::weft::SymExpr partNumber();
  }];
}

def Plan_MemoryOp : Plan_Op<"memory"> {
  let summary = "memory of an intermediate value, from here to where it is used last";
  let description = [{
    A class of the arena, or of the block that it is `in`. Once it is placed it begins where the highest of the classes of its block ends
    whose `place` is in `above`; they are the ones that live at the same time and were placed before it.

    (R1) `bytes` is one expression.
    (R2) What is in `above` was placed before.

    ```mlir
    %1 = plan.memory host [4*b*s] place 2 above [0, 1]
    ```
  }];
  let arguments = (ins Plan_Space:$space, Weft_DimsAttr:$bytes, Optional<Plan_Block>:$inside, OptionalAttr<I64Attr>:$place,
                       OptionalAttr<DenseI64ArrayAttr>:$above);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = [{
    $space custom<DimList>($bytes) (`in` $inside^)? (`place` $place^ `above` $above)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_PartOp : Plan_Op<"part"> {
  let summary = "memory inside of another buffer that is written by itself";
  let description = "Nobody reads this part through the whole before it is written, nor writes the rest through it.";
  let arguments = (ins Plan_Buffer:$whole, OptionalAttr<Weft_DimsAttr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$whole (`at` custom<DimList>($offset)^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_ArenaOp : Plan_Op<"arena", [HasParent<"FuncOp">]> {
  let summary = "the memory that is there when the function begins";
  let description = [{
    It is as large as the largest of `peaks`, expressions over symbols of the signature. `loose` peaks are more than the order of places
    takes: simpler, and asked for all the same, so that what is said is what is used.
  }];
  let arguments = (ins Weft_DimsAttr:$peaks, UnitAttr:$loose);
  let assemblyFormat = "`peaks` custom<DimList>($peaks) (`loose` $loose^)? attr-dict";
}

def Plan_ReserveOp : Plan_Op<"reserve"> {
  let summary = "asks for memory whose size is known only now";
  let description = "As large as the largest of `peaks`, as for `plan.arena`. Inside a loop it is asked for again each time.";
  let arguments = (ins OptionalAttr<Weft_DimsAttr>:$peaks, UnitAttr:$loose);
  let results = (outs Plan_Block:$block);
  let assemblyFormat = "(`peaks` custom<DimList>($peaks)^)? (`loose` $loose^)? attr-dict";
}

def Plan_ProvideOp : Plan_Op<"provide"> {
  let summary = "asks the caller for the memory of a result whose size is known only now";
  let arguments = (ins Plan_Buffer:$output, Weft_DimsAttr:$bytes);
  let assemblyFormat = "$output custom<DimList>($bytes) attr-dict";
  let hasVerifier = 1;
}

//===-- Work -------------------------------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments, Plan_Access<["reads", "writes"]>,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call of a kernel";
  let description = [{
    Its words are the addresses of what it reads and writes, then the values of the specification's symbols. The `units` of its work
    are parted among workers, `grain` of them together at least; each worker has `scratch` bytes of its own. `nodes` are the places in
    the model that it computes.

    `rows`, of launches that ranks may do in pieces: rows, and how many tiles they are cut into as evenly as can be, larger ones first. Units of one
    tile follow each other and are alone in reading its rows of input `of`, and in writing those of outputs, where there are `least` tiles or more;
    else one of every tile follow each other. With `height` the kernel may be called for some of the rows, by their addresses and number, as for any number of
    them: tiles have so many.

    (R1) The kernel exists, and takes so many words.
    (R2) The host has one queue.
    (R3) `rows` are two expressions, of an input.

    ```mlir
    plan.launch @weft_k_row_0011aabbccdd(%a, %w) -> (%b) [b*s] units [b*s] grain [16] scratch [1536] nodes ["/encoder/norm"]
    plan.launch @weft_k_contraction_33aabbccdd00(%a, %w) -> (%b) [s] units [4*ceildiv(s, 6)] grain [1] scratch [0] rows [s, ceildiv(s, 6)] least 8 of 0
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_Buffer>:$inputs, Variadic<Plan_Buffer>:$outputs,
                       Weft_DimsAttr:$words, Weft_DimsAttr:$units, Weft_DimsAttr:$grain, Weft_DimsAttr:$scratch,
                       OptionalAttr<Weft_DimsAttr>:$rows, OptionalAttr<I64Attr>:$least, OptionalAttr<I64Attr>:$rowsOf,
                       DefaultValuedAttr<I64Attr, "0">:$height,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$nodes, DefaultValuedAttr<I64Attr, "0">:$queue);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `->` `(` $outputs `)` custom<DimList>($words) `units` custom<DimList>($units) `grain` custom<DimList>($grain)
    `scratch` custom<DimList>($scratch) (`rows` custom<DimList>($rows)^ `least` $least `of` $rowsOf)? (`height` $height^)? (`nodes` $nodes^)?
    (`queue` $queue^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether units follow rows that are those of the exchange, of which the launch reads what is received, or makes what is sent.
    bool followsRowsOf(ExchangeOp exchange);
    ::weft::SymExpr unitsExpr() { return getUnits()[0]; }
    ::weft::SymExpr grainExpr() { return getGrain()[0]; }
    ::weft::SymExpr scratchExpr() { return getScratch()[0]; }
  }];
}

def Plan_TogetherOp : Plan_Op<"together", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "launches that do not depend on each other";
  let description = "(R1) The region holds launches, at least two.";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Plan_ExchangeOp : Plan_Op<"exchange", [Weft_HostInterface, Plan_Access<["reads", "writes"]>, SingleBlock, NoTerminator]> {
  let summary = "what ranks give each other";
  let description = [{
    The region holds the collective, an operator on tensors: what this rank gives lies in the first buffer, and what it gets in the second.
    `node` is the place in the model. All ranks of the group come here.

    (R1) The region holds one collective, of the region's argument.
    (R2) The buffers are two.
    (R3) What is given of a packed weight are ranges of its panels, as large as their elements, which `all_gather` puts together.
    (R4) One that goes on `beside` what follows it ends at a `plan.await` of its block. Between them stand launches that neither write what is given nor have to do
    with what is got, and up to three other exchanges of the kind and of other memory.

    ```mlir
    plan.exchange %0 -> %1 node "/encoder/dense" {
    ^bb0(%x: !weft.tensor<[n], f32>):
      %y = weft.all_reduce sum %x over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    }
    ```
  }];
  let arguments = (ins Plan_Buffer:$sent, Plan_Buffer:$received, DefaultValuedAttr<StrAttr, "\"\"">:$node, UnitAttr:$beside);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sent `->` $received (`node` $node^)? (`beside` $beside^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::CollectiveOpInterface collective();
  }];
}

def Plan_AwaitOp : Plan_Op<"await", [Weft_HostInterface, Plan_Access<["reads", "writes"]>]> {
  let summary = "the end of an exchange that went on beside launches";
  let description = [{
    What others gave lies where the exchange puts it, and all have read what this rank gave.

    (R1) The exchange stands before it in its block, goes on `beside` what follows, and has no other end.

    ```mlir
    plan.exchange %0 -> %1 node "/encoder/keys" beside { … weft.permute … }
    plan.launch @weft_k_row_0011aabbccdd(%2) -> (%3) …
    plan.await %0 -> %1
    ```
  }];
  let arguments = (ins Plan_Buffer:$sent, Plan_Buffer:$received);
  let assemblyFormat = "$sent `->` $received attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What ends here; null: nothing.
    ExchangeOp exchange();
  }];
}

def Plan_OverlapOp : Plan_Op<"overlap", [Weft_HostInterface, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "an exchange in pieces, and launches that compute meanwhile";
  let description = [{
    What is there of it is that of the region's operations one after the other, to the bit. Launches behind the exchange read the rows that it
    brings, own ones first, others as they come; launches in front of it make rows that are sent as soon as all of a piece are there.

    (R1) The region holds one exchange and, behind it or in front of it, launches by rows.
    (R2) Launches behind an `all_gather` read its result as the input of their rows; of those in front of an exchange that sums, which is behind one
    launch, it sends an output. The rows of all are those of the exchange.
    (R3) No launch reads what another writes.
    (R4) It is cut into at most so many pieces, two or more; without a number into as many as there can be.

    ```mlir
    plan.overlap pieces 4 {
      plan.exchange %0 -> %1 node "/encoder/gather" { … weft.all_gather … }
      plan.launch @weft_k_contraction_33aabbccdd00(%1, %w) -> (%b) … rows [s, ceildiv(s, 6)] least 8 of 0
    }
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<2>]>>:$most_pieces);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`pieces` $most_pieces^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ExchangeOp exchange();
    /// Whether launches are behind the exchange.
    bool comesFirst();
    llvm::SmallVector<LaunchOp> launches();
  }];
}

//===-- What the host decides --------------------------------------------------------------------------===//

def Plan_BindOp : Plan_Op<"bind", [Plan_Host, Plan_Access<["reads"]>]> {
  let summary = "an integer in memory becomes a symbol";
  let description = "(R1) It has 32 or 64 bits.";
  let arguments = (ins StrAttr:$symbol, Plan_Buffer:$value, I64Attr:$bits, DefaultValuedAttr<StrAttr, "\"\"">:$node);
  let assemblyFormat = "$symbol $value `bits` $bits (`node` $node^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_CheckPositionsOp : Plan_Op<"check_positions", [Weft_HostInterface, Plan_Access<["reads"]>]> {
  let summary = "integers in memory are positions inside";
  let description = [{
    Each is at least -size and less than size; where there are several sizes, each place of the last dimension has its own. `of` says to
    people whose they are.

    (R1) They have 32 or 64 bits.
    (R2) There is one size, or one for each place of the last dimension.

    ```mlir
    plan.check_positions %0 [b, s] bits 64 sizes [30522] of "input 'ids'" node "'/embeddings/Gather'"
    ```
  }];
  let arguments = (ins Plan_Buffer:$positions, Weft_DimsAttr:$dims, I64Attr:$bits, Weft_DimsAttr:$sizes,
                       DefaultValuedAttr<StrAttr, "\"\"">:$of, DefaultValuedAttr<StrAttr, "\"\"">:$node);
  let assemblyFormat = [{
    $positions custom<DimList>($dims) `bits` $bits `sizes` custom<DimList>($sizes) (`of` $of^)? (`node` $node^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_IfOp : Plan_Op<"if", [Plan_Host, Plan_Access<["reads"]>, SingleBlock, NoRegionArguments]> {
  let summary = "one of two regions, by a byte in memory";
  let description = [{
    Regions yield values of the symbols in `binds`, and buffers where a result lies in memory of the region.

    (R1) Both regions yield a value for every symbol and a buffer for every result.
  }];
  let arguments = (ins Plan_Buffer:$condition, DefaultValuedAttr<StrArrayAttr, "{}">:$binds);
  let results = (outs Variadic<Plan_Buffer>:$results);
  let regions = (region SizedRegion<1>:$yes, SizedRegion<1>:$no);
  let assemblyFormat = [{
    $condition (`binds` $binds^)? (`->` type($results)^)? attr-dict-with-keyword $yes `else` $no
  }];
  let hasVerifier = 1;
}

def Plan_LoopOp : Plan_Op<"loop", [DeclareOpInterfaceMethods<Weft_HostInterface, ["symbolsInside", "symbolsAfter"]>,
                                   Plan_Access<["reads"]>, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "a region repeated";
  let description = [{
    `index` counts from 0 below `trips`. A carried value is read through one pointer, which the region gets first, and its next value
    written through another, which it gets behind them; they move on among three buffers: where the value was at first, and two of
    `memory`. With `count` it also ends when the byte `begin`, later the one that the region yields, is 0, and `count` becomes the number
    of times. Results are where the carried values lie at the end.

    (R1) There are two of `memory` for every carried value, and two arguments of the region.
    (R2) With `count` there is `begin`, and the region yields one buffer; without, none.
  }];
  let arguments = (ins StrAttr:$index, Weft_DimsAttr:$trips, OptionalAttr<StrAttr>:$count, Optional<Plan_Buffer>:$begin,
                       Variadic<Plan_Buffer>:$carried, Variadic<Plan_Buffer>:$memory);
  let results = (outs Variadic<Plan_Buffer>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $index `trips` custom<DimList>($trips) (`count` $count^ `begin` $begin)? `(` $carried `)` `memory` `(` $memory `)`
    (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_YieldOp : Plan_Op<"yield", [Terminator, ParentOneOf<["IfOp", "LoopOp"]>, Plan_Access<["reads"]>]> {
  let summary = "ends a region with values of symbols and with buffers";
  let arguments = (ins Weft_DimsAttr:$dims, Variadic<Plan_Buffer>:$buffers);
  let assemblyFormat = "custom<DimList>($dims) ($buffers^)? attr-dict";
}

#endif
