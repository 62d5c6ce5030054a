//===- Turns.cpp - Elements that are read in one order and written in another -------------------------===//
//
//   results [outer…, turned, inner…], operands whose last dimension is `turned`
//   block of the grid: some of the turned dimension, and of the inner ones as one line        [tile]
//     elements, computed in the order of the operands, to shared memory                       [read]
//     and out in the order of the results                                                     [write]
//       lines of whole chunks: a chunk of 16 bytes per thread
//       any others: warps write sectors, of which the first and last lack elements            [sectors]
//
// In shared memory a line is a row. Its pieces of 16 bytes are exchanged by the rows that a thread has written, so neither order waits for banks.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/match/TurnShape.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {
namespace {

/// Elements of a tile, and bytes of all results that shared memory has for them.
constexpr int64_t kTurned = 32, kLine = 128, kMostBytes = 36 * 1024;
constexpr int64_t kPiece = 16, kPieces = 8, kSector = 32;

int64_t bytesOf(Type element) { return memoryType(element).getIntOrFloatBitWidth() / 8; }

/// Elements that are 16 bytes of the widest of these tensors; one, where some share bytes. Vectors do not count.
unsigned lanesOf(ArrayRef<Type> types) {
  constexpr int64_t most = 8;
  int64_t lanes = most;
  for (Type type : types) {
    auto tensor = cast<SymTensorType>(type);
    int64_t bits = elementBits(tensor.getElementType());
    if (tensor.getRank() > 1)
      lanes = std::min(lanes, bits < 8 ? 1 : kPiece * 8 / bits);
  }
  return unsigned(lanes);
}

int64_t sharedBytesOf(func::FuncOp spec) {
  int64_t bytes = 0;
  for (Type type : spec.getResultTypes())
    bytes += kTurned * kLine * bytesOf(cast<SymTensorType>(type).getElementType());
  return bytes;
}

class TurnEmitter {
public:
  /// [tile]
  TurnEmitter(SimtKernel &k, const TurnShape &shape)
      : k(k), b(k.b), s(shape), held(lanesOf(k.spec.getArgumentTypes())),
        turned(k.e.uniform(s.turnedSize())), line(k.e.uniform(s.line())) {
    SmallVector<SymExpr> counts(s.outer());
    counts.push_back(SymExpr::ceildiv(s.turnedSize(), kTurned));
    counts.push_back(SymExpr::ceildiv(s.line(), kLine));
    outer = k.blockDigits(counts);
    firstPlace = k.mul(outer.pop_back_val(), number(kLine));
    firstTurned = k.mul(outer.pop_back_val(), number(kTurned));
    shared = k.sharedBytes(sharedBytesOf(k.spec));
  }

  void emit() {
    Stream(k, s.turnedSize(), held).emit([&](unsigned lanes) { read(lanes); });
    k.gatherBlock();
    Stream out(k, s.line(), lanesOf(k.spec.getResultTypes()));
    out.emit([&](unsigned lanes) { lanes == 1 ? writeSectors() : writeChunks(lanes); });
  }

private:
  Value number(int64_t n) { return constantI64(b, n); }
  Value divide(Value a, int64_t n) { return b.createOrFold<arith::DivUIOp>(a, number(n)); }
  Value modulo(Value a, int64_t n) { return b.createOrFold<arith::RemUIOp>(a, number(n)); }
  Value both(Value a, Value c) { return b.create<arith::AndIOp>(a, c); }

  /// Where an element of result `i` lies, in bytes.
  Value place(unsigned i, Value row, Value column) {
    int64_t bytes = bytesOf(k.resultType(i).getElementType());
    Value turn = k.mul(modulo(divide(row, held), kPieces), number(kPiece / bytes));
    Value in = k.add(k.mul(row, number(kLine)), b.create<arith::XOrIOp>(column, turn));
    int64_t begin = 0;
    for (unsigned before = 0; before < i; ++before)
      begin += kTurned * kLine * bytesOf(k.resultType(before).getElementType());
    return k.add(k.mul(in, number(bytes)), number(begin));
  }

  /// [read] Neighbours of the turned dimension are a thread's lanes.
  void read(unsigned lanes) {
    int64_t chunks = kTurned / lanes;
    k.loop(k.inBlock, number(chunks * kLine), SimtMachine::kThreads, [&](Value nth) {
      Value row = k.mul(modulo(nth, chunks), number(lanes)), column = divide(nth, chunks);
      Value at = k.add(firstTurned, row), place = k.add(firstPlace, column);
      k.when(both(k.less(at, turned), k.less(place, line)), [&] {
        compute({at, lanes > 1 ? 1 : 0}, place, row, column, lanes);
      });
    });
  }

  void compute(IndexValue at, Value place, Value row, Value column, unsigned lanes) {
    SmallVector<IndexValue> index;
    for (Value digit : outer)
      index.push_back({digit});
    index.push_back(at);
    llvm::append_range(index, k.pointIndex(s.inner(), place));
    SmallVector<Value> data;
    for (auto [i, result] : llvm::enumerate(k.returnOp()->getOperands()))
      data.push_back(k.e.encoded(k.resultType(i).getElementType(), k.e.pull(result, index)));
    for (unsigned i = 0; i < data.size(); ++i)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        Value one = lanes > 1 ? b.create<vector::ExtractOp>(data[i], int64_t(lane)) : data[i];
        k.storeShared(one, shared, this->place(i, k.add(row, number(lane)), column));
      }
  }

  /// Elements as they are stored, to the place of the line.
  void put(unsigned i, Value data, Value row, IndexValue place) {
    SmallVector<SymExpr> dims(s.outer());
    SmallVector<IndexValue> index;
    for (Value digit : outer)
      index.push_back({digit});
    dims.append({s.turnedSize(), s.line()});
    index.append({{k.add(firstTurned, row)}, place});
    Type memory = memoryType(k.resultType(i).getElementType());
    k.e.store(k.outputs[i], SymTensorType::get(dims, memory), index, data);
  }

  /// [write]
  void writeChunks(unsigned lanes) {
    int64_t chunks = kLine / lanes;
    k.loop(k.inBlock, number(chunks * kTurned), SimtMachine::kThreads, [&](Value nth) {
      Value row = divide(nth, chunks), column = k.mul(modulo(nth, chunks), number(lanes));
      write(row, column, lanes);
    });
  }

  /// [sectors] Where lines begin within a sector of bytes.
  void writeSectors() {
    int64_t window = kLine + kSector;
    k.loop(k.inBlock, number(window * kTurned), SimtMachine::kThreads, [&](Value nth) {
      Value row = divide(nth, window), in = modulo(nth, window), begin = number(0);
      for (auto [digit, size] : llvm::zip(outer, s.outer()))
        begin = k.add(k.mul(begin, k.e.uniform(size)), digit);
      begin = k.add(k.mul(begin, turned), k.add(firstTurned, row));
      begin = k.add(k.mul(begin, line), firstPlace);
      Value column = k.sub(in, modulo(begin, kSector));
      k.when(both(k.less(number(-1), column), k.less(column, number(kLine))),
             [&] { write(row, column, 1); });
    });
  }

  void write(Value row, Value column, unsigned lanes) {
    Value at = k.add(firstPlace, column);
    k.when(both(k.less(k.add(firstTurned, row), turned), k.less(at, line)), [&] {
      for (unsigned i = 0; i < k.spec.getNumResults(); ++i) {
        Type type = k.e.laneType(memoryType(k.resultType(i).getElementType()));
        Value data = k.loadShared(type, shared, place(i, row, column));
        put(i, data, row, {at, lanes > 1 ? 1 : 0});
      }
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  TurnShape s;
  unsigned held; ///< elements of a thread while it reads, at most
  Value turned, line, firstPlace, firstTurned, shared;
  SmallVector<Value> outer;
};

class TurnsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "turn"; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<TurnShape> s = TurnShape::match(spec);
    if (s && sharedBytesOf(spec) > kMostBytes)
      return {"a tile of all results is larger than shared memory that blocks have"};
    return s.decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    Match<TurnShape> s = TurnShape::match(spec);
    SymExpr count = SymExpr::ceildiv(s->turnedSize(), kTurned) * SymExpr::ceildiv(s->line(), kLine);
    for (SymExpr dim : s->outer())
      count = count * dim;
    return blocks(count, 1);
  }

  void emit(SimtKernel &k) const override { TurnEmitter(k, *TurnShape::match(k.spec)).emit(); }
};

} // namespace

const SimtSchedule *simtTurns() {
  static const TurnsSchedule schedule;
  return &schedule;
}

} // namespace weft
