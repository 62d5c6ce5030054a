// Emitted arith operations, run by a small interpreter, against evaluation.
#include "Helpers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace weft;
using namespace weft::test;
namespace arith = mlir::arith;

using Numbers = llvm::DenseMap<mlir::Value, int64_t>;

static int64_t run(mlir::Operation &op, const Numbers &numbers) {
  if (auto constant = llvm::dyn_cast<arith::ConstantIntOp>(op))
    return constant.value();
  auto in = [&](unsigned i) { return numbers.lookup(op.getOperand(i)); };
  uint64_t a = in(0), b = op.getNumOperands() > 1 ? in(1) : 0;
  return llvm::TypeSwitch<mlir::Operation *, int64_t>(&op)
      .Case([&](arith::AddIOp) { return int64_t(a + b); })
      .Case([&](arith::SubIOp) { return int64_t(a - b); })
      .Case([&](arith::MulIOp) { return int64_t(a * b); })
      .Case([&](arith::DivUIOp) { return int64_t(a / b); })
      .Case([&](arith::RemUIOp) { return int64_t(a % b); })
      .Case([&](arith::FloorDivSIOp) {
        return in(0) / in(1) - ((in(0) % in(1) != 0) && ((in(0) < 0) != (in(1) < 0)) ? 1 : 0);
      })
      .Case([&](arith::MinSIOp) { return std::min(in(0), in(1)); })
      .Case([&](arith::MaxSIOp) { return std::max(in(0), in(1)); })
      .Case([&](arith::CmpIOp) { return int64_t(a == b); })
      .Case([&](arith::SelectOp) { return a != 0 ? in(1) : in(2); });
}

namespace {
/// A block with one i64 argument per symbol.
struct Emission {
  explicit Emission(mlir::MLIRContext &context) : builder(&context), loc(builder.getUnknownLoc()) {
    for (unsigned i = 0; i < kSymbols; ++i)
      block.addArgument(builder.getI64Type(), loc);
    builder.setInsertionPointToEnd(&block);
  }
  mlir::Value emit(SymExpr expr) {
    return emitSymExpr(builder, loc, expr, [&](mlir::StringAttr name) -> mlir::Value {
      for (unsigned i = 0; i < kSymbols; ++i)
        if (name == symbolName(i))
          return block.getArgument(i);
      return {};
    });
  }
  std::string names() {
    std::string text;
    for (mlir::Operation &op : block)
      text += op.getName().stripDialect().str() + " ";
    return text;
  }

  mlir::Block block;
  mlir::OpBuilder builder;
  mlir::Location loc;
};
} // namespace

TEST_CASE("emitted arithmetic computes what evaluate computes") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect>();
  Random random(17);
  unsigned compared = 0;
  for (unsigned round = 0; round < 5000; ++round) {
    SymExpr expr = randomTree(random, 1 + round % 4).build(context);
    if (expr.isOverflow())
      continue;
    Emission emission(context);
    mlir::Value result = emission.emit(expr);
    for (unsigned i = 0; i < 3; ++i) {
      llvm::SmallVector<int64_t> values;
      for (unsigned k = 0; k < kSymbols; ++k)
        values.push_back(pick(random, {0, 1, 2, 3, 5, 8, 31, 100}));
      mlir::FailureOr<int64_t> expected = expr.evaluate(valuesOf(context, values));
      if (mlir::failed(expected))
        continue;
      ++compared;
      Numbers numbers;
      for (auto [argument, value] : llvm::zip(emission.block.getArguments(), values))
        numbers[argument] = value;
      for (mlir::Operation &op : emission.block)
        numbers[op.getResult(0)] = run(op, numbers);
      INFO(expr.str() << "\n" << emission.names());
      REQUIRE(numbers.lookup(result) == *expected);
    }
  }
  CHECK(compared > 8000);
}

TEST_CASE("emission recognises mod, min and max, shares, and uses unsigned forms") {
  mlir::MLIRContext context;
  context.loadDialect<arith::ArithDialect>();
  const std::pair<const char *, const char *> table[] = {
      {"n", ""},
      {"4*n + 1", "constant muli constant addi "},
      {"n - m", "subi "},
      {"mod(n, 4)", "constant remui "},
      {"floordiv(n, 4)", "constant divui "},
      {"ceildiv(n, 4)", "constant addi constant divui "},
      {"floordiv(m - n, 4)", "subi constant floordivsi "},
      {"min(n, m)", "minsi "},
      {"max(n, m)", "maxsi "},
      {"pos(n - m)", "maxsi subi "},
      {"bcast(n, m)", "constant cmpi select "},
      {"n*m*p + n*m*s", "muli muli muli addi "},
      {"n*floordiv(m, 4) + p*floordiv(m, 4)", "constant divui muli muli addi "},
  };
  for (auto [text, operations] : table) {
    INFO(text);
    Emission emission(context);
    REQUIRE(emission.emit(parse(context, text)));
    CHECK(emission.names() == operations);
  }
}

TEST_CASE("the poison value is not emitted") {
  mlir::MLIRContext context;
  context.loadDialect<arith::ArithDialect>();
  unsigned diagnostics = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) { ++diagnostics; });
  Emission emission(context);
  CHECK(!emission.emit(parse(context, "overflow()")));
  CHECK(diagnostics == 1);
}
