// Parts of a packed weight are where they are said to be: every one, packed by itself, is found in the packed whole.
#include "compiler/artifact/WeightPacker.h"
#include "compiler/model/ElementRuns.h"
#include "dialects/plan/WeightParts.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace mlir;

namespace {

using Dims = llvm::SmallVector<int64_t>;

/// A weight whose elements all differ in some byte of their neighbours.
struct Weight {
  SymTensorType type;
  std::string bytes;

  Weight(SymTensorType type) : type(type) {
    int64_t count = 1;
    Dims dims = *type.getConstantDims();
    for (int64_t dim : dims)
      count *= dim;
    bytes.resize(elementBytes(type.getElementType(), count));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = char(i % 4 == 3 ? 0x3f : i * 167 % 251); // f32 stay numbers
  }

  Weight part(ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) const {
    llvm::SmallVector<SymExpr> dims;
    for (int64_t size : sizes)
      dims.push_back(SymExpr::constant(type.getContext(), size));
    Weight own(SymTensorType::get(dims, type.getElementType()));
    own.bytes.clear();
    for (const ElementRun &run : runsOfBox(*type.getConstantDims(), starts, sizes))
      own.bytes.append(bytes, elementBytes(type.getElementType(), run.begin),
                       elementBytes(type.getElementType(), run.count));
    return own;
  }

  /// As the artifact has it.
  std::string packed(const WeightLayout &layout) const {
    if (layout.isRows())
      return bytes;
    std::string all, fitting = bytes;
    for (char &byte : fitting)
      byte = char(layout.hasFewBits() ? byte & ((1 << layout.bits()) - 1) : byte);
    auto packer = WeightPacker::of(layout);
    llvm::cantFail(packer->pack(type, fitting.data(), [&](StringRef piece) {
      all += piece;
      return llvm::Error::success();
    }));
    CHECK(all.size() == packer->bytes(type));
    return all;
  }
};

/// Numbers of parts along every dimension, counted up; false behind the last ones.
bool next(Dims &at, const Dims &ends) {
  for (size_t i = at.size(); i-- > 0;) {
    if (++at[i] < ends[i])
      return true;
    at[i] = 0;
  }
  return false;
}

/// Compares every part with the whole; whether parts of this size lie in it.
bool liesInWhole(const Weight &whole, WeightLayout layout, const Dims &sizes) {
  Dims dims = *whole.type.getConstantDims(), counts, at(sizes.size(), 0);
  Weight like = whole.part(at, sizes);
  if (!layout.isRows())
    layout = layoutInWhole(layout, whole.type, like.type);
  std::optional<Dims> distances = partDistances(layout, whole.type, sizes);
  if (!distances)
    return false;
  for (auto [dim, size] : llvm::zip_equal(dims, sizes))
    counts.push_back((dim + size - 1) / size);
  std::string all = whole.packed(layout.ofWhole());
  do {
    Dims starts, rest;
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      starts.push_back(at[i] * sizes[i]);
      rest.push_back(std::min(sizes[i], dims[i] - starts[i]));
      offset += at[i] * (*distances)[i];
    }
    Weight part = whole.part(starts, rest);
    std::string own = part.packed(layout.ofWhole());
    int64_t piece = layout.depth ? panelBytes(layout, part.type) : int64_t(own.size()),
            step = layout.depth ? panelBytes(layout, whole.type) : 0;
    for (int64_t i = 0; i * piece < int64_t(own.size()); ++i)
      CHECK(all.substr(offset + i * step, piece) == own.substr(i * piece, piece));
  } while (next(at, counts));
  return true;
}

/// Compares parts along a dimension, each packed and behind each other, with the packed whole; whether that is said of them.
bool areWhole(const char *text, const Dims &dims, Type element, unsigned dim, int64_t ranks) {
  WeightLayout layout = *WeightLayout::parse(text);
  llvm::SmallVector<SymExpr> exprs;
  for (int64_t size : dims)
    exprs.push_back(SymExpr::constant(element.getContext(), size));
  Weight whole(SymTensorType::get(exprs, element));
  if (!partsAreWhole(layout, whole.type, dim, ranks))
    return false;
  std::string all;
  Dims sizes = dims, starts(dims.size(), 0);
  sizes[dim] /= ranks;
  for (; starts[dim] < dims[dim]; starts[dim] += sizes[dim])
    all += whole.part(starts, sizes).packed(layout);
  CHECK(all == whole.packed(layout));
  CHECK(all.size() == whole.bytes.size());
  return true;
}

/// How many cuts lie in the whole, of all whose lines fill bytes: into equal parts, or those of which the last are smaller.
int count(const char *layout, const Dims &dims, Type element, bool areEqual = true) {
  llvm::SmallVector<SymExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(SymExpr::constant(element.getContext(), dim));
  Weight whole(SymTensorType::get(exprs, element));
  Dims sizes(dims.size(), 1), ends;
  for (int64_t dim : dims)
    ends.push_back(dim + 1);
  int found = 0;
  Dims at(dims.size(), 0);
  do {
    Dims own = at;
    bool isCut = true, divides = true;
    for (size_t i = 0; i < dims.size(); ++i) {
      isCut &= own[i] > 0;
      divides &= own[i] > 0 && dims[i] % own[i] == 0;
    }
    if (isCut && divides == areEqual && own.back() * elementBits(element) % 8 == 0) {
      INFO(layout << " of " << own[0] << " by " << own.back());
      found += liesInWhole(whole, *WeightLayout::parse(layout), own);
    }
  } while (next(at, ends));
  return found;
}

} // namespace

TEST_CASE("parts of packed weights lie where they are said to") {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  Builder b(&context);
  Type f32 = b.getF32Type(), f16 = b.getF16Type(), i8 = b.getI8Type(),
       u4 = IntegerType::get(&context, 4, IntegerType::Unsigned),
       u8 = IntegerType::get(&context, 8, IntegerType::Unsigned);
  // Of 4 by 6: neighbours that are whole lines, or pieces of one line.
  CHECK(count("", {4, 6}, f32) == 3 + 3);
  CHECK(count("", {2, 3, 4}, f32) == 2 + 1 + 2 + 0);
  // Of 8 by 12: whole panels, and any rows of them.
  CHECK(count("panels<4>", {8, 12}, f32) == 4 * 2);
  CHECK(count("panels_t<4>", {12, 8}, f32) == 2 * 4);
  CHECK(count("panels_bf16_t<4>", {12, 8}, f32) == 2 * 3);
  CHECK(count("panels_f16<4>", {8, 12}, f16) == 4 * 2);
  CHECK(count("panels_8<4>", {8, 12}, i8) == 4 * 2);
  CHECK(count("panels_4_t<4>", {12, 16}, u4) == 2 * 2);
  CHECK(count("panels_4_t<4,2>", {12, 32}, u4) == 2 * 2);
  // A last panel that is not full, and filters: by columns only.
  CHECK(count("panels<4>", {8, 6}, f32) == 4);
  CHECK(count("panels_w<2>", {4, 2, 3, 3}, f32) == 2);
  CHECK(count("panels_t<2>", {4, 2, 3, 3}, f32) == 2);
  CHECK(count("dots_t<4,4,1>", {8, 6}, i8) == 2);
  CHECK(count("dots<4,4,1>", {6, 8}, i8) == 2);
  CHECK(count("dots_t<2,4,3>", {4, 2, 3, 3}, i8) == 2);
  CHECK(count("dots_t<2,4,3,128>", {4, 2, 3, 3}, i8) == 2);
  CHECK(count("dots_6_t<4,4,1>", {8, 32}, u8) == 2);
  CHECK(count("dots_5<4,4,1>", {64, 8}, u8) == 2);
  CHECK(count("winograd4<2>", {4, 2, 3, 3}, f32) == 2);
  CHECK(count("winograd4_i16<2>", {4, 3, 3, 3}, i8) == 2);
}

TEST_CASE("so do parts of which the last are smaller") {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  Builder b(&context);
  Type f32 = b.getF32Type(), i8 = b.getI8Type(),
       u4 = IntegerType::get(&context, 4, IntegerType::Unsigned);
  // Of 5 by 6: 2, 3 and 4 whole lines, or 4 and 5 elements of each of the five.
  CHECK(count("", {5, 6}, f32, false) == 3 + 2);
  // Of 8 by 12: 4 or 12 columns of 3, 5, 6 and 7 rows, and 8 columns of any rows.
  CHECK(count("panels<4>", {8, 12}, f32, false) == 2 * 4 + 8);
  CHECK(count("panels_t<4>", {12, 8}, f32, false) == 2 * 4 + 8);
  // Of 9 by 10, whose last panel is not full: 4, 8 or 10 columns.
  CHECK(count("panels<4>", {9, 10}, f32, false) == 3 * 9 - 3);
  CHECK(count("panels_bf16<4>", {9, 10}, f32, false) == 3 * 5 - 1);
  CHECK(count("panels_8_t<4>", {10, 6}, i8, false) == 3 * 6 - 4);
  CHECK(count("panels_4_t<4>", {12, 24}, u4, false) == 3 * 3 - 4);
  CHECK(count("dots_t<4,4,1>", {10, 6}, i8, false) == 2);
}

TEST_CASE("parts that ranks give each other make the packed whole, or nobody says so") {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  Builder b(&context);
  Type f32 = b.getF32Type(), f16 = b.getF16Type(), i8 = b.getI8Type();
  CHECK(areWhole("", {4, 6}, f32, 0, 2));
  CHECK(areWhole("", {1, 6}, f32, 1, 3));
  CHECK(areWhole("panels<4>", {8, 12}, f32, 1, 3));
  CHECK(areWhole("panels_t<4>", {16, 8}, f32, 0, 2));
  CHECK(areWhole("panels_f16_t<4>", {16, 8}, f16, 0, 4));
  CHECK(areWhole("panels_8<4>", {8, 12}, i8, 1, 3));
  CHECK(areWhole("panels_w<2>", {4, 2, 3, 3}, f32, 0, 2));
  // Rows that are no neighbours, panels that are cut or not full, rows of panels, and what takes other bytes than its elements.
  CHECK_FALSE(areWhole("", {4, 6}, f32, 1, 2));
  CHECK_FALSE(areWhole("", {5, 6}, f32, 0, 2));
  CHECK_FALSE(areWhole("panels<4>", {8, 12}, f32, 1, 2));
  CHECK_FALSE(areWhole("panels<4>", {8, 6}, f32, 1, 1));
  CHECK_FALSE(areWhole("panels<4>", {8, 12}, f32, 0, 2));
  CHECK_FALSE(areWhole("panels_bf16<4>", {8, 8}, f32, 1, 2));
  CHECK_FALSE(areWhole("winograd4<2>", {4, 2, 3, 3}, f32, 0, 2));
  CHECK(areWhole("dots<4,4,1>", {8, 8}, i8, 1, 2));
  CHECK_FALSE(areWhole("dots<4,4,1,128>", {8, 8}, i8, 1, 2));
}

TEST_CASE("behind a panel of products stand its columns' sums as often as the layout says") {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  Builder b(&context);
  auto dim = [&](int64_t size) { return SymExpr::constant(&context, size); };
  for (Type element : {Type(b.getI8Type()), Type(b.getIntegerType(8, /*isSigned=*/false))}) {
    // Three taps of 5 channels: the runs and the second panel are padded.
    Weight filters(SymTensorType::get({dim(6), dim(5), dim(1), dim(3)}, element));
    std::string plain = filters.packed(*WeightLayout::parse("dots_t<4,4,3>")),
                shifted = filters.packed(*WeightLayout::parse("dots_t<4,4,3,128>"));
    constexpr size_t kPanel = 4 * 4 * 4, kSums = 4 * 4;
    REQUIRE(plain.size() == 2 * kPanel);
    REQUIRE(shifted.size() == 2 * (kPanel + kSums));
    for (size_t panel : {0, 1}) {
      CHECK(shifted.substr(panel * (kPanel + kSums), kPanel) ==
            plain.substr(panel * kPanel, kPanel));
      for (size_t column = 0; column < 4; ++column) {
        size_t filter = 4 * panel + column;
        int32_t sum = 0, there;
        for (size_t i = 0; filter < 6 && i < 15; ++i) {
          char byte = filters.bytes[15 * filter + i];
          sum += isUnsigned(element) ? uint8_t(byte) : int8_t(byte);
        }
        memcpy(&there, &shifted[panel * (kPanel + kSums) + kPanel + 4 * column], sizeof there);
        CHECK(there == 128 * sum);
      }
    }
  }
}

TEST_CASE("a number that its layout has too few bits for is refused") {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  Builder b(&context);
  SymExpr size = SymExpr::constant(&context, 8);
  auto type =
      SymTensorType::get({size, size}, IntegerType::get(&context, 8, IntegerType::Unsigned));
  auto refusal = [&](const char *layout, uint8_t number) {
    std::string bytes(64, '\0');
    bytes[17] = char(number);
    auto write = [](StringRef) { return llvm::Error::success(); };
    return llvm::toString(
        WeightPacker::of(*WeightLayout::parse(layout))->pack(type, bytes.data(), write));
  };
  CHECK(refusal("dots_6_t<4,4,1>", 63) == "");
  CHECK(refusal("dots_6_t<4,4,1>", 64) ==
        "a weight has number 64, but its layout 'dots_6_t<4,4,1>' has 6 bits");
  CHECK(refusal("dots_5<4,4,1>", 31) == "");
  CHECK(refusal("dots_5<4,4,1>", 255) ==
        "a weight has number 255, but its layout 'dots_5<4,4,1>' has 5 bits");
}
