//===- Helpers.h - What the tests of the symbolic engine share ----------------------------------===//
//
// Parsing that fails the test, and a tree that is evaluated without any normalisation:
//
//   Tree tree = randomTree(random, 4);      // tree.build(context) against tree.evaluate(values)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIALECTS_SYMBOLIC_HELPERS_H
#define WEFT_TEST_DIALECTS_SYMBOLIC_HELPERS_H

#include "dialects/symbolic/SymFacts.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace weft::test {

/// What the parser says; "" when it read the text.
template <typename T> std::string errorOf(llvm::Expected<T> parsed) {
  return llvm::toString(parsed.takeError());
}

template <typename T> T requireParsed(llvm::StringRef text, llvm::Expected<T> parsed) {
  if (!parsed)
    FAIL(text.str() << ": " << llvm::toString(parsed.takeError()));
  return *parsed;
}

inline SymExpr parse(mlir::MLIRContext &context, llvm::StringRef text) {
  return requireParsed(text, parseSymExpr(&context, text));
}

inline SymPred parsePred(mlir::MLIRContext &context, llvm::StringRef text) {
  return requireParsed(text, parseSymPred(&context, text));
}

using Random = std::mt19937_64;
inline int64_t pick(Random &random, llvm::ArrayRef<int64_t> values) {
  return values[random() % values.size()];
}

/// An expression as it was written. Operators: c(onstant) s(ymbol) + - * / % ^ (ceildiv) m(in) M(ax) p(os) b(cast).
struct Tree {
  char op = 'c';
  int64_t value = 0; ///< the constant, or the index of the symbol
  std::vector<Tree> operands;

  SymExpr build(mlir::MLIRContext &context) const;
  /// Nothing where the expression is undefined or leaves 64 bits.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> symbols) const;
};

inline const char *symbolName(int64_t index) {
  static const char *const names[] = {"n", "m", "p", "s"};
  return names[index];
}
constexpr unsigned kSymbols = 4;

inline SymValues valuesOf(mlir::MLIRContext &context, llvm::ArrayRef<int64_t> symbols) {
  SymValues values;
  for (auto [i, value] : llvm::enumerate(symbols))
    values[mlir::StringAttr::get(&context, symbolName(i))] = value;
  return values;
}

inline SymExpr Tree::build(mlir::MLIRContext &context) const {
  if (op == 'c')
    return SymExpr::constant(&context, value);
  if (op == 's')
    return SymExpr::symbol(&context, symbolName(value));
  SymExpr a = operands[0].build(context);
  if (op == 'p')
    return SymExpr::pos(a);
  SymExpr b = operands[1].build(context);
  switch (op) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return SymExpr::floordiv(a, b);
  case '%':
    return SymExpr::mod(a, b);
  case '^':
    return SymExpr::ceildiv(a, b);
  case 'm':
    return SymExpr::min(a, b);
  case 'M':
    return SymExpr::max(a, b);
  default:
    return SymExpr::bcast(a, b);
  }
}

inline std::optional<int64_t> Tree::evaluate(llvm::ArrayRef<int64_t> symbols) const {
  if (op == 'c')
    return value;
  if (op == 's')
    return symbols[value];
  std::optional<int64_t> a = operands[0].evaluate(symbols), b = 0;
  if (op != 'p')
    b = operands[1].evaluate(symbols);
  if (!a || !b)
    return std::nullopt;
  auto floordiv = [](int64_t x, int64_t y) { return x / y - (x % y < 0 ? 1 : 0); };
  int64_t result;
  switch (op) {
  case '+':
    return __builtin_add_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
  case '-':
    return __builtin_sub_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
  case '*':
    return __builtin_mul_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
  case '/':
    return *b <= 0 ? std::nullopt : std::optional(floordiv(*a, *b));
  case '%':
    return *b <= 0 ? std::nullopt : std::optional(*a - *b * floordiv(*a, *b));
  case '^':
    return *b <= 0 ? std::nullopt : std::optional(floordiv(*a, *b) + (*a % *b != 0));
  case 'm':
    return std::min(*a, *b);
  case 'M':
    return std::max(*a, *b);
  case 'p':
    return std::max<int64_t>(*a, 0);
  default: // bcast is defined where its check holds
    return *a == 1 ? b : *a == *b || *b == 1 ? a : std::nullopt;
  }
}

inline Tree randomTree(Random &random, unsigned depth) {
  Tree tree;
  if (depth == 0 || random() % 6 == 0) {
    bool symbol = random() % 10 < 7;
    tree.op = symbol ? 's' : 'c';
    tree.value = symbol
                     ? int64_t(random() % kSymbols)
                     : pick(random, {-768, -7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 12, 64, 1000003});
    return tree;
  }
  tree.op = "+-*/%^mMpb+-*/%+"[random() % 16];
  tree.operands.push_back(randomTree(random, depth - 1));
  if (tree.op == 'p')
    return tree;
  bool divides = tree.op == '/' || tree.op == '%' || tree.op == '^';
  if (divides && random() % 10 < 7) {
    Tree divisor;
    divisor.value = pick(random, {1, 2, 3, 4, 6, 7, 8, 16, 31, 1000003});
    tree.operands.push_back(divisor);
  } else {
    tree.operands.push_back(randomTree(random, divides ? std::min(depth - 1, 1u) : depth - 1));
  }
  return tree;
}

} // namespace weft::test

#endif // WEFT_TEST_DIALECTS_SYMBOLIC_HELPERS_H
