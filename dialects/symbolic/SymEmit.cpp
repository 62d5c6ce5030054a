//===- SymEmit.cpp - Arithmetic on i64 that computes an expression -----------------------------===//
//
// Emits the spelled form, so `mod`, `min` and `max` are one operation each. Unsigned division is used where the numerator cannot be
// negative by its form (divisors are positive: whoever made the division checks that).
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymSpelling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

namespace {
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, llvm::function_ref<Value(StringAttr)> symbolValue)
      : builder(builder), loc(loc), symbolValue(symbolValue) {}

  Value emit(SymExpr expr) {
    if (Value known = done.lookup(expr))
      return known;
    Value value = isAtom(expr) ? emitAtom(expr) : emitSum(expr);
    done[expr] = value;
    return value;
  }

private:
  Value constant(int64_t value) {
    Value &known = constants[value];
    if (!known)
      known = builder.create<arith::ConstantIntOp>(loc, value, 64);
    return known;
  }

  /// floor(lhs / rhs) for rhs > 0.
  Value divide(SymExpr lhs, SymExpr rhs, bool nonNegative) {
    Value a = emit(lhs), b = emit(rhs);
    if (nonNegative)
      return builder.create<arith::DivUIOp>(loc, a, b);
    return builder.create<arith::FloorDivSIOp>(loc, a, b);
  }

  Value emitAtom(SymExpr atom) {
    const SymExprStorage &node = nodeOf(atom);
    if (node.kind == NodeKind::Symbol)
      return symbolValue(node.name);
    if (node.kind == NodeKind::FloorDiv)
      return divide(node.lhs, node.rhs, knownNonNegative(node.lhs));
    Value lhs = emit(node.lhs);
    if (node.kind == NodeKind::Pos)
      return builder.create<arith::MaxSIOp>(loc, lhs, constant(0));
    Value isOne = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lhs, constant(1));
    return builder.create<arith::SelectOp>(loc, isOne, emit(node.rhs), lhs);
  }

  Value emitSpecial(const Piece &piece) {
    switch (piece.spelling) {
    case Spelling::Plain:
      return {};
    case Spelling::Mod: {
      Value a = emit(piece.lhs), b = emit(piece.rhs);
      if (knownNonNegative(piece.lhs))
        return builder.create<arith::RemUIOp>(loc, a, b);
      Value quotient = divide(piece.lhs, piece.rhs, /*nonNegative=*/false);
      return builder.create<arith::SubIOp>(loc, a, builder.create<arith::MulIOp>(loc, quotient, b));
    }
    case Spelling::CeilDiv:
      return divide(piece.lhs + piece.rhs - 1, piece.rhs, knownNonNegative(piece.lhs));
    case Spelling::Min:
      return builder.create<arith::MinSIOp>(loc, emit(piece.lhs), emit(piece.rhs));
    case Spelling::Max:
      return builder.create<arith::MaxSIOp>(loc, emit(piece.lhs), emit(piece.rhs));
    }
    return {};
  }

  Value multiply(Value a, Value b) {
    return a ? Value(builder.create<arith::MulIOp>(loc, a, b)) : b;
  }

  /// The product without its coefficient; null for a constant. Products of the first factors are shared between terms.
  Value emitProduct(const Piece &piece) {
    Value product;
    for (size_t i = 0; i < piece.factors.size(); ++i) {
      SymExpr prefix = makeMonomial(piece.factors[0].atom.getContext(),
                                    ArrayRef<Factor>(piece.factors).take_front(i + 1));
      Value &known = products[prefix];
      if (!known) {
        Value base = emit(piece.factors[i].atom), value = product;
        for (unsigned n = 0; n < piece.factors[i].power; ++n)
          value = multiply(value, base);
        products[prefix] = value;
        product = value;
      } else {
        product = known;
      }
    }
    Value special = emitSpecial(piece);
    return special ? multiply(product, special) : product;
  }

  /// sum + piece, or sum - piece when the coefficient is negative and there is a sum.
  Value addPiece(Value sum, const Piece &piece) {
    Value product = emitProduct(piece);
    bool subtract = sum && product && piece.coefficient < 0 && piece.coefficient != INT64_MIN;
    int64_t coefficient = subtract ? -piece.coefficient : piece.coefficient;
    if (!product)
      product = constant(coefficient);
    else if (coefficient != 1)
      product = builder.create<arith::MulIOp>(loc, product, constant(coefficient));
    if (!sum)
      return product;
    if (subtract)
      return builder.create<arith::SubIOp>(loc, sum, product);
    return builder.create<arith::AddIOp>(loc, sum, product);
  }

  Value emitSum(SymExpr expr) {
    SmallVector<Piece, 4> pieces = spell(expr);
    // Starting with a positive piece saves a negation.
    auto positive = llvm::find_if(pieces, [](const Piece &piece) { return piece.coefficient > 0; });
    if (positive != pieces.end())
      std::rotate(pieces.begin(), positive, positive + 1);
    Value sum;
    for (const Piece &piece : pieces)
      sum = addPiece(sum, piece);
    return sum ? sum : constant(0);
  }

  OpBuilder &builder;
  Location loc;
  llvm::function_ref<Value(StringAttr)> symbolValue;
  llvm::DenseMap<SymExpr, Value> done, products;
  llvm::DenseMap<int64_t, Value> constants;
};
} // namespace

Value weft::emitSymExpr(OpBuilder &builder, Location loc, SymExpr expr,
                        llvm::function_ref<Value(StringAttr)> symbolValue) {
  if (expr.isOverflow()) {
    emitError(loc, "an integer expression overflows 64 bits or is too large");
    return {};
  }
  return Emitter(builder, loc, symbolValue).emit(expr);
}
