//===- Activations.cpp - Relu, Gelu, Clip and their like --------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

template <ActivationKind kind> void convertPlain(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  n.result(n.activation(kind, n.input(0)));
}

void convertRelu(NodeImport &n) {
  Value x = n.input(0);
  n.ignoreAttributes({"consumed_inputs"});
  if (x && !isFloat(elementOf(x)))
    return n.result(n.maximum(x, n.numberLike(x, 0)));
  n.result(n.activation(ActivationKind::Relu, x));
}

void convertLeakyRelu(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  n.result(n.activation(ActivationKind::LeakyRelu, n.input(0), n.floatAttribute("alpha", 0.01f)));
}

void convertElu(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  n.result(n.activation(ActivationKind::Elu, n.input(0), n.floatAttribute("alpha", 1)));
}

void convertSelu(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  double alpha = n.floatAttribute("alpha", 1.67326319217681884765625f);
  double gamma = n.floatAttribute("gamma", 1.05070102214813232421875f);
  n.result(n.activation(ActivationKind::Selu, n.input(0), alpha, gamma));
}

void convertCelu(NodeImport &n) {
  n.result(n.activation(ActivationKind::Celu, n.input(0), n.floatAttribute("alpha", 1)));
}

void convertGelu(NodeImport &n) {
  std::string approximate = n.textAttribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return (void)n.refuse("approximation '" + approximate + "' is not supported");
  n.result(n.activation(approximate == "tanh" ? ActivationKind::GeluTanh : ActivationKind::Gelu,
                        n.input(0)));
}

void convertHardSigmoid(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  double alpha = n.floatAttribute("alpha", 0.2f), beta = n.floatAttribute("beta", 0.5f);
  n.result(n.activation(ActivationKind::HardSigmoid, n.input(0), alpha, beta));
}

Value swish(NodeImport &n) {
  Value x = n.input(0);
  double alpha = n.floatAttribute("alpha", 1);
  if (alpha == 1)
    return n.activation(ActivationKind::Silu, x);
  return n.mul(x, n.activation(ActivationKind::Sigmoid, n.mul(x, n.numberLike(x, alpha))));
}

void convertSwish(NodeImport &n) { n.result(swish(n)); }
void convertSwiGLU(NodeImport &n) { n.result(n.mul(swish(n), n.input(1))); }

void convertThresholdedRelu(NodeImport &n) {
  n.result(n.activation(ActivationKind::ThresholdedRelu, n.input(0), n.floatAttribute("alpha", 1)));
}

void convertShrink(NodeImport &n) {
  Value x = n.input(0);
  double bias = n.floatAttribute("bias", 0), lambda = n.floatAttribute("lambd", 0.5);
  if (!x)
    return;
  Value real = isFloat(elementOf(x)) ? x : n.convert(x, n.f32());
  n.result(n.convert(n.activation(ActivationKind::Shrink, real, lambda, bias), elementOf(x)));
}

/// The slope is broadcast to x, never the other way round.
void convertPRelu(NodeImport &n) {
  Value x = n.input(0), slope = n.input(1);
  if (!x || !slope)
    return;
  n.ignoreAttributes({"consumed_inputs"});
  if (n.opset < 7 && rankOf(slope) == 1 && rankOf(x) > 2) { // one slope per channel
    Dims dims(typeOf(slope).getDims());
    dims.append(rankOf(x) - 2, n.constant(1));
    slope = n.reshape(slope, dims);
  }
  Value negative = n.compare(CompareKind::Less, x, n.numberLike(x, 0));
  n.result(n.select(negative, n.mul(x, slope), x));
}

Value clip(NodeImport &n, Value x, Value low, Value high) {
  if (low)
    x = n.maximum(x, n.reshape(low, {}));
  if (high)
    x = n.minimum(x, n.reshape(high, {}));
  return x;
}

void convertClipAttributes(NodeImport &n) {
  Value x = n.input(0);
  n.ignoreAttributes({"consumed_inputs"});
  std::optional<double> low = n.floatAttribute("min"), high = n.floatAttribute("max");
  n.result(
      clip(n, x, low ? n.numberLike(x, *low) : Value(), high ? n.numberLike(x, *high) : Value()));
}

void convertClip(NodeImport &n) {
  n.result(clip(n, n.input(0), n.optionalInput(1), n.optionalInput(2)));
}

} // namespace

void addActivations(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Relu", 1, newest, convertRelu});
  table.add({"Sigmoid", 1, newest, convertPlain<ActivationKind::Sigmoid>});
  table.add({"Softplus", 1, newest, convertPlain<ActivationKind::Softplus>});
  table.add({"HardSwish", 14, newest, convertPlain<ActivationKind::HardSwish>});
  table.add({"LeakyRelu", 1, newest, convertLeakyRelu});
  table.add({"Elu", 1, newest, convertElu});
  table.add({"Selu", 1, newest, convertSelu});
  table.add({"Celu", 12, newest, convertCelu});
  table.add({"Gelu", 20, newest, convertGelu});
  table.add({"HardSigmoid", 1, newest, convertHardSigmoid});
  table.add({"Softsign", 1, newest, convertPlain<ActivationKind::Softsign>});
  table.add({"Mish", 18, newest, convertPlain<ActivationKind::Mish>});
  table.add({"Swish", 24, newest, convertSwish});
  table.add({"SwiGLU", 28, newest, convertSwiGLU, 2, 2});
  table.add({"ThresholdedRelu", 10, newest, convertThresholdedRelu});
  table.add({"Shrink", 9, newest, convertShrink});
  table.add({"PRelu", 1, newest, convertPRelu, 2, 2});
  table.add({"Clip", 1, 10, convertClipAttributes});
  table.add({"Clip", 11, newest, convertClip, 1, 3});
}

} // namespace weft::onnx
