//===- WeftDialect.td - The graph level: pure functions on tensors with symbolic dimensions -----===//
#ifndef WEFT_DIALECT_TD
#define WEFT_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft";
  let summary = "Pure functions on tensors whose dimensions are expressions over symbols";
  let description = [{
    Values have the type `!weft.tensor<[b, 4*s + 1, 768], f32>`. The function attribute `weft.symbols` declares the symbols and
    the facts that callers promise: `#weft.symbols<b, s : "1 <= s", "s <= 512">`.
  }];
  let dependentDialects = ["::weft::SymDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();

    /// Rules that were bound, for whoever binds the same text to the same types again.
    RuleMemo &ruleMemo() { return rules; }

  private:
    RuleMemo rules;

  public:
  }];
}

// Elements that MLIR has no types for. Attributes hold their numbers as f32 (numberType).
def Weft_Float4E2M1FNType : TypeDef<Weft_Dialect, "Float4E2M1FN"> {
  let mnemonic = "f4E2M1FN";
  let summary = "a float of 4 bits: 2 of exponent, 1 of mantissa, neither infinity nor nan";
}
def Weft_Float8E8M0FNUType : TypeDef<Weft_Dialect, "Float8E8M0FNU"> {
  let mnemonic = "f8E8M0FNU";
  let summary = "a power of two from 2^-127 to 2^127, or nan";
}

def Weft_SymTensorType : TypeDef<Weft_Dialect, "SymTensor"> {
  let mnemonic = "tensor";
  let summary = "A tensor whose dimensions are symbolic expressions";
  let description = [{
    `!weft.tensor<[b, s, 768], f32>`. Expressions are normalised, so equal shapes are the same pointer. Element types: f64, f32,
    f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, `!weft.f8E8M0FNU`, `!weft.f4E2M1FN`, signed integers `i1` (bool), `i2`,
    `i4`, `i8`, `i16`, `i32`, `i64` and unsigned `ui2`, `ui4`, `ui8`, `ui16`, `ui32`, `ui64`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$dimAttributes, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<::weft::SymExpr>":$dims, "::mlir::Type":$elementType)>
  ];
  let extraClassDeclaration = [{
    unsigned getRank() const { return getDimAttributes().size(); }
    ::weft::SymExpr getDim(unsigned i) const { return ::weft::SymExpr(getDimAttributes()[i]); }
    ::llvm::SmallVector<::weft::SymExpr> getDims() const;
    SymTensorType withElement(::mlir::Type elementType) const { return get(elementType.getContext(), getDimAttributes(), elementType); }
    /// The product of all dimensions.
    ::weft::SymExpr getElements() const;
    /// Dimensions as constants; nothing when one is symbolic.
    std::optional<::llvm::SmallVector<int64_t>> getConstantDims() const;
  }];
}

def Weft_Tensor : DialectType<Weft_Dialect, CPred<"::llvm::isa<::weft::SymTensorType>($_self)">, "tensor with symbolic dimensions", "::weft::SymTensorType">;

def Weft_DimsAttr : AttrDef<Weft_Dialect, "Dims"> {
  let mnemonic = "dims";
  let summary = "A list of symbolic expressions";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Attribute">:$dimAttributes);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::weft::SymExpr>":$dims)>];
  let extraClassDeclaration = [{
    unsigned size() const { return getDimAttributes().size(); }
    ::weft::SymExpr operator[](unsigned i) const { return ::weft::SymExpr(getDimAttributes()[i]); }
    ::llvm::SmallVector<::weft::SymExpr> getDims() const;
  }];
}

def Weft_SymbolsAttr : AttrDef<Weft_Dialect, "Symbols"> {
  let mnemonic = "symbols";
  let summary = "The symbols of a function and the facts its callers promise";
  let description = [{
    `#weft.symbols<b, s, p : "1 <= b", "p + s <= 2048", "mod(p, 16) == 0">`. A fact may be an `or` of relations.
    Symbols after `bound` get their values while the function runs, from the operation that binds them:
    `#weft.symbols<b, s bound u0 : "u0 <= b*s">`. Facts about those are checked where they are bound.
  }];
  // A fact is an array [kind, lhs, rhs, kind, lhs, rhs, ...], so that attribute replacement reaches the expressions.
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$names, OptionalArrayRefParameter<"::mlir::ArrayAttr">:$factAttributes,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$boundNames);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$names, "::llvm::ArrayRef<::weft::SymPred>":$facts,
                                   CArg<"::llvm::ArrayRef<::mlir::StringAttr>", "{}">:$boundNames)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::weft::SymPred> getFacts() const;
    /// Those that hold everywhere: about symbols of the signature.
    ::weft::SymFacts asFacts() const;
    /// Whether the fact speaks of a symbol that is bound inside the function.
    bool isInner(const ::weft::SymPred &fact) const;
    /// The expression of the first fact `symbol <= expression` about a bound symbol and such that have values before it; null without one.
    ::weft::SymExpr getLimit(::mlir::StringAttr symbol) const;
    /// An expression over symbols of the signature, and `known` bound ones, that is never smaller; null when nothing limits a symbol.
    ::weft::SymExpr getUpperBound(::weft::SymExpr expr, ::llvm::ArrayRef<::mlir::StringAttr> known = {}) const;
  }];
}

#endif
