//===- OnnxReader.h - ONNX files to plain structs ---------------------------------------------===//
//
// A bounded reader of ONNX's protobuf encoding (docs/decisions/0001-onnx-wire-reader.md). Any input
// is safe: the result is a well-formed OnnxModel or a one-line error such as "model.onnx: byte
// 1234: node 7 ('/a/b'): ...".
//
//   Expected<OnnxModel> model = readOnnxFile("model.onnx");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXREADER_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXREADER_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "weft/limits.hpp"
#include "llvm/Support/Error.h"

namespace weft {

/// They bound memory (about 2 GB at the defaults), stack and time for files made to exhaust them.
/// All but the last five count over the whole file.
struct OnnxLimits {
  OnnxLimits() = default;
  /// The caller's; what else a file has grows with its nodes.
  OnnxLimits(const Limits &limits);

  uint64_t nodes = Limits().nodes; ///< in graphs and functions
  uint64_t attributes = 2'000'000; ///< of nodes and functions
  uint64_t tensors = 1'000'000;    ///< initializers and attribute values, sparse ones count twice
  uint64_t values = 2'000'000;     ///< declared inputs, outputs and inner values
  uint64_t functions = 100'000;    ///< model-local functions
  uint64_t listItems = 16'000'000; ///< names, numbers and dimensions in lists, not data of tensors
  unsigned depth = Limits().nesting; ///< of graphs in attributes, and of types in types
  unsigned rank = 64;                ///< dimensions of a tensor or of a type
  unsigned nodeAttributes = 500;     ///< attributes of one node or function
  unsigned opsets = 100;             ///< operator sets of the model or of one function
  uint64_t nameLength = 1'000'000;   ///< bytes of one name
};

/// Maps and reads a file. External data is looked up beside it, see OnnxTensorData.h.
llvm::Expected<OnnxModel> readOnnxFile(llvm::StringRef path, const OnnxLimits &limits = {});

/// Reads a mapping or a view.
llvm::Expected<OnnxModel> readOnnx(std::shared_ptr<MappedFile> file, const OnnxLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXREADER_H
