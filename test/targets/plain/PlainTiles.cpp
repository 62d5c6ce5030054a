//===- PlainTiles.cpp - Tiles in memory, and loops over their rows ----------------------------------===//
//
// The state: rows and words of a row of all tiles as i64, then the tiles, 16 rows of 64 bytes each.
//===------------------------------------------------------------------------------------------===//

#include "test/targets/plain/PlainTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft::test {
namespace {

/// The code of one instruction.
class Instruction {
public:
  Instruction(ImplicitLocOpBuilder &b, Value state) : b(b), state(state) {}

  void configure(ArrayRef<TileUnit::Size> sizes) {
    for (auto [tile, size] : llvm::enumerate(sizes)) {
      store(size.rows, sizeAt(tile, 0));
      store(number(size.words), sizeAt(tile, 1));
    }
  }

  void zero(int64_t tile) {
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(row(b.getI32Type())));
    loop(number(TileUnit::kRows), [&](Value r) { store(zeros, rowAt(tile, r)); });
  }

  /// Copies the words of a tile to memory or from there.
  void copy(int64_t tile, Value pointer, Value stride, bool isLoad) {
    loop(rows(tile), [&](Value r) {
      Value memory = at(pointer, b.create<arith::MulIOp>(r, stride)), here = rowAt(tile, r);
      loop(words(tile), [&](Value w) {
        Value from = wordAt(isLoad ? memory : here, w), to = wordAt(isLoad ? here : memory, w);
        store(load(b.getI32Type(), from), to);
      });
    });
  }

  /// Sums of one row after the other. `add` gives partial sums behind those before, from a word of
  /// the row in all lanes and a row of the columns; `join` the tile's from its own and from these.
  void multiply(TileUnit::Tiles t, Type element, unsigned partials,
                function_ref<SmallVector<Value>(ValueRange before, Value x, Value y)> add,
                function_ref<Value(Value sum, ValueRange partials)> join) {
    check(t);
    VectorType lanes = row(b.getI32Type());
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(row(element)));
    loop(rows(t.sums), [&](Value r) {
      auto sum = b.create<scf::ForOp>(number(0), words(t.rows), number(1),
                                      SmallVector<Value>(partials, zeros));
      {
        OpBuilder::InsertionGuard insertion(b);
        b.setInsertionPointToStart(sum.getBody());
        Value w = sum.getInductionVar(), x = load(b.getI32Type(), wordAt(rowAt(t.rows, r), w)),
              y = load(lanes, rowAt(t.columns, w));
        b.create<scf::YieldOp>(
            add(sum.getRegionIterArgs(), b.create<vector::SplatOp>(x, lanes), y));
      }
      Value place = rowAt(t.sums, r);
      store(join(load(row(element), place), sum.getResults()), place);
    });
  }

  VectorType row(Type element) { return VectorType::get({TileUnit::kRowWords}, element); }
  Value all(int32_t value) {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(row(b.getI32Type()), b.getI32IntegerAttr(value)));
  }
  /// Denormal numbers become zeros of their sign.
  Value flush(Value bits) {
    Value magnitude = b.create<arith::AndIOp>(bits, all(0x7fffffff)),
          isTiny = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, magnitude, all(0x00800000));
    return b.create<arith::SelectOp>(isTiny,
                                     b.create<arith::AndIOp>(bits, all(int32_t(0x80000000))), bits);
  }
  Value asReals(Value bits) { return b.create<arith::BitcastOp>(row(b.getF32Type()), bits); }
  Value flushReals(Value reals) {
    return asReals(flush(b.create<arith::BitcastOp>(row(b.getI32Type()), reals)));
  }

private:
  static constexpr int64_t kTilesBegin = TileUnit::kTiles * 16,
                           kTileBytes = TileUnit::kRows * TileUnit::kRowBytes;

  Value number(int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }
  Value at(Value base, Value bytes) {
    return b.create<LLVM::GEPOp>(state.getType(), b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value sizeAt(int64_t tile, int64_t which) { return at(state, number(tile * 16 + which * 8)); }
  Value rowAt(int64_t tile, Value r) {
    Value offset = b.create<arith::MulIOp>(r, number(TileUnit::kRowBytes));
    return at(at(state, number(kTilesBegin + tile * kTileBytes)), offset);
  }
  Value wordAt(Value base, Value w) { return at(base, b.create<arith::MulIOp>(w, number(4))); }
  Value load(Type type, Value from) { return b.create<LLVM::LoadOp>(type, from, 1); }
  void store(Value value, Value to) { b.create<LLVM::StoreOp>(value, to, 1); }
  Value rows(int64_t tile) { return load(b.getI64Type(), sizeAt(tile, 0)); }
  Value words(int64_t tile) { return load(b.getI64Type(), sizeAt(tile, 1)); }

  void loop(Value count, function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(number(0), count, number(1));
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  void check(TileUnit::Tiles t) {
    auto differ = [&](Value x, Value y) -> Value {
      return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, y);
    };
    Value wrong = b.create<arith::OrIOp>(differ(rows(t.sums), rows(t.rows)),
                                         differ(words(t.sums), words(t.columns)));
    wrong = b.create<arith::OrIOp>(wrong, differ(words(t.rows), rows(t.columns)));
    auto stop = b.create<scf::IfOp>(wrong, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(stop.thenBlock());
    b.create<LLVM::Trap>();
  }

  ImplicitLocOpBuilder &b;
  const Value state;
};

class PlainTileUnit final : public TileUnit {
public:
  int64_t stateBytes() const override { return kTiles * (16 + kRows * kRowBytes); }
  void configure(ImplicitLocOpBuilder &b, Value state, ArrayRef<Size> sizes) const override {
    Instruction(b, state).configure(sizes);
  }
  /// A product after this has tiles without a size.
  void release(ImplicitLocOpBuilder &b, Value state) const override {
    Value none = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0));
    Instruction(b, state).configure(SmallVector<Size>(kTiles, {none, 0}));
  }

  void zero(ImplicitLocOpBuilder &b, Value state, int64_t tile) const override {
    Instruction(b, state).zero(tile);
  }
  void load(ImplicitLocOpBuilder &b, Value state, int64_t tile, Value pointer, Value stride,
            Reuse) const override {
    Instruction(b, state).copy(tile, pointer, stride, /*isLoad=*/true);
  }
  void store(ImplicitLocOpBuilder &b, Value state, int64_t tile, Value pointer,
             Value stride) const override {
    Instruction(b, state).copy(tile, pointer, stride, /*isLoad=*/false);
  }

  void multiplyHalves(ImplicitLocOpBuilder &b, Value state, Tiles tiles) const override {
    Instruction i(b, state);
    auto half = [&](Value pairs, bool isOdd) -> Value {
      Value bits = isOdd ? Value(b.create<arith::AndIOp>(pairs, i.all(int32_t(0xffff0000))))
                         : b.create<arith::ShLIOp>(pairs, i.all(16));
      return i.asReals(i.flush(bits));
    };
    i.multiply(
        tiles, b.getF32Type(), 2,
        [&](ValueRange before, Value x, Value y) {
          SmallVector<Value> after;
          for (bool isOdd : {false, true})
            after.push_back(i.flushReals(
                b.create<vector::FMAOp>(half(x, isOdd), half(y, isOdd), before[isOdd])));
          return after;
        },
        [&](Value sum, ValueRange sums) {
          Value both = i.flushReals(b.create<arith::AddFOp>(sums[0], sums[1]));
          return i.flushReals(b.create<arith::AddFOp>(i.flushReals(sum), both));
        });
  }

  void multiplyBytes(ImplicitLocOpBuilder &b, Value state, Tiles tiles,
                     Signs areSigned) const override {
    Instruction i(b, state);
    auto byte = [&](Value words, int part, bool isSigned) -> Value {
      Value first = b.create<arith::ShLIOp>(words, i.all(24 - 8 * part));
      return isSigned ? Value(b.create<arith::ShRSIOp>(first, i.all(24)))
                      : b.create<arith::ShRUIOp>(first, i.all(24));
    };
    i.multiply(
        tiles, b.getI32Type(), 1,
        [&](ValueRange before, Value x, Value y) {
          Value sum = before[0];
          for (int part = 0; part < 4; ++part)
            sum = b.create<arith::AddIOp>(
                sum, b.create<arith::MulIOp>(byte(x, part, areSigned.rows),
                                             byte(y, part, areSigned.columns)));
          return SmallVector<Value>{sum};
        },
        [&](Value sum, ValueRange sums) -> Value { return b.create<arith::AddIOp>(sum, sums[0]); });
  }
};

} // namespace

const TileUnit &plainTiles() {
  static const PlainTileUnit unit;
  return unit;
}

} // namespace weft::test
