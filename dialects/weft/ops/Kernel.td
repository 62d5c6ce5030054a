//===- Kernel.td - Groups of operators that become one kernel -----------------------------------===//
#ifndef WEFT_OPS_KERNEL_TD
#define WEFT_OPS_KERNEL_TD

include "dialects/weft/ops/Base.td"

def Weft_KernelOp : Weft_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "operators that share one pass over memory";
  let description = [{
    The region keeps graph operators: it can be printed, evaluated and taken apart until code is emitted. Results are the yielded values.
    `root` names the operation whose schedule generates the loops.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, StrAttr:$root);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$root `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Weft_YieldOp : Weft_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "IfOp", "LoopOp"]>]> {
  let summary = "ends a region with its values";
  let arguments = (ins Variadic<Weft_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_state; /* nothing to yield */ }]>];
}

#endif
