//===- Activation.td - Activation functions ----------------------------------------------------===//
#ifndef WEFT_OPS_ACTIVATION_TD
#define WEFT_OPS_ACTIVATION_TD

include "dialects/weft/ops/Elementwise.td"

def Weft_ActivationKind : I32EnumAttr<"ActivationKind", "an activation function", [
    I32EnumAttrCase<"Relu", 0, "relu">, I32EnumAttrCase<"Sigmoid", 1, "sigmoid">, I32EnumAttrCase<"Gelu", 2, "gelu">,
    I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">, I32EnumAttrCase<"Silu", 4, "silu">, I32EnumAttrCase<"LeakyRelu", 5, "leaky_relu">,
    I32EnumAttrCase<"Elu", 6, "elu">, I32EnumAttrCase<"HardSigmoid", 7, "hard_sigmoid">, I32EnumAttrCase<"HardSwish", 8, "hard_swish">,
    I32EnumAttrCase<"Softplus", 9, "softplus">, I32EnumAttrCase<"Selu", 10, "selu">, I32EnumAttrCase<"Celu", 11, "celu">,
    I32EnumAttrCase<"Mish", 12, "mish">, I32EnumAttrCase<"Softsign", 13, "softsign">,
    I32EnumAttrCase<"ThresholdedRelu", 14, "thresholded_relu">, I32EnumAttrCase<"Shrink", 15, "shrink">]> {
  let cppNamespace = "::weft";
}

def Weft_ActivationOp : Weft_Elementwise<"activation", "... -> ..."> {
  let summary = "an activation function by name";
  let description = [{
    Rule: `... -> ...`. With x the operand: relu max(x, 0); sigmoid 1/(1+e^-x); gelu x*(1+erf(x/sqrt 2))/2; gelu_tanh its tanh
    approximation; silu x*sigmoid(x); leaky_relu x < 0 ? alpha*x : x; elu x < 0 ? alpha*(e^x - 1) : x; hard_sigmoid
    clamp(alpha*x + beta, 0, 1); hard_swish x*clamp(x/6 + 1/2, 0, 1); softplus log(1+e^x); selu beta*elu(x); celu
    x < 0 ? alpha*(e^(x/alpha) - 1) : x; mish x*tanh(softplus(x)); softsign x/(1+|x|); thresholded_relu x > alpha ? x : 0; shrink
    x > alpha ? x - beta : x < -alpha ? x + beta : 0.
  }];
  let arguments = (ins Weft_ActivationKind:$kind, Weft_Tensor:$input, DefaultValuedAttr<F64Attr, "0.0">:$alpha, DefaultValuedAttr<F64Attr, "0.0">:$beta);
  let assemblyFormat = "$kind $input attr-dict `:` functional-type(operands, results)";
}

#endif
