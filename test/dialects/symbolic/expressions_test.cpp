// Normal forms and their text, as a table: two spellings of one value are one pointer.
#include "dialects/symbolic/SymExpr.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace weft;

static SymExpr parse(mlir::MLIRContext &context, llvm::StringRef text) {
  std::string error;
  mlir::FailureOr<SymExpr> expr = parseSymExpr(&context, text, &error);
  INFO(text.str() << ": " << error);
  REQUIRE(mlir::succeeded(expr));
  return *expr;
}

TEST_CASE("equal values have one normal form") {
  mlir::MLIRContext context;
  // clang-format off
  const std::pair<const char *, const char *> equalities[] = {
      {"4*n + 1", "1 + 2*n + n + n"},
      {"(n + m)*(n - m)", "n*n - m*m"},
  };
  // clang-format on
  for (auto [a, b] : equalities) {
    INFO(a << " against " << b);
    CHECK(parse(context, a).str() == parse(context, b).str());
    CHECK(parse(context, a) == parse(context, b));
  }
}
