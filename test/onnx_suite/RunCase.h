//===- RunCase.h - Compiles one case of the suite, runs it and compares -------------------------===//
//
//   Outcome outcome = runCase(each, "scratch.weft");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_ONNX_SUITE_RUNCASE_H
#define WEFT_TEST_ONNX_SUITE_RUNCASE_H

#include "test/onnx_suite/Manifest.h"

namespace weft::suite {

/// `pass-constant`: only with the contents of small operands given while compiling.
/// `unclear`: refused in words that name neither a node nor an operator, or in several lines.
struct Outcome {
  std::string status; ///< pass, pass-constant, refused, unclear, wrong, crashed or timeout
  std::string message;
};

/// In this process. The artifact is written to `scratch`.
Outcome runCase(const Case &each, const std::string &scratch);

} // namespace weft::suite

#endif // WEFT_TEST_ONNX_SUITE_RUNCASE_H
