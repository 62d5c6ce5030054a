// Bytes that know who wrote them: what overlaps is overwritten, values keep their precision, gaps are found.
#include "compiler/eval/ByteMemory.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace weft;

namespace {

struct Memory {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::Type f32 = mlir::Float32Type::get(&context), i32 = mlir::IntegerType::get(&context, 32),
             i4 = mlir::IntegerType::get(&context, 4);
  ByteMemory bytes;

  std::shared_ptr<RefTensor> tensor(mlir::Type element, std::vector<double> values) {
    auto made =
        std::make_shared<RefTensor>(element, llvm::ArrayRef<int64_t>{int64_t(values.size())});
    for (size_t i = 0; i < values.size(); ++i)
      made->set(int64_t(i), made->kind == Scalar::Real ? Scalar::of(values[i])
                                                       : Scalar::of(int64_t(values[i])));
    return made;
  }
  void write(int64_t address, mlir::Type element, std::vector<double> values, unsigned owner) {
    auto made = tensor(element, std::move(values));
    bytes.write(address, made, runsOfAll(made->dims), {owner});
  }
  std::vector<double> read(int64_t address, mlir::Type element, int64_t count) {
    RefTensor to(element, {count});
    bytes.read(address, runsOfAll({count}), to);
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(to.at(i).asReal());
    return values;
  }
};

} // namespace

TEST_CASE("a value keeps more digits than its bytes as long as it is read as it was written") {
  Memory memory;
  memory.write(64, memory.f32, {0.1, 0.2, 0.3}, 1);
  CHECK(memory.read(64, memory.f32, 3) == std::vector<double>{0.1, 0.2, 0.3});
  CHECK(memory.read(68, memory.f32, 1) == std::vector<double>{0.2});
}

TEST_CASE("bytes that are read as something else are what the type's bytes are") {
  Memory memory;
  memory.write(0, memory.f32, {1, 0.1}, 1);
  CHECK(memory.read(0, memory.i32, 1) == std::vector<double>{0x3f800000});
  CHECK(memory.read(4, memory.i32, 1) == std::vector<double>{0x3dcccccd});
  memory.write(16, memory.i32, {0x3f800000}, 1);
  CHECK(memory.read(16, memory.f32, 1) == std::vector<double>{1});
}

TEST_CASE("whoever writes last wins, byte by byte") {
  Memory memory;
  memory.write(0, memory.i32, {1, 2, 3, 4}, 1);
  memory.write(4, memory.i32, {20, 30}, 1);
  CHECK(memory.read(0, memory.i32, 4) == std::vector<double>{1, 20, 30, 4});
  memory.write(2, memory.i32, {-1}, 1); // between two elements
  CHECK(memory.read(0, memory.i32, 2) == std::vector<double>{double(int32_t(0xffff0001)), 0xffff});
}

TEST_CASE("elements that share bytes are kept") {
  Memory memory;
  memory.write(0, memory.i4, {1, 7, 3}, 1);
  CHECK(memory.read(0, memory.i4, 3) == std::vector<double>{1, 7, 3});
}

TEST_CASE("runs of a tensor are written and read, and what lies between is left alone") {
  Memory memory;
  memory.write(0, memory.i32, {0, 1, 2, 3, 4, 5}, 1);
  ElementRuns column = runsOfBox({3, 2}, {0, 1}, {3, 1});
  memory.bytes.write(0, memory.tensor(memory.i32, {9, 9, 9, 9, 9, 9}), column, {1});
  CHECK(memory.read(0, memory.i32, 6) == std::vector<double>{0, 9, 2, 9, 4, 9});
  CHECK(runsOfBox({4, 8}, {1, 0}, {2, 8}).size() == 1);
  CHECK(runsOfBox({4, 8}, {1, 0}, {0, 8}).empty());
  CHECK(unite(runsOfBox({8}, {0}, {4}), runsOfBox({8}, {2}, {6})).size() == 1);
}

TEST_CASE("a gap is what nothing wrote, or what somebody wrote for another value") {
  Memory memory;
  memory.write(64, memory.i32, {1, 2, 3, 4}, 1);
  auto gap = [&](int64_t address, int64_t count, unsigned owner) {
    return memory.bytes.gapIn(address, memory.i32, runsOfAll({count}), owner);
  };
  CHECK_FALSE(gap(64, 4, 1));
  CHECK_FALSE(gap(64, 0, 2));
  REQUIRE(gap(64, 6, 1));
  CHECK(gap(64, 6, 1)->begin == 16);
  CHECK(gap(64, 6, 1)->end == 24);
  CHECK_FALSE(gap(64, 6, 1)->other);
  CHECK(gap(60, 2, 1)->end == 4);
  memory.write(72, memory.i32, {5}, 2);
  REQUIRE(gap(64, 4, 1));
  CHECK(gap(64, 4, 1)->begin == 8);
  CHECK(gap(64, 4, 1)->end == 12);
  CHECK(gap(64, 4, 1)->other->owner == 2);
}
