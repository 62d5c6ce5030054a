//===- GraphBuilder.h - Operations of the graph level with ONNX's broadcasting ----------------===//
//
// What converters write their operators with. A value that cannot be built is null, and so is
// everything built from it; the first reason is kept. A converter therefore reads as a formula:
//
//   Value centered = g.sub(x, mean);
//   Value y = g.mul(centered, g.rsqrt(g.add(variance, g.number(element, epsilon))));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_GRAPHBUILDER_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_GRAPHBUILDER_H

#include "compiler/import/onnx/graph/Contract.h"
#include "compiler/import/onnx/graph/KnownValues.h"
#include "mlir/IR/Diagnostics.h"

namespace weft::onnx {

using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Dims = llvm::SmallVector<SymExpr>;

/// Why a node was not imported.
struct Refusal {
  enum Kind {
    Unsupported, ///< a limit of this compiler
    Wrong,       ///< the model breaks ONNX's rules
    OverLimit,   ///< more than weft::Limits allow
  } kind = Unsupported;
  std::string text, hint;
};

/// A size that was computed, from an element of a tensor or as a copy, and the block in which the
/// program binds it.
struct BoundSize {
  std::string meaning;
  mlir::Block *block;
  SymExpr symbol;
};

/// What all builders of one import share.
struct BuildState {
  BuildState(mlir::MLIRContext *context, Contract &contract)
      : builder(mlir::UnknownLoc::get(context), context), contract(contract) {}

  mlir::ImplicitLocOpBuilder builder; ///< at the end of main
  Contract &contract;
  KnownValues values;
  llvm::DenseMap<mlir::Value, std::vector<BoundSize>> boundSizes; ///< by the tensor
  std::vector<BoundSize> branchCopies; ///< of symbols, in branches that need facts about them
};

/// The first that MLIR reports about a context while this lives. Nothing is printed.
class FirstReport {
public:
  explicit FirstReport(mlir::MLIRContext *context);
  const std::string &text() const { return kept; }

private:
  std::string kept;
  mlir::ScopedDiagnosticHandler handler;
};

inline SymTensorType typeOf(Value value) { return mlir::cast<SymTensorType>(value.getType()); }
/// Null, and 0, for a null value, so that a converter may go on behind a refusal.
inline Type elementOf(Value value) { return value ? typeOf(value).getElementType() : Type(); }
inline unsigned rankOf(Value value) { return value ? typeOf(value).getRank() : 0; }

class GraphBuilder {
public:
  /// `place` is the node in messages about the contract.
  GraphBuilder(BuildState &state, std::string place) : state(state), place(std::move(place)) {}

  //===-- Refusals ----------------------------------------------------------------------------===//

  /// Keeps the first reason; gives null so that `return refuse(...)` reads well.
  Value refuse(const llvm::Twine &text, const llvm::Twine &hint = "");
  Value wrong(const llvm::Twine &text, const llvm::Twine &hint = "");
  const std::optional<Refusal> &refusal() const { return reason; }
  bool refused() const { return reason.has_value(); }

  //===-- Expressions and types ---------------------------------------------------------------===//

  mlir::MLIRContext *context() const { return state.builder.getContext(); }
  SymExpr constant(int64_t value) { return SymExpr::constant(context(), value); }
  const SymFacts &facts() const { return state.contract.facts(); }
  SymExpr simplify(SymExpr expr) { return state.contract.simplify(expr); }
  SymExpr product(llvm::ArrayRef<SymExpr> dims);
  Type i64() { return state.builder.getI64Type(); }
  Type i32() { return state.builder.getI32Type(); }
  Type i1() { return state.builder.getI1Type(); }
  Type f32() { return state.builder.getF32Type(); }
  /// The tensor type; null and refused when it has too many dimensions or elements.
  SymTensorType type(llvm::ArrayRef<SymExpr> dims, Type element);
  /// Records that the model needs a == b; refuses when that cannot be.
  bool requireEqual(SymExpr a, SymExpr b, const llvm::Twine &what);
  /// The dimensions with one expression instead of `dim`.
  static Dims replaced(Value like, unsigned dim, SymExpr expr);
  /// Records that the model needs a <= b; refuses when that cannot be.
  bool requireAtMost(SymExpr a, SymExpr b, const llvm::Twine &what);
  /// Records that the model needs a != b; refuses when that cannot be.
  bool requireDifferent(SymExpr a, SymExpr b, const llvm::Twine &what);
  /// The smaller and the larger, written as one of the two where that is known.
  SymExpr smaller(SymExpr a, SymExpr b);
  SymExpr larger(SymExpr a, SymExpr b);

  //===-- Values from nothing -----------------------------------------------------------------===//

  Value fill(llvm::ArrayRef<SymExpr> dims, Type element, double value);
  Value fill(llvm::ArrayRef<SymExpr> dims, FillOp like); ///< the same number
  /// 0-d; of integer elements the value is truncated.
  Value number(Type element, double value) { return fill({}, element, value); }
  Value numberLike(Value like, double value) {
    return like ? number(elementOf(like), value) : Value();
  }
  /// An expression as a 0-d tensor.
  Value number(Type element, SymExpr expr);
  Value constantTensor(const RefTensor &tensor);
  Value dimsValue(llvm::ArrayRef<SymExpr> dims);
  Value iota(llvm::ArrayRef<SymExpr> dims, unsigned dim, Type element);

  //===-- Elementwise, with broadcasting, which is in Broadcasting.cpp ------------------------===//

  /// Computes before repetition and transposition of an operand, and moves the result instead.
  template <typename Op>
  Value elementwise(llvm::SmallVector<Value, 3> operands,
                    llvm::ArrayRef<mlir::NamedAttribute> attributes) {
    Dims dims;
    if (!broadcast(operands, dims))
      return {};
    TransposeOp moved = soleTranspose(operands);
    if (moved)
      for (Value &operand : operands)
        operand = operand == moved.getResult() ? moved.getInput() : operand;
    Value result = emit<Op>(operands, attributes);
    if (moved && result)
      result = transpose(result, moved.getOrder());
    return repeatTo(result, dims);
  }
  template <typename Op> Value unary(Value x) { return elementwise<Op>({x}, {}); }
  template <typename Op>
  Value binary(Value a, Value b, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return elementwise<Op>({a, b}, attributes);
  }
  Value neg(Value x) { return unary<NegOp>(x); }
  Value abs(Value x) { return unary<AbsOp>(x); }
  Value exp(Value x) { return unary<ExpOp>(x); }
  Value log(Value x) { return unary<LogOp>(x); }
  Value sqrt(Value x) { return unary<SqrtOp>(x); }
  Value rsqrt(Value x) { return unary<RsqrtOp>(x); }
  Value add(Value a, Value b) { return binary<AddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<SubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<MulOp>(a, b); }
  Value div(Value a, Value b) { return binary<DivOp>(a, b); }
  Value maximum(Value a, Value b) { return binary<MaximumOp>(a, b); }
  Value minimum(Value a, Value b) { return binary<MinimumOp>(a, b); }
  Value compare(CompareKind kind, Value a, Value b);
  Value select(Value condition, Value yes, Value no);
  Value convert(Value x, Type element);
  Value activation(ActivationKind kind, Value x, double alpha = 0, double beta = 0);

  /// Makes the operands' dimensions agree with those of the result up to literal 1s, as ONNX
  /// broadcasts. Where sizes are unknown it records what must hold. False when refused or when an
  /// operand is null.
  bool broadcast(llvm::MutableArrayRef<Value> operands, Dims &result);
  /// Repeated where it is 1, so that its dimensions are `dims`.
  Value expandTo(Value x, llvm::ArrayRef<SymExpr> dims);
  /// ONNX's Expand: `dims` may be 1, too, where `x` is not.
  Value expandWith(Value x, llvm::ArrayRef<SymExpr> dims);
  /// Broadcasts `next` into `result`, both aligned at the right. False when refused.
  bool mergeDims(Dims &result, llvm::ArrayRef<SymExpr> next);
  /// Writes the dimensions of `x` that are not literal 1s as in `result`, with which they were
  /// merged.
  Value applyDims(Value x, llvm::ArrayRef<SymExpr> result);

  //===-- Moves -------------------------------------------------------------------------------===//

  Value reshape(Value x, llvm::ArrayRef<SymExpr> dims);
  /// With a dimension of 1 at each of the ascending positions of the result.
  Value unsqueeze(Value x, llvm::ArrayRef<int64_t> positions);
  Value transpose(Value x, llvm::ArrayRef<int64_t> order);
  /// Moves one dimension to another place.
  Value moveDim(Value x, unsigned from, unsigned to);
  Value slice(Value x, llvm::ArrayRef<SymExpr> starts, llvm::ArrayRef<SymExpr> sizes,
              llvm::ArrayRef<int64_t> steps);
  /// `size` elements of one dimension.
  Value sliceDim(Value x, unsigned dim, SymExpr start, SymExpr size);
  Value pad(Value x, Value value, llvm::ArrayRef<SymExpr> low, llvm::ArrayRef<SymExpr> high);
  Value concat(llvm::ArrayRef<Value> parts, unsigned dim);
  Value gather(Value x, Value indices, unsigned axis, Outside outside = Outside::Refused);
  /// Of a gather or scatter whose positions are inside by what computes them, or may be outside: nothing is checked.
  mlir::NamedAttribute clamped();
  /// A call whose data hold another position than one below `size` is refused.
  void requireInside(Value positions, SymExpr size);
  /// The same elements; dimension `dim`, which is equal to `to` when the program runs, is written so.
  Value refine(Value x, unsigned dim, SymExpr to);

  //===-- Sums --------------------------------------------------------------------------------===//

  Value contract(llvm::StringRef rule, Value lhs, Value rhs, Type accumulate);
  Value reduce(CombinerKind kind, Value x, llvm::ArrayRef<int64_t> axes, bool keepDims);
  Value softmax(Value x, bool logarithm = false); ///< along the last dimension
  Value normalize(Value x, Value scale, Value shift, double epsilon, bool center);

  //===-- Control, in Regions.cpp -------------------------------------------------------------===//

  /// What one run of a loop's region gives: the next carried values, then the elements of stacked
  /// results. `goOn` is null when only the number of trips ends the loop.
  struct LoopBody {
    Value goOn;
    llvm::SmallVector<Value> yielded;
  };
  using LoopFiller = llvm::function_ref<bool(SymExpr index, ValueRange carried, LoopBody &body)>;
  /// The last carried values, then the stacked results; empty when refused. `begin` may be null.
  llvm::SmallVector<Value> loop(SymExpr trips, Value begin, llvm::ArrayRef<Value> inits,
                                LoopFiller fill);
  using BranchFiller = llvm::function_ref<bool(bool yes, llvm::SmallVectorImpl<Value> &yielded)>;
  llvm::SmallVector<Value> branch(Value condition, BranchFiller fill);
  /// One integer of a tensor as a symbol of at most `limit`, which may be null.
  SymExpr bindSymbol(Value value, llvm::StringRef wish, SymExpr limit);

  //===-- Any operation -----------------------------------------------------------------------===//

  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return state.builder.getNamedAttr(name, value);
  }
  mlir::OpBuilder &attributes() { return state.builder; }
  DimsAttr dimsAttr(llvm::ArrayRef<SymExpr> dims) { return DimsAttr::get(context(), dims); }

  /// The first result of an operation whose result types are inferred. Null when an operand is.
  template <typename Op>
  Value emit(ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    llvm::SmallVector<Value, 2> results = emitAll<Op>(operands, attributes);
    return results.empty() ? Value() : results[0];
  }
  /// All its results; none when an operand is null.
  template <typename Op>
  llvm::SmallVector<Value, 2> emitAll(ValueRange operands,
                                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// An operation whose result type is given.
  template <typename Op>
  Value emitTyped(SymTensorType type, ValueRange operands,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes);

  /// What is known about a value; null when nothing is.
  const RefTensor *known(Value value) const { return value ? state.values.find(value) : nullptr; }

protected:
  llvm::SmallVector<Value, 2> create(llvm::StringRef name, ValueRange operands,
                                     llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                     mlir::TypeRange types);
  bool checkType(SymTensorType type);
  bool require(const SymPred &pred);
  SymExpr copyInBranch(mlir::StringAttr symbol);
  /// The size of two dimensions that are broadcast together; nothing when they cannot be.
  std::optional<SymExpr> mergeDim(SymExpr a, SymExpr b);
  /// Records what makes `dim` the size `want` or 1; false when it can be neither.
  bool fitDim(SymExpr dim, SymExpr want);
  /// Records that two sizes are equal or one of them is 1; false when that cannot be.
  bool requireCompatible(SymExpr a, SymExpr b);
  /// Records that two sizes are equal or one of `ways` holds; false when that cannot be.
  bool requireEqualOr(SymExpr a, SymExpr b, llvm::ArrayRef<SymPred> ways);
  /// Whether `dim` can be 1 where `other` is not.
  bool canRepeat(SymExpr dim, SymExpr other);
  Value withoutRepeats(Value x);
  TransposeOp soleTranspose(llvm::ArrayRef<Value> operands);
  Value reshapeOfTranspose(Value x, llvm::ArrayRef<SymExpr> dims);
  Value repeatTo(Value x, const Dims &dims);

  BuildState &state;
  std::string place;

private:
  std::optional<Refusal> reason;
};

//===-- Inline --------------------------------------------------------------------------------===//

template <typename Op>
llvm::SmallVector<Value, 2> GraphBuilder::emitAll(ValueRange operands,
                                                  llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  if (refused() || !llvm::all_of(operands, [](Value v) { return bool(v); }))
    return {};
  using Properties = typename Op::template InferredProperties<Op>;
  mlir::DictionaryAttr dictionary = state.builder.getDictionaryAttr(attributes);
  llvm::SmallVector<Type, 1> types;
  FirstReport report(context());
  Properties properties{};
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>)
    if (mlir::failed(Op::setPropertiesFromAttr(
            properties, dictionary, [&] { return mlir::emitError(state.builder.getLoc()); })))
      return refuse(report.text()), llvm::SmallVector<Value, 2>();
  if (mlir::failed(Op::inferReturnTypes(context(), state.builder.getLoc(), operands, dictionary,
                                        mlir::OpaqueProperties(&properties), {}, types)))
    return wrong(report.text()), llvm::SmallVector<Value, 2>();
  return create(Op::getOperationName(), operands, attributes, types);
}

template <typename Op>
Value GraphBuilder::emitTyped(SymTensorType type, ValueRange operands,
                              llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  if (refused() || !type || !llvm::all_of(operands, [](Value v) { return bool(v); }))
    return {};
  llvm::SmallVector<Value, 2> results =
      create(Op::getOperationName(), operands, attributes, Type(type));
  return results.empty() ? Value() : results[0];
}

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_GRAPHBUILDER_H
