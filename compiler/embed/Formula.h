//===- Formula.h - Sizes as C -----------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_FORMULA_H
#define WEFT_COMPILER_EMBED_FORMULA_H

#include "dialects/symbolic/SymExpr.h"

namespace weft {

/// An expression of int64_t with a name for every symbol. It calls the functions of
/// kFormulaFunctions.
std::string cFormula(SymExpr expr, llvm::function_ref<llvm::StringRef(mlir::StringAttr)> nameOf);
/// The largest of several; "0" for none.
std::string cLargest(llvm::ArrayRef<SymExpr> exprs,
                     llvm::function_ref<llvm::StringRef(mlir::StringAttr)> nameOf);

/// C99. A divisor that could be 0 is one of sizes that a call refuses.
constexpr llvm::StringLiteral kFormulaFunctions =
    "static inline int64_t weft_embedded_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "static inline int64_t weft_embedded_broadcast(int64_t a, int64_t b) { return a == 1 ? b : a; "
    "}\n"
    "static inline int64_t weft_embedded_quotient(int64_t a, int64_t b) {\n"
    "  int64_t by = b > 1 ? b : 1;\n"
    "  return a / by - (a % by < 0);\n"
    "}\n"
    "static inline int64_t weft_embedded_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }\n";

} // namespace weft

#endif
