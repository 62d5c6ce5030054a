//===- PackedWeight.cpp - Which weights may be stored narrow, and how they become reals -------===//
//
// decode() loads a unit of one vector of columns, once for all rows of a tile, and makes reals of
// it:
//
//   Words: the lanes are f32                                             [words]
//   Halves: two k's of bf16 in a lane are shifted; f16 are converted     [halves]
//   Bytes: integers are converted, floats decoded; minus the zero point  [bytes]
//   Nibbles: a lane has eight k's; for each of them                      [nibbles]
//     looked up among 16 reals, where the machine does that              [look up]
//     else floats are decoded                                            [decode]
//     else integers are put into a mantissa, less what that adds, and
//       less the zero point, which is one number together                [subtract]
//     minus the zero point, where every column has its own               [zero point]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/PackedWeight.h"
#include "dialects/weft/NumberBits.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kAheadBytes = 8192; ///< that weights are fetched ahead

std::optional<unsigned> weightArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  auto spec = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!spec.getArgAttr(argument.getArgNumber(), kWeightAttr))
    return std::nullopt;
  return argument.getArgNumber();
}

Type elementOf(Value value) { return cast<SymTensorType>(value.getType()).getElementType(); }

/// The value of a fill of integers.
std::optional<int64_t> filledWith(Value value) {
  auto fill = value.getDefiningOp<FillOp>();
  auto number = fill ? dyn_cast<IntegerAttr>(fill.getValue()) : IntegerAttr();
  if (!number)
    return std::nullopt;
  return isUnsigned(number.getType()) ? int64_t(number.getValue().getZExtValue())
                                      : number.getValue().getSExtValue();
}

/// A scale below which blocks make no sense, and a part of a panel that is a whole number of units.
constexpr int64_t kBlockMultiple = 8;

std::optional<PackedWeight> findDequantized(DequantizeBlocksOp op, unsigned depthDim) {
  PackedWeight stored;
  std::optional<unsigned> data = weightArgument(op.getInput()),
                          scale = weightArgument(op.getScale());
  stored.element = elementOf(op.getInput());
  unsigned bits = elementBits(stored.element);
  if (!data || !scale || op.getAxis() != depthDim || op.getBlock() % kBlockMultiple != 0 ||
      (bits != 4 && bits != 8) || elementOf(op.getScale()).isF64())
    return std::nullopt;
  stored.form = bits == 4 ? PackedWeight::Nibbles : PackedWeight::Bytes;
  stored.data = *data;
  stored.scale = {*scale, elementOf(op.getScale())};
  stored.block = op.getBlock();
  stored.numberBits = numberBitsOf(op);
  if (!op.getZero())
    return stored;
  if (std::optional<int64_t> number = filledWith(op.getZero())) {
    stored.offset = double(*number);
    return stored;
  }
  std::optional<unsigned> zero = weightArgument(op.getZero());
  Type zeroElement = elementOf(op.getZero());
  if (!zero || elementBits(zeroElement) > 8 || isFloat(zeroElement))
    return std::nullopt;
  stored.zero = {*zero, zeroElement};
  return stored;
}

Value vectorOf(KernelContext &c, Type element, Attribute value) {
  auto type = VectorType::get({c.machine.lanes()}, element);
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, value));
}
Value integers(KernelContext &c, int64_t value) {
  return vectorOf(c, c.b.getI32Type(), c.b.getI32IntegerAttr(int32_t(value)));
}
Value reals(KernelContext &c, double value) {
  return vectorOf(c, c.b.getF32Type(), c.b.getF32FloatAttr(value));
}

Value asReals(KernelContext &c, Value bits) {
  return c.b.create<arith::BitcastOp>(VectorType::get({c.machine.lanes()}, c.b.getF32Type()), bits);
}

} // namespace

std::optional<PackedWeight> PackedWeight::find(Value weight, unsigned depthDim) {
  if (auto op = weight.getDefiningOp<DequantizeBlocksOp>())
    return findDequantized(op, depthDim);
  PackedWeight stored;
  auto convert = weight.getDefiningOp<ConvertOp>();
  if (convert && elementOf(weight).isF32()) // widened in registers
    weight = convert.getInput();
  stored.element = elementOf(weight);
  if (isHalf(stored.element)) {
    stored.form = Halves;
    if (auto narrow = weight.getDefiningOp<ConvertOp>()) // rounded while it is packed
      weight = narrow.getInput();
  }
  std::optional<unsigned> data = weightArgument(weight);
  if (!data || !(elementOf(weight).isF32() || elementOf(weight) == stored.element) ||
      (stored.form == Words && !stored.element.isF32()))
    return std::nullopt;
  stored.data = *data;
  return stored;
}

int64_t PackedWeight::chunk() const {
  if (block == 0)
    return kSumChunk;
  int64_t parts = (block + kSumChunk - 1) / kSumChunk;
  while (block % parts != 0 || block / parts % kBlockMultiple != 0)
    ++parts;
  return block / parts;
}

WeightLayout PackedWeight::layout(WeightLayout::Order order, int64_t columns) const {
  WeightLayout::Form packed = form == Words     ? WeightLayout::F32
                              : form == Bytes   ? WeightLayout::Bytes
                              : form == Nibbles ? WeightLayout::Nibbles
                              : element.isF16() ? WeightLayout::F16
                                                : WeightLayout::BF16;
  return WeightLayout::panels(columns, order, packed);
}

void PackedWeight::placeScales(WeightLayout::Order order, int64_t columns,
                               MutableArrayRef<WeightLayout> layouts) const {
  if (!block)
    return;
  layouts[scale.argument] = scale.layout(order, columns);
  if (zero)
    layouts[zero->argument] = zero->layout(order, columns);
}

SmallVector<Value, 8> PackedWeight::decode(KernelContext &c, Value pointer, Value zero) const {
  ImplicitLocOpBuilder &b = c.b;
  unsigned bits = form == Bytes ? 8 : form == Halves && !isPaired() ? 16 : 32;
  Type lanes = VectorType::get({c.machine.lanes()}, b.getIntegerType(bits));
  // [words] Loaded as they are.
  if (form == Words)
    return {
        b.create<LLVM::LoadOp>(VectorType::get({c.machine.lanes()}, b.getF32Type()), pointer, 4)};
  Value loaded = b.create<LLVM::LoadOp>(lanes, pointer, bits / 8);
  if (form == Nibbles)
    return decodeNibbles(c, loaded, zero);
  // [bytes] The scale waits for the sum of its block.
  if (form == Bytes) {
    Type wide = VectorType::get({c.machine.lanes()}, b.getI32Type()),
         real = VectorType::get({c.machine.lanes()}, b.getF32Type());
    Value value;
    if (isFloat(element))
      value = decodeFloat(b, element, loaded);
    else if (isUnsigned(element))
      value = b.create<arith::SIToFPOp>(real, b.create<arith::ExtUIOp>(wide, loaded));
    else
      value = b.create<arith::SIToFPOp>(real, b.create<arith::ExtSIOp>(wide, loaded));
    if (zero || offset != 0)
      value = b.create<arith::SubFOp>(value, zero ? zero : reals(c, offset));
    return {value};
  }
  // [halves] The lower half is the first k.
  if (!isPaired())
    return {decodeFloat(b, element, loaded)};
  return {asReals(c, b.create<arith::ShLIOp>(loaded, integers(c, 16))),
          asReals(c, b.create<arith::AndIOp>(loaded, integers(c, 0xffff0000)))};
}

/// [nibbles] A machine may look the real up in a register. Otherwise a nibble is put into a mantissa, and the number that this adds is taken
/// away again, with the zero point; floats are decoded. All are exact.
SmallVector<Value, 8> PackedWeight::decodeNibbles(KernelContext &c, Value words, Value zero) const {
  ImplicitLocOpBuilder &b = c.b;
  double bias = double(this->bias()) + (zero ? 0 : offset);
  // [look up] What all numbers have too much is taken away in the table.
  auto lookUp = [&](int64_t shift) -> Value {
    SmallVector<float> table;
    const FloatFormat *format = floatFormatOf(element);
    for (int64_t q = 0; q < 16; ++q)
      table.push_back(float((format ? format->decode(q) : double(q)) - bias));
    Value index = shift ? Value(b.create<arith::ShRUIOp>(words, integers(c, shift))) : words;
    return c.machine.lookUp(b, table, index);
  };
  // [subtract] Without a conversion: most nibbles stay where they are in the word. What is taken away is the same for all k of a block.
  auto subtract = [&](int64_t shift) -> Value {
    bool low = shift < 20; // the mantissa has room for four bits there
    Value word = low ? words : Value(b.create<arith::ShRUIOp>(words, integers(c, 12)));
    shift = low ? shift : shift - 12;
    double large = double(int64_t(1) << (23 - shift));
    Value nibble = b.create<arith::AndIOp>(word, integers(c, int64_t(15) << shift));
    Value bits = b.create<arith::OrIOp>(
        nibble, b.create<arith::BitcastOp>(words.getType(), reals(c, large)));
    Value added = reals(c, large + bias);
    return b.create<arith::SubFOp>(asReals(c, bits),
                                   zero ? Value(b.create<arith::AddFOp>(added, zero)) : added);
  };
  // [decode] Floats of 4 bits.
  auto decode = [&](int64_t shift) -> Value {
    Value nibble =
        b.create<arith::TruncIOp>(VectorType::get({c.machine.lanes()}, b.getIntegerType(4)),
                                  b.create<arith::ShRUIOp>(words, integers(c, shift)));
    Value value = decodeFloat(b, element, nibble);
    return bias != 0 ? Value(b.create<arith::SubFOp>(value, reals(c, bias))) : value;
  };
  SmallVector<Value, 8> result;
  Type real = VectorType::get({c.machine.lanes()}, b.getF32Type());
  for (int64_t i = 0; i < 8; ++i) {
    int64_t shift = nibbleShift(i);
    if (!c.machine.looksUp(real) && !isFloat(element)) {
      result.push_back(subtract(shift));
      continue;
    }
    // [zero point] A vector of them, the same for all k of the block.
    Value value = c.machine.looksUp(real) ? lookUp(shift) : decode(shift);
    result.push_back(zero ? Value(b.create<arith::SubFOp>(value, zero)) : value);
  }
  return result;
}

static void fetchLines(KernelContext &c, Value pointer, int64_t from, int64_t size) {
  for (int64_t line = from; line < from + size; line += kLineBytes)
    c.machine.prefetch(c.b, elementPointer(c.b, pointer, c.b.getI8Type(), constantI64(c.b, line)),
                       VectorMachine::Cache::First);
}

void PackedWeight::fetchAhead(KernelContext &c, Value pointer, int64_t size) {
  fetchLines(c, pointer, kAheadBytes, size);
}

void PackedWeight::fetchScalesAhead(KernelContext &c, Value panel, Value nth,
                                    int64_t columns) const {
  int64_t ofColumn = scale.columnBytes(1), blockBytes = block * elementBits(element) / 8;
  fetchLines(c, scale.row(c, panel, nth, columns), kAheadBytes * ofColumn / blockBytes,
             columns * ofColumn);
}

} // namespace weft
