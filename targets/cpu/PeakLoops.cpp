//===- PeakLoops.cpp - Multiply and add with every unit, and read ---------------------------------===//
//
//   for unit of the machine: loop(data, out, rounds)
//     sums = first vectors of data; rounds times: every sum = step(sum); out = sums   [sums]
//     or rounds times: two tiles of rows times two of columns, into four of sums      [tiles]
//   the same for reading: every sum += the next vector of data
//
// There are as many sums as registers hold beside two operands, which is more than latency times ports.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/PeakLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "targets/cpu/Schedule.h"
#include "targets/cpu/machine/TileUnit.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kReadSums = 8;

/// Of products that there is an instruction for, if there is any.
std::optional<ByteSigns> byteSignsOf(function_ref<bool(ByteSigns)> multiplies) {
  for (ByteSigns signs : {ByteSigns{false, true}, ByteSigns{true, true}})
    if (multiplies(signs))
      return signs;
  return std::nullopt;
}
std::optional<ByteSigns> signsOfDots(const VectorMachine &machine) {
  return byteSignsOf([&](ByteSigns signs) { return machine.addsByteProducts(signs); });
}
std::optional<ByteSigns> signsOfMatrices(const VectorMachine &machine) {
  return byteSignsOf([&](ByteSigns signs) { return machine.multipliesByteMatrices(signs); });
}

class LoopEmitter {
public:
  LoopEmitter(ModuleOp module, const VectorMachine &machine)
      : b(module.getLoc(), module.getContext()), module(module), machine(machine) {
    vector = VectorType::get({int64_t(machine.lanes())}, b.getF32Type());
    pointer = LLVM::LLVMPointerType::get(b.getContext());
  }

  int64_t vectorBytes() const { return 4 * int64_t(machine.lanes()); }

  /// [sums] `step(round, i, sum)` gives the next value of sum i.
  void emit(StringRef name, int64_t sums, llvm::function_ref<Value(Value, int64_t, Value)> step) {
    func::FuncOp function = begin(name);
    SmallVector<Value> first;
    for (int64_t i = 0; i < sums; ++i)
      first.push_back(load(at(data, i * vectorBytes())));
    factor = load(at(data, sums * vectorBytes()));
    addend = load(at(data, (sums + 1) * vectorBytes()));
    Value zero = constant(0), one = constant(1);
    auto loop = b.create<scf::ForOp>(zero, function.getArgument(2), one, first);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> next;
      for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs()))
        next.push_back(step(loop.getInductionVar(), i, sum));
      b.create<scf::YieldOp>(next);
    }
    for (auto [i, sum] : llvm::enumerate(loop.getResults()))
      b.create<LLVM::StoreOp>(sum, at(function.getArgument(1), i * vectorBytes()), 4);
    b.create<func::ReturnOp>();
  }

  Value multiplyAdd(Unit unit, Value sum) {
    switch (unit) {
    case Unit::Reals:
      if (machine.hasFma())
        return b.create<vector::FMAOp>(sum, factor, addend);
      return b.create<arith::AddFOp>(b.create<arith::MulFOp>(sum, factor), addend);
    case Unit::HalfPairs:
      return machine.addHalfProducts(b, sum, words(factor), words(addend));
    case Unit::ShortPairs:
      return reals(machine.addPairProducts(b, words(sum), shorts(factor), shorts(addend)));
    case Unit::BytePairs:
      return reals(machine.addShorts(b, words(sum), fourPairs(words(sum))));
    case Unit::ByteQuads:
      return reals(machine.addByteProducts(b, words(sum), words(factor), words(addend),
                                           *signsOfDots(machine)));
    case Unit::ByteMatrices:
      return reals(machine.addByteMatrices(b, words(sum), firstWords(factor), words(addend),
                                           *signsOfMatrices(machine)));
    default:
      llvm_unreachable("tiles have a loop of their own");
    }
  }

  /// [tiles] They stay where they are.
  void emitTiles(StringRef name, Unit kind) {
    const TileUnit &unit = *machine.tiles();
    func::FuncOp function = begin(name);
    Value state = b.create<LLVM::AllocaOp>(pointer, b.getI8Type(), constant(unit.stateBytes()), 64);
    Value rowBytes = constant(TileUnit::kRowBytes);
    unit.configure(b, state,
                   SmallVector<TileUnit::Size>(TileUnit::kTiles,
                                               {constant(TileUnit::kRows), TileUnit::kRowWords}));
    for (int64_t tile = 0; tile < 4; ++tile) {
      unit.zero(b, state, tile);
      unit.load(b, state, 4 + tile, at(data, tile * TileUnit::kRows * TileUnit::kRowBytes),
                rowBytes);
    }
    auto loop = b.create<scf::ForOp>(constant(0), function.getArgument(2), constant(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      for (int64_t tile = 0; tile < 4; ++tile) {
        TileUnit::Tiles tiles{tile, 4 + tile / 2, 6 + tile % 2};
        if (kind == Unit::HalfTiles)
          unit.multiplyHalves(b, state, tiles);
        else
          unit.multiplyBytes(b, state, tiles, {false, true});
      }
    }
    for (int64_t tile = 0; tile < 4; ++tile)
      unit.store(b, state, tile, function.getArgument(1), rowBytes);
    unit.release(b, state);
    b.create<func::ReturnOp>();
  }

  Value addNext(Value round, int64_t i, Value sum) {
    Value offset = b.create<arith::MulIOp>(round, constant(kReadSums * vectorBytes()));
    Value place =
        b.create<LLVM::GEPOp>(pointer, b.getI8Type(), data, ArrayRef<LLVM::GEPArg>{offset});
    return b.create<arith::AddFOp>(sum, load(at(place, i * vectorBytes())));
  }

private:
  func::FuncOp begin(StringRef name) {
    b.setInsertionPointToEnd(module.getBody());
    auto function =
        b.create<func::FuncOp>(name, b.getFunctionType({pointer, pointer, b.getI64Type()}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    data = function.getArgument(0);
    return function;
  }
  Value words(Value x) { return b.create<LLVM::BitcastOp>(vector.clone(b.getI32Type()), x); }
  /// Of two rows.
  Value firstWords(Value x) {
    Value all = words(x);
    return b.create<vector::ShuffleOp>(all, all, SmallVector<int64_t>{0, 1, 2, 3});
  }
  Value shorts(Value x) {
    int64_t count = 2 * int64_t(machine.lanes());
    return b.create<LLVM::BitcastOp>(VectorType::get({count}, b.getI16Type()), x);
  }
  /// As many as are ever summed in 16 bits, each of other factors: what is equal would be multiplied once.
  Value fourPairs(Value sum) {
    Value x = words(factor), y = words(addend);
    auto both = [&](Value a) -> Value {
      return b.create<arith::AddIOp>(machine.multiplyBytePairs(b, sum, a),
                                     machine.multiplyBytePairs(b, a, sum));
    };
    return b.create<arith::AddIOp>(both(x), both(y));
  }
  Value reals(Value x) { return b.create<LLVM::BitcastOp>(vector, x); }
  Value constant(int64_t v) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(v)); }
  Value at(Value base, int64_t bytes) {
    return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  Value load(Value place) { return b.create<LLVM::LoadOp>(vector, place, 4); }

  ImplicitLocOpBuilder b;
  ModuleOp module;
  const VectorMachine &machine;
  VectorType vector;
  Type pointer;
  Value data, factor, addend;
};

} // namespace

/// Products that a round adds to every sum, of the units that the machine has; in a round of tiles,
/// all products of four of them.
static std::map<Unit, int64_t> unitsOf(const VectorMachine &machine) {
  std::map<Unit, int64_t> units{{Unit::Reals, 1}, {Unit::ShortPairs, 2}};
  if (machine.addsHalfProducts())
    units[Unit::HalfPairs] = 2;
  if (machine.multipliesBytePairs())
    units[Unit::BytePairs] = 16;
  if (signsOfDots(machine))
    units[Unit::ByteQuads] = 4;
  if (signsOfMatrices(machine))
    units[Unit::ByteMatrices] = 8;
  if (machine.tiles()) {
    int64_t words = 4 * TileUnit::kRows * TileUnit::kRowWords * TileUnit::kRowWords;
    units[Unit::HalfTiles] = 2 * words;
    units[Unit::ByteTiles] = 4 * words;
  }
  return units;
}

PeakLoops emitPeakLoops(ModuleOp module, const VectorMachine &machine) {
  LoopEmitter emitter(module, machine);
  PeakLoops loops;
  int64_t sums = machine.registers() - 4;
  for (auto [unit, products] : unitsOf(machine)) {
    std::string symbol = "weft_peak_" + std::to_string(int(unit));
    bool isTiles = unit == Unit::HalfTiles || unit == Unit::ByteTiles;
    loops.units[unit] = {symbol, 2 * products * (isTiles ? 1 : sums * int64_t(machine.lanes()))};
    if (isTiles)
      emitter.emitTiles(symbol, unit);
    else
      emitter.emit(symbol, sums, [&, unit = unit](Value, int64_t, Value sum) {
        return emitter.multiplyAdd(unit, sum);
      });
  }
  loops.read = {"weft_peak_read", kReadSums * emitter.vectorBytes()};
  emitter.emit(loops.read.symbol, kReadSums,
               [&](Value round, int64_t i, Value sum) { return emitter.addNext(round, i, sum); });
  return loops;
}

} // namespace weft
