//===- NamedActivation.cpp --------------------------------------------------------------------===//
#include "compiler/import/onnx/operators/NamedActivation.h"

#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace mlir;

namespace weft::onnx {
namespace {

using Constants = std::pair<std::optional<double>, std::optional<double>>;

/// Constants of functions that take some, where the node gives none.
Constants defaultsOf(StringRef name) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return llvm::StringSwitch<Constants>(name)
      .Case("affine", {1.0, 0.0})
      .Case("clip", {-kLargest, kLargest})
      .Case("leakyrelu", {0.01, std::nullopt})
      .Case("thresholdedrelu", {1.0, std::nullopt})
      .Case("scaledtanh", {1.0, 1.0})
      .Case("hardsigmoid", {0.2, 0.5})
      .Case("elu", {1.0, std::nullopt})
      .Default({std::nullopt, std::nullopt});
}

double takeFront(ArrayRef<double> &list, double otherwise) {
  if (list.empty())
    return otherwise;
  double first = list.front();
  list = list.drop_front();
  return first;
}

} // namespace

NamedActivation NamedActivation::take(StringRef name, ArrayRef<double> &alphas,
                                      ArrayRef<double> &betas) {
  NamedActivation function{name.lower()};
  auto [alpha, beta] = defaultsOf(function.name);
  if (alpha)
    function.alpha = takeFront(alphas, *alpha);
  if (beta)
    function.beta = takeFront(betas, *beta);
  return function;
}

Value NamedActivation::apply(NodeImport &n, Value x) const {
  if (name == "affine")
    return n.add(n.mul(x, n.numberLike(x, alpha)), n.numberLike(x, beta));
  if (name == "clip")
    return n.minimum(n.maximum(x, n.numberLike(x, alpha)), n.numberLike(x, beta));
  if (name == "tanh")
    return n.unary<TanhOp>(x);
  if (name == "scaledtanh")
    return n.mul(n.numberLike(x, alpha), n.unary<TanhOp>(n.mul(n.numberLike(x, beta), x)));
  auto kind = llvm::StringSwitch<std::optional<ActivationKind>>(name)
                  .Case("relu", ActivationKind::Relu)
                  .Case("sigmoid", ActivationKind::Sigmoid)
                  .Case("leakyrelu", ActivationKind::LeakyRelu)
                  .Case("thresholdedrelu", ActivationKind::ThresholdedRelu)
                  .Case("hardsigmoid", ActivationKind::HardSigmoid)
                  .Case("elu", ActivationKind::Elu)
                  .Case("softsign", ActivationKind::Softsign)
                  .Case("softplus", ActivationKind::Softplus)
                  .Default(std::nullopt);
  return kind ? n.activation(*kind, x, alpha, beta)
              : n.wrong("'" + name + "' is not an activation that operators name");
}

} // namespace weft::onnx
