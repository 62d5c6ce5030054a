//===- X86Tables.cpp ------------------------------------------------------------------------------===//
//
// A byte is half of one of 128 words, and an instruction picks among the 64 of two vectors: every processor with AVX-512 has it, while those
// for bytes came later.
//===------------------------------------------------------------------------------------------===//

#include "targets/x86/X86Tables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWords = 32; ///< of 16 bits in a vector

/// Of 64 words of the table, from its begin or its middle, those at the lower bits of `places`.
Value pick(ImplicitLocOpBuilder &b, Value table, int half, Value places) {
  auto type = cast<VectorType>(places.getType());
  auto words = [&](int part) -> Value {
    auto place = b.create<LLVM::GEPOp>(table.getType(), type, table,
                                       ArrayRef<LLVM::GEPArg>{int32_t(2 * half + part)});
    return b.create<LLVM::LoadOp>(type, place, 1);
  };
  return b
      .create<LLVM::CallIntrinsicOp>(type, b.getStringAttr("llvm.x86.avx512.vpermi2var.hi.512"),
                                     ValueRange{words(0), places, words(1)})
      .getResult(0);
}

} // namespace

bool x86LooksUp(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isF32() && vector.getNumElements() == 16;
}

Value x86LookUp(ImplicitLocOpBuilder &b, ArrayRef<float> table, Value index) {
  auto type = VectorType::get({16}, b.getF32Type());
  Value constants = b.create<arith::ConstantOp>(DenseElementsAttr::get(type, table));
  return b
      .create<LLVM::CallIntrinsicOp>(type, b.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                                     ValueRange{constants, index})
      .getResult(0);
}

Value x86LookUpBytes(ImplicitLocOpBuilder &b, Value table, Value bytes) {
  auto lanes = cast<VectorType>(bytes.getType()), few = lanes.clone(b.getI16Type()),
       all = VectorType::get({kWords}, b.getI16Type());
  assert(lanes.getNumElements() <= kWords && "a vector of words");
  auto number = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(few, Attribute(b.getI16IntegerAttr(int16_t(value)))));
  };
  Value at = b.create<arith::ExtUIOp>(few, bytes);
  Value place = b.create<arith::ShRUIOp>(at, number(1));
  Value places =
      b.create<vector::InsertStridedSliceOp>(place, b.create<arith::ConstantOp>(b.getZeroAttr(all)),
                                             ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  auto words = [&](int half) -> Value {
    return b.create<vector::ExtractStridedSliceOp>(
        pick(b, table, half, places), ArrayRef<int64_t>{0}, lanes.getShape(), ArrayRef<int64_t>{1});
  };
  Value isUpper = b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, at, number(128));
  Value word = b.create<arith::SelectOp>(isUpper, words(1), words(0));
  Value bit = b.create<arith::ShLIOp>(b.create<arith::AndIOp>(at, number(1)), number(3));
  return b.create<arith::TruncIOp>(lanes, b.create<arith::ShRUIOp>(word, bit));
}

} // namespace weft
