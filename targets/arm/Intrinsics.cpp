//===- Intrinsics.cpp - Calls of ARM's instructions, and lanes that they take --------------------------===//

#include "targets/arm/Intrinsics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weft {

Value callArm(ImplicitLocOpBuilder &b, Type type, const llvm::Twine &name, ValueRange operands) {
  return b.create<LLVM::CallIntrinsicOp>(type, b.getStringAttr("llvm.aarch64." + name), operands)
      .getResult(0);
}

const char *byteMatricesOf(ByteSigns signs) {
  if (signs.isMixed())
    return "usmmla";
  if (signs.isLeftSigned != signs.isRightSigned)
    return nullptr;
  return signs.isLeftSigned ? "smmla" : "ummla";
}

vector::ShuffleOp spreadLane(Value all) {
  auto spread = all.getDefiningOp<vector::ShuffleOp>();
  return spread && llvm::all_equal(spread.getMask()) ? spread : vector::ShuffleOp();
}

int64_t laneOf(vector::ShuffleOp spread) { return cast<IntegerAttr>(spread.getMask()[0]).getInt(); }

} // namespace weft
