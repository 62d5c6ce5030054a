//===- OnnxTensorData.h - The bytes of an ONNX tensor -----------------------------------------===//
//
// Yields the elements of a tensor in the layout of raw_data (little-endian, row-major, narrow types
// packed from the low bits) wherever the file keeps them: inline, in typed fields or in another
// file of the model's directory.
//
//   OnnxTensorData reader(model);
//   Expected<TensorBytes> weights = reader.read(model.graph.initializers[0]);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXTENSORDATA_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXTENSORDATA_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace weft {

/// Bytes in a mapped file, or decoded ones that are owned. Copies share both. Mapped bytes have no
/// alignment: copy elements out with memcpy.
struct TensorBytes {
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<MappedFile> file; ///< set when `bytes` lie in it, at file->offsetOf(bytes)
  std::shared_ptr<std::vector<char>> owned; ///< set otherwise
};

/// Elements of a shape with all dimensions >= 0; nothing when the product does not fit (a zero
/// makes it 0).
std::optional<uint64_t> elementCount(llvm::ArrayRef<int64_t> dims);

/// Bytes that raw_data needs for so many elements; nothing when the type has no such layout or on
/// overflow.
std::optional<uint64_t> rawByteCount(OnnxElementType type, uint64_t elements);

/// Reads tensors of one model and keeps the external files it has opened. Not for use by several
/// threads at once.
class OnnxTensorData {
public:
  /// `model` must outlive the reader. External files lie in the directory of the model's path.
  explicit OnnxTensorData(const OnnxModel &model) : model(model) {}

  /// Refuses strings and types without known width, and external ranges that do not fit their file
  /// or the shape.
  llvm::Expected<TensorBytes> read(const OnnxTensor &tensor);

  /// The elements of a string tensor; they point into the model's file.
  llvm::Expected<std::vector<llvm::StringRef>> readStrings(const OnnxTensor &tensor);

private:
  llvm::Expected<TensorBytes> readExternal(const OnnxTensor &tensor, uint64_t byteCount);
  llvm::Expected<std::shared_ptr<MappedFile>> externalFile(const OnnxTensor &tensor);
  llvm::Error refuse(const OnnxTensor &tensor, const llvm::Twine &reason) const;

  const OnnxModel &model;
  llvm::StringMap<std::shared_ptr<MappedFile>> openFiles;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXTENSORDATA_H
