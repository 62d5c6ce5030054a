//===- Kernel.td - Groups of operators that become one kernel -----------------------------------===//
#ifndef WEFT_OPS_KERNEL_TD
#define WEFT_OPS_KERNEL_TD

include "dialects/weft/ops/Base.td"

def Weft_RootKind : I32EnumAttr<"RootKind", "a family of schedules", [
    I32EnumAttrCase<"Loop", 0, "loop">, I32EnumAttrCase<"View", 1, "view">, I32EnumAttrCase<"Contraction", 2, "contraction">,
    I32EnumAttrCase<"Row", 3, "row">, I32EnumAttrCase<"Attention", 4, "attention">, I32EnumAttrCase<"Serial", 5, "serial">,
    I32EnumAttrCase<"Window", 6, "window">]> {
  let cppNamespace = "::weft";
}

def Weft_KernelOp : Weft_Op<"kernel", [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "operators that share one pass over memory";
  let description = [{
    The region keeps graph operators: it can be printed, evaluated and taken apart until code is emitted. Results are the yielded values.
    `root` is the family of schedules that generate the loops: `"view"` computes nothing, its elements are elements of the operand;
    `"window"` reads elements of operands many times, so that what computes them stays outside.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, Weft_RootKind:$root);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Root>($root) `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Weft_YieldOp : Weft_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "IfOp", "LoopOp"]>]> {
  let summary = "ends a region with its values";
  let arguments = (ins Variadic<Weft_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_state; /* nothing to yield */ }]>];
}

#endif
