//===- PaddedRows.cpp - Copies rows of an image, zeros around them ----------------------------===//
//
//   for plane of lines, line of it that some rows of the result read     [lines]
//     outside the image: zeros                                           [outside]
//     for plane of columns                                               [planes]
//     inside: zeros on the left                                          [left]
//       an operand in memory: for vector of elements; the last one ends  [copy]
//         where the row does; a short row element by element
//       one that is computed: for vector of columns                      [pull]
//         few channels in one store, of many each element                [channels]
//       zeros on the right                                               [right]
//
// Rows are written from the first to the last in whole vectors: what one writes too much lies in
// the next, which follows, or behind the last, where there is room. Bytes become numbers of 16 bits
// on the way where they are multiplied as such, and floats of 16 bits become f32.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/PaddedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace weft {

int64_t PaddedRows::reach(const ConvolutionWindow &w) const {
  return block.planes ? llvm::divideCeil(w.kernel, w.stride) : (w.kernel - 1) * w.dilation + 1;
}

SymExpr PaddedRows::span() const {
  const ConvolutionWindow &across = s.window[1];
  SymExpr most = SymExpr::max(across.out, SymExpr::constant(s.op.getContext(), 1));
  return (most - 1) * stepAcross() + reach(across);
}

SymExpr PaddedRows::planeBytes() const {
  return pitch() * ((block.rows - 1 + block.beyond) * stepDown() + reach(s.window[0]));
}

SymExpr PaddedRows::bytes(const VectorMachine &machine) const {
  return planeBytes() * (planesDown() * planesAcross()) +
         int64_t(machine.lanes()) * std::max<int64_t>(4, columnBytes());
}

namespace {

constexpr int64_t kTogether = 4; ///< channels that are stored together

class RowCopy {
public:
  RowCopy(KernelContext &c, const ConvolutionShape &s, const PaddedRows::Block &block,
          const PaddedRows &padded)
      : c(c), s(s), block(block), element(memoryType(s.element())),
        stored(block.widen     ? c.b.getI16Type()
               : block.decodes ? c.b.getF32Type()
                               : element),
        stride(block.planes ? s.window[1].stride : 1), planes(padded.planesAcross()),
        span(uniform(padded.span())), planeBytes(uniform(padded.planeBytes())),
        width(uniform(s.window[1].in)), height(uniform(s.window[0].in)),
        left(uniform(s.window[1].low)) {}

  /// Row y of the image to `target`, and where columns have planes, each plane of it behind the last.
  void emit(Value image, Value y, Value target) {
    Value inside = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, y, number(0)),
                                             compare(arith::CmpIPredicate::slt, y, height));
    // [planes] As many as the window has taps in.
    c.loop(number(0), number(planes), 1, [&](Value plane) {
      Value there = elementPointer(c.b, target, c.b.getI8Type(), c.mul(plane, planeBytes));
      emitPlane(inside, {image, y, plane}, there);
    });
  }

private:
  /// What is read: the columns of a row whose rest by the stride is `plane`.
  struct Source {
    Value image, y, plane;
  };

  void emitPlane(Value inside, Source source, Value target) {
    // Columns of the plane before the image, and behind it.
    auto placeOf = [&](Value column) {
      Value ahead = c.sub(c.add(column, number(stride - 1)), source.plane);
      return c.b.createOrFold<arith::FloorDivSIOp>(ahead, number(stride));
    };
    from = least(most(placeOf(left), number(0)), span);
    to = most(least(span, placeOf(c.add(width, left))), from);
    auto choose = c.b.create<scf::IfOp>(inside, true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(choose.elseBlock());
    // [outside] A row like any other, for the windows that reach over the border.
    clear(target, number(0), span);
    c.b.setInsertionPointToStart(choose.thenBlock());
    // [left] May write over what follows: that is written next.
    clear(target, number(0), from);
    if (auto input = dyn_cast<BlockArgument>(s.op.getInput()))
      copy(c.inputs[input.getArgNumber()], source, target);
    else
      pull(source.image, source.y, target);
    // [right] Also over what vectors of columns wrote too much.
    clear(target, to, span);
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value uniform(SymExpr expr) { return c.e.uniform(expr); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value most(Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value d) {
    return c.b.create<arith::CmpIOp>(predicate, a, d);
  }
  int64_t bytesOf(Type type) const { return elementBits(type) / 8; }
  Value bytesOf(Value columns) { return c.mul(columns, number(apart() * bytesOf(stored))); }
  /// Elements from one column to the next.
  int64_t apart() const { return block.channels + block.gap; }

  /// Columns [begin, end) become zeros.
  void clear(Value target, Value begin, Value end) {
    auto bytes = VectorType::get({4 * c.machine.lanes()}, c.b.getI8Type());
    Value zeros = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(bytes));
    c.loop(bytesOf(begin), bytesOf(end), 4 * c.machine.lanes(), [&](Value at) {
      c.b.create<LLVM::StoreOp>(zeros, elementPointer(c.b, target, c.b.getI8Type(), at), 1);
    });
  }

  /// [copy] The last vector ends where the row does: nothing behind the tensor is read.
  void copy(Value input, Source place, Value target) {
    Value row = c.add(c.mul(place.image, height), place.y),
          column = c.sub(c.add(c.mul(from, number(stride)), place.plane), left),
          columns = c.sub(to, from), elements = c.mul(columns, number(block.channels));
    Value source = elementPointer(c.b, input, element,
                                  c.mul(c.add(c.mul(row, width), column), number(block.channels)));
    target = elementPointer(c.b, target, c.b.getI8Type(), bytesOf(from));
    int64_t step = 4 * c.machine.lanes() / bytesOf(stored); // whole vectors
    if (block.gap || block.planes) {
      c.loop(number(0), columns, 1, [&](Value nth) {
        Value here =
            elementPointer(c.b, source, element, c.mul(nth, number(block.channels * stride)));
        Value there = elementPointer(c.b, target, c.b.getI8Type(), bytesOf(nth));
        c.loop(number(0), number(block.channels), step,
               [&](Value at) { copyElements(here, there, at, step); });
      });
      return;
    }
    Value last = c.sub(elements, number(step));
    auto choose = c.b.create<scf::IfOp>(compare(arith::CmpIPredicate::sge, last, number(0)), true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(choose.thenBlock());
    c.loop(number(0), last, step, [&](Value at) { copyElements(source, target, at, step); });
    copyElements(source, target, last, step);
    c.b.setInsertionPointToStart(choose.elseBlock());
    c.loop(number(0), elements, 1, [&](Value at) { copyElements(source, target, at, 1); });
  }

  void copyElements(Value source, Value target, Value at, int64_t count) {
    if (block.widen)
      return block.widen->widen(c, source, target, at, count, s.op.getInput());
    Type type = count == 1 ? element : Type(VectorType::get({count}, element));
    Value data = c.b.create<LLVM::LoadOp>(type, elementPointer(c.b, source, element, at), 1);
    if (block.decodes)
      data = decodeFloat(c.b, s.element(), data);
    c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, target, stored, at), 1);
  }

  /// [pull] The same for an operand that is computed on the way: vectors of columns. Few channels
  /// are put side by side in registers, of many, elements are stored one by one.
  void pull(Value image, Value y, Value target) {
    c.loop(from, to, c.machine.lanes(), [&](Value column) {
      Value place = c.mul(column, number(apart()));
      // [channels] Lanes are columns, whose channels are to lie side by side.
      if (block.channels <= kTogether) {
        SmallVector<Value> data;
        for (int64_t channel = 0; channel < block.channels; ++channel)
          data.push_back(pullColumns(image, y, column, number(channel)));
        store(interleaved(data), target, place);
        return;
      }
      c.loop(number(0), number(block.channels), 1, [&](Value channel) {
        Value data = pullColumns(image, y, column, channel), first = c.add(place, channel);
        for (unsigned i = 0; i < c.machine.lanes(); ++i)
          store(c.b.create<vector::ExtractOp>(data, int64_t(i)), target,
                c.add(first, number(i * apart())));
      });
    });
  }

  Value pullColumns(Value image, Value y, Value column, Value channel) {
    c.e.forget();
    IndexValue x{c.sub(column, left), 1};
    SmallVector<IndexValue> index{{image}, {y}, x, {channel}};
    if (s.isLine)
      index.erase(index.begin() + 1);
    Value zeros = c.b.create<arith::ConstantOp>(
        c.b.getZeroAttr(VectorType::get({c.machine.lanes()}, computeType(s.element()))));
    Value data = c.e.guarded(
        c.e.less(x, {width}), [&] { return c.e.pull(s.op.getInput(), index); }, zeros);
    c.e.forget();
    if (isHalf(s.element()) && !block.decodes)
      data = encodeFloat(c.b, s.element(), data);
    return block.widen ? block.widen->widen(c, data, s.op.getInput()) : data;
  }

  /// Lane i of every vector, then lane i + 1, ….
  Value interleaved(ArrayRef<Value> data) {
    int64_t lanes = c.machine.lanes();
    SmallVector<int64_t> both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes)), order;
    auto joined = [&](size_t i) {
      return c.b.create<vector::ShuffleOp>(data[i], data[std::min(i + 1, data.size() - 1)], both);
    };
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (size_t i = 0; i < data.size(); ++i)
        order.push_back(i * lanes + lane);
    Value first = joined(0);
    return c.b.create<vector::ShuffleOp>(first, data.size() > 2 ? joined(2) : first, order);
  }

  void store(Value data, Value target, Value at) {
    Type type = getElementTypeOrSelf(data.getType());
    c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, target, type, at), 1);
  }

  KernelContext &c;
  const ConvolutionShape &s;
  const PaddedRows::Block &block;
  Type element, stored;
  int64_t stride, planes; ///< of columns
  Value span, planeBytes, width, height, left;
  Value from, to; ///< columns of a plane that are inside
};

} // namespace

void PaddedRows::emitCopy(KernelContext &c, Value image, Value firstRow, Value rows) const {
  const ConvolutionWindow &down = s.window[0];
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  Value top = c.sub(c.mul(firstRow, number(down.stride)), c.e.uniform(down.low)),
        bytes = c.e.uniform(planeBytes() * planesAcross());
  Value lines = c.add(c.mul(c.sub(rows, number(1)), number(stepDown())), number(reach(down)));
  RowCopy copy(c, s, block, *this);
  // [lines] In order: each may be written into by the one before.
  int64_t apart = block.planes ? down.stride : 1;
  c.loop(number(0), number(planesDown()), 1, [&](Value plane) {
    Value there = elementPointer(c.b, c.scratch, c.b.getI8Type(), c.mul(plane, bytes)),
          first = c.add(top, plane);
    c.loop(number(0), lines, 1, [&](Value line) {
      copy.emit(image, c.add(first, c.mul(line, number(apart))),
                elementPointer(c.b, there, c.b.getI8Type(), c.mul(line, c.e.uniform(pitch()))));
    });
  });
}

} // namespace weft
