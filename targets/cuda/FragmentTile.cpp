//===- FragmentTile.cpp -------------------------------------------------------------------------------===//
//
//   chunk of a line: its piece, its line there, its place among eight              [place]
//     stored, or copied, to it
//     read from it: four matrices of fragments by one instruction                  [fragments]
//     or by units that are told where all of them lie                              [described]

#include "targets/cuda/FragmentTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

static constexpr int64_t kChunkBytes = 16;

static Type elementOf(const TileSource &source) {
  return cast<SymTensorType>(source.value.getType()).getElementType();
}
/// Elements of a chunk.
static int64_t chunkOf(Type element) { return kChunkBytes * 8 / elementBits(element); }

/// Chunks of a line in shared memory: a power of two, so that exchanging them stays inside.
static int64_t chunksPerLine(const TileSource &source) {
  int64_t elements = source.isDeepLast ? source.depth : source.size;
  return int64_t(llvm::PowerOf2Ceil(uint64_t(elements / chunkOf(elementOf(source)))));
}

int64_t FragmentTile::bytes(const TileSource &source) {
  return (source.isDeepLast ? source.size : source.depth) * chunksPerLine(source) * kChunkBytes;
}

FragmentTile::FragmentTile(SimtKernel &k, Value shared, int64_t begin, const TileSource &source,
                           int64_t run)
    : k(k), shared(shared), begin(begin), perLine(chunksPerLine(source)),
      lines(source.isDeepLast ? source.size : source.depth), run(run),
      isDeepLast(source.isDeepLast), element(elementOf(source)), perChunk(chunkOf(element)) {
  assert((isDeepLast || perChunk == kMatrix) && "only matrices of 16 bits are turned");
  Value lane = k.lane(), eight = constantI64(k.b, kMatrix);
  matrix = k.b.create<arith::DivUIOp>(lane, eight);
  line = k.b.create<arith::RemUIOp>(lane, eight);
}

/// [place] Where a chunk of a line lies. Lines of fewer than 8 chunks share the 128 bytes that all banks have.
Value FragmentTile::placeOf(Value line, Value chunk) const {
  ImplicitLocOpBuilder &b = k.b;
  int64_t together = std::max<int64_t>(1, kMatrix / perLine), places = std::min(perLine, kMatrix);
  Value turn = b.create<arith::AndIOp>(b.create<arith::DivUIOp>(line, constantI64(b, together)),
                                       constantI64(b, places - 1));
  bool hasPieces = perLine > kMatrix;
  int64_t apart = hasPieces ? kMatrix : perLine; // lines
  Value place = k.add(k.mul(line, constantI64(b, apart)), b.create<arith::XOrIOp>(chunk, turn));
  if (hasPieces) { // a chunk's number in its piece, and how far that is from the first one
    Value piece = b.create<arith::DivUIOp>(chunk, constantI64(b, kMatrix));
    place = k.add(place, k.mul(piece, constantI64(b, (lines - 1) * kMatrix)));
  }
  return k.add(k.mul(place, constantI64(b, kChunkBytes)), constantI64(b, begin));
}

/// Where a line of shared memory stands among those that fragments are made of.
Value FragmentTile::ordered(Value line) const {
  if (run == 2)
    return line;
  ImplicitLocOpBuilder &b = k.b;
  auto part = [&](int64_t step, int64_t count) -> Value { // of the number: which of so many
    Value above = b.createOrFold<arith::DivUIOp>(line, constantI64(b, step));
    return b.createOrFold<arith::RemUIOp>(above, constantI64(b, count));
  };
  constexpr int64_t pairs = kMatrix / 2;
  Value rest = k.multipleOf(line, pairs * run), pair = k.mul(part(run, pairs), constantI64(b, 2)),
        matrix = k.mul(part(2, run / 2), constantI64(b, kMatrix));
  return k.add(k.add(rest, matrix), k.add(pair, part(1, 2)));
}

/// Of the chunk whose first element has this line and step.
Value FragmentTile::chunkPlace(Value line, Value step) const {
  ImplicitLocOpBuilder &b = k.b;
  auto chunkAt = [&](Value number) -> Value {
    return b.create<arith::DivUIOp>(number, constantI64(b, perChunk));
  };
  return isDeepLast ? placeOf(ordered(line), chunkAt(step)) : placeOf(ordered(step), chunkAt(line));
}

TileTarget FragmentTile::target() const {
  FragmentTile tile = *this;
  return {[tile](Value line, Value step, Value chunk) {
            ImplicitLocOpBuilder &b = tile.k.b;
            Type four = VectorType::get({4}, b.getI32Type());
            Value words = chunk.getType() == four ? chunk : b.create<LLVM::BitcastOp>(four, chunk);
            tile.k.storeShared(words, tile.shared, tile.chunkPlace(line, step));
          },
          [tile](Value line, Value step) {
            return tile.k.sharedPlace(tile.shared, tile.chunkPlace(line, step));
          }};
}

/// [fragments]
SmallVector<Value> FragmentTile::fragments(Value at, Value step, Side side) const {
  ImplicitLocOpBuilder &b = k.b;
  Value eight = constantI64(b, kMatrix);
  auto chunkAt = [&](Value number) -> Value {
    return b.create<arith::DivUIOp>(number, constantI64(b, perChunk));
  };
  Value low = b.create<arith::AndIOp>(matrix, constantI64(b, 1)),
        high = b.create<arith::DivUIOp>(matrix, constantI64(b, 2));
  Value along = side == Left ? low : high, later = side == Left ? high : low;
  Value place =
      isDeepLast
          ? placeOf(k.add(k.add(at, k.mul(along, eight)), line), k.add(later, chunkAt(step)))
          : placeOf(k.add(k.add(k.mul(later, eight), line), step), k.add(chunkAt(at), along));
  Type i32 = b.getI32Type();
  Value all = k.call(isDeepLast ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
                                : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16",
                     LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32}),
                     {k.sharedPlace(shared, place)});
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i) {
    Value word = b.create<LLVM::ExtractValueOp>(all, i);
    words.push_back(element.isF16()
                        ? b.create<LLVM::BitcastOp>(VectorType::get({2}, b.getF16Type()), word)
                        : word);
  }
  return words;
}

/// [described] Bits of a descriptor: from 0 on the address, from 16 on how far pieces of a line are apart, from 32 on how far 8 lines are, all in units of 16 bytes;
/// from 62 on the swizzle.
Value FragmentTile::described(int64_t step) const {
  ImplicitLocOpBuilder &b = k.b;
  int64_t inPiece = std::min(perLine, kMatrix), pieceBytes = lines * kMatrix * kChunkBytes;
  bool hasPieces = perLine > kMatrix;
  uint64_t swizzle = inPiece == 8   ? 1
                     : inPiece == 4 ? 2
                                    : 3,
           apart = uint64_t(kMatrix * inPiece),
           pieces = hasPieces ? uint64_t(pieceBytes / kChunkBytes) : 1;
  assert(perLine > 1 && run == 2 && "lies otherwise");
  int64_t inPieceSteps = kMatrix * perChunk, stepBytes = kChunkBytes / perChunk;
  int64_t distance = !isDeepLast
                         ? step * inPiece * kChunkBytes
                         : step / inPieceSteps * pieceBytes + step % inPieceSteps * stepBytes;
  Value place = k.sharedPlace(shared, constantI64(b, begin + distance));
  Value address = b.create<LLVM::PtrToIntOp>(b.getI64Type(), place);
  return b.create<arith::OrIOp>(
      b.create<arith::DivUIOp>(address, constantI64(b, kChunkBytes)),
      constantI64(b, int64_t(swizzle << 62 | apart << 32 | pieces << 16)));
}

static void multiplyAddBy(SimtKernel &k, StringRef intrinsic, ArrayRef<Value> left,
                          ArrayRef<Value> right, MutableArrayRef<Value> sums) {
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  llvm::append_range(arguments, sums);
  SmallVector<Type> types(4, sums.front().getType());
  Value all =
      k.call(intrinsic, LLVM::LLVMStructType::getLiteral(k.b.getContext(), types), arguments);
  for (int64_t i = 0; i < 4; ++i)
    sums[size_t(i)] = k.b.create<LLVM::ExtractValueOp>(all, i);
}

void multiplyAdd(SimtKernel &k, Type element, ArrayRef<Value> left, ArrayRef<Value> right,
                 MutableArrayRef<Value> sums) {
  multiplyAddBy(k,
                element.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                 : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
                left, right, sums);
}

void multiplyAddBytes(SimtKernel &k, Type leftElement, Type rightElement, ArrayRef<Value> left,
                      ArrayRef<Value> right, MutableArrayRef<Value> sums) {
  auto name = [](Type element) -> std::string { return isUnsigned(element) ? ".u8" : ".s8"; };
  std::string kinds = name(leftElement);
  if (name(rightElement) != kinds)
    kinds += name(rightElement);
  multiplyAddBy(k, "llvm.nvvm.mma.m16n8k32.row.col" + kinds, left, right, sums);
}

Value packHalves(SimtKernel &k, Type element, Value low, Value high) {
  ImplicitLocOpBuilder &b = k.b;
  Value pair = b.create<vector::FromElementsOp>(VectorType::get({2}, b.getF32Type()),
                                                SmallVector<Value>{low, high});
  Value halves = b.create<arith::TruncFOp>(VectorType::get({2}, element), pair);
  return element.isBF16() ? Value(b.create<LLVM::BitcastOp>(b.getI32Type(), halves)) : halves;
}

} // namespace weft
