//===- Attention.cpp - Softmax between two products, scores never in memory -------------------------------===//
//
// A block for some rows of queries of one head (AttentionBlock.h), by tensor cores (HalfAttention.cpp) or ordinary units (RealAttention.cpp).
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/AttentionBlock.h"

using namespace mlir;

namespace weft {
namespace {

class AttentionSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "attention"; }
  int64_t threads() const override { return kTileThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<AttentionShape> s = AttentionShape::match(spec);
    if (!s)
      return s.decline();
    if (s->e == 0)
      return {"the values have no columns"};
    for (const AttentionOperand *operand : {&s->q, &s->k, &s->v})
      if (!isFloat(operand->type().getElementType()) ||
          elementBits(operand->type().getElementType()) > 32)
        return {"the products are not of floats of 32 bits at most"};
    return {};
  }

  Launch launch(func::FuncOp spec, const SimtMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    Launch launch = blocks(AttentionBlock::count(s, rowsOf(s), machine), 1);
    launch.scratch = AttentionBlock::scratch(s, rowsOf(s), machine);
    return launch;
  }

  bool isCounted(func::FuncOp spec, const SimtMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    return !AttentionBlock::partsOf(s, rowsOf(s), machine).isConstant(1);
  }

  Unit unit(func::FuncOp spec, const SimtMachine &) const override {
    return isHalfAttention(*AttentionShape::match(spec)) ? Unit::HalfTiles : Unit::Reals;
  }

  void emit(SimtKernel &k) const override {
    AttentionShape s = *AttentionShape::match(k.spec);
    (isHalfAttention(s) ? emitHalfAttention : emitRealAttention)(k, s);
  }

private:
  static int64_t rowsOf(const AttentionShape &s) {
    return isHalfAttention(s) ? rowsOfHalfAttention() : rowsOfRealAttention(s);
  }
};

} // namespace

bool isHalfAttention(const AttentionShape &s) {
  Type scores = s.q.type().getElementType(), mix = s.v.type().getElementType();
  return isHalf(scores) && s.k.type().getElementType() == scores && isHalf(mix) &&
         cast<SymTensorType>(s.weights.getType()).getElementType() == mix;
}

const SimtSchedule *simtAttention() {
  static const AttentionSchedule schedule;
  return &schedule;
}

} // namespace weft
