//===- IntegerTileContraction.cpp - Rows of bytes times packed bytes, tile by tile ------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) in i32 with constant k and n, exact modulo 2^32,
// where the machine has a unit for tiles. W is packed as for products of four bytes, whatever its
// sign; the loops are those of TileStrips.h.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/ByteContraction.h"
#include "targets/cpu/schedules/tile/RegisterTile.h"
#include "targets/cpu/schedules/tile/TileStrips.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGroup = 4; ///< bytes of a word

Match<ByteContraction> match(func::FuncOp spec, const VectorMachine &machine) {
  Match<ByteContraction> s = ByteContraction::match(spec);
  if (s.decline().isOtherKind)
    return s;
  if (!TileStrips::fit(machine))
    return Decline::otherKind("the target has no unit for tiles");
  if (s && s->hasShortRows)
    return Decline{"the rows are not bytes in memory"};
  if (s && s->k % kGroup != 0)
    return Decline{"the rows are no whole number of groups of four bytes"};
  return s;
}

bool isSigned(Value tensor) {
  return !isUnsigned(cast<SymTensorType>(tensor.getType()).getElementType());
}

TileStrips stripsOf(const ByteContraction &s) {
  TileUnit::Signs signs{isSigned(s.op.getLhs()), isSigned(s.op.getRhs())};
  return {s.op.getResult(), s.k / kGroup,
          [signs](ImplicitLocOpBuilder &b, const TileUnit &unit, Value state,
                  TileUnit::Tiles tiles) { unit.multiplyBytes(b, state, tiles, signs); }};
}

class IntegerTileContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "integer_tile_contraction"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return match(spec, machine).decline();
  }
  Unit unit(func::FuncOp, const VectorMachine &) const override { return Unit::ByteTiles; }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    return stripsOf(*match(spec, machine)).launch(machine);
  }

  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    ByteContraction s = *match(spec, machine);
    return stripsOf(s).rowTiles(spec, s.lhs);
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    std::vector<Choice> list;
    stripsOf(*match(spec, machine)).offer(list);
    return list;
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    ByteContraction s = *match(spec, machine);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.rhs] = WeightLayout::dots(tileColumns(machine), s.order(), kGroup, 1);
    return result;
  }

  void emit(KernelContext &c) const override {
    ByteContraction s = *match(c.spec, c.machine);
    stripsOf(s).emit(c, c.inputs[s.lhs], c.inputs[s.rhs]);
  }
};

} // namespace

const Schedule *integerTileContractionSchedule() {
  static const IntegerTileContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
