//===- QuantizedProducts.cpp - Products with weights of few bits: com.microsoft ---------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "compiler/import/onnx/operators/Quantization.h"
#include "dialects/weft/ops/Rounding.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// Bytes of a parameter as unsigned integers of `bits`, `perRow` for each of `rows`.
Value unpacked(NodeImport &n, Value bytes, int64_t bits, int64_t rows, int64_t perRow,
               const Twine &what) {
  Type element = IntegerType::get(n.context(), bits, IntegerType::Unsigned);
  SymTensorType type = n.type({n.constant(rows), n.constant(perRow)}, element);
  if (!bytes || !type)
    return {};
  auto size = typeOf(bytes).getElements().asConstant();
  if (!isa<IntegerType>(elementOf(bytes)) || elementBits(elementOf(bytes)) != 8 || !size ||
      *size != elementBytes(element, rows * perRow))
    return n.wrong(what + " must have " + Twine(elementBytes(element, rows * perRow)) + " bytes");
  Value integers = n.services.reinterpret(bytes, type);
  return integers ? integers : n.refuse(what + " must be a constant");
}

constexpr int64_t kBytes =
    4; ///< the accuracy level that lets A be rounded; others are computed with reals

/// Rows as they are multiplied by blocks of bytes, where a product can make use of it.
Value roundedRows(NodeImport &n, Value rows, int64_t block) {
  bool moved =
      rows.getDefiningOp<TransposeOp>() != nullptr; // the product reads it in its own order
  if (moved || !RoundBlocksOp::isRegular(typeOf(rows), block))
    return rows;
  return n.emit<RoundBlocksOp>({rows},
                               {n.attribute("block", n.attributes().getI64IntegerAttr(block))});
}

/// A times the transpose of B, whose rows have a scale and a zero point per block.
void convertMatMulNBits(NodeImport &n) {
  int64_t k = n.intAttribute("K", 0), columns = n.intAttribute("N", 0),
          bits = n.intAttribute("bits", 4), block = n.intAttribute("block_size", 0);
  int64_t accuracy = n.intAttribute("accuracy_level", 0);
  Value a = n.input(0), b = n.input(1), scales = n.input(2), zeros = n.optionalInput(3);
  if (!a || !b || !scales)
    return;
  if (n.hasInput(4))
    return (void)n.refuse("groups in another order (g_idx) are not supported");
  if (bits != 4 && bits != 8)
    return (void)n.refuse("weights of " + Twine(bits) + " bits are not supported");
  if (k < 1 || columns < 1 || k > kMaxSymbolValue || columns > kMaxSymbolValue || block < 16 ||
      block > kMaxSymbolValue || (block & (block - 1)) != 0)
    return (void)n.wrong(
        "attributes K and N must be positive, and block_size a power of two from 16");
  if (!isFloat(elementOf(a)) || rankOf(a) < 1)
    return (void)n.wrong("the first operand must be a tensor of reals");
  int64_t blocks = (k + block - 1) / block, stored = blocks * block;
  Value integers = unpacked(n, b, bits, columns, stored, "the second operand");
  Dims grid{n.constant(columns), n.constant(blocks)};
  if (!n.requireEqual(typeOf(scales).getElements(), n.constant(columns * blocks),
                      "the number of scales"))
    return;
  Value zero;
  if (!zeros)
    zero = n.fill(grid, integers ? elementOf(integers) : n.i32(), double(1 << (bits - 1)));
  else if (isFloat(elementOf(zeros)))
    return (void)n.refuse("zero points that are reals are not supported");
  else
    zero = unpacked(n, zeros, bits, columns, bits == 4 ? (blocks + 1) / 2 * 2 : blocks,
                    "the fourth operand");
  Value weight = buildDequantizeBlocks(n, integers, n.reshape(scales, grid), zero, 1, block);
  if (weight && stored != k)
    weight = n.sliceDim(weight, 1, n.constant(0), n.constant(k));
  if (!weight)
    return;
  Value rows = n.convert(a, n.f32());
  if (accuracy == kBytes && rows && stored == k)
    rows = roundedRows(n, rows, block);
  Value product = buildMatMul(n, rows, n.transpose(weight, {1, 0}), n.f32());
  if (Value bias = n.optionalInput(5))
    product = n.add(product, n.convert(bias, n.f32()));
  n.result(n.convert(product, elementOf(a)));
}

} // namespace

void addQuantizedProducts(OperatorTable &table) {
  table.add(
      {"MatMulNBits", 1, kNewestMicrosoftOpset, convertMatMulNBits, 3, 6, 1, "com.microsoft"});
}

} // namespace weft::onnx
