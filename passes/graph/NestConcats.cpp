//===- NestConcats.cpp - No kernel puts together more tensors than a call hands over ------------------===//
//
//   before   %1 = concat %0, … %99 dim 0          after   %1 = concat %0, … %31 dim 0
//                                                         %2 = concat %32, … %63 dim 0
//                                                         …
//                                                         %5 = concat %1, %2, %3, %4 dim 0
//===------------------------------------------------------------------------------------------===//

#include "passes/graph/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_NESTCONCATS
#include "passes/graph/Passes.h.inc"

namespace {

/// Half of what a call has room for: what is computed in the same kernel reads tensors, too.
constexpr size_t kMostWords = 32;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Tensors and sizes of some operands of one concatenation.
class Words {
public:
  void add(Value operand) {
    ++tensors;
    for (SymExpr dim : typeOf(operand).getDims())
      for (StringAttr symbol : dim.symbols())
        symbols.insert(symbol);
  }
  size_t count() const { return tensors + symbols.size(); }

private:
  size_t tensors = 0;
  llvm::DenseSet<StringAttr> symbols;
};

class NestConcats : public impl::NestConcatsBase<NestConcats> {
  void runOnOperation() override {
    SmallVector<ConcatOp> concats;
    getOperation().walk([&](ConcatOp op) { concats.push_back(op); });
    for (ConcatOp op : concats) {
      OpBuilder b(op);
      SmallVector<Value> parts(op.getInputs());
      while (parts.size() > kMostWords && shorten(b, op, parts))
        ;
      op.getInputsMutable().assign(parts);
    }
  }

  /// Puts neighbours together; false when none can be.
  static bool shorten(OpBuilder &b, ConcatOp op, SmallVector<Value> &parts) {
    SmallVector<Value> shorter, together;
    Words words;
    auto flush = [&] {
      shorter.push_back(together.size() == 1 ? together[0] : joined(b, op, together));
      together.clear();
      words = {};
    };
    for (Value part : parts) {
      Words with = words;
      with.add(part);
      if (!together.empty() && with.count() > kMostWords)
        flush();
      words.add(part);
      together.push_back(part);
    }
    flush();
    std::swap(parts, shorter);
    return parts.size() < shorter.size();
  }

  static Value joined(OpBuilder &b, ConcatOp op, ArrayRef<Value> parts) {
    SmallVector<SymExpr> dims = typeOf(parts[0]).getDims();
    for (Value part : parts.drop_front())
      dims[op.getDim()] = dims[op.getDim()] + typeOf(part).getDim(op.getDim());
    MLIRContext *context = op.getContext();
    Type type = SymTensorType::get(context, DimsAttr::get(context, dims).getDimAttributes(),
                                   op.getType().getElementType());
    return b.create<ConcatOp>(op.getLoc(), type, parts, op.getDim());
  }
};

} // namespace
} // namespace weft
