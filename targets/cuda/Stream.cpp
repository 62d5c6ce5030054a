//===- Stream.cpp ---------------------------------------------------------------------------------===//
//
//   wide version, where                                                        [condition]
//     the length of a line is a multiple of the lanes,
//     and all pointers are multiples of 16
//   in it, the length is known to be such a multiple: its low bits are cleared  [wide]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/Stream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

static constexpr int64_t kBytes = 16, kMostLanes = 8;

/// Whether it has the same lines, of another length.
static bool hasLinesOf(SymTensorType tensor, SymTensorType walked) {
  SmallVector<SymExpr> own = tensor.getDims(), dims = walked.getDims();
  return own.size() > 1 && own.size() == dims.size() &&
         ArrayRef(own).drop_back() == ArrayRef(dims).drop_back();
}

unsigned streamLanes(func::FuncOp spec, SymTensorType walked) {
  int64_t widest = 1, widestLine = 1;
  bool hasParts = false; // of bytes, which are read and written one by one in any case
  auto consider = [&](Type type) {
    auto tensor = cast<SymTensorType>(type);
    int64_t bits = elementBits(tensor.getElementType());
    hasParts |= bits < 8;
    if (tensor.getElements() == walked.getElements() || hasLinesOf(tensor, walked))
      widest = std::max<int64_t>(widest, bits / 8);
    if (tensor.getRank() == 1 && walked.getRank() && tensor.getDim(0) == walked.getDims().back())
      widestLine = std::max<int64_t>(widestLine, bits / 8);
  };
  llvm::for_each(spec.getArgumentTypes(), consider);
  llvm::for_each(spec.getResultTypes(), consider);
  if (widest == 1) // accesses to bytes are narrow in any case
    widest = widestLine;
  return hasParts ? 1 : unsigned(std::min(kMostLanes, kBytes / widest));
}

static bool isMultiple(SymExpr width, int64_t lanes) {
  return SymExpr::floordiv(width, lanes) * lanes == width;
}

/// Of short lines of any other length, nothing is left to decide.
bool Stream::isNever() const { return width && width.asConstant() && !isMultiple(width, lanes); }

/// [condition]
Value Stream::condition() {
  ImplicitLocOpBuilder &b = k.b;
  Type i64 = b.getI64Type();
  Value bits; // of all pointers, and of the length
  auto join = [&](Value word) { bits = bits ? b.createOrFold<arith::OrIOp>(bits, word) : word; };
  for (ArrayRef<Value> pointers : {ArrayRef(k.inputs), ArrayRef(k.outputs)})
    for (Value pointer : pointers)
      join(b.create<LLVM::PtrToIntOp>(i64, pointer));
  bits = b.createOrFold<arith::AndIOp>(bits, constantI64(b, kBytes - 1));
  if (width && !isMultiple(width, lanes))
    join(b.createOrFold<arith::AndIOp>(k.e.uniform(width), constantI64(b, lanes - 1)));
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, bits, constantI64(b, 0));
}

/// [wide]
void Stream::wide(function_ref<void()> body) {
  k.e.setPointerAlignment(kBytes);
  bool isMasked = width && !width.asConstant();
  if (isMasked)
    k.e.bindSize(width,
                 k.b.create<arith::AndIOp>(k.e.uniform(width), constantI64(k.b, -int64_t(lanes))));
  body();
  if (isMasked)
    k.e.unbindSize(width);
  k.e.setPointerAlignment(0);
}

void Stream::emit(function_ref<void(unsigned)> body) {
  if (lanes == 1 || isNever())
    return body(1);
  k.choose(
      condition(),
      [&] {
        k.e.setLanes(lanes);
        wide([&] { body(lanes); });
        k.e.setLanes(1);
      },
      [&] { body(1); });
}

} // namespace weft
