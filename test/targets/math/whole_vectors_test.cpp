//===- whole_vectors_test.cpp - Loads and stores with masks on machines that have none and that do ----===//

#include "JitModule.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

using namespace weft::test;

namespace {

constexpr int kLanes = 4;
using Four = std::array<float, kLanes>;

/// The lanes before the number that %qb points to.
const std::string kBelowLimit = R"(
    %n = llvm.load %qb : !llvm.ptr -> i64
    %steps = arith.constant dense<[0, 1, 2, 3]> : vector<4xi64>
    %limit = vector.splat %n : vector<4xi64>
    %mask = arith.cmpi slt, %steps, %limit : vector<4xi64>)";
/// Of those, the ones from the number behind it on.
const std::string kBetween = kBelowLimit + R"(
    %q1 = llvm.getelementptr %qb[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %m = llvm.load %q1 : !llvm.ptr -> i64
    %from = vector.splat %m : vector<4xi64>
    %late = arith.cmpi sge, %steps, %from : vector<4xi64>
    %some = arith.andi %mask, %late : vector<4xi1>)";

std::string loadWith(const std::string &mask) {
  return R"(
    %outside = arith.constant dense<-1.0> : vector<4xf32>
    %r = llvm.intr.masked.load %qa, )" +
         mask +
         R"(, %outside {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>)";
}

const std::string kStore = R"(
    %data = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
    llvm.intr.masked.store %data, %qa, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
    %r = llvm.load %qa {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>)";

const std::string kGather = R"(
    %nothing = arith.constant dense<0.0> : vector<4xf32>
    %far = arith.constant dense<[0, 2, 4, 6]> : vector<4xi64>
    %places = llvm.getelementptr %qa[%far] : (!llvm.ptr, vector<4xi64>) -> !llvm.vec<4 x ptr>, f32
    %r = llvm.intr.masked.gather %places, %some, %nothing {alignment = 4 : i32} :
      (!llvm.vec<4 x ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>)";

/// The same of elements of 16 bits, which some machines do not mask although they mask words.
const std::string kLoadHalves = R"(
    %outside = arith.constant dense<-1> : vector<4xi16>
    %r = llvm.intr.masked.load %qa, %mask, %outside {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xi16>) -> vector<4xi16>)";
const std::string kStoreHalves = R"(
    %data = arith.constant dense<[1, 2, 3, 4]> : vector<4xi16>
    llvm.intr.masked.store %data, %qa, %mask {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
    %r = llvm.load %qa {alignment = 2 : i64} : !llvm.ptr -> vector<4xi16>)";

Snippet snippet(const char *name, const std::string &body) {
  return {name, body, "f32", "f32", "i64"};
}

JitModule compileAll(const Machine &machine) {
  return JitModule({snippet("below", kBelowLimit + loadWith("%mask")),
                    snippet("between", kBetween + loadWith("%some")),
                    snippet("store", kBelowLimit + kStore), snippet("gather", kBetween + kGather)},
                   machine, kLanes);
}

/// Memory of one page that ends where nothing may be read.
class LastPage {
public:
  LastPage() : size(size_t(sysconf(_SC_PAGESIZE))) {
    void *made =
        mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(made != MAP_FAILED);
    pages = static_cast<char *>(made);
    REQUIRE(mprotect(pages + size, size, PROT_NONE) == 0);
  }
  ~LastPage() { munmap(pages, 2 * size); }
  /// The last `count` numbers, counted from 10 on.
  template <typename T = float> T *last(int64_t count) {
    auto *end = reinterpret_cast<T *>(pages + size);
    for (int64_t i = 0; i < count; ++i)
      end[i - count] = T(10 + i);
    return end - count;
  }

private:
  const size_t size;
  char *pages = nullptr;
};

} // namespace

TEST_CASE("lanes below a limit are loaded, the others stay as they were and are not read",
          "[masks]") {
  LastPage page;
  for (const Machine &machine : machines()) {
    JitModule module = compileAll(machine);
    for (int64_t limit : {-3, 0, 1, 2, 3, 4, 7}) {
      int64_t inside = std::clamp<int64_t>(limit, 0, kLanes);
      Four out{};
      module.call("below", page.last(inside), &limit, out.data(), kLanes);
      for (int64_t i = 0; i < kLanes; ++i)
        CHECK(out[i] == (i < inside ? 10.0f + float(i) : -1.0f));
    }
  }
}

TEST_CASE("lanes below a limit are stored, the others keep what was there", "[masks]") {
  for (const Machine &machine : machines()) {
    JitModule module = compileAll(machine);
    for (int64_t limit : {-3, 0, 1, 2, 3, 4, 7}) {
      Four data{-1, -1, -1, -1}, out{};
      module.call("store", data.data(), &limit, out.data(), kLanes);
      for (int64_t i = 0; i < kLanes; ++i)
        CHECK(out[i] == (i < limit ? float(i + 1) : -1.0f));
    }
  }
}

TEST_CASE("lanes between two numbers are loaded and gathered", "[masks]") {
  const std::array<float, 8> memory{10, 11, 12, 13, 14, 15, 16, 17};
  for (const Machine &machine : machines()) {
    JitModule module = compileAll(machine);
    for (int64_t to = 0; to <= kLanes; ++to)
      for (int64_t from = 0; from <= kLanes; ++from) {
        const std::array<int64_t, 2> limits{to, from};
        Four loaded{}, gathered{};
        module.call("between", memory.data(), limits.data(), loaded.data(), kLanes);
        module.call("gather", memory.data(), limits.data(), gathered.data(), kLanes);
        for (int64_t i = 0; i < kLanes; ++i) {
          bool inside = i >= from && i < to;
          CHECK(loaded[i] == (inside ? memory[i] : -1.0f));
          CHECK(gathered[i] == (inside ? memory[2 * i] : 0.0f));
        }
      }
  }
}

TEST_CASE("elements of 16 bits below a limit are loaded and stored, none behind them is read",
          "[masks]") {
  using Halves = std::array<int16_t, kLanes>;
  LastPage page;
  for (const Machine &machine : machines()) {
    JitModule module({{"load", kBelowLimit + kLoadHalves, "i16", "i16", "i64"},
                      {"store", kBelowLimit + kStoreHalves, "i16", "i16", "i64"}},
                     machine, kLanes);
    for (int64_t limit : {-3, 0, 1, 2, 3, 4, 7}) {
      int64_t inside = std::clamp<int64_t>(limit, 0, kLanes);
      Halves loaded{}, data{-1, -1, -1, -1}, stored{};
      module.call("load", page.last<int16_t>(inside), &limit, loaded.data(), kLanes);
      module.call("store", data.data(), &limit, stored.data(), kLanes);
      for (int64_t i = 0; i < kLanes; ++i) {
        CHECK(loaded[i] == (i < inside ? 10 + i : -1));
        CHECK(stored[i] == (i < inside ? i + 1 : -1));
      }
    }
  }
}
