//===- SseMachine.h - Vectors of SSE4.2, AVX2 and up, by the names of their intrinsics ------------------===//
#ifndef WEFT_TARGETS_X86_SSEMACHINE_H
#define WEFT_TARGETS_X86_SSEMACHINE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

inline mlir::Value callIntrinsic(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                                 const llvm::Twine &name, mlir::ValueRange operands) {
  return b.create<mlir::LLVM::CallIntrinsicOp>(type, b.getStringAttr(name), operands).getResult(0);
}

/// What the levels differ in is what they are made with.
class SseMachine : public VectorMachine {
public:
  /// Intrinsics that sum two products of 16 bits; four of bytes, or null; two of bytes in 16 bits, or null where there is something better.
  struct Products {
    const char *pairs, *bytes, *bytePairs;
  };
  /// `masked`: bits of the narrowest elements whose loads and stores take a mask.
  SseMachine(Traits traits, unsigned masked, Products products)
      : VectorMachine(std::move(traits)), masked(masked), products(products) {}
  bool masks(unsigned bits) const override { return bits >= masked; }
  mlir::Value addPairProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                              mlir::Value y) const override {
    sum =
        b.create<mlir::arith::AddIOp>(sum, callIntrinsic(b, sum.getType(), products.pairs, {x, y}));
    return products.bytes ? sum : inOrder(b, sum);
  }
  bool addsByteProducts(ByteSigns signs) const override {
    return products.bytes && signs.isMixed();
  }
  mlir::Value addByteProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                              mlir::Value unsignedBytes, mlir::Value signedBytes,
                              ByteSigns) const override {
    return callIntrinsic(b, sum.getType(), products.bytes, {sum, unsignedBytes, signedBytes});
  }
  bool multipliesBytePairs() const override { return products.bytePairs; }
  mlir::Value multiplyBytePairs(mlir::ImplicitLocOpBuilder &b, mlir::Value unsignedBytes,
                                mlir::Value signedBytes) const override {
    auto bytes = mlir::VectorType::get({4 * lanes()}, b.getI8Type());
    auto asBytes = [&](mlir::Value words) -> mlir::Value {
      return b.create<mlir::LLVM::BitcastOp>(bytes, words);
    };
    return callIntrinsic(b, mlir::VectorType::get({2 * lanes()}, b.getI16Type()),
                         products.bytePairs, {asBytes(unsignedBytes), asBytes(signedBytes)});
  }

private:
  /// Where a product and its sum are two instructions, LLVM would add products to each other before they meet the sum, for a shorter way
  /// through the turns of a loop that it counts as one. There are no registers for that: sums would go through memory. It is not to know
  /// what is added to: an assembly without text gives the sum.
  static mlir::Value inOrder(mlir::ImplicitLocOpBuilder &b, mlir::Value sum) {
    return b
        .create<mlir::LLVM::InlineAsmOp>(
            mlir::TypeRange(sum.getType()), sum, "", "=v,0", /*has_side_effects=*/false,
            /*is_align_stack=*/false, mlir::LLVM::AsmDialectAttr(), mlir::ArrayAttr())
        .getRes();
  }

  const unsigned masked;
  const Products products;
};

} // namespace weft

#endif // WEFT_TARGETS_X86_SSEMACHINE_H
