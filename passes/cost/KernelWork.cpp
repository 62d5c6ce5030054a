//===- KernelWork.cpp - What a kernel computes and moves, as formulas --------------------------------------===//

#include "passes/cost/KernelWork.h"
#include "dialects/weft/Aliases.h"
#include "dialects/weft/NumberBits.h"

using namespace mlir;

namespace weft {
namespace {

/// Of each element, in the kernel's own copy.
int64_t storedBits(BlockArgument argument) {
  auto blocks = argument.hasOneUse() ? dyn_cast<DequantizeBlocksOp>(*argument.user_begin())
                                     : DequantizeBlocksOp();
  return blocks && blocks.getInput() == argument ? numberBitsOf(blocks) : 8;
}

/// Of a buffer with room, the parts that are read.
SymExpr bytesRead(BlockArgument argument, bool hasRoom) {
  if (int64_t bits = storedBits(argument); bits < 8)
    return SymExpr::ceildiv(cast<SymTensorType>(argument.getType()).getElements() * bits, 8);
  if (!hasRoom)
    return bytesOf(cast<SymTensorType>(argument.getType()));
  SymExpr bytes = SymExpr::constant(argument.getContext(), 0);
  for (Operation *user : argument.getUsers())
    if (auto slice = dyn_cast<SliceOp>(user);
        slice && !llvm::all_of(slice->getUsers(), [](Operation *reader) {
          return inPlaceWrite(reader->getNumResults() ? reader->getResult(0) : Value());
        }))
      bytes = bytes + bytesOf(cast<SymTensorType>(slice.getResult().getType()));
  return bytes;
}

} // namespace

SymExpr bytesOf(SymTensorType type) {
  unsigned bits = type.getElementType().isInteger(1) ? 8 : elementBits(type.getElementType());
  return bits >= 8 ? type.getElements() * int64_t(bits / 8)
                   : SymExpr::ceildiv(type.getElements() * int64_t(bits), 8);
}

KernelWork workOf(func::FuncOp specification, ArrayRef<bool> haveRoom) {
  Block &body = specification.getBody().front();
  SymExpr zero = SymExpr::constant(specification.getContext(), 0), points = zero, operations = zero,
          read = zero, written = zero, readOnce = zero;
  KernelWork kernel;
  kernel.flops = zero;
  for (Operation &op : body)
    if (auto rule = dyn_cast<RuleOpInterface>(op))
      if (SymExpr here = rule.rule().points()) {
        points = points + here;
        kernel.flops = kernel.flops + here * rule.scalarCost();
        operations = operations + here * std::max<int64_t>(rule.scalarCost(), 1);
      }
  for (auto [argument, hasRoom] : llvm::zip_equal(specification.getArguments(), haveRoom)) {
    SymExpr bytes = bytesRead(argument, hasRoom);
    read = read + bytes;
    readOnce = readOnce + SymExpr::min(bytes, points * int64_t(4));
  }
  for (Value result : body.getTerminator()->getOperands())
    written = written + bytesOf(cast<SymTensorType>(writtenValue(result).getType()));
  kernel.bytesMoved = read + written;
  kernel.points = points;
  // No operand is read more often than the kernel computes something: of a table that is looked up only what is looked up counts.
  kernel.touched = readOnce + written;
  // Operations, and two for a byte.
  kernel.work = operations + kernel.touched * int64_t(2);
  return kernel;
}

} // namespace weft
