//===- SymDialect.h - The dialect that owns #sym.expr ------------------------------------------===//
//
// `#sym.expr<4*n + 1>` is the attribute behind a SymExpr. The dialect is loaded by the first SymExpr made in a context; passes that
// run in several threads need it loaded before, so dialects whose types hold expressions name it as dependent:
//
//   context.loadDialect<SymDialect>();
//   SymExpr size = llvm::cast<SymExprAttr>(attribute).getExpr();
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMDIALECT_H
#define WEFT_DIALECTS_SYMBOLIC_SYMDIALECT_H

#include "dialects/symbolic/SymExpr.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include <array>
#include <memory>
#include <mutex>

namespace weft {
namespace symbolic {
struct SymExprStorage;
}

/// Holds no operations and no types, only the attribute.
class SymDialect : public mlir::Dialect {
public:
  explicit SymDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "sym"; }
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
  void printAttribute(mlir::Attribute attribute, mlir::DialectAsmPrinter &printer) const override;

  /// The empty set of facts of this context; SymFacts keeps its memo here so that it lives as long as the expressions.
  std::shared_ptr<const void> getFactsRoot(llvm::function_ref<std::shared_ptr<const void>()> make);

  /// Of the numbers that every computation begins with; null for others.
  SymExpr smallConstant(int64_t value) const {
    return value >= 0 && value < int64_t(small.size()) ? small[value] : SymExpr();
  }

private:
  std::array<SymExpr, 5> small;
  std::once_flag factsOnce;
  std::shared_ptr<const void> factsRoot;
};

/// The uniqued node of an expression; use SymExpr for everything but casting and replacing attributes.
class SymExprAttr
    : public mlir::Attribute::AttrBase<SymExprAttr, mlir::Attribute, symbolic::SymExprStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "sym.expr";
  SymExpr getExpr() const { return SymExpr(*this); }
};

} // namespace weft

namespace mlir {
/// Lets ODS types and attributes have SymExpr parameters.
template <> struct FieldParser<weft::SymExpr> {
  static FailureOr<weft::SymExpr> parse(AsmParser &parser) { return weft::parseSymExpr(parser); }
};
} // namespace mlir

MLIR_DECLARE_EXPLICIT_TYPE_ID(weft::SymDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(weft::SymExprAttr)

#endif // WEFT_DIALECTS_SYMBOLIC_SYMDIALECT_H
