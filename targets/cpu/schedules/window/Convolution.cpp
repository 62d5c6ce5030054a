//===- Convolution.cpp - Filters times shifted rows, tiled in registers -----------------------===//
//
// y[n, o, p] = epilogue(sum over c, i, j of w[o, c, i, j] * x[n, c, row(p) * s + i * d - top,
// column(p) * t + j * e - left]) with constant filters. A pixel p counts over rows and columns of
// the result: vectors run over pixels and cross the ends of rows, so narrow images waste no lanes.
//
//   for block of pixels of an image, part of the filters                    [units]
//     copy strips, unless the unit before did, or x is read in place        [copy strips]
//     for chunk of channels                                                 [chunks]
//       for tile of filters; the last of a group may have fewer             [tiles]
//         for tile of pixels: several vectors; then one; then what is left  [pixels]
//           sum over the chunk, epilogue behind the last: ConvolutionTile   [call]
//
// A unit first copies what its block reads into scratch:
//
//   strips [channel][j][row mod s][position]: at position q of strip
//          (c, j, i * d mod s), what pixel q reads through tap (i, j)
//
// Strips are as wide as the result, borders are zeros in them, and columns a stride apart lie side
// by side. Taps whose rows differ by a multiple of the stride share a strip: they read it a number
// of whole rows further. Then a tile of some filters by two or four vectors of pixels stays in
// registers for all channels of a chunk. Filters lie as [tile][c, i, j][filter], packed while
// compiling.
//
// A 1x1 filter that meets every pixel of f32 in place needs no copy: the strips are the channels of
// x. Strips are f32 whatever the pixels are, and filters are packed as f32.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/window/ConvolutionStrips.h"
#include "targets/cpu/schedules/window/ConvolutionTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGrainWork = 1 << 18;

class ConvolutionSchedule : public Schedule {
public:
  StringRef name() const override { return "convolution"; }
  LoopKind loops() const override { return LoopKind::Windows; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return ConvolutionShape::match(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    ConvolutionTiling t(s, machine);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    int64_t work =
        t.pixels * (s.filters / s.groups) * s.channels * s.window[0].kernel * s.window[1].kernel;
    SymExpr strips = t.inPlace ? constant(0)
                               : t.stripFloats(s, machine) * (s.channels * t.planes) +
                                     stripLineFloats(s, machine);
    return {blocks(s, t) * parts(s, t), constant(std::max<int64_t>(1, kGrainWork / work)),
            (strips + t.totalFloats) * 4};
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.filter] = WeightLayout::panels(ConvolutionTiling(s, machine).rows,
                                            WeightLayout::WidthByDepth, s.filterForm());
    return result;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    return ConvolutionTiling::choices(*ConvolutionShape::match(spec), machine);
  }

  void emit(KernelContext &c) const override;

  /// Blocks of pixels of all images and groups.
  static SymExpr blocks(const ConvolutionShape &s, const ConvolutionTiling &t) {
    return s.batch * s.groups * SymExpr::ceildiv(s.pixels(), t.pixels);
  }
  /// Parts of the filters: few blocks are cut further, at the price of copying what they read once
  /// per worker.
  static SymExpr parts(const ConvolutionShape &s, const ConvolutionTiling &t) {
    SymExpr one = SymExpr::constant(s.op.getContext(), 1);
    int64_t most = std::clamp<int64_t>(t.tiles / 6, 1, 4);
    return most == 1 ? one
                     : SymExpr::max(one, SymExpr::min(one * most, one * (most + 1) - blocks(s, t)));
  }
};

/// The loops over units, blocks and tiles.
class ConvolutionEmitter {
public:
  ConvolutionEmitter(KernelContext &c)
      : c(c), s(*ConvolutionShape::match(c.spec)), t(s, c.machine) {}

  void emit() {
    declareRows(t.rows, whole);
    if (t.lastRows != t.rows)
      declareRows(t.lastRows, last);
    total = c.e.uniform(s.pixels());
    perImage = c.e.uniform(SymExpr::ceildiv(s.pixels(), t.pixels));
    partCount = c.e.uniform(ConvolutionSchedule::parts(s, t));
    pitch = c.e.uniform(t.inPlace ? s.pixels() : t.stripFloats(s, c.machine));
    Value none = constantI64(c.b, -1);
    // [units] Parts of the filters are innermost: they share strips.
    c.loop(c.begin, c.end, 1, ValueRange{none},
           [&](Value unit, ValueRange copied) -> SmallVector<Value> {
             Value block = div(unit, partCount);
             emitUnit(block, rem(unit, partCount), copied[0]);
             return {block};
           });
    for (const std::vector<ConvolutionTile> *functions : {&whole, &last})
      for (const ConvolutionTile &function : *functions)
        emitTile(c, s, t, function);
  }

private:
  /// From many pixels to few.
  void declareRows(int64_t rows, std::vector<ConvolutionTile> &functions) {
    int64_t lanes = c.machine.lanes();
    functions.push_back(declareTile(c, rows, ConvolutionTile::Vectors, t.vectors * lanes));
    functions.push_back(declareTile(c, rows, ConvolutionTile::Vectors, lanes));
    if (2 * rows <= lanes)
      functions.push_back(declareTile(c, rows, ConvolutionTile::Ragged, lanes));
    else
      for (int64_t pixels = lanes / 2; pixels >= 1; pixels /= 2)
        functions.push_back(declareTile(c, rows, ConvolutionTile::Few, pixels));
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }

  /// The pixel where a block starts: blocks are equal to a tile.
  Value blockStart(Value block) {
    Value groups =
        c.e.uniform(SymExpr::ceildiv(s.pixels(), t.vectors * int64_t(c.machine.lanes())));
    return least(c.mul(div(c.mul(block, groups), perImage), number(t.vectors * c.machine.lanes())),
                 total);
  }

  void emitUnit(Value block, Value part, Value copied) {
    Value inImage = rem(block, perImage), rest = div(block, perImage);
    image = div(rest, number(s.groups)), group = rem(rest, number(s.groups));
    first = blockStart(inImage), end = blockStart(c.add(inImage, number(1)));
    Value channel = c.mul(group, number(s.channels));
    // [copy strips] They stay for the units that follow with the same block.
    if (!t.inPlace) {
      Value isNew = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, block, copied);
      auto once = c.b.create<scf::IfOp>(isNew, false);
      OpBuilder::InsertionGuard insertion(c.b);
      c.b.setInsertionPointToStart(once.thenBlock());
      copyStrips(c, s, t, image, channel, first, c.sub(end, first));
    }
    Value plane = c.add(c.mul(image, number(s.groups * s.channels)), channel);
    source =
        t.inPlace
            ? elementPointer(c.b, c.inputs[cast<BlockArgument>(s.op.getInput()).getArgNumber()],
                             c.b.getF32Type(), c.add(c.mul(plane, total), first))
            : elementPointer(c.b, c.scratch, c.b.getF32Type(), number(t.totalFloats));
    auto cut = [&](Value each) { return div(c.mul(each, number(t.tiles)), partCount); };
    Value from = cut(part), to = cut(c.add(part, number(1)));
    // [chunks] Sums of all tiles wait in scratch between two.
    c.loop(number(0), number(s.channels), t.chunk, [&](Value channel) {
      chunk = channel;
      if (t.lastRows == t.rows)
        return emitTiles(from, to, whole);
      Value lastTile = number(t.tiles - 1);
      emitTiles(from, least(to, lastTile), whole);
      emitTiles(c.b.create<arith::MaxSIOp>(from, lastTile), to, last);
    });
  }

  /// [tiles] Tiles [from, to) of the group: each function does what those before it left.
  void emitTiles(Value from, Value to, const std::vector<ConvolutionTile> &functions) {
    c.loop(from, to, 1, [&](Value tile) {
      int64_t taps = s.window[0].kernel * s.window[1].kernel;
      Value pointer = c.inputs[s.filter], packed = c.add(c.mul(group, number(t.tiles)), tile);
      Value channel = c.add(c.mul(packed, number(s.channels)), chunk);
      filters =
          elementPointer(c.b, pointer, c.b.getF32Type(), c.mul(channel, number(taps * t.rows)));
      totals = elementPointer(c.b, c.scratch, c.b.getF32Type(),
                              c.mul(tile, number(t.pixels * t.slot(c.machine))));
      filter = c.add(c.mul(group, number(s.filters / s.groups)), c.mul(tile, number(t.rows)));
      Value begin = first;
      // [pixels] From many to few: no pixel is computed twice.
      for (const ConvolutionTile &each : functions) {
        Value step = number(each.pixels), stop = end;
        if (each.form != ConvolutionTile::Ragged)
          stop = c.add(begin, c.mul(div(c.sub(end, begin), step), step));
        c.loop(begin, stop, each.pixels, [&](Value pixel) { call(each, pixel); });
        begin = stop;
      }
    });
  }

  /// [call] Says whether the chunk is the first or the last: sums join those before, and wait for
  /// the next.
  void call(ConvolutionTile tile, Value pixel) {
    Type f32 = c.b.getF32Type();
    Value offset = c.sub(pixel, first), plane = c.mul(number(t.planes), pitch),
          left = c.sub(number(s.channels), chunk);
    Value strips = elementPointer(c.b, source, f32, c.add(offset, c.mul(chunk, plane)));
    Value isFirst = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, chunk, number(0));
    Value isLast = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, left, number(t.chunk));
    Value slots = elementPointer(c.b, totals, f32, c.mul(offset, number(t.slot(c.machine))));
    c.b.create<func::CallOp>(
        tile.function, ValueRange{c.kernel.getArgument(0), filters, strips, image, filter, pixel,
                                  least(left, number(t.chunk)), slots, isFirst, isLast});
  }

  KernelContext &c;
  ConvolutionShape s;
  ConvolutionTiling t;
  std::vector<ConvolutionTile> whole, last; ///< tiles, and the last of a group
  Value total, perImage, partCount, pitch, image, group, first, end, source, chunk, totals, filters,
      filter;
};

void ConvolutionSchedule::emit(KernelContext &c) const { ConvolutionEmitter(c).emit(); }

} // namespace

const Schedule *convolutionSchedule() {
  static const ConvolutionSchedule schedule;
  return &schedule;
}

} // namespace weft
