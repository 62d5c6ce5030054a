//===- Layers.h - Equal layers of a program, and constants that are read alike --------------------------===//
//
//   Layers layers(function);                   // of a copy
//   for (Value constant : …) layers.kindOf(constant);      // equal numbers: equal layers read them alike
//   layers.keepThree();                        // the first and the last of a stack, and one that counts for all between
//
// A stack of layers is a run of operations that repeats itself, where each repetition reads of the one before what that reads of its own. A plan
// is found for the short program, and its price is that of the long one.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_LAYERS_H
#define WEFT_PASSES_PARALLEL_LAYERS_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace weft {

class Layers {
public:
  explicit Layers(mlir::func::FuncOp function);

  /// Of a constant or an argument.
  unsigned kindOf(mlir::Value value);
  /// Whether a value is computed of constants alone.
  bool isConstant(mlir::Value value) const;
  /// Changes the function; constants and arguments of layers that are left out have no uses any more. Kinds stay.
  void keepThree();

private:
  using Words = std::vector<const void *>;
  struct Stack {
    size_t begin = 0, period = 0, count = 0;
    size_t end = 0; ///< of what is alike: behind the last layer there may be a part of one
  };

  unsigned number(const Words &words);
  unsigned numberOf(mlir::Operation *op);
  unsigned numberOf(mlir::Value constant);
  unsigned numberOfReaders(mlir::Value value, unsigned depth);
  bool isAlike(size_t later, size_t period);
  bool readsAlike(mlir::Value earlier, mlir::Value later, size_t period);
  Stack findStack();
  void join(const Stack &stack);
  void joinConstants(mlir::Value a, mlir::Value b);
  unsigned leader(unsigned kind);
  void shorten(const Stack &stack);
  void collect();
  mlir::Value standsFor(mlir::OpOperand &use, const Stack &stack);

  mlir::Block &block;
  std::map<Words, unsigned> numbers;
  std::vector<mlir::Operation *> operations; ///< that compute something at run time
  std::vector<unsigned> operationNumbers;    ///< of these, by what they are
  llvm::DenseMap<mlir::Operation *, size_t> places;
  llvm::DenseMap<mlir::Operation *, unsigned> known;
  llvm::DenseSet<mlir::Operation *> constants;
  llvm::DenseMap<mlir::Value, unsigned> kinds;
  std::vector<unsigned> leaders;
};

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_LAYERS_H
