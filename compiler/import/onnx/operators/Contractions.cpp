//===- Contractions.cpp - MatMul, Gemm, MatMulInteger -----------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Quantization.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::onnx {

Type accumulateType(NodeImport &n, Type element) {
  return isFloat(element) && elementBits(element) < 32 ? n.f32() : element;
}

namespace {

/// An operand with one access per dimension; `1` is a dimension that is broadcast.
struct Operand {
  Value value;
  SmallVector<std::string> accesses;

  /// Reads through transposes: their order moves into the accesses.
  void takeTransposes() {
    while (auto op = value.getDefiningOp<TransposeOp>()) {
      SmallVector<std::string> moved(accesses.size());
      for (auto [i, from] : llvm::enumerate(op.getOrder()))
        moved[from] = accesses[i];
      accesses = moved;
      value = op.getInput();
    }
  }
  std::string text() const { return llvm::join(accesses, " "); }
};

/// Accesses for the leading dimensions of both operands, which broadcast against each other.
bool batchAccesses(NodeImport &n, Operand &a, Operand &b, std::string &result) {
  auto batchOf = [](Value x) { return Dims(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_back(2)); };
  Dims batch = batchOf(a.value);
  if (!n.mergeDims(batch, batchOf(b.value)))
    return false;
  for (Operand *operand : {&a, &b}) {
    Dims own = batchOf(operand->value), want = batch;
    llvm::append_range(want, ArrayRef<SymExpr>(typeOf(operand->value).getDims()).take_back(2));
    operand->value = n.applyDims(operand->value, want);
    for (auto [d, dim] : llvm::enumerate(own)) {
      unsigned factor = batch.size() - own.size() + d;
      bool repeats = dim.isConstant(1) && !batch[factor].isConstant(1);
      operand->accesses.push_back(repeats ? "1" : "b" + std::to_string(factor));
    }
  }
  for (size_t i = 0; i < batch.size(); ++i)
    result += "b" + std::to_string(i) + " ";
  return !n.refused();
}

} // namespace

Value buildMatMul(NodeImport &n, Value a, Value b, Type accumulate) {
  if (!a || !b || n.refused())
    return {};
  if (rankOf(a) == 0 || rankOf(b) == 0)
    return n.wrong("an operand has rank 0");
  bool vectorA = rankOf(a) == 1, vectorB = rankOf(b) == 1;
  Operand left{vectorA ? n.unsqueeze(a, int64_t(0)) : a, {}},
      right{vectorB ? n.unsqueeze(b, int64_t(1)) : b, {}};
  unsigned kA = rankOf(left.value) - 1, kB = rankOf(right.value) - 2;
  SymExpr k = typeOf(left.value).getDim(kA);
  if (!n.requireEqual(typeOf(right.value).getDim(kB), k,
                      "the first dimension of the second matrix"))
    return {};
  right.value = n.refine(right.value, kB, k);
  std::string result;
  if (rankOf(right.value) == 2 && !left.value.getDefiningOp<TransposeOp>()) {
    left.accesses = {"...", "k"};
    right.accesses = {"k", "n"};
    result = "... n";
  } else {
    if (!batchAccesses(n, left, right, result))
      return {};
    left.accesses.append({"m", "k"});
    right.accesses.append({"k", "n"});
    left.takeTransposes();
    result += "m n";
  }
  right.takeTransposes();
  Value product = n.contract(left.text() + ", " + right.text() + " -> " + result, left.value,
                             right.value, accumulate);
  if (!product || (!vectorA && !vectorB))
    return product;
  Dims dims(typeOf(product).getDims());
  if (vectorB)
    dims.pop_back();
  if (vectorA)
    dims.erase(dims.end() - (vectorB ? 1 : 2));
  return n.reshape(product, dims);
}

namespace {

void convertMatMul(NodeImport &n) {
  Value a = n.input(0), b = n.input(1);
  if (!a || !b)
    return;
  if (elementOf(a) != elementOf(b))
    return (void)n.wrong("the operands have different element types");
  n.result(n.convert(buildMatMul(n, a, b, accumulateType(n, elementOf(a))), elementOf(a)));
}

Value scaled(NodeImport &n, Value x, double factor) {
  if (!x || factor == 1)
    return x;
  if (!isFloat(elementOf(x)) && factor != int64_t(factor))
    return n.refuse("a factor of " + Twine(std::to_string(factor)) +
                    " for integers is not supported");
  return n.mul(x, n.numberLike(x, factor));
}

void convertGemm(NodeImport &n) { n.result(buildGemm(n)); }

/// One number, or one per row (column) of a matrix product.
Value zeroPoint(NodeImport &n, Value zero, bool perRow) {
  Value wide = n.convert(zero, n.i32());
  if (!wide || rankOf(wide) != 1)
    return wide;
  if (typeOf(wide).getDim(0).isConstant(1))
    return n.reshape(wide, {});
  return perRow ? n.unsqueeze(wide, int64_t(1)) : wide;
}

void convertMatMulInteger(NodeImport &n) {
  n.result(buildIntegerMatMul(n, n.input(0), n.input(1), n.optionalInput(2), n.optionalInput(3)));
}

} // namespace

Value buildGemm(NodeImport &n) {
  Value a = n.input(0), b = n.input(1), c = n.optionalInput(2);
  bool transA = n.intAttribute("transA", 0) != 0, transB = n.intAttribute("transB", 0) != 0;
  double alpha = n.floatAttribute("alpha", 1), beta = n.floatAttribute("beta", 1);
  n.ignoreAttributes({"broadcast"});
  if (!a || !b)
    return {};
  if (rankOf(a) != 2 || rankOf(b) != 2)
    return n.wrong("both operands must be matrices");
  Value product = buildMatMul(n, transA ? n.transpose(a, {1, 0}) : a,
                              transB ? n.transpose(b, {1, 0}) : b, accumulateType(n, elementOf(a)));
  product = n.convert(scaled(n, product, alpha), elementOf(a));
  if (c && beta != 0) {
    if (rankOf(c) > 2)
      return n.wrong("the third operand must have rank 2 or less");
    product = n.add(product, scaled(n, c, beta));
  }
  return product;
}

/// a.b - aZero*sum(b) - bZero*sum(a) + k*aZero*bZero: the product itself stays one of bytes.
Value buildIntegerMatMul(NodeImport &n, Value a, Value b, Value aZero, Value bZero) {
  if (!a || !b)
    return {};
  if (rankOf(a) < 2 || rankOf(b) < 2)
    return n.refuse("vectors are not supported in products of integers");
  Value result = buildMatMul(n, a, b, n.i32());
  int64_t kA = rankOf(a) - 1, kB = rankOf(b) - 2;
  Value za = zeroPointMatters(n, aZero) ? zeroPoint(n, aZero, /*perRow=*/true) : Value();
  Value zb = zeroPointMatters(n, bZero) ? zeroPoint(n, bZero, /*perRow=*/false) : Value();
  if (za)
    result = n.sub(result, n.mul(za, n.reduce(CombinerKind::Sum, n.convert(b, n.i32()), kB, true)));
  if (zb)
    result = n.sub(result, n.mul(zb, n.reduce(CombinerKind::Sum, n.convert(a, n.i32()), kA, true)));
  if (za && zb)
    result = n.add(result, n.mul(n.mul(za, zb), n.number(n.i32(), typeOf(a).getDim(kA))));
  return result;
}

void addContractions(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"MatMul", 1, newest, convertMatMul, 2, 2});
  table.add({"Gemm", 1, newest, convertGemm, 2, 3});
  table.add({"MatMulInteger", 10, newest, convertMatMulInteger, 2, 4});
}

} // namespace weft::onnx
