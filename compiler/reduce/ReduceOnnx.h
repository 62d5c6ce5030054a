//===- ReduceOnnx.h - What can be taken away from an ONNX model -------------------------------===//
//
//   OnnxTypes types = declaredTypes(draft);
//   importOnnx(path, options with noteType(types));              // what shapes Weft infers
//   OnnxDraft small = reduce<OnnxDraft>(draft, onnxReductions(types), stillFails, {});
//
// As with programs (ReduceModule.h), every choice of nodes is a model: a value whose node is taken
// away becomes an input of its inferred type, one that loses its last reader an output.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_REDUCE_REDUCEONNX_H
#define WEFT_COMPILER_REDUCE_REDUCEONNX_H

#include "compiler/reduce/Delta.h"
#include "compiler/reduce/OnnxDraft.h"
#include "dialects/weft/Weft.h"

namespace weft {

/// TypeProto messages of values, by name. Dimensions are numbers or expressions of symbols.
using OnnxTypes = std::map<std::string, std::string>;

/// The message of a type; nothing when ONNX has no such elements.
std::optional<std::string> onnxType(SymTensorType type);

/// What the file itself states about inputs, outputs and values between.
OnnxTypes declaredTypes(const OnnxDraft &draft);

/// The edits of ONNX models, in the order in which they pay off.
std::vector<Reduction<OnnxDraft>> onnxReductions(OnnxTypes types);

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_REDUCEONNX_H
