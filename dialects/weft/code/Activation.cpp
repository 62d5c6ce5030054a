//===- Activation.cpp - Code of activations ----------------------------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {

using Builder = ImplicitLocOpBuilder;

static Value emitSigmoid(Builder &b, Value x) {
  Value one = number(b, x.getType(), 1);
  return b.create<arith::DivFOp>(
      one, b.create<arith::AddFOp>(one, b.create<math::ExpOp>(b.create<arith::NegFOp>(x))));
}

static Value larger(Builder &b, Value x, double least) {
  return emitCombine(b, Combiner::Max, getElementTypeOrSelf(x), x, number(b, x.getType(), least));
}
static Value smaller(Builder &b, Value x, double most) {
  return emitCombine(b, Combiner::Min, getElementTypeOrSelf(x), x, number(b, x.getType(), most));
}

static Value emitClamp01(Builder &b, Value x) { return smaller(b, larger(b, x, 0), 1); }

/// x * (1 + y) / 2
static Value emitGate(Builder &b, Value x, Value y) {
  Value half = b.create<arith::MulFOp>(x, number(b, x.getType(), 0.5));
  return b.create<arith::MulFOp>(half, b.create<arith::AddFOp>(number(b, x.getType(), 1), y));
}

Value ActivationOp::emitScalar(Builder &b, ValueRange e) {
  Value x = e[0];
  Type type = x.getType();
  double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  auto mul = [&](Value a, Value c) -> Value { return b.create<arith::MulFOp>(a, c); };
  auto add = [&](Value a, Value c) -> Value { return b.create<arith::AddFOp>(a, c); };
  Value zero = number(b, type, 0), one = number(b, type, 1);
  auto negative = [&] { return compareFloat(b, arith::CmpFPredicate::OLT, x, zero); };
  switch (getKind()) {
  case ActivationKind::Relu:
    return larger(b, x, 0);
  case ActivationKind::Sigmoid:
    return emitSigmoid(b, x);
  case ActivationKind::Gelu:
    return emitGate(b, x, b.create<math::ErfOp>(mul(x, number(b, type, M_SQRT1_2))));
  case ActivationKind::GeluTanh: {
    Value cube = mul(mul(x, x), mul(x, number(b, type, 0.044715)));
    return emitGate(b, x,
                    b.create<math::TanhOp>(mul(number(b, type, 0.7978845608028654), add(x, cube))));
  }
  case ActivationKind::Silu:
    return mul(x, emitSigmoid(b, x));
  case ActivationKind::LeakyRelu:
    return select(b, negative(), mul(x, number(b, type, alpha)), x);
  case ActivationKind::Elu:
    return select(b, negative(), mul(number(b, type, alpha), b.create<math::ExpM1Op>(x)), x);
  case ActivationKind::HardSigmoid:
    return emitClamp01(b, add(mul(x, number(b, type, alpha)), number(b, type, beta)));
  case ActivationKind::HardSwish:
    return mul(x, emitClamp01(b, add(mul(x, number(b, type, 1.0 / 6)), number(b, type, 0.5))));
  case ActivationKind::Softplus: { // max(x, 0) + log(1 + e^-|x|)
    Value small = b.create<math::ExpOp>(b.create<arith::NegFOp>(b.create<math::AbsFOp>(x)));
    return add(larger(b, x, 0), b.create<math::LogOp>(add(one, small)));
  }
  case ActivationKind::Selu: {
    Value elu = select(b, negative(), mul(number(b, type, alpha), b.create<math::ExpM1Op>(x)), x);
    return mul(number(b, type, beta), elu);
  }
  case ActivationKind::Celu: {
    Value power = b.create<math::ExpM1Op>(b.create<arith::DivFOp>(x, number(b, type, alpha)));
    return select(b, negative(), mul(number(b, type, alpha), power), x);
  }
  case ActivationKind::
      Mish: { // tanh(log(1 + w)) = n / (n + 2) with n = w * (w + 2); 1 where w would overflow
    Value w = b.create<math::ExpOp>(smaller(b, x, 20));
    Value n = mul(w, add(w, number(b, type, 2)));
    return mul(x, b.create<arith::DivFOp>(n, add(n, number(b, type, 2))));
  }
  case ActivationKind::Softsign:
    return b.create<arith::DivFOp>(x, add(one, b.create<math::AbsFOp>(x)));
  case ActivationKind::ThresholdedRelu:
    return select(b, compareFloat(b, arith::CmpFPredicate::OGT, x, number(b, type, alpha)), x,
                  zero);
  case ActivationKind::Shrink: {
    Value above = compareFloat(b, arith::CmpFPredicate::OGT, x, number(b, type, alpha));
    Value below = compareFloat(b, arith::CmpFPredicate::OLT, x, number(b, type, -alpha));
    Value raised = select(b, below, add(x, number(b, type, beta)), zero);
    return select(b, above, add(x, number(b, type, -beta)), raised);
  }
  }
  llvm_unreachable("closed set of activations");
}

} // namespace weft
