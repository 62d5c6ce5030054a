// Text through MLIR's own parser, predicates, and hostile input.
#include "Helpers.h"
#include "dialects/symbolic/SymDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::test;

static std::string print(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attribute.print(os);
  return text;
}

TEST_CASE("#sym.expr in MLIR text is the same pointer after a round trip") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<SymDialect>();
  CHECK(print(parse(context, "1 + 4*n").asAttribute()) == "#sym.expr<4*n + 1>");
  for (const char *text : {"n - m", "-n", "-n - 1", "n - 2*m", "-9223372036854775808", "n + -1*m",
                           "-(n - m)*2 - floordiv(-n, 3)", "\"a, b\" - \"or\"", "f32 + i1 - loc",
                           "overflow()", "min(n, m) - max(n, -m)", "n - // why\n 3"}) {
    INFO(text);
    mlir::Attribute attribute =
        mlir::parseAttribute(("#sym.expr<" + std::string(text) + ">"), &context);
    REQUIRE(attribute);
    if (!strstr(text, "//"))
      CHECK(SymExpr(attribute) == parse(context, text));
    CHECK(mlir::parseAttribute(print(attribute), &context) == attribute);
  }
  Random random(3);
  for (unsigned round = 0; round < 5000; ++round) {
    mlir::Attribute attribute = randomTree(random, 3).build(context).asAttribute();
    mlir::Attribute again = mlir::parseAttribute(print(attribute), &context);
    if (again != attribute) {
      INFO(print(attribute));
      REQUIRE(again == attribute);
    }
  }
}

TEST_CASE("MLIR text that is wrong is refused with a diagnostic") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<SymDialect>();
  for (const char *text :
       {"", "n -", "n - -", "n m", "floordiv(n)", "floordiv(n, 0)", "what(n)", "(n", "n +", "2.5",
        "99999999999999999999", "9223372036854775807*2*n", "n -> m", "-> m", "%x", "@f", "n - ("}) {
    INFO(text);
    std::string message;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) { message += diagnostic.str(); });
    CHECK(!mlir::parseAttribute("#sym.expr<" + std::string(text) + ">", &context));
    CHECK(!message.empty());
  }
}

TEST_CASE("a minus before a symbol leaves no diagnostic behind") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<SymDialect>();
  unsigned diagnostics = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) { ++diagnostics; });
  CHECK(mlir::parseAttribute("#sym.expr<n - m - (p - s)>", &context));
  CHECK(diagnostics == 0);
}

TEST_CASE("a replacer of attributes sees expressions inside others") {
  mlir::MLIRContext context;
  SymMap map;
  map[mlir::StringAttr::get(&context, "n")] = parse(context, "3*m");
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymExprAttr attribute) { return attribute.getExpr().substitute(map).asAttribute(); });
  mlir::Attribute array = mlir::ArrayAttr::get(
      &context, {parse(context, "2*n - 1").asAttribute(), parse(context, "m").asAttribute()});
  CHECK(print(replacer.replace(array)) == "[#sym.expr<6*m - 1>, #sym.expr<m>]");
}

TEST_CASE("predicates in text") {
  mlir::MLIRContext context;
  const std::pair<const char *, const char *> table[] = {
      {"1 <= s", "1 <= s"},
      {"s >= 1", "1 <= s"},
      {"s < 5", "s + 1 <= 5"},
      {"s > p", "p + 1 <= s"},
      {"mod(p, 16) == 0", "mod(p, 16) == 0"},
      {"ps == s + p or ps == 1", "ps == p + s or ps == 1"},
      {"n == 1 or n == 1", "n == 1"},
  };
  for (auto [text, printed] : table) {
    SymPred pred = parsePred(context, text);
    CHECK(pred.str() == printed);
    CHECK(parsePred(context, printed) == pred);
  }
  SymPred pred = parsePred(context, "ps == s + p or ps == 1");
  CHECK(pred.symbols().size() == 3);
  SymValues values;
  values[mlir::StringAttr::get(&context, "ps")] = 5;
  values[mlir::StringAttr::get(&context, "p")] = 2;
  CHECK(mlir::failed(pred.evaluate(values)));
  values[mlir::StringAttr::get(&context, "s")] = 3;
  CHECK(*pred.evaluate(values));
  values[mlir::StringAttr::get(&context, "s")] = 4;
  CHECK(!*pred.evaluate(values));
  SymMap map;
  map[mlir::StringAttr::get(&context, "ps")] = SymExpr::constant(&context, 1);
  CHECK(pred.substitute(map).str() == "1 == p + s or 1 == 1");
  for (const char *text :
       {"n", "n = 1", "n == ", "n == 1 or", "n <= 1 <= 2", "or", "== 1", "n ! 1"}) {
    INFO(text);
    CHECK(!errorOf(parseSymPred(&context, text)).empty());
  }
}

TEST_CASE("errors name the place") {
  mlir::MLIRContext context;
  const std::pair<const char *, const char *> table[] = {
      {"n +", "expected a number, a symbol, a function or '(' at character 4"},
      {"floordiv(n, 0)", "the divisor of 'floordiv' is 0; it must be at least 1 at character 15"},
      {"foo(n)", "unknown function 'foo' at character 5"},
      {"n ?", "unexpected text after the end at character 3"},
      {"99999999999999999999", "the number does not fit in 64 bits at character 1"},
  };
  for (auto [text, message] : table)
    CHECK(errorOf(parseSymExpr(&context, text)) == message);
}

TEST_CASE("hostile text is refused quickly") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto repeat = [](const std::string &unit, unsigned times) {
    std::string text;
    for (unsigned i = 0; i < times; ++i)
      text += unit;
    return text;
  };
  std::string manySymbols, manyFactors;
  for (unsigned i = 0; i < 30000; ++i) {
    manySymbols += (i == 0 ? "" : "+") + std::string("x") + std::to_string(i);
    manyFactors += (i == 0 ? "" : "*") + std::string("x") + std::to_string(i);
  }
  const std::string texts[] = {
      repeat("(", 100000),
      repeat("pos(", 65) + "n" + repeat(")", 65),
      repeat("max(n,", 70),
      repeat("-", 1000),
      repeat("9", 100000),
      repeat("(n+m+1)*", 200) + "1",
      repeat("n*", 100000) + "n",
      manySymbols,
      manyFactors,
      std::string("n\0+ m", 6),
      "\xff\xfe",
      "\"never ends",
      "\"\\q\"",
      repeat(" ", 2000000) + "n",
  };
  for (const std::string &text : texts) {
    INFO(text.substr(0, 40));
    CHECK(!errorOf(parseSymExpr(&context, text)).empty());
  }
  // Nested functions that all fold, or that share their insides, end at once too.
  (void)errorOf(parseSymExpr(&context, repeat("mod(", 40) + "n" + repeat("*m,7)", 40)));
  (void)errorOf(parseSymExpr(&context, repeat("mod(", 40) + "n" + repeat("*m+3,m+2)", 40)));
  CHECK(errorOf(parseSymExpr(&context, repeat("(", 64) + "n" + repeat(")", 64))).empty());
}

TEST_CASE("random bytes and broken expressions never crash the parser") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Random random(5);
  const char alphabet[] = "nm0149+-*(),  \"\\<=>pos min max floordiv or";
  unsigned accepted = 0;
  for (unsigned round = 0; round < 30000; ++round) {
    std::string text;
    if (round % 2 == 0) {
      for (unsigned i = random() % 20; i > 0; --i)
        text.push_back(alphabet[random() % (sizeof(alphabet) - 1)]);
    } else {
      text = randomTree(random, 3).build(context).str();
      if (!text.empty())
        text[random() % text.size()] = char(random());
    }
    llvm::Expected<SymExpr> expr = parseSymExpr(&context, text);
    accepted += bool(expr);
    REQUIRE((expr || !errorOf(std::move(expr)).empty()));
  }
  CHECK(accepted > 1000);
}
