//===- SveRegisters.cpp - Vectors of a known length in registers of SVE -----------------------------------===//

#include "targets/arm/SveRegisters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weft::sve {

static constexpr int64_t kSegmentBits = 128;

VectorType anyLength(Type element) {
  return VectorType::get({kSegmentBits / element.getIntOrFloatBitWidth()}, element, {true});
}

Value inRegister(ImplicitLocOpBuilder &b, Value vector) {
  VectorType type = anyLength(cast<VectorType>(vector.getType()).getElementType());
  Value any = b.create<LLVM::UndefOp>(type);
  return b.create<vector::ScalableInsertOp>(vector, any, 0);
}

Value fromRegister(ImplicitLocOpBuilder &b, Value value, Type type) {
  return b.create<vector::ScalableExtractOp>(type, value, 0);
}

Value repeated(ImplicitLocOpBuilder &b, Value segment) {
  Value value = inRegister(b, segment), first = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0));
  std::string name = "sve.dupq.lane.nxv";
  auto type = cast<VectorType>(value.getType());
  Type element = type.getElementType();
  name += std::to_string(type.getDimSize(0)) + (element.isF32()    ? "f32"
                                                : element.isBF16() ? "bf16"
                                                                   : "i8");
  return callArm(b, type, name, {value, first});
}

vector::ShuffleOp spreadSegment(Value all) {
  vector::ShuffleOp spread = spreadLane(all);
  bool isOfSegment = spread && spread.getV1VectorType().getNumElements() *
                                       int64_t(spread.getV1VectorType().getElementTypeBitWidth()) ==
                                   kSegmentBits;
  return isOfSegment ? spread : vector::ShuffleOp();
}

Value lane(ImplicitLocOpBuilder &b, vector::ShuffleOp spread) {
  return b.create<arith::ConstantOp>(b.getI32IntegerAttr(laneOf(spread)));
}

Value wordsAs(ImplicitLocOpBuilder &b, Type element, Value words) {
  int64_t count =
      32 / element.getIntOrFloatBitWidth() * cast<VectorType>(words.getType()).getNumElements();
  return b.create<LLVM::BitcastOp>(VectorType::get({count}, element), words);
}
Value bytesOf(ImplicitLocOpBuilder &b, Value words) { return wordsAs(b, b.getI8Type(), words); }
Value halvesOf(ImplicitLocOpBuilder &b, Value words) { return wordsAs(b, b.getBF16Type(), words); }

} // namespace weft::sve
