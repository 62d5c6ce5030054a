//===- Elementwise.td - One scalar function at every point --------------------------------------===//
#ifndef WEFT_OPS_ELEMENTWISE_TD
#define WEFT_OPS_ELEMENTWISE_TD

include "dialects/weft/ops/Base.td"

/// Operands have the result's dimensions, the literal 1 in some of them, or fewer leading dimensions.
class Weft_Elementwise<string mnemonic, string rule, list<Trait> traits = []>
    : Weft_PureOp<mnemonic, [Weft_RuleInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar"]>,
                             Weft_ReferenceInterface] # traits> {
  let extraClassDeclaration = "std::string ruleText() { return \"" # rule # "\"; }";
}

class Weft_Unary<string mnemonic, string text> : Weft_Elementwise<mnemonic, "... -> ..."> {
  let summary = text;
  let description = "Rule: `... -> ...`. The result has the operand's type.";
  let arguments = (ins Weft_Tensor:$input);
}

class Weft_Binary<string mnemonic, string text> : Weft_Elementwise<mnemonic, "..., ... -> ..."> {
  let summary = text;
  let description = [{
    Rule: `..., ... -> ...`.

    (R1) Both operands have the same element type; the result has it too.
    (R2) Per dimension, operands agree or one is the literal 1.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
}

def Weft_NegOp : Weft_Unary<"neg", "minus the operand">;
def Weft_AbsOp : Weft_Unary<"abs", "absolute value">;
def Weft_SignOp : Weft_Unary<"sign", "-1, 0 or 1; nan stays nan">;
def Weft_ExpOp : Weft_Unary<"exp", "e to the power of the operand">;
def Weft_LogOp : Weft_Unary<"log", "natural logarithm">;
def Weft_SqrtOp : Weft_Unary<"sqrt", "square root">;
def Weft_RsqrtOp : Weft_Unary<"rsqrt", "reciprocal of the square root">;
def Weft_SinOp : Weft_Unary<"sin", "sine of an angle in radians">;
def Weft_CosOp : Weft_Unary<"cos", "cosine of an angle in radians">;
def Weft_TanOp : Weft_Unary<"tan", "tangent of an angle in radians">;
def Weft_AsinOp : Weft_Unary<"asin", "angle whose sine is the operand; nan outside [-1, 1]">;
def Weft_AcosOp : Weft_Unary<"acos", "angle whose cosine is the operand; nan outside [-1, 1]">;
def Weft_AtanOp : Weft_Unary<"atan", "angle whose tangent is the operand">;
def Weft_SinhOp : Weft_Unary<"sinh", "hyperbolic sine">;
def Weft_CoshOp : Weft_Unary<"cosh", "hyperbolic cosine">;
def Weft_TanhOp : Weft_Unary<"tanh", "hyperbolic tangent">;
def Weft_AsinhOp : Weft_Unary<"asinh", "inverse hyperbolic sine">;
def Weft_AcoshOp : Weft_Unary<"acosh", "inverse hyperbolic cosine; nan below 1">;
def Weft_AtanhOp : Weft_Unary<"atanh", "inverse hyperbolic tangent; nan outside [-1, 1]">;
def Weft_ErfOp : Weft_Unary<"erf", "the error function">;
def Weft_FloorOp : Weft_Unary<"floor", "largest integer not above">;
def Weft_CeilOp : Weft_Unary<"ceil", "smallest integer not below">;
def Weft_RoundOp : Weft_Unary<"round", "nearest integer, ties to even">;
def Weft_NotOp : Weft_Unary<"not", "bitwise complement; of a bool, the negation">;

def Weft_AddOp : Weft_Binary<"add", "sum; integers wrap">;
def Weft_SubOp : Weft_Binary<"sub", "difference; integers wrap">;
def Weft_MulOp : Weft_Binary<"mul", "product; integers wrap">;
def Weft_DivOp : Weft_Binary<"div", "quotient; of integers truncated, 0 for division by 0">;
def Weft_PowOp : Weft_Binary<"pow", "left to the power of right">;
def Weft_MinimumOp : Weft_Binary<"minimum", "the smaller; nan if either is">;
def Weft_MaximumOp : Weft_Binary<"maximum", "the larger; nan if either is">;
def Weft_AndOp : Weft_Binary<"and", "bitwise and">;
def Weft_OrOp : Weft_Binary<"or", "bitwise or">;
def Weft_XorOp : Weft_Binary<"xor", "bitwise exclusive or">;

def Weft_RemOp : Weft_Binary<"rem", "remainder of a division"> {
  let description = [{
    Rule: `..., ... -> ...`. The sign follows the dividend, or the divisor when `floor` is set. 0 for an integer division by 0.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, UnitAttr:$floor);
}

def Weft_CompareKind : I32EnumAttr<"CompareKind", "a relation", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"NotEqual", 1, "ne">, I32EnumAttrCase<"Less", 2, "lt">,
    I32EnumAttrCase<"LessEqual", 3, "le">, I32EnumAttrCase<"Greater", 4, "gt">, I32EnumAttrCase<"GreaterEqual", 5, "ge">]> {
  let cppNamespace = "::weft";
}

def Weft_CompareOp : Weft_Elementwise<"compare", "..., ... -> ..."> {
  let summary = "whether a relation holds";
  let description = "Rule: `..., ... -> ...`. The result is `i1`. Relations with nan are false, but `ne` is true.";
  let arguments = (ins Weft_CompareKind:$kind, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Weft_IsNanOp : Weft_Unary<"is_nan", "whether an element is not a number"> {
  let description = "Rule: `... -> ...`. The operand has floats, the result `i1`.";
}

def Weft_IsInfOp : Weft_Unary<"is_inf", "whether an element is infinite"> {
  let description = [{
    Rule: `... -> ...`. The operand has floats, the result `i1`. `positive` and `negative` say which infinities count.

    ```mlir
    %y = weft.is_inf %x {negative = false} : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], i1>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$positive, DefaultValuedAttr<BoolAttr, "true">:$negative);
}

def Weft_ShiftKind : I32EnumAttr<"ShiftKind", "a direction", [
    I32EnumAttrCase<"Left", 0, "left">, I32EnumAttrCase<"Right", 1, "right">]> {
  let cppNamespace = "::weft";
}

def Weft_ShiftOp : Weft_Elementwise<"shift", "..., ... -> ..."> {
  let summary = "the bits of the first operand moved by the second";
  let description = [{
    Rule: `..., ... -> ...`. To the left zeros come in, to the right copies of the sign (zeros when unsigned). Amounts below 0 or of at
    least the width move all bits out.

    (R1) Both operands have the same integer element type; the result has it too.
    (R2) Per dimension, operands agree or one is the literal 1.

    ```mlir
    %y = weft.shift right %x, %by : (!weft.tensor<[n], ui32>, !weft.tensor<[n], ui32>) -> !weft.tensor<[n], ui32>
    ```
  }];
  let arguments = (ins Weft_ShiftKind:$kind, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Weft_SelectOp : Weft_Elementwise<"select", "..., ..., ... -> ..."> {
  let summary = "the second operand where the first is true, else the third";
  let description = "Rule: `..., ..., ... -> ...`. The condition is `i1`.";
  let arguments = (ins Weft_Tensor:$condition, Weft_Tensor:$yes, Weft_Tensor:$no);
}

def Weft_MultiplyAddOp : Weft_Elementwise<"multiply_add", "..., ..., ... -> ..."> {
  let summary = "the product of the first two plus the third, rounded once";
  let description = [{
    Rule: `..., ..., ... -> ...`.

    (R1) All operands are of one float type; the result has it too.
    (R2) Per dimension, operands agree or are the literal 1.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, Weft_Tensor:$addend);
}

def Weft_ConvertOp : Weft_PureOp<"convert", [Weft_RuleInterface, Weft_ReferenceInterface,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar", "rootKind"]>]> {
  let summary = "the same values as another element type";
  let description = [{
    Rule: `... -> ...`. Float to integer truncates and saturates (nan gives 0); integer to narrower integer wraps; to `i1` is `!= 0`;
    to a narrower float rounds to nearest even.
  }];
  let extraClassDeclaration = "std::string ruleText() { return \"... -> ...\"; }";
  let arguments = (ins Weft_Tensor:$input, TypeAttr:$to);
  let assemblyFormat = "$input `to` $to attr-dict `:` functional-type(operands, results)";
}

def Weft_BitcastOp : Weft_Elementwise<"bitcast", "... -> ..."> {
  let summary = "the same bits as another element type";
  let description = [{
    Rule: `... -> ...`.

    (R1) Both element types have the same number of bits.

    ```mlir
    %y = weft.bitcast %x to i32 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], i32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, TypeAttr:$to);
  let assemblyFormat = "$input `to` $to attr-dict `:` functional-type(operands, results)";
}

#endif
