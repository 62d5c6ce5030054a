//===- Result.h - A value, or why there is none -----------------------------------------------===//
//
//   Result<Tensor> tensor = readTensor(path);
//   if (!tensor) return console.fail(tensor.failure());
//   use(*tensor);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_RESULT_H
#define WEFT_TOOLS_WEFT_CLI_RESULT_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace weft::cli {

/// What went wrong, in the user's words: one lower-case sentence, what to do, and a stable code if
/// there is one ("W0411").
struct Failure {
  int exitCode;
  std::string message, hint, code;
};

template <typename T> class Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Failure failure) : content(std::move(failure)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  const Failure &failure() const { return std::get<1>(content); }

private:
  std::variant<T, Failure> content;
};

/// For steps that give nothing but success.
struct Done {};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_RESULT_H
