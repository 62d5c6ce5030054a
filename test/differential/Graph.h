//===- Graph.h - A program under construction, with what is known of its values --------------------------===//
//
// A random program is useful when a difference between evaluator and code is a mistake, not rounding. So the generator carries for every
// value how large it can be, which numbers it can be, and how far two right computations of it may lie apart. Makers (Makers.h) look at
// the values that exist and add an operator, or decline:
//
//   if (Value x = g.pick(isReal))
//     g.add(g.b.create<TanhOp>(x), g.smooth(x, /*steepest=*/1, /*most=*/1));
//
// Functions with jumps (floor, compare, argmax, …) take values that are the same to the last bit however they were computed.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_GRAPH_H
#define WEFT_TEST_DIFFERENTIAL_GRAPH_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "test/support/Program.h"
#include <random>

namespace weft::test {

using mlir::Value;

/// What is known of the elements of a value.
struct Knowledge {
  double most = 0;      ///< no element is larger, positive or negative; specials apart
  int quantum = 0;      ///< elements are multiples of 2^-quantum; only of exact values
  double error = 0;     ///< how far two right computations may differ; 0: not at all
  bool special = false; ///< infinities and nans among them
  bool isExact() const { return error == 0; }

  /// Kept in locations, so that it survives whatever moves or copies the operation.
  mlir::Location locate(mlir::MLIRContext *context) const;
  static std::optional<Knowledge> of(Value value);
};

/// A random number below `count`.
class Dice {
public:
  explicit Dice(unsigned seed) : engine(seed) {}
  int64_t operator()(int64_t count) { return int64_t(engine() % uint64_t(count)); }
  bool chance(int64_t times, int64_t of) { return (*this)(of) < times; }
  template <typename T> T oneOf(std::initializer_list<T> list) {
    return *(list.begin() + (*this)(list.size()));
  }
  std::mt19937 engine;
};

class Graph {
public:
  Graph(mlir::ModuleOp module, unsigned seed, std::vector<Sizes> sizes);

  mlir::ImplicitLocOpBuilder b;
  Dice dice;
  llvm::SmallVector<Value> values;              ///< visible here, oldest first
  std::function<void(unsigned operators)> grow; ///< adds operators here; for makers of regions
  unsigned depth = 0;                           ///< of regions around the place
  bool fused = true;       ///< whether the target multiplies and adds with one rounding
  bool hasChoices = false; ///< layers get some (Choices.h)

  //===-- Values ------------------------------------------------------------------------------===//

  static SymTensorType type(Value v) { return mlir::cast<SymTensorType>(v.getType()); }
  static mlir::Type element(Value v) { return type(v).getElementType(); }
  static unsigned rank(Value v) { return type(v).getRank(); }
  const Knowledge &know(Value v) { return known[v]; }
  /// A value that fits, young ones preferred; null when none does. Values with specials are offered only when asked for.
  Value pick(llvm::function_ref<bool(Value)> fits, bool special = false);
  /// A value of this element type, and dimensions when given; made from nothing when there is none.
  Value pickOr(mlir::Type element, llvm::ArrayRef<SymExpr> dims, double most);
  /// Makes the result of the operation that was added last visible, if it can be stored and compared; else erases it.
  bool add(Value value, Knowledge knowledge);
  bool add(mlir::ValueRange results, llvm::ArrayRef<Knowledge> knowledge);
  /// The same without making it visible: a step of a pattern.
  Value note(Value value, Knowledge knowledge);

  //===-- Knowledge ---------------------------------------------------------------------------===//

  /// What rounding to the element type leaves of `k`.
  Knowledge rounded(mlir::Type element, Knowledge k) const;
  /// Of a function of one operand with this slope that is computed to a few units in the last place.
  Knowledge smooth(Value x, double steepest, double most);
  /// A sum of `count` products.
  Knowledge sumOfProducts(Value x, Value y, double count, mlir::Type accumulate);
  /// Elements taken from several values.
  Knowledge either(mlir::ValueRange values);
  static Knowledge integers(mlir::Type element, double most);
  static Knowledge truth() { return {1, 0, 0, false}; }

  /// The value, or a value like it whose elements are at most `most`: divided by a power of two, or through tanh.
  Value tame(Value x, double most);

  //===-- Sizes -------------------------------------------------------------------------------===//

  SymExpr symbol(llvm::StringRef name) { return SymExpr::symbol(b.getContext(), name); }
  SymExpr number(int64_t value) { return SymExpr::constant(b.getContext(), value); }
  DimsAttr dims(llvm::ArrayRef<SymExpr> list) { return DimsAttr::get(b.getContext(), list); }
  SymTensorType tensor(llvm::ArrayRef<SymExpr> dims, mlir::Type element);
  /// Over all sizes that the program will run with.
  int64_t least(SymExpr expr);
  int64_t most(SymExpr expr);
  int64_t mostElements(SymTensorType type);
  /// A dimension that exists, or a small number.
  SymExpr anyDim();
  /// A symbol that gets its value inside the program, at most `limit`.
  SymExpr bindSymbol(SymExpr limit);
  size_t boundSymbols() const { return bound.size(); }
  /// Which of them, counted as they were made; -1 for a symbol of the signature.
  int boundAt(mlir::StringAttr name) const;
  SymbolsAttr symbols() const;

  //===-- Elements from nothing -----------------------------------------------------------------===//

  mlir::Type randomElement();
  Value fill(mlir::Type element, double value, llvm::ArrayRef<SymExpr> dims = {});
  /// A constant with random elements: dense, or a range of the file of weights.
  Value constant(llvm::ArrayRef<int64_t> dims, mlir::Type element, double most = 2,
                 int quantum = 2);
  /// Positions below `size` (some negative, some outside when `outside`), i32 or i64.
  Value positions(llvm::ArrayRef<SymExpr> dims, SymExpr size, bool outside = true);

  std::vector<Sizes> sizes;
  llvm::SmallVector<SymPred> facts; ///< about symbols of the signature
  std::vector<char> weights;        ///< the file that constants may be ranges of

private:
  void range(SymExpr expr, int64_t &low, int64_t &high);
  Value weight(mlir::RankedTensorType type, SymTensorType result, mlir::DenseElementsAttr elements);

  llvm::DenseMap<Value, Knowledge> known;
  llvm::SmallVector<std::pair<mlir::StringAttr, SymExpr>> bound; ///< with limits
  unsigned weightCount = 0;
  mlir::Block *moduleBody;
};

/// Whether the elements are floats, …; for pick().
bool isReal(Value v);
bool isWide(Value v); ///< f32 or f64
bool isInteger(Value v);
bool isBool(Value v);
/// 4 bits: loops that write elements in an order of their own have no such results.
bool isHalfByte(Value v);
/// Units in the last place of 1.
double precisionOf(mlir::Type element);
double largestOf(mlir::Type element);
/// The least of an integer type.
double lowestOf(mlir::Type element);

constexpr llvm::StringLiteral kWeightsFile = "weights.bin";

} // namespace weft::test

#endif // WEFT_TEST_DIFFERENTIAL_GRAPH_H
