//===- Session.h - A program that is compiled aside and called many times ---------------------===//
//
//   Result<std::unique_ptr<Session>> session = Session::compile(module, options, "observe");
//   if (Result<void> done = (*session)->call(bound); !done) …
//   for (const weft_tensor_t &output : (*session)->outputs()) …     // valid until the next call
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_SESSION_H
#define WEFT_COMPILER_QUANTIZE_SESSION_H

#include "compiler/quantize/Launches.h"
#include "weft/quantize.hpp"
#include "weft/runtime.h"

namespace weft {

weft::Diagnostic quantizeError(const char *code, const std::string &text,
                               const std::string &where = "", const std::string &hint = "");

/// Where an artifact is written that is only looked at, and then removed.
Result<std::string> artifactPath(const QuantizeOptions &options, const std::string &name);

/// The inputs of a call in the function's order. What is called with more inputs appends them.
struct BoundCall {
  Call call; ///< keeps the bytes alive
  std::vector<weft_tensor_t> tensors;
};

class Session {
public:
  static Result<std::unique_ptr<Session>>
  compile(const Module &module, const QuantizeOptions &options, const std::string &name);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session();

  /// Tensors by their names. Refuses what is missing, unknown, of another type or not finite; sizes
  /// are judged by the call. Inputs that passes added are not among them.
  Result<BoundCall> bind(Call call) const;
  Result<void> call(const BoundCall &call);
  /// Whether calls to come note what they launch, which takes some time.
  void note(bool launches);
  /// Of the last call.
  Launches launches() const;
  const std::vector<weft_tensor_t> &outputs() const { return results; }
  std::string outputName(size_t index) const;
  uint32_t outputElement(size_t index) const;
  /// Whether calls of one are calls of the other: inputs and outputs have the same names and types,
  /// in order.
  bool isLike(const Session &other) const;
  uint64_t fileBytes() const;
  uint64_t codeAndWeights() const; ///< the file's bytes but for the gap between them, and its tail

private:
  Session() = default;
  void releaseResults();
  weft_argument_info_t argument(uint32_t index) const;

  weft_module_t *module = nullptr;
  weft_context_t *context = nullptr;
  int32_t function = 0;
  uint32_t inputCount = 0;
  std::vector<weft_tensor_t> results;
  std::vector<weft_trace_event_t> events; ///< of the last call that was noted
};

/// Elements of an output of f32.
const float *floatsAt(const weft_tensor_t &tensor);
int64_t elementsIn(const weft_tensor_t &tensor);

/// A list that is an input, over the caller's numbers.
weft_tensor_t listOf(const void *data, weft_element_t element, size_t size);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_SESSION_H
