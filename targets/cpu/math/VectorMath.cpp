//===- VectorMath.cpp - Elementary functions as plain vector code -----------------------------===//
//
// Ties math operations to their expansions, each pattern applied exactly once. An operation y =
// f(x) that is no instruction becomes:
//
//   x' = x, or x widened to f32 when it is f16 or bf16               [widen]
//   y' = the formula of f (Functions.h) at x', on all lanes at once  [formula]
//      or f itself, when only the narrow type has no instruction     [instruction]
//      or x' * y' + z', rounded twice without fused multiply-add     [multiply add]
//      or 1 + erf x', where nobody needs erf x' alone                [erf and sum]
//      or a product and its correction for x' / c                    [quotient]
//   y = y' rounded to the type of y                                  [narrow]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/VectorMath.h"
#include "targets/cpu/math/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "targets/cpu/machine/BoundedExponential.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

using lanes::Emitter;
using lanes::Int;
using lanes::Mask;
using lanes::Real;

//===- Types ----------------------------------------------------------------------------------===//

bool isSmall(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Scalars and fixed-length 1-D vectors.
bool hasLaneShape(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getRank() == 1 && !vector.isScalable() : type.isIntOrIndexOrFloat();
}

bool isSupported(Type type) {
  Type element = getElementTypeOrSelf(type);
  bool known = element.isF32() || element.isF64() || isSmall(type) || element.isIntOrIndex();
  return known && hasLaneShape(type);
}

/// [widen] f32 and f64 stay as they are.
Real loadReal(Emitter &emitter, Value value) {
  Real x{{&emitter, value}};
  return isSmall(value.getType()) ? lanes::widenSmall(x) : x;
}

/// [narrow] To f16 or bf16, when the operation has them.
Value storeReal(Real x, Type type) {
  return isSmall(type) ? lanes::narrowSmall(x, getElementTypeOrSelf(type)).value : x.value;
}

//===- Which operations -----------------------------------------------------------------------===//

/// Conversions that LLVM turns into library calls.
bool convertsByLibrary(Type from, Type to, const VectorMachine &machine) {
  auto element = [](Type type) { return getElementTypeOrSelf(type); };
  if (element(to).isBF16() || element(from).isBF16())
    return true;
  if (element(to).isF16() && element(from).isF64())
    return true;
  return !machine.hasHalves() && (isSmall(from) || isSmall(to));
}

/// [quotient] What vectors are divided by, if it is one number whose inverse is rounded, and neither
/// is near the ends of its format. Powers of two have exact inverses, which LLVM multiplies by.
std::optional<double> constantDivisor(arith::DivFOp op) {
  SplatElementsAttr splat;
  if (!matchPattern(op.getRhs(), m_Constant(&splat)) ||
      !(splat.getElementType().isF32() || splat.getElementType().isF64()))
    return std::nullopt;
  double divisor = splat.getSplatValue<APFloat>().convertToDouble();
  int exponent;
  double fraction = std::frexp(std::fabs(divisor), &exponent);
  bool isModerate = std::isfinite(divisor) && divisor != 0 && std::abs(exponent) < 64;
  return isModerate && fraction != 0.5 ? std::optional(divisor) : std::nullopt;
}

/// Operations that have no instruction on some processor we compile for, or a slow one.
bool needsExpansion(Operation *op, const VectorMachine &machine) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertsByLibrary(op->getOperand(0).getType(), op->getResult(0).getType(), machine);
  if (isa<math::FmaOp, vector::FMAOp>(op))
    return !machine.hasFma() || isSmall(op->getResult(0).getType());
  if (isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::RoundOp,
          math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op))
    return isSmall(op->getResult(0).getType());
  if (isa<math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op))
    return false;
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return machine.hasFma() && constantDivisor(division);
  return isa<arith::RemFOp>(op) || isa<math::MathDialect>(op->getDialect());
}

//===- Patterns -------------------------------------------------------------------------------===//

/// An operation whose expansion is a function from its operands to its result.
template <typename Op> struct Expansion : OpRewritePattern<Op> {
  Expansion(MLIRContext *context, const VectorMachine &machine,
            std::function<Value(Emitter &, Op)> expand)
      : OpRewritePattern<Op>(context), machine(machine), expand(std::move(expand)) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!needsExpansion(op, machine))
      return rewriter.notifyMatchFailure(op, "the processor has an instruction for it");
    for (Value operand : op->getOperands())
      if (!isSupported(operand.getType()))
        return rewriter.notifyMatchFailure(op, "operand is not 1-D lanes of a known float");
    Emitter emitter{rewriter, op.getLoc(), machine};
    rewriter.replaceOp(op, expand(emitter, op));
    return success();
  }

  const VectorMachine &machine;
  std::function<Value(Emitter &, Op)> expand;
};

/// Collects patterns with the machine they share.
struct Collector {
  RewritePatternSet &patterns;
  const VectorMachine &machine;

  template <typename Op> void add(std::function<Value(Emitter &, Op)> expand) {
    patterns.add<Expansion<Op>>(patterns.getContext(), machine, std::move(expand));
  }

  template <typename Op> void unary(Real (*function)(Real)) {
    add<Op>([=](Emitter &emitter, Op op) {
      return storeReal(function(loadReal(emitter, op.getOperand())), op.getType());
    });
  }

  template <typename Op> void binary(Real (*function)(Real, Real)) {
    add<Op>([=](Emitter &emitter, Op op) {
      Real a = loadReal(emitter, op.getLhs()), b = loadReal(emitter, op.getRhs());
      return storeReal(function(a, b), op.getType());
    });
  }

  /// [instruction] Operations the processor has for f32: only f16 and bf16 need help.
  template <typename Op> void widened() {
    add<Op>([](Emitter &emitter, Op op) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(loadReal(emitter, operand).value);
      Value wide = emitter.builder.create<Op>(op.getLoc(), operands[0].getType(), operands);
      return storeReal({{&emitter, wide}}, op.getType());
    });
  }
};

/// [multiply add] a*b+c in the precision of the operands.
template <typename Op> Value expandFma(Emitter &emitter, Value a, Value b, Value c, Op op) {
  Real product = loadReal(emitter, a), factor = loadReal(emitter, b), sum = loadReal(emitter, c);
  return storeReal(lanes::mulAdd(product, factor, sum), op.getType());
}

bool isOne(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number && number.getValue().isExactlyValue(1.0);
}

/// [erf and sum] Where every use is 1 + erf x, as in GELU in all its spellings, the sum is expanded
/// as a whole.
Value expandErfAndSums(Emitter &emitter, math::ErfOp op) {
  Real x = loadReal(emitter, op.getOperand());
  SmallVector<Operation *> users(op->getUsers());
  bool sums = !users.empty() && x.value.getType() == op.getType() &&
              llvm::all_of(users, [](Operation *user) {
                auto add = dyn_cast<arith::AddFOp>(user);
                return add && (isOne(add.getLhs()) || isOne(add.getRhs()));
              });
  if (!sums)
    return storeReal(lanes::expandErf(x), op.getType());
  Real sum = lanes::expandOnePlusErf(x);
  for (Operation *user : users)
    user->getResult(0).replaceAllUsesWith(sum.value);
  return (sum - 1.0).value; // nobody uses it
}

/// [formula] What each function becomes.
void addElementary(Collector c) {
  c.add<math::ExpOp>([](Emitter &emitter, math::ExpOp op) {
    Real x = loadReal(emitter, op.getOperand());
    Real power = op->hasAttr(kBoundedAttr) ? lanes::expandBoundedExp(x) : lanes::expandExp(x);
    return storeReal(power, op.getType());
  });
  c.unary<math::Exp2Op>(lanes::expandExp2);
  c.unary<math::ExpM1Op>(lanes::expandExpM1);
  c.unary<math::SinhOp>(lanes::expandSinh);
  c.unary<math::CoshOp>(lanes::expandCosh);
  c.unary<math::TanhOp>(lanes::expandTanh);
  c.add<math::ErfOp>(expandErfAndSums);
  c.unary<math::LogOp>(lanes::expandLog);
  c.unary<math::Log2Op>(lanes::expandLog2);
  c.unary<math::Log10Op>(lanes::expandLog10);
  c.unary<math::Log1pOp>(lanes::expandLog1p);
  c.unary<math::AsinhOp>(lanes::expandAsinh);
  c.unary<math::AcoshOp>(lanes::expandAcosh);
  c.unary<math::AtanhOp>(lanes::expandAtanh);
  c.unary<math::SinOp>(lanes::expandSin);
  c.unary<math::CosOp>(lanes::expandCos);
  c.unary<math::TanOp>(lanes::expandTan);
  c.unary<math::AsinOp>(lanes::expandAsin);
  c.unary<math::AcosOp>(lanes::expandAcos);
  c.unary<math::AtanOp>(lanes::expandAtan);
  c.unary<math::CbrtOp>(lanes::expandCbrt);
  c.unary<math::RsqrtOp>(lanes::expandRsqrt);
  c.binary<math::Atan2Op>(lanes::expandAtan2);
  c.binary<math::PowFOp>(lanes::expandPow);
  c.binary<arith::RemFOp>(lanes::expandRemainder);
  c.add<arith::DivFOp>([](Emitter &emitter, arith::DivFOp op) {
    return lanes::divideByConstant({{&emitter, op.getLhs()}}, *constantDivisor(op)).value;
  });
  c.add<math::FPowIOp>([](Emitter &emitter, math::FPowIOp op) {
    Real base = loadReal(emitter, op.getLhs());
    return storeReal(lanes::expandPow(base, Int{{&emitter, op.getRhs()}}), op.getType());
  });
  c.add<math::IPowIOp>([](Emitter &emitter, math::IPowIOp op) {
    Int base{{&emitter, op.getLhs()}}, exponent{{&emitter, op.getRhs()}};
    return lanes::expandPow(base, exponent).value;
  });
}

void addInstructions(Collector c) {
  c.widened<math::AbsFOp>();
  c.widened<math::CeilOp>();
  c.widened<math::CopySignOp>();
  c.widened<math::FloorOp>();
  c.widened<math::RoundOp>();
  c.widened<math::RoundEvenOp>();
  c.widened<math::SqrtOp>();
  c.widened<math::TruncOp>();
  c.add<math::FmaOp>([](Emitter &emitter, math::FmaOp op) {
    return expandFma(emitter, op.getA(), op.getB(), op.getC(), op);
  });
  c.add<vector::FMAOp>([](Emitter &emitter, vector::FMAOp op) {
    return expandFma(emitter, op.getLhs(), op.getRhs(), op.getAcc(), op);
  });
  c.add<arith::ExtFOp>([](Emitter &emitter, arith::ExtFOp op) {
    Real wide = loadReal(emitter, op.getIn());
    return getElementTypeOrSelf(op.getType()).isF64() ? lanes::widen(wide).value : wide.value;
  });
  c.add<arith::TruncFOp>([](Emitter &emitter, arith::TruncFOp op) {
    return storeReal(loadReal(emitter, op.getIn()), op.getType());
  });
}

} // namespace

//===- Entry points ---------------------------------------------------------------------------===//

void insertVectorMathDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
}

void populateVectorMathPatterns(RewritePatternSet &patterns, const VectorMachine &machine) {
  Collector collector{patterns, machine};
  addElementary(collector);
  addInstructions(collector);
}

LogicalResult expandVectorMath(Operation *root, const VectorMachine &machine) {
  SmallVector<Operation *> work;
  root->walk([&](Operation *op) {
    if (needsExpansion(op, machine))
      work.push_back(op);
  });
  RewritePatternSet patterns(root->getContext());
  populateVectorMathPatterns(patterns, machine);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(root->getContext());
  for (Operation *op : work) {
    rewriter.setInsertionPoint(op);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return op->emitOpError("has no vector expansion for ")
             << op->getOperand(0).getType()
             << ": use scalars or fixed-length 1-D vectors of f32, f64, f16 or bf16";
  }
  return success();
}

} // namespace weft
