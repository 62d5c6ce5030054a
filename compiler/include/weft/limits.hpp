//===- limits.hpp - What a model may ask of the process that reads it ------------------------------===//
//
//   weft::ImportOptions options;
//   options.limits.nodes = 20'000'000;
//
// The defaults are far above every known model and keep a file that was made to do harm from taking the machine. What exceeds one is
// refused with code W0203.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_LIMITS_HPP
#define WEFT_LIMITS_HPP

#include <cstdint>

namespace weft {

/// Numbers above which a model is refused.
struct Limits {
  /// Nodes of an ONNX model, in all its graphs and functions together, and again once functions are inlined; operations of a text.
  uint64_t nodes = 1'000'000;
  /// Levels: graphs in nodes of graphs, functions that call functions, types in types; brackets of a text.
  unsigned nesting = 200;
  /// Bytes of one tensor of constant size that an operation of the model makes, and of all constants together that are not taken
  /// from the model's files as they lie there.
  uint64_t tensorBytes = uint64_t(1) << 40;

  /// Importing and compiling recurse. So many levels were seen to take less than half of a stack of 8 MiB; a larger `nesting` is refused.
  static constexpr unsigned mostNesting = 500;
};

} // namespace weft

#endif // WEFT_LIMITS_HPP
