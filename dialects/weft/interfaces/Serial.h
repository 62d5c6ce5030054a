//===- Serial.h - Operators as plain loops over scalars -----------------------------------------===//
//
// For operators whose results do not follow element by element (RootKind::Serial): the order of steps matters. They get the elements
// of their operands, write their results, and cut their work into units that may run on different threads.
//
//   void CumulateOp::emitSerial(SerialBuilder &s, Value unit) {
//     s.loop(s.constant(0), s.symbolic(length), {zero}, [&](Value i, ValueRange sum) { … s.store(0, {unit, i}, next); return next; });
//   }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_SERIAL_H
#define WEFT_DIALECTS_WEFT_INTERFACES_SERIAL_H

#include "dialects/symbolic/SymExpr.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// Indices and conditions are i64 and i1; data has its compute type.
class SerialBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  virtual ~SerialBuilder() = default;
  mlir::ImplicitLocOpBuilder &builder() { return b; }

  virtual mlir::Value symbolic(SymExpr expr) = 0;
  virtual mlir::Value load(unsigned operand, llvm::ArrayRef<mlir::Value> index) = 0;
  /// An element of a result that was stored before.
  virtual mlir::Value loadResult(unsigned result, llvm::ArrayRef<mlir::Value> index) = 0;
  /// Does nothing when nobody reads that result.
  virtual void store(unsigned result, llvm::ArrayRef<mlir::Value> index, mlir::Value data) = 0;
  /// All elements of an operand to a result of the same dimensions.
  virtual void copy(unsigned operand, unsigned result) = 0;
  /// A slice of an operand replaces one of a result, or is combined with it: result[to, i] for every index i of a box.
  virtual void update(unsigned operand, llvm::ArrayRef<mlir::Value> from, unsigned result,
                      llvm::ArrayRef<mlir::Value> to, llvm::ArrayRef<SymExpr> box,
                      std::optional<Combiner> combiner) = 0;
  /// Words of memory of the unit's own, as many as ElementOpInterface::serialScratch says.
  virtual mlir::Value scratch(mlir::Value slot) = 0;
  virtual void setScratch(mlir::Value slot, mlir::Value word) = 0;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value sub(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  mlir::Value less(mlir::Value a, mlir::Value c);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  /// Quotient and remainder of non-negative numbers.
  std::pair<mlir::Value, mlir::Value> divmod(mlir::Value a, mlir::Value c);
  /// The index of the `unit`th element of a box in row-major order.
  Values unflatten(mlir::Value unit, llvm::ArrayRef<SymExpr> dims);

  void loop(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value)> body);
  /// With values carried along.
  Values loop(mlir::Value from, mlir::Value to, mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// Every index of a box in row-major order.
  void box(llvm::ArrayRef<SymExpr> dims,
           llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// Carries `init` through `body` as long as `condition` holds.
  mlir::Value repeat(mlir::Value init, llvm::function_ref<mlir::Value(mlir::Value)> condition,
                     llvm::function_ref<mlir::Value(mlir::Value)> body);

protected:
  explicit SerialBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_SERIAL_H
