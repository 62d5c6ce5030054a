//===- PlaneWindows.cpp - Rows by four, columns by vectors ------------------------------------===//
//
//   for plane                                                               [planes]
//     of 16 bits: as f32 into scratch                                       [widen]
//     for vector of columns: with masks where one lies outside, or without  [columns]
//       rows at the top, one by one; rows by four; the rest, one by one     [rows]
//         sums = identity, in registers: one vector for each row
//         for row of the operand under these rows                           [walk]
//           load what its taps read, once; stride 2: parted by lanes        [load]
//           for row of the result that it belongs to: sums = add(sums, it)  [add]
//         for row of the result: finish, epilogue and store, masked         [store]
//
// Rows one by one may have a row of the operand outside: then no lane is loaded.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/PlaneWindows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"

using namespace mlir;

namespace weft {

constexpr int64_t kRows = 4;      ///< of the result at once
constexpr int64_t kMostTaps = 64; ///< they are written out
constexpr int64_t kGrainWork =
    16384; ///< elements below which a piece of work is not worth a thread

Decline PlaneWindows::decline() const {
  if (window[1].stride > 2)
    return {"windows are more than two columns apart"};
  if (window[0].kernel * window[1].kernel > kMostTaps)
    return {"windows have too many elements to write out"};
  return {};
}

Type PlaneWindows::element() const {
  auto spec = result.getDefiningOp()->getParentOfType<func::FuncOp>();
  return cast<SymTensorType>(spec.getArgument(input).getType()).getElementType();
}

Launch PlaneWindows::launch() const {
  MLIRContext *context = result.getContext();
  SymExpr one = SymExpr::constant(context, 1), work = SymExpr::constant(context, kGrainWork),
          planes = one;
  for (SymExpr dim : outer)
    planes = planes * dim;
  SymExpr grain =
      SymExpr::max(SymExpr::floordiv(work, SymExpr::max(window[0].out * window[1].out, one)), one);
  SymExpr scratch = isHalf(element()) ? window[0].in * window[1].in * 4 : one * 0;
  return {planes, grain, scratch};
}

void PlaneEmitter::emit() {
  auto constant = [&](int64_t value) { return SymExpr::constant(c.b.getContext(), value); };
  SymExpr top = SymExpr::ceildiv(rows.low, rows.stride),
          span = rows.in + rows.low - ((rows.kernel - 1) * rows.dilation + 1);
  SymExpr first = SymExpr::min(SymExpr::max(top, constant(0)), rows.out);
  SymExpr behind =
      SymExpr::min(SymExpr::max(SymExpr::floordiv(span, rows.stride) + 1, first), rows.out);
  inner = c.e.uniform(first),
  rest = c.e.uniform(first + SymExpr::floordiv(behind - first, kRows) * kRows);
  height = c.e.uniform(rows.out), outWidth = c.e.uniform(columns.out);
  width = c.e.uniform(columns.in), inHeight = c.e.uniform(rows.in);
  // [planes] A plane is one unit.
  c.loop(c.begin, c.end, 1, [&](Value unit) {
    plane.assign(s.outer.size(), {});
    IndexValue left{unit};
    for (size_t d = s.outer.size(); d-- > 1;)
      std::tie(left, plane[d]) = c.e.divmod(left, c.e.symbolic(s.outer[d]));
    if (!plane.empty())
      plane[0] = left;
    Value size = c.mul(inHeight, width);
    source = elementPointer(c.b, c.inputs[s.input], memoryType(s.element()), c.mul(unit, size));
    // [widen] Windows overlap: an element is read by many of them.
    if (isHalf(s.element())) {
      widen(c, s.element(), source, c.scratch, size);
      source = c.scratch;
    }
    startPlane(unit);
    c.loop(number(0), outWidth, c.machine.lanes(), [&](Value column) { emitColumns(column); });
  });
}

void PlaneEmitter::emitColumns(Value column) {
  int64_t lanes = c.machine.lanes(), reach = (columns.kernel - 1) * columns.dilation;
  x = c.sub(c.mul(column, number(columns.stride)), c.e.uniform(columns.low));
  Value end =
      c.add(x, number(reach + lanes * columns.stride + 1)); // odd lanes are read one further
  Value whole = both(atLeast(x, number(0)),
                     both(atLeast(width, end), atLeast(outWidth, c.add(column, number(lanes)))));
  auto choose = c.b.create<scf::IfOp>(whole, true);
  // [columns] Masks of the taps are made once for all rows.
  for (bool masked : {false, true}) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(masked ? choose.elseBlock() : choose.thenBlock());
    c.e.forget();
    useMasks = masked;
    tail = masked ? inside(number(0), 1, c.sub(outWidth, column)) : Value();
    makeMasks();
    startColumns(x);
    // [rows] By four, all rows of the operand are inside.
    c.loop(number(0), inner, 1, [&](Value row) { emitRows(row, column, 1); });
    c.loop(inner, rest, kRows, [&](Value row) { emitRows(row, column, kRows); });
    c.loop(rest, height, 1, [&](Value row) { emitRows(row, column, 1); });
  }
}

Value PlaneEmitter::atLeast(Value a, Value d) {
  return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, a, d);
}
Value PlaneEmitter::both(Value a, Value d) { return c.b.create<arith::AndIOp>(a, d); }

Value PlaneEmitter::inside(Value x, int64_t stride, Value limit) {
  auto type = VectorType::get({c.machine.lanes()}, c.b.getI32Type());
  SmallVector<int32_t> numbers;
  for (unsigned i = 0; i < c.machine.lanes(); ++i)
    numbers.push_back(int32_t(i * stride));
  Value lane = c.b.create<arith::ConstantOp>(DenseIntElementsAttr::get(type, numbers));
  auto bound = [&](Value value) -> Value { // every lane is below the largest
    Value some = c.b.create<arith::MinSIOp>(c.b.create<arith::MaxSIOp>(value, number(0)),
                                            number(c.machine.lanes() * stride));
    return c.b.create<vector::SplatOp>(c.b.create<arith::TruncIOp>(c.b.getI32Type(), some), type);
  };
  Value from =
      c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, lane, bound(c.sub(number(0), x)));
  return both(from,
              c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, lane, bound(c.sub(limit, x))));
}

/// Where the vectors of a row begin, counted from x: for stride 2, even and odd elements come from
/// the same two.
SmallVector<int64_t> PlaneEmitter::loadsOf(int64_t offset) {
  if (columns.stride == 1)
    return {offset};
  return {offset & ~int64_t(1), (offset & ~int64_t(1)) + c.machine.lanes()};
}

void PlaneEmitter::makeMasks() {
  masks.clear();
  if (!useMasks)
    return;
  for (int64_t j = 0; j < columns.kernel; ++j)
    for (int64_t offset : loadsOf(j * columns.dilation))
      if (!masks[offset])
        masks[offset] = inside(c.add(x, number(offset)), 1, width);
}

/// [load] The elements that the taps of one row of the operand read, by tap. `inside`: whether the
/// row is, null when it is known to be.
SmallVector<Value> PlaneEmitter::readRow(Value row, Value inside) {
  Type f32 = c.b.getF32Type();
  Value line = c.mul(inside ? c.b.create<arith::SelectOp>(inside, row, number(0)) : row, width);
  std::map<int64_t, Value> loaded;
  auto load = [&](int64_t offset) {
    Value &value = loaded[offset];
    if (value)
      return value;
    Value at = elementPointer(c.b, source, f32, c.add(c.add(line, x), number(offset))),
          mask = useMasks ? masks[offset] : Value();
    if (inside) {
      Value some = c.b.create<vector::SplatOp>(
          inside, VectorType::get({c.machine.lanes()}, c.b.getI1Type()));
      mask = mask ? both(mask, some) : some;
    }
    return value =
               mask ? Value(c.b.create<LLVM::MaskedLoadOp>(vectorType(), at, mask, identity(), 4))
                    : Value(c.b.create<LLVM::LoadOp>(vectorType(), at, 4));
  };
  SmallVector<Value> result;
  for (int64_t j = 0; j < columns.kernel; ++j) {
    int64_t offset = j * columns.dilation;
    SmallVector<int64_t> from = loadsOf(offset), lanes;
    for (unsigned i = 0; i < c.machine.lanes(); ++i)
      lanes.push_back(2 * i + (offset & 1));
    Value low = load(from[0]);
    result.push_back(
        from.size() == 1 ? low : Value(c.b.create<vector::ShuffleOp>(low, load(from[1]), lanes)));
  }
  return result;
}

/// Rows [first, first + count) of the result; their windows lie inside when there are several.
void PlaneEmitter::emitRows(Value first, Value column, int64_t count) {
  c.e.forget();
  SmallVector<Value> sums(count, identity());
  Value start = c.sub(c.mul(first, number(rows.stride)), c.e.uniform(rows.low));
  // [walk] From the top; rows between dilated taps are left out.
  for (int64_t r = 0; r <= (count - 1) * rows.stride + (rows.kernel - 1) * rows.dilation; ++r) {
    SmallVector<Value> prepared;
    for (int64_t t = 0; t < count; ++t) {
      int64_t down = r - t * rows.stride, i = down / rows.dilation;
      if (down < 0 || down % rows.dilation || i >= rows.kernel)
        continue;
      if (prepared.empty()) {
        Value row = c.add(start, number(r)), inside;
        if (count == 1)
          inside = both(atLeast(row, number(0)),
                        c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row, inHeight));
        prepared = prepare(readRow(row, inside));
      }
      // [add] What the row gives is prepared for the first.
      sums[t] = add(sums[t], prepared, i);
    }
  }
  for (int64_t t = 0; t < count; ++t) {
    Value row = c.add(first, number(t));
    storeRow(row, column, finish(sums[t], row));
  }
  c.e.forget();
}

/// [store] The mask is there in vectors that may reach over the end of a row.
void PlaneEmitter::storeRow(Value row, Value column, Value sum) {
  SmallVector<IndexValue> index = plane;
  if (!s.isLine)
    index.push_back({row});
  index.push_back({column, 1});
  c.e.forget();
  c.e.setTailMask(tail);
  c.e.provide(s.result, [&](ArrayRef<IndexValue>) { return sum; });
  c.storeResults(index);
  c.e.setTailMask({});
}

} // namespace weft
