//===- SveMachine.cpp - Instructions of SVE that take a lane ---------------------------------------------===//
//
// Vectors are those of every machine, with a fixed number of lanes; LLVM keeps them in registers of SVE, since functions say how long these
// are (CodegenOptions::vectorScale). What it has no name for are instructions that take one lane of each 128 bits: a run of four elements is
// repeated in all of these, which loads do by themselves.
//===------------------------------------------------------------------------------------------===//

#include "targets/arm/SveMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/arm/Intrinsics.h"
#include "targets/arm/SveRegisters.h"

using namespace mlir;

namespace weft {
using namespace sve;

static VectorMachine::Traits traitsOf(unsigned lanes) {
  VectorMachine::Traits traits{lanes,
                               32,
                               true,
                               true,
                               {8, {8, 6, 4}},
                               {12, {12, 8, 6}},
                               /*laneRun=*/4,
                               /*keepsNan=*/true,
                               /*clearsForNothing=*/false};
  traits.pairInstructions = 8; // both factors are parted and widened
  return traits;
}

SveMachine::SveMachine(unsigned lanes, Extensions has) : VectorMachine(traitsOf(lanes)), has(has) {}

Value SveMachine::multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) const {
  vector::ShuffleOp spread = spreadSegment(x);
  if (!spread)
    return VectorMachine::multiplyAdd(b, x, y, sum);
  Value total = inRegister(b, sum);
  total = callArm(b, total.getType(), "sve.fmla.lane.nxv4f32",
                  {total, inRegister(b, y), repeated(b, spread.getV1()), lane(b, spread)});
  return fromRegister(b, total, sum.getType());
}

bool SveMachine::addsByteProducts(ByteSigns signs) const {
  return signs.isLeftSigned == signs.isRightSigned || has.mixedDots;
}

Value SveMachine::addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value left, Value right,
                                  ByteSigns signs) const {
  const bool isMixed = signs.isLeftSigned != signs.isRightSigned;
  bool isFirstSigned = signs.isLeftSigned;
  // What is a lane comes last; else what is unsigned comes first.
  if (spreadSegment(left) || (isMixed && isFirstSigned && !spreadSegment(right))) {
    std::swap(left, right);
    isFirstSigned = signs.isRightSigned;
  }
  std::string name = std::string("sve.") + (isFirstSigned ? "s" : "u") +
                     (!isMixed        ? ""
                      : isFirstSigned ? "u"
                                      : "s") +
                     "dot";
  Value total = inRegister(b, sum);
  SmallVector<Value> operands{total, inRegister(b, bytesOf(b, left))};
  if (vector::ShuffleOp spread = spreadSegment(right)) {
    name += ".lane";
    operands.append({repeated(b, bytesOf(b, spread.getV1())), lane(b, spread)});
  } else {
    operands.push_back(inRegister(b, bytesOf(b, right)));
  }
  return fromRegister(b, callArm(b, total.getType(), name + ".nxv4i32", operands), sum.getType());
}

bool SveMachine::multipliesByteMatrices(ByteSigns signs) const {
  return has.matrices && byteMatricesOf(signs);
}

Value SveMachine::addByteMatrices(ImplicitLocOpBuilder &b, Value sum, Value rows, Value columns,
                                  ByteSigns signs) const {
  Value total = inRegister(b, sum);
  total = callArm(b, total.getType(), llvm::Twine("sve.") + byteMatricesOf(signs) + ".nxv4i32",
                  {total, repeated(b, bytesOf(b, rows)), inRegister(b, bytesOf(b, columns))});
  return fromRegister(b, total, sum.getType());
}

Value SveMachine::addHalfProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  Value total = inRegister(b, sum), pairs = inRegister(b, halvesOf(b, y));
  if (vector::ShuffleOp spread = spreadSegment(x))
    total = callArm(b, total.getType(), "sve.bfdot.lane.v2",
                    {total, pairs, repeated(b, halvesOf(b, spread.getV1())), lane(b, spread)});
  else
    total = callArm(b, total.getType(), "sve.bfdot", {total, pairs, inRegister(b, halvesOf(b, x))});
  return fromRegister(b, total, sum.getType());
}

Value SveMachine::roundForHalfProducts(ImplicitLocOpBuilder &b, Value reals) const {
  VectorType halves = anyLength(b.getBF16Type()), words = anyLength(b.getI32Type());
  const int every = 31;
  Value all = callArm(b, anyLength(b.getI16Type()).clone(b.getI1Type()), "sve.ptrue.nxv8i1",
                      b.create<arith::ConstantOp>(b.getI32IntegerAttr(every)).getResult());
  Value any = b.create<LLVM::UndefOp>(halves); // above each
  Value rounded = callArm(b, halves, "sve.fcvt.bf16f32", {any, all, inRegister(b, reals)});
  auto type = cast<VectorType>(reals.getType());
  Value low =
      fromRegister(b, b.create<LLVM::BitcastOp>(words, rounded), type.clone(b.getI32Type()));
  return b.create<arith::TruncIOp>(type.clone(b.getI16Type()), low);
}

} // namespace weft
