//===- ModelText.h - ONNX models from lines of text ---------------------------------------------===//
//
// A line is a model; its statements are separated by ';'.
//
//   opset 13; x: float[n,4]; w = int64[2] 0 1; y = Gather(x, w) axis=1; -> y
//   c: bool[]; y = If(c) then_branch={a = Constant() value_float=1.0} else_branch={a = Constant() value_float=2.0}
//
//   opset 13                         of the default domain; 22 when nothing is said
//   name: element[dims]              an input; a dimension is a number, a symbol or '?'
//   name = element[dims] numbers     a constant; numbers repeat as often as needed
//   names = Op(names) name=value     a node; '_' is an omitted input, domain:Op one of another domain. A value is an integer, a number
//                                    with a point, "text", a list [1, 2], a graph {statements} or a tensor element[dims] numbers in ()
//   -> names                         the outputs; those of the last node when nothing is said
//
// An empty line is nothing, and '#' begins a comment.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_FUZZ_MODELTEXT_H
#define WEFT_TEST_FUZZ_MODELTEXT_H

#include <string>
#include <vector>

namespace weft::fuzz {

/// All models of all texts. Ends the process when one of them is wrong.
std::vector<std::string> modelsOf(const std::vector<std::string> &texts);

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_MODELTEXT_H
