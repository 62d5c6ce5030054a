//===- HardwareData.h - What hardware computes in integers, as data ---------------------------===//
//
//   llvm::Expected<HardwareData> data = parseHardware(text, "npu.json", isOperator);
//
// A JSON object that lists operators with the types of what they read and give: docs/hardware.md
// describes its fields. Any bytes are read into data whose numbers are within their ranges, or an
// error of one line; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HARDWARE_HARDWAREDATA_H
#define WEFT_COMPILER_HARDWARE_HARDWAREDATA_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// What has a scale of its own.
struct ScaleUnit {
  enum Kind {
    Tensor, ///< all of it
    Row,    ///< each index of dimensions that are not summed
    Column, ///< the same, of a product's second operand
    Block,  ///< neighbours along a dimension
  };
  Kind kind = Tensor;
  int64_t block = 0; ///< how many neighbours
  std::string text() const;
  bool operator==(const ScaleUnit &other) const {
    return kind == other.kind && block == other.block;
  }
};

/// What an operator reads or gives.
struct HardwareTensor {
  std::vector<std::string> elements;              ///< "ui8", "i8", "f32", …
  std::optional<std::vector<int64_t>> zeroPoints; ///< that it may have; nothing: any
  bool hasPowersOfTwo = false;                    ///< scales are nothing else
  std::vector<ScaleUnit> scalesPer{ScaleUnit{}};  ///< what may have a scale of its own
  bool isConstant = false;                        ///< of an operand: known when it is compiled
};

/// How products are added up: `products` neighbours, of which nobody says which they are, in so
/// many bits.
struct HardwareSum {
  int64_t products = 0; ///< 0: all of a sum
  int64_t bits = 32;
  bool isSaturating = false; ///< else it wraps
};

/// One way to compute some operators.
struct HardwareOperator {
  std::vector<std::string> names;       ///< without the dialect's: "contract"
  std::vector<HardwareTensor> operands; ///< the last one is also any further operand
  HardwareTensor result;
  std::vector<HardwareSum> sums; ///< of products
  int64_t summedMultiple = 1,
          keptMultiple = 1; ///< of products: channels and columns are a multiple of these
  bool hasGroups = false;   ///< of products: dimensions that both operands and the result have
  std::vector<std::string> features; ///< that the processor must have
  double multiplyAddsPerSecond = 0;  ///< where prices are declared
};

struct HardwareData {
  std::string name, about;
  std::vector<HardwareOperator> operators;
  std::optional<std::set<std::string>>
      floats;                            ///< operators that it computes in floats; nothing: all
  bool hasDeclaredPrices = false;        ///< else they are measured
  double floatMultiplyAddsPerSecond = 0; ///< where prices are declared

  bool hasFloat(llvm::StringRef name) const { return !floats || floats->count(name.str()); }
  bool lists(llvm::StringRef name) const;
};

/// `place` starts the error. An operator that is none by `isOperator` is refused.
llvm::Expected<HardwareData> parseHardware(llvm::StringRef text, llvm::StringRef place,
                                           llvm::function_ref<bool(llvm::StringRef)> isOperator);

} // namespace weft

#endif // WEFT_COMPILER_HARDWARE_HARDWAREDATA_H
