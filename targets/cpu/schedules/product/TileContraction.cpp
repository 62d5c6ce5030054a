//===- TileContraction.cpp - Rows of bf16 times packed weights, tile by tile ------------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) with constant k and n, where the machine has a
// unit for tiles. W is packed as for any other schedule; the loops are those of TileStrips.h.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/PackedContraction.h"
#include "targets/cpu/schedules/tile/RegisterTile.h"
#include "targets/cpu/schedules/tile/TileStrips.h"

using namespace mlir;

namespace weft {
namespace {

Match<PackedContraction> match(func::FuncOp spec, const VectorMachine &machine) {
  Match<PackedContraction> s = PackedContraction::match(spec);
  if (s.decline().isOtherKind)
    return s;
  if (!TileStrips::fit(machine))
    return Decline::otherKind("the target has no unit for tiles");
  if (!s)
    return s;
  if (s->roundedBlock || !s->element.isBF16())
    return Decline{"the rows are not bf16 in memory"};
  if (!s->weight.isPaired())
    return Decline{"the weight is not stored as bf16"};
  if (s->k % 2 != 0)
    return Decline{"the rows are no whole number of pairs"};
  return s;
}

TileStrips stripsOf(const PackedContraction &s) {
  return {s.op.getResult(), s.k / 2,
          [](ImplicitLocOpBuilder &b, const TileUnit &unit, Value state, TileUnit::Tiles tiles) {
            unit.multiplyHalves(b, state, tiles);
          }};
}

class TileContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "tile_contraction"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return match(spec, machine).decline();
  }
  Unit unit(func::FuncOp, const VectorMachine &) const override { return Unit::HalfTiles; }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    return stripsOf(*match(spec, machine)).launch(machine);
  }

  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    PackedContraction s = *match(spec, machine);
    return stripsOf(s).rowTiles(spec, s.lhs);
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    std::vector<Choice> list;
    stripsOf(*match(spec, machine)).offer(list);
    return list;
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    PackedContraction s = *match(spec, machine);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.weight.data] = s.weight.layout(s.order(), tileColumns(machine));
    return result;
  }

  void emit(KernelContext &c) const override {
    PackedContraction s = *match(c.spec, c.machine);
    stripsOf(s).emit(c, c.inputs[s.lhs], c.inputs[s.weight.data]);
  }
};

} // namespace

const Schedule *tileContractionSchedule() {
  static const TileContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
