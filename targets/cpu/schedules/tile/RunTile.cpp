//===- RunTile.cpp - Walks over the runs of a tile ------------------------------------------------------===//

#include "targets/cpu/schedules/tile/RunTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

Value RowRuns::Steps::at(KernelContext &c, Value run) const {
  if (planes == 1)
    return c.mul(run, bytes);
  Value row = c.b.createOrFold<arith::DivUIOp>(run, constantI64(c.b, planes)),
        plane = c.b.createOrFold<arith::RemUIOp>(run, constantI64(c.b, planes));
  return c.add(c.mul(row, bytes), c.mul(plane, planeBytes));
}

RunTile::Sums RunTile::addRuns(const RowRuns &source, Value panel, Sums sums) {
  auto walk = [&](const RowRuns::Steps &steps, Value from, Sums init,
                  function_ref<Sums(Value, Value, Sums)> body) -> Sums {
    if (steps.count == 1)
      return body(constantI64(c.b, 0), from, init);
    return c.loop(constantI64(c.b, 0), constantI64(c.b, steps.count), 1, ValueRange(init),
                  [&](Value i, ValueRange carried) {
                    Value here = elementPointer(c.b, from, c.b.getI8Type(), steps.at(c, i));
                    return body(i, here, Sums(carried));
                  });
  };
  return walk(source.outer, source.first, sums, [&](Value i, Value from, Sums outer) {
    return walk(source.inner, from, outer, [&](Value j, Value here, Sums inner) {
      Value run = c.add(c.mul(i, constantI64(c.b, source.inner.count)), j);
      Value weights = elementPointer(c.b, panel, c.b.getI8Type(),
                                     c.mul(run, constantI64(c.b, runBytes(source.run))));
      RowRuns rows = source;
      rows.ahead = source.ahead.behind(c, c.mul(run, constantI64(c.b, steps(source.run))));
      rows.nextRows = source.nextRows.behind(c, c.mul(run, constantI64(c.b, turns(source))));
      rows.isFirst = c.b.create<arith::ExtUIOp>(
          c.b.getI64Type(),
          c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, run, constantI64(c.b, 0)));
      return addRun(rows, here, weights, inner);
    });
  });
}

} // namespace weft
