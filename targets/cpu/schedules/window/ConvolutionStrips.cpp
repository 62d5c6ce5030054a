//===- ConvolutionStrips.cpp - Rows, shifted and masked, side by side -------------------------===//
//
//   for 8 channels together, or fewer that divide all                 [channels]
//     for row i of the window: positions that no earlier one copied   [taps]
//       for row of the result that these cross                        [rows]
//         an operand that is computed, where nothing gathers: pull what
//           the window's columns read into a line that they share     [line]
//         for vector of positions in it
//           for column j of the window                                [columns]
//             inside the row: load; else masked, zeros outside        [vector]
//             for channel: store as f32 at the strip's position       [copy]
//             an operand that is computed, far strides: pull, masked  [pull]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/ConvolutionStrips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kChannelsTogether = 8; ///< copied with one mask
constexpr int64_t kUnrolledTaps = 16;    ///< code size

bool pullsLines(const ConvolutionShape &s, const VectorMachine &machine);
SymExpr lineFloats(const ConvolutionShape &s, const VectorMachine &machine);

class StripCopy {
public:
  StripCopy(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t)
      : c(c), s(s), t(t), rows(s.window[0]), columns(s.window[1]) {
    input = dyn_cast<BlockArgument>(s.op.getInput());
    width = c.e.uniform(columns.in), height = c.e.uniform(rows.in),
    outWidth = c.e.uniform(columns.out);
    left = c.e.uniform(columns.low), top = c.e.uniform(rows.low);
    pitch = c.e.uniform(t.stripFloats(s, c.machine));
  }

  /// Pixels [first, first + count) of image n, channels from `channel` on.
  void emit(Value n, Value channel, Value first, Value count) {
    image = n, begin = first, pixels = count;
    int64_t together = kChannelsTogether;
    while (s.channels % together)
      --together;
    // [channels] They share masks, and where things lie.
    c.loop(number(0), number(s.channels), together, [&](Value each) {
      planes.clear(), sources.clear(), strips.clear(), lines.clear();
      for (int64_t u = 0; u < together; ++u) {
        Value here = c.add(each, number(u)), plane = c.add(channel, here);
        planes.push_back(plane);
        if (input)
          sources.push_back(
              elementPointer(c.b, c.inputs[input.getArgNumber()], memoryType(s.element()),
                             c.mul(c.add(c.mul(image, number(s.groups * s.channels)), plane),
                                   c.mul(height, width))));
        strips.push_back(elementPointer(
            c.b, c.scratch, c.b.getF32Type(),
            c.add(number(t.totalFloats), c.mul(here, c.mul(number(t.planes), pitch)))));
      }
      if (pullsLines(s, c.machine))
        placeLines(together);
      c.loop(number(0), number(rows.kernel), 1, [&](Value tap) { emitTap(tap); });
    });
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value most(Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); }
  Value quotient(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value d) {
    return c.b.create<arith::CmpIOp>(predicate, a, d);
  }

  /// [taps] The positions that tap row `tap` reads and no earlier one with the same strip.
  void emitTap(Value tap) {
    Value row = c.mul(tap, number(rows.dilation)), stride = number(rows.stride);
    phase = c.b.createOrFold<arith::RemUIOp>(row, stride);
    Value offset = c.mul(quotient(row, stride), outWidth), to = c.add(offset, pixels);
    Value before = c.sub(to, c.mul(number(t.sameReach), outWidth));
    Value shared = compare(arith::CmpIPredicate::sge, tap, number(t.sameRow));
    Value from = c.b.create<arith::SelectOp>(shared, most(offset, before), offset);
    Value firstRow = quotient(c.add(begin, from), outWidth);
    Value endRow = c.add(quotient(c.sub(c.add(begin, to), number(1)), outWidth), number(1));
    // [rows] Of one, all elements lie in one row of the operand.
    c.loop(firstRow, endRow, 1, [&](Value each) {
      Value start = c.sub(c.mul(each, outWidth), begin);
      Value here = most(start, from), end = least(c.add(start, outWidth), to);
      Value y = c.sub(c.add(c.mul(each, stride), phase), top);
      Value inside = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, y, number(0)),
                                               compare(arith::CmpIPredicate::slt, y, height));
      Value rowWidth =
          c.b.create<arith::SelectOp>(inside, width, number(0)); // a row outside has no columns
      Value line = c.mul(c.b.create<arith::SelectOp>(inside, y, number(0)), width);
      if (!lines.empty())
        pullLines(y, rowWidth, c.sub(here, start), c.sub(end, start));
      // A whole vector is written: what is too much lies in the next row, which follows, or behind
      // the strip.
      c.loop(here, end, c.machine.lanes(), [&](Value position) {
        Value x = c.sub(c.mul(c.sub(position, start), number(columns.stride)), left);
        if (!lines.empty())
          return copyLines(c.sub(position, start), position);
        // [columns] Each has a strip.
        if (columns.kernel <= kUnrolledTaps)
          for (int64_t j = 0; j < columns.kernel; ++j)
            emitVector(line, y, rowWidth, c.add(x, number(j * columns.dilation)), number(j),
                       position);
        else
          c.loop(number(0), number(columns.kernel), 1, [&](Value j) {
            emitVector(line, y, rowWidth, c.add(x, c.mul(j, number(columns.dilation))), j,
                       position);
          });
      });
    });
  }

  /// [vector] Elements x, x + stride, … of row y, which begins at `line`, for all channels; zeros
  /// outside [0, rowWidth).
  void emitVector(Value line, Value y, Value rowWidth, Value x, Value j, Value position) {
    Value to = c.add(c.mul(c.add(c.mul(j, number(t.phases)), phase), pitch), position);
    if (!input || columns.stride > 2)
      return pullColumns(y, rowWidth, x, to);
    Value end = c.add(x, number(c.machine.lanes() * columns.stride));
    Value whole = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, x, number(0)),
                                            compare(arith::CmpIPredicate::sle, end, rowWidth));
    auto choose = c.b.create<scf::IfOp>(whole, true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(choose.thenBlock());
    copyColumns(c.add(line, x), {}, to);
    c.b.setInsertionPointToStart(choose.elseBlock());
    SmallVector<Value> masks;
    for (int64_t part = 0; part < columns.stride; ++part)
      masks.push_back(inside(c.add(x, number(part * c.machine.lanes())), rowWidth));
    copyColumns(c.add(line, x), masks, to);
  }

  VectorType vectorType() { return VectorType::get({c.machine.lanes()}, c.b.getF32Type()); }

  /// [copy] Of a stride of 2, two vectors are loaded, and the even lanes kept.
  void copyColumns(Value from, ArrayRef<Value> masks, Value to) {
    SmallVector<int64_t> even;
    for (unsigned i = 0; i < c.machine.lanes(); ++i)
      even.push_back(2 * i);
    for (auto [source, strip] : llvm::zip(sources, strips)) {
      SmallVector<Value, 2> parts;
      for (int64_t part = 0; part < columns.stride; ++part) {
        Value at = elementPointer(c.b, source, memoryType(s.element()),
                                  c.add(from, number(part * c.machine.lanes())));
        parts.push_back(loadReals(c, s.element(), at, masks.empty() ? Value() : masks[part]));
      }
      Value data = parts.size() == 1
                       ? parts[0]
                       : Value(c.b.create<vector::ShuffleOp>(parts[0], parts[1], even));
      c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, strip, c.b.getF32Type(), to), 4);
    }
  }

  /// Which lanes of x, x + 1, … lie in [0, rowWidth).
  Value inside(Value x, Value rowWidth) {
    auto type = VectorType::get({c.machine.lanes()}, c.b.getI32Type());
    SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, c.machine.lanes()));
    Value lane = c.b.create<arith::ConstantOp>(DenseIntElementsAttr::get(type, numbers));
    auto bound = [&](Value value) -> Value { // in lanes
      Value some = least(most(value, number(0)), number(c.machine.lanes()));
      return c.b.create<vector::SplatOp>(c.b.create<arith::TruncIOp>(c.b.getI32Type(), some), type);
    };
    Value from = bound(c.sub(number(0), x)), to = bound(c.sub(rowWidth, x));
    return c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, lane, from),
                                     compare(arith::CmpIPredicate::slt, lane, to));
  }

  /// [pull] Lanes outside are guarded: they read nothing.
  void pullColumns(Value y, Value rowWidth, Value x, Value to) {
    IndexValue column{x, columns.stride};
    Value mask = c.b.create<arith::AndIOp>(c.e.nonNegative(column), c.e.less(column, {rowWidth}));
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType()));
    for (auto [plane, strip] : llvm::zip(planes, strips)) {
      SmallVector<IndexValue> index{{image}, {plane}};
      if (!s.isLine)
        index.push_back({y});
      index.push_back(column);
      c.e.forget();
      Value data = c.e.guarded(
          mask, [&] { return c.e.pull(s.op.getInput(), index); }, zero);
      c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, strip, c.b.getF32Type(), to), 4);
      c.e.forget();
    }
  }

  /// Behind the strips.
  void placeLines(int64_t together) {
    Value behind = c.add(number(t.totalFloats), c.mul(number(s.channels * t.planes), pitch));
    for (int64_t u = 0; u < together; ++u)
      lines.push_back(
          elementPointer(c.b, c.scratch, c.b.getF32Type(),
                         c.add(behind, c.mul(number(u), c.e.uniform(lineFloats(s, c.machine))))));
  }

  /// [line] What columns [from, to) of the result read of row y.
  void pullLines(Value y, Value rowWidth, Value from, Value to) {
    Value end = c.add(to, number((columns.kernel - 1) * columns.dilation));
    std::swap(lines, strips);
    c.loop(from, end, c.machine.lanes(),
           [&](Value at) { pullColumns(y, rowWidth, c.sub(at, left), at); });
    std::swap(lines, strips);
  }

  void copyLines(Value from, Value position) {
    for (int64_t j = 0; j < columns.kernel; ++j) {
      Value to = c.add(c.mul(c.add(number(j * t.phases), phase), pitch), position),
            at = c.add(from, number(j * columns.dilation));
      for (auto [line, strip] : llvm::zip(lines, strips)) {
        Value data = c.b.create<LLVM::LoadOp>(vectorType(),
                                              elementPointer(c.b, line, c.b.getF32Type(), at), 4);
        c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, strip, c.b.getF32Type(), to), 4);
      }
    }
  }

  KernelContext &c;
  const ConvolutionShape &s;
  const ConvolutionTiling &t;
  const ConvolutionWindow &rows, &columns;
  BlockArgument input; ///< null when the operand is computed on the way
  Value width, height, outWidth, left, top, pitch;
  Value image, begin, pixels, phase;
  SmallVector<Value> planes, sources, strips, lines; ///< of the channels copied together
};

/// Whether lines are pulled before windows take them, column by column: where what lies apart is loaded one by one, each would cost as much.
bool pullsLines(const ConvolutionShape &s, const VectorMachine &machine) {
  const ConvolutionWindow &across = s.window[1];
  return !isa<BlockArgument>(s.op.getInput()) && !machine.masksWords() && across.stride == 1 &&
         across.kernel > 1 && across.kernel <= kUnrolledTaps;
}

/// A line with its border, and what whole vectors write and read behind it.
SymExpr lineFloats(const ConvolutionShape &s, const VectorMachine &machine) {
  const ConvolutionWindow &across = s.window[1];
  return across.out + ((across.kernel - 1) * across.dilation + 2 * int64_t(machine.lanes()));
}

} // namespace

SymExpr stripLineFloats(const ConvolutionShape &s, const VectorMachine &machine) {
  if (!pullsLines(s, machine))
    return SymExpr::constant(s.op.getContext(), 0);
  return lineFloats(s, machine) * kChannelsTogether;
}

void copyStrips(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t,
                Value image, Value channel, Value first, Value count) {
  StripCopy(c, s, t).emit(image, channel, first, count);
}

} // namespace weft
