//===- UnitTile.cpp - The inner loops of products in tiles --------------------------------------------===//
//
//   tiles of sums = 0
//   for run, sixteen words of it, the last may have fewer         [steps]
//     for line, vector of columns: sums += rows * columns         [multiply]
//     beside it: some rows of the panel before                    [beside]
//   sums to where they are kept, row by row                       [store]
//
// Runs that end inside a tile have tiles of their own for their last words, and so fewer for the others.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/UnitTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/schedules/tile/GatheredRuns.h"
#include "targets/cpu/schedules/tile/IntegerDot.h"
#include "targets/cpu/schedules/tile/TileStrips.h"

using namespace mlir;

namespace weft {

constexpr int64_t kStepWords = TileUnit::kRowWords;

bool hasTiledWindows(const ConvolutionShape &shape, const VectorMachine &machine) {
  if (!TileStrips::fit(machine))
    return false;
  return shape.hasBytes() ? !IntegerDot(machine, shape.op).widens()
                          : shape.element().isBF16() &&
                                (shape.channels % 2 == 0 || gathersPairs(shape, machine));
}

bool gathersPairs(const ConvolutionShape &shape, const VectorMachine &machine) {
  const ConvolutionWindow &down = shape.window[0], &across = shape.window[1];
  return (TileStrips::fit(machine) || machine.addsHalfProducts()) && shape.element().isBF16() &&
         shape.channels % 2 == 1 && across.dilation == 1 &&
         GatheredRuns::pays(down.kernel, across.kernel * shape.channels * 2, /*group=*/4, machine);
}

UnitTile::UnitTile(KernelContext &c, Lines shape, int64_t vectors, int64_t run, Products products,
                   TileUnit::Reuse reuse)
    : RunTile(c, shape.lines * shape.rows(), vectors), products(std::move(products)),
      unit(*c.machine.tiles()), shape(shape), reuse(reuse) {
  int64_t words = steps(run), rest = words % kStepWords;
  whole = rest ? Numbers{{4, 4}, {6, 6}} : Numbers{{4, 5}, {6, 7}};
  tail = {{5, 5}, {7, 7}};
  Value height = number(shape.rows());
  SmallVector<TileUnit::Size> sizes(TileUnit::kTiles, {height, kStepWords});
  auto give = [&](const Numbers &tiles, int64_t words) {
    for (int64_t i : {0, 1}) {
      sizes[tiles.lines[i]] = {height, words};
      sizes[tiles.columns[i]] = {number(words), kStepWords};
    }
  };
  give(whole, kStepWords);
  if (rest)
    give(tail, rest);
  state = c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), c.b.getI8Type(),
                                     number(unit.stateBytes()), /*alignment=*/kLineBytes);
  passed = c.b.create<LLVM::AllocaOp>(state.getType(), c.b.getI64Type(), number(1));
  unit.configure(c.b, state, sizes);
}

Value UnitTile::keptRow(Value row) {
  if (shape.folds == 1)
    return row;
  auto split = [&](Value x, int64_t by) {
    Value quotient = c.b.create<arith::DivUIOp>(x, number(by));
    return std::pair(quotient, c.sub(x, c.mul(quotient, number(by))));
  };
  auto [part, inPart] = split(row, shape.part);
  auto [line, fold] = split(part, shape.folds);
  return c.add(c.add(c.mul(line, number(shape.rows())), c.mul(fold, number(shape.apart))), inPart);
}

void UnitTile::finish() { unit.release(c.b, state); }

Value UnitTile::at(Value base, Value bytes) {
  return elementPointer(c.b, base, c.b.getI8Type(), bytes);
}

/// Columns are read once for both lines.
void UnitTile::step(const RowRuns &source, Value from, Value panel, Value word,
                    const Numbers &tiles) {
  Value columnsAt = at(panel, c.mul(word, number(columnBytes())));
  auto loadLine = [&](int64_t line) {
    Value first = line ? at(from, source.lineBytes) : from;
    unit.load(c.b, state, tiles.lines[line], at(first, c.mul(word, number(4))),
              number(source.rowBytes));
  };
  auto loadColumns = [&](int64_t v) {
    unit.load(c.b, state, tiles.columns[v], at(columnsAt, number(v * TileUnit::kRowBytes)),
              number(columnBytes()), reuse);
  };
  auto multiply = [&](int64_t line, int64_t v) {
    products.multiply(state, {sumsOf(line, v), tiles.lines[line], tiles.columns[v]});
  };
  // [multiply] Each operand as late as the tiles that take turns allow.
  loadLine(0);
  for (int64_t v = 0; v < vectors; ++v) {
    loadColumns(v);
    multiply(0, v);
  }
  if (shape.lines == 1)
    return;
  loadLine(1);
  for (int64_t v = vectors - 1; v >= 0; --v) {
    if (v + 1 < vectors && tiles.columns[0] == tiles.columns[1])
      loadColumns(v);
    multiply(1, v);
  }
}

UnitTile::Sums UnitTile::addRun(const RowRuns &source, Value from, Value panel, Sums) {
  int64_t words = steps(source.run), inWhole = words / kStepWords * kStepWords;
  // [steps] Enough rows are beside each of them that all have had their turn in the end.
  c.loop(number(0), number(inWhole), kStepWords, [&](Value word) {
    step(source, from, panel, word, whole);
    if (source.beside.rows)
      emitBeside(source.beside, llvm::divideCeil(source.beside.rows, wholeSteps(source)));
  });
  if (inWhole < words)
    step(source, from, panel, number(inWhole), tail);
  return {};
}

int64_t UnitTile::wholeSteps(const RowRuns &source) const {
  return source.outer.count * source.inner.count * (steps(source.run) / kStepWords);
}

void UnitTile::emitBeside(const Beside &beside, int64_t rows) {
  Value first = c.b.create<LLVM::LoadOp>(c.b.getI64Type(), passed),
        all = c.mul(beside.isDue, beside.some),
        end = c.b.create<arith::MinSIOp>(c.add(first, number(rows)), all);
  // [beside] Vectors are computed while the unit multiplies.
  c.loop(first, end, 1, beside.body);
  c.b.create<LLVM::StoreOp>(end, passed);
}

void UnitTile::store(Value place) {
  // [store] They are read again beside the next panel.
  for (int64_t line = 0; line < shape.lines; ++line)
    for (int64_t v = 0; v < vectors; ++v)
      unit.store(c.b, state, sumsOf(line, v),
                 at(place, number(line * shape.rows() * columnBytes() + v * TileUnit::kRowBytes)),
                 number(columnBytes()));
}

SmallVector<Value> UnitTile::accumulate(const RowRuns &source, Value panel) {
  RowRuns runs = source;
  c.b.create<LLVM::StoreOp>(number(0), passed);
  if (source.beside.rows && !wholeSteps(source)) {
    emitBeside(source.beside, source.beside.rows);
    runs.beside = {};
  }
  for (int64_t line = 0; line < shape.lines; ++line)
    for (int64_t v = 0; v < vectors; ++v)
      unit.zero(c.b, state, sumsOf(line, v));
  addRuns(runs, panel, {});
  store(source.kept);
  return {};
}

} // namespace weft
