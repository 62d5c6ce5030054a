//===- UnitTile.cpp - The inner loops of products in tiles --------------------------------------------===//
//
// Runs that end inside a tile have tiles of their own for their last words: 2, 3 and 5 in place of 6,
// 7 and 4.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/UnitTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/schedules/tile/IntegerDot.h"
#include "targets/cpu/schedules/tile/TileStrips.h"

using namespace mlir;

namespace weft {

constexpr int64_t kStepWords = TileUnit::kRowWords;

bool hasTiledWindows(const ConvolutionShape &shape, const VectorMachine &machine) {
  if (!TileStrips::fit(machine))
    return false;
  return shape.hasBytes() ? !IntegerDot(machine, shape.op.getInput(), shape.op.getFilter()).widens()
                          : shape.element().isBF16() && shape.channels % 2 == 0;
}

UnitTile::UnitTile(KernelContext &c, int64_t rows, int64_t vectors, int64_t run, Products products)
    : RunTile(c, rows, vectors), products(std::move(products)), unit(*c.machine.tiles()) {
  auto allocate = [&](int64_t bytes) -> Value {
    return c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), c.b.getI8Type(),
                                      number(bytes), /*alignment=*/kLineBytes);
  };
  state = allocate(unit.stateBytes());
  sums = allocate(rows * columnBytes());
  int64_t tail = steps(run) % kStepWords;
  Value height = number(rows), all = number(kStepWords), rest = number(tail ? tail : kStepWords);
  unit.configure(c.b, state,
                 {{height, kStepWords},
                  {height, kStepWords},
                  {rest, kStepWords},
                  {rest, kStepWords},
                  {height, kStepWords},
                  {height, tail ? tail : kStepWords},
                  {all, kStepWords},
                  {all, kStepWords}});
}

void UnitTile::finish() { unit.release(c.b, state); }

Value UnitTile::at(Value base, Value bytes) {
  return elementPointer(c.b, base, c.b.getI8Type(), bytes);
}

void UnitTile::step(const RowRuns &source, Value from, Value panel, Value word, bool isTail) {
  int64_t row = isTail ? 5 : 4, firstColumn = isTail ? 2 : 6;
  unit.load(c.b, state, row, at(from, c.mul(word, number(4))), number(source.rowBytes));
  Value here = at(panel, c.mul(word, number(columnBytes())));
  for (int64_t v = 0; v < vectors; ++v) {
    unit.load(c.b, state, firstColumn + v, at(here, number(v * TileUnit::kRowBytes)),
              number(columnBytes()));
    products.multiply(state, {v, row, firstColumn + v});
  }
}

UnitTile::Sums UnitTile::addRun(const RowRuns &source, Value from, Value panel, Sums) {
  int64_t words = steps(source.run), whole = words / kStepWords * kStepWords;
  c.loop(number(0), number(whole), kStepWords,
         [&](Value word) { step(source, from, panel, word, /*isTail=*/false); });
  if (whole < words)
    step(source, from, panel, number(whole), /*isTail=*/true);
  return {};
}

SmallVector<Value> UnitTile::accumulate(const RowRuns &source, Value panel) {
  RowRuns runs = source;
  if (source.beside.rows) // while the first of the products below wait for their operands
    c.loop(number(0), c.mul(source.beside.isDue, number(source.beside.rows)), 1,
           source.beside.body);
  runs.beside = {};
  for (int64_t v = 0; v < vectors; ++v)
    unit.zero(c.b, state, v);
  addRuns(runs, panel, {});
  for (int64_t v = 0; v < vectors; ++v)
    unit.store(c.b, state, v, at(sums, number(v * TileUnit::kRowBytes)), number(columnBytes()));
  SmallVector<Value> loaded;
  auto vector = VectorType::get({c.machine.lanes()}, products.sum);
  for (int64_t i = 0; i < rows * vectors; ++i)
    loaded.push_back(
        c.b.create<LLVM::LoadOp>(vector, at(sums, number(i * TileUnit::kRowBytes)), kLineBytes));
  return loaded;
}

} // namespace weft
