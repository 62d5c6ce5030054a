//===- OnnxElements.h - How each ONNX element type is stored ----------------------------------===//
//
// Private to this folder: the facts of onnx.proto about TensorProto's typed data fields.
//
//   typedEntryCount(OnnxElementType::Int4, 3, 5)     // 2: two elements per entry of int32_data
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXELEMENTS_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXELEMENTS_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "compiler/import/onnx/file/WireReader.h"

namespace weft {

/// float_data 4, int32_data 5, string_data 6, int64_data 7, double_data 10, uint64_data 11.
bool isTypedDataField(unsigned field);

/// How one unpacked entry of a typed data field is encoded.
WireType typedDataWire(unsigned field);

/// Entries that `elements` of a type take in a typed data field; nothing when the type may not use
/// that field.
std::optional<uint64_t> typedEntryCount(OnnxElementType type, uint64_t elements, unsigned field);

/// Bits of the result that one entry of the typed field fills: 8 for a pair of int4, 6 for one
/// float6, else the element's.
unsigned typedEntryBits(OnnxElementType type);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXELEMENTS_H
