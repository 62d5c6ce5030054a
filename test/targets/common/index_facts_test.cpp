// What is known of an index without running: what divides it, and that all lanes of a vector agree on a guard.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/IndexFacts.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {

constexpr int64_t kLanes = 8;

/// A loop over the first elements of chunks, in whose body indices are.
struct Loop {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ImplicitLocOpBuilder b;
  Value first;

  Loop(int64_t begin, int64_t step) : b(UnknownLoc::get(&context), &context) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                        vector::VectorDialect>();
    module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToStart(module->getBody());
    auto function = b.create<func::FuncOp>("f", b.getFunctionType({b.getI64Type()}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    auto loop = b.create<scf::ForOp>(number(begin), function.getArgument(0), number(step));
    b.setInsertionPointToStart(loop.getBody());
    first = loop.getInductionVar();
  }
  Value number(int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }
  Value splat(Value value) {
    return b.create<vector::SplatOp>(value, VectorType::get({kLanes}, b.getI64Type()));
  }
  Value neighbours(Value from) {
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      steps.push_back(lane);
    Value lanes = b.create<arith::ConstantOp>(b.getI64VectorAttr(steps));
    return b.create<arith::AddIOp>(splat(from), lanes);
  }
  /// Whether neighbours from `from` on are below a limit, as one condition, or null.
  Value below(Value from, int64_t limit) {
    Value condition =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, neighbours(from), splat(number(limit)));
    return sameInAllLanes(b, condition, /*ofRuns=*/true);
  }
};

} // namespace

TEST_CASE("what divides a loop's begin and step divides its index") {
  CHECK(divisorOf(Loop(0, 8).first) == 8);
  CHECK(divisorOf(Loop(16, 24).first) == 8);
  CHECK(divisorOf(Loop(4, 8).first) == 4);
  CHECK(divisorOf(Loop(1, 8).first) == 1);
  Loop loop(0, 8);
  CHECK(divisorOf(loop.b.create<arith::SubIOp>(loop.first, loop.number(64))) == 8);
  CHECK(divisorOf(loop.b.create<arith::SubIOp>(loop.first, loop.number(12))) == 4);
}

TEST_CASE(
    "all lanes of a chunk are on one side of a limit where chunks end at it, and only there") {
  Loop loop(0, kLanes);
  CHECK(loop.below(loop.first, 64));
  CHECK(!loop.below(loop.first, 60));
  CHECK(loop.below(loop.b.create<arith::SubIOp>(loop.first, loop.number(64)), 64));
  CHECK(!loop.below(loop.b.create<arith::SubIOp>(loop.first, loop.number(3)), 64));
  Loop apart(0, 4);
  CHECK(!apart.below(apart.first, 64));
}
