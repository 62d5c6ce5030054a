//===- HostCalls.cpp --------------------------------------------------------------------------===//

#include "compiler/host/HostCalls.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cost/KernelWork.h"
#include "weft/artifact.h"
#include <cstddef>

using namespace mlir;

namespace weft {

constexpr int64_t kWordBytes = WEFT_MAX_WORDS * sizeof(uint64_t);

HostCalls::HostCalls(HostExpressions &host, bool isDirect)
    : host(host), b(host.b), isDirect(isDirect),
      pointer(LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {}

void HostCalls::begin(Value frame, unsigned most, bool overlaps) {
  this->frame = frame;
  if (isDirect) {
    worker = b.create<LLVM::LoadOp>(pointer, at(frame, offsetof(weft_frame_v1, worker0)), 8);
    words = b.create<LLVM::AllocaOp>(pointer, i64, host.constant(WEFT_MAX_WORDS), 8);
    return;
  }
  words = b.create<LLVM::AllocaOp>(pointer, i64, host.constant(most * WEFT_MAX_WORDS), 8);
  if (most > 1)
    parts = b.create<LLVM::AllocaOp>(pointer, b.getI8Type(),
                                     host.constant(most * sizeof(weft_part_v1)), 8);
  if (!overlaps)
    return;
  tiles = b.create<LLVM::AllocaOp>(pointer, b.getI8Type(),
                                   host.constant(most * sizeof(weft_row_tiles_v1)), 8);
  rowBytes = b.create<LLVM::AllocaOp>(pointer, i64, host.constant(most * WEFT_MAX_WORDS), 8);
  overlap =
      b.create<LLVM::AllocaOp>(pointer, b.getI8Type(), host.constant(sizeof(weft_overlap_v1)), 8);
}

Value HostCalls::at(Value base, int64_t offset) {
  return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

void HostCalls::store(Value value, Value base, int64_t offset) {
  b.create<LLVM::StoreOp>(value, at(base, offset), value.getType().isInteger(32) ? 4 : 8);
}

Value HostCalls::callee(size_t function) {
  Value table = b.create<LLVM::LoadOp>(pointer, at(frame, offsetof(weft_frame_v1, host)), 8);
  return b.create<LLVM::LoadOp>(pointer, at(table, function), 8);
}

Value HostCalls::address(const EmittedKernel &kernel) {
  return b.create<LLVM::AddressOfOp>(pointer, kernel.symbol);
}

Value HostCalls::storeWords(ArrayRef<Value> given, unsigned place) {
  Value own = at(words, place * kWordBytes);
  for (auto [i, word] : llvm::enumerate(given))
    store(word, own, 8 * i);
  return own;
}

void HostCalls::call(size_t function, ValueRange arguments) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          llvm::to_vector(arguments.getTypes()));
  SmallVector<Value> operands{callee(function)};
  llvm::append_range(operands, arguments);
  b.create<LLVM::CallOp>(type, operands);
}

/// Estimates are doubles: they may be larger than integers without harm.
void HostCalls::storePart(const EmittedKernel &kernel, unsigned place) {
  int64_t base = place * sizeof(weft_part_v1);
  Value scale = b.create<arith::ConstantOp>(b.getF64FloatAttr(1.0 / kWorkOfNanosecond));
  store(address(kernel), parts, base + offsetof(weft_part_v1, kernel));
  store(storeWords(kernel.words, place), parts, base + offsetof(weft_part_v1, words));
  store(host.emit(kernel.units), parts, base + offsetof(weft_part_v1, units));
  store(b.create<arith::MaxSIOp>(host.emit(kernel.grain), host.constant(1)), parts,
        base + offsetof(weft_part_v1, grain));
  store(b.create<arith::MulFOp>(host.emitReal(kernel.work), scale), parts,
        base + offsetof(weft_part_v1, work));
  store(b.create<arith::ConstantOp>(b.getI32IntegerAttr(kernel.row)), parts,
        base + offsetof(weft_part_v1, kernel_id));
}

void HostCalls::storeRows(const EmittedRows &own, unsigned place) {
  int64_t base = place * sizeof(weft_row_tiles_v1);
  auto put = [&](Value value, size_t field) { store(value, tiles, base + int64_t(field)); };
  put(host.emit(own.rows), offsetof(weft_row_tiles_v1, rows));
  put(host.emit(own.tiles), offsetof(weft_row_tiles_v1, tiles));
  put(host.constant(own.least), offsetof(weft_row_tiles_v1, least));
  put(host.constant(own.height), offsetof(weft_row_tiles_v1, height));
  if (!own.height)
    return;
  Value bytes = at(rowBytes, place * kWordBytes);
  for (auto [i, each] : llvm::enumerate(own.rowBytes))
    store(host.emit(each), bytes, 8 * i);
  put(host.constant(int64_t(own.rowBytes.size())), offsetof(weft_row_tiles_v1, addresses));
  put(host.constant(own.countWord), offsetof(weft_row_tiles_v1, count_word));
  put(bytes, offsetof(weft_row_tiles_v1, row_bytes));
}

void HostCalls::emit(size_t function, unsigned row, ArrayRef<Value> words) {
  call(function, {frame, host.constant(int64_t(row)), storeWords(words, 0)});
}

void HostCalls::emitOverlap(ArrayRef<EmittedKernel> kernels, ArrayRef<EmittedRows> rows,
                            const EmittedExchange &exchange) {
  for (auto [place, pair] : llvm::enumerate(llvm::zip_equal(kernels, rows))) {
    auto &[kernel, own] = pair;
    storePart(kernel, place);
    storeRows(own, place);
  }
  auto number = [&](int32_t value) {
    return b.create<arith::ConstantOp>(b.getI32IntegerAttr(value));
  };
  store(parts, overlap, offsetof(weft_overlap_v1, parts));
  store(tiles, overlap, offsetof(weft_overlap_v1, tiles));
  store(storeWords(exchange.words, kernels.size()), overlap, offsetof(weft_overlap_v1, words));
  store(host.constant(exchange.row), overlap, offsetof(weft_overlap_v1, exchange));
  store(number(kernels.size()), overlap, offsetof(weft_overlap_v1, count));
  store(number(exchange.comesFirst), overlap, offsetof(weft_overlap_v1, comes_first));
  call(offsetof(weft_host_v1, overlap_rows), {frame, overlap});
}

void HostCalls::launch(const EmittedKernel &kernel) {
  Value row = b.create<arith::ConstantOp>(b.getI32IntegerAttr(kernel.row));
  call(kernel.isCounted ? offsetof(weft_host_v1, launch_counted) : offsetof(weft_host_v1, launch),
       {frame, storeWords(kernel.words, 0), host.emit(kernel.units), row});
}

void HostCalls::callItself(const EmittedKernel &kernel) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, i64, i64, pointer});
  Value begin = host.constant(0), units = host.emit(kernel.units),
        own = storeWords(kernel.words, 0),
        any = host.compare(arith::CmpIPredicate::sgt, units, begin);
  b.create<scf::IfOp>(any, [&](OpBuilder &, Location) {
    b.create<LLVM::CallOp>(type, FlatSymbolRefAttr::get(b.getContext(), kernel.symbol),
                           ValueRange{own, begin, units, worker});
    b.create<scf::YieldOp>();
  });
}

Value HostCalls::arePositions(ArrayRef<Value> place, ArrayRef<Value> sizes, unsigned bits) {
  Value count = host.constant(1), own = storeWords(sizes, 0),
        none = b.create<arith::ConstantOp>(b.getBoolAttr(true)),
        sizeCount = host.constant(int64_t(sizes.size()));
  for (Value dim : place.drop_front())
    count = b.create<arith::MulIOp>(count, dim);
  auto body = [&](OpBuilder &, Location, Value i, ValueRange carried) {
    Type element = b.getIntegerType(bits);
    auto behind = [&](Type type, Value base, Value index) -> Value {
      Value address = b.create<LLVM::GEPOp>(pointer, type, base, ArrayRef<LLVM::GEPArg>{index});
      return b.create<LLVM::LoadOp>(type, address, type.getIntOrFloatBitWidth() / 8);
    };
    Value position = behind(element, place[0], i),
          size = behind(i64, own, b.create<arith::RemUIOp>(i, sizeCount));
    if (bits < 64)
      position = b.create<arith::ExtSIOp>(i64, position);
    // From -size to size - 1, as the runtime judges.
    Value inside = host.compare(arith::CmpIPredicate::ult, b.create<arith::AddIOp>(position, size),
                                b.create<arith::AddIOp>(size, size));
    Value all = b.create<arith::AndIOp>(carried[0], inside);
    b.create<scf::YieldOp>(all);
  };
  return b.create<scf::ForOp>(host.constant(0), count, host.constant(1), ValueRange{none}, body)
      .getResult(0);
}

void HostCalls::emit(ArrayRef<EmittedKernel> kernels) {
  if (isDirect) {
    for (const EmittedKernel &each : kernels)
      callItself(each);
    return;
  }
  if (kernels.front().onDevice) {
    for (const EmittedKernel &each : kernels)
      launch(each);
    return;
  }
  if (kernels.size() == 1) {
    const EmittedKernel &kernel = kernels.front();
    Value own = storeWords(kernel.words, 0),
          row = b.create<arith::ConstantOp>(b.getI32IntegerAttr(kernel.row));
    return call(
        offsetof(weft_host_v1, parallel),
        {frame, address(kernel), own, host.emit(kernel.units), host.emit(kernel.grain), row});
  }
  for (auto [place, kernel] : llvm::enumerate(kernels))
    storePart(kernel, place);
  call(offsetof(weft_host_v1, together), {frame, parts, host.constant(int64_t(kernels.size()))});
}

} // namespace weft
