//===- Activation.cpp - Reference semantics of activations -------------------------------------===//

#include "dialects/weft/Weft.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double clamp01(double x) { return std::isnan(x) ? x : std::min(1.0, std::max(0.0, x)); }

double activated(ActivationKind kind, double x, double alpha, double beta) {
  switch (kind) {
  case ActivationKind::Relu:
    return std::isnan(x) || x > 0 ? x : 0.0;
  case ActivationKind::Sigmoid:
    return sigmoid(x);
  case ActivationKind::Gelu:
    return x * 0.5 * (1 + std::erf(x * M_SQRT1_2));
  case ActivationKind::GeluTanh:
    return x * 0.5 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  case ActivationKind::Silu:
    return x * sigmoid(x);
  case ActivationKind::LeakyRelu:
    return x < 0 ? alpha * x : x;
  case ActivationKind::Elu:
    return x < 0 ? alpha * std::expm1(x) : x;
  case ActivationKind::HardSigmoid:
    return clamp01(alpha * x + beta);
  case ActivationKind::HardSwish:
    return x * clamp01(x / 6 + 0.5);
  case ActivationKind::Softplus:
    return softplus(x);
  case ActivationKind::Selu:
    return beta * (x < 0 ? alpha * std::expm1(x) : x);
  case ActivationKind::Celu:
    return x < 0 ? alpha * std::expm1(x / alpha) : x;
  case ActivationKind::Mish:
    return x * std::tanh(softplus(x));
  case ActivationKind::Softsign:
    return x / (1 + std::fabs(x));
  case ActivationKind::ThresholdedRelu:
    return x > alpha ? x : 0.0;
  case ActivationKind::Shrink:
    return x > alpha ? x - beta : x < -alpha ? x + beta : 0.0;
  }
  llvm_unreachable("closed set of activations");
}

} // namespace

Scalar ActivationOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (e[0].kind == Scalar::Symbolic)
    return Scalar::of(SymExpr());
  return Scalar::of(activated(getKind(), e[0].asReal(), getAlpha().convertToDouble(),
                              getBeta().convertToDouble()));
}

} // namespace weft
