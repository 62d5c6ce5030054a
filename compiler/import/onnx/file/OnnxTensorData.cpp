//===- OnnxTensorData.cpp - The bytes of an ONNX tensor ---------------------------------------===//

#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/file/OnnxElements.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cassert>

using namespace llvm;

namespace weft {

namespace {
/// Appends entries of a fixed number of bits, low bits first.
class BitAppender {
public:
  BitAppender(std::vector<char> &out, unsigned bits) : out(out), bits(bits) {}
  void append(uint64_t value) {
    unsigned written = 0;
    while (written < bits) {
      unsigned step = std::min(8 - filled, bits - written);
      pending |= ((value >> written) & ((1u << step) - 1)) << filled;
      written += step;
      filled += step;
      if (filled == 8)
        flush();
    }
  }
  void finish() {
    if (filled)
      flush();
  }

private:
  void flush() {
    out.push_back(static_cast<char>(pending));
    pending = 0;
    filled = 0;
  }
  std::vector<char> &out;
  unsigned bits;
  unsigned pending = 0;
  unsigned filled = 0;
};
} // namespace

Error OnnxTensorData::refuse(const OnnxTensor &tensor, const Twine &reason) const {
  return readError(model.file->path() + ": tensor " + quotedText(tensor.name) + ": " + reason);
}

/// True when `value`, read as signed or as unsigned, fits `bits`.
static bool fits(int64_t value, unsigned bits) {
  return bits >= 64 || (value >= -(int64_t(1) << (bits - 1)) && value < (int64_t(1) << bits));
}

/// Calls `visit(entry)` for each entry of a tensor's typed numbers; the reader has checked their
/// form.
template <typename Visit> static bool eachEntry(const OnnxTensor &tensor, Visit visit) {
  WireCursor cursor(tensor.message);
  WireType single = typedDataWire(tensor.typedField);
  for (WireField field; cursor.next(field);) {
    if (field.number != tensor.typedField)
      continue;
    if (field.type == single) {
      if (!visit(field.value))
        return false;
      continue;
    }
    for (const char *at = field.bytes.begin(); at != field.bytes.end();) {
      uint64_t value = 0;
      unsigned width = single == WireType::Fixed64 ? 8 : 4;
      bool read = single == WireType::Varint ? readVarint(at, field.bytes.end(), value)
                                             : readFixed(at, field.bytes.end(), width, value);
      if (!read || !visit(value))
        return false;
    }
  }
  return true;
}

/// Fixed-width numbers in one packed field lie in the file exactly as raw_data would.
static ArrayRef<char> packedInPlace(const OnnxTensor &tensor, uint64_t byteCount) {
  if (typedDataWire(tensor.typedField) == WireType::Varint)
    return {};
  WireCursor cursor(tensor.message);
  for (WireField field; cursor.next(field);)
    if (field.number == tensor.typedField && field.bytes.size() == byteCount)
      return field.bytes;
  return {};
}

Expected<TensorBytes> OnnxTensorData::read(const OnnxTensor &tensor) {
  uint64_t elements = elementCount(tensor.dims).value_or(UINT64_MAX);
  std::optional<uint64_t> byteCount = rawByteCount(tensor.elementType, elements);
  if (!byteCount)
    return refuse(tensor, "elements of type " + elementTypeName(tensor.elementType) + " of shape " +
                              shapeText(tensor.dims) + " cannot be read as bytes");
  auto owned = std::make_shared<std::vector<char>>();
  if (*byteCount == 0)
    return TensorBytes{*owned, nullptr, owned};
  if (tensor.storage == OnnxTensor::Storage::External)
    return readExternal(tensor, *byteCount);
  if (tensor.storage != OnnxTensor::Storage::Typed)
    return TensorBytes{tensor.raw, model.file, nullptr};
  if (ArrayRef<char> inPlace = packedInPlace(tensor, *byteCount); !inPlace.empty())
    return TensorBytes{inPlace, model.file, nullptr};
  owned->reserve(*byteCount);
  unsigned bits = typedEntryBits(tensor.elementType);
  BitAppender appender(*owned, bits);
  int64_t misfit = 0;
  bool decoded = eachEntry(tensor, [&](uint64_t value) {
    misfit = static_cast<int64_t>(value);
    appender.append(value);
    return fits(misfit, bits);
  });
  if (!decoded)
    return refuse(tensor, "the value " + Twine(misfit) + " does not fit the element type " +
                              elementTypeName(tensor.elementType));
  appender.finish();
  assert(owned->size() == *byteCount && "the reader compares the count of entries with the shape");
  return TensorBytes{*owned, nullptr, owned};
}

Expected<std::vector<StringRef>> OnnxTensorData::readStrings(const OnnxTensor &tensor) {
  if (tensor.elementType != OnnxElementType::String)
    return refuse(tensor, "is of type " + elementTypeName(tensor.elementType) + ", not string");
  if (tensor.storage == OnnxTensor::Storage::External)
    return refuse(tensor, "strings in another file are not supported");
  std::vector<StringRef> strings;
  strings.reserve(tensor.typedCount);
  WireCursor cursor(tensor.message);
  for (WireField field; cursor.next(field);)
    if (field.number == tensor.typedField)
      strings.push_back(StringRef(field.bytes.data(), field.bytes.size()));
  return strings;
}

Expected<std::shared_ptr<MappedFile>> OnnxTensorData::externalFile(const OnnxTensor &tensor) {
  if (model.file->isView())
    return refuse(tensor, "its data is in another file, but this model was read from memory");
  auto [position, isNew] = openFiles.try_emplace(tensor.external.location);
  if (!isNew)
    return position->second;
  auto file =
      MappedFile::openInside(sys::path::parent_path(model.file->path()), tensor.external.location);
  if (file)
    return position->second = *file;
  openFiles.erase(position);
  // Not of this tensor alone: what is said of all that lie there is said once.
  return readError(model.file->path() + ": external data " + toString(file.takeError()));
}

Expected<TensorBytes> OnnxTensorData::readExternal(const OnnxTensor &tensor, uint64_t byteCount) {
  const OnnxExternalData &external = tensor.external;
  if (external.length && *external.length != byteCount)
    return refuse(tensor, "external data of " + Twine(*external.length) + " bytes, but " +
                              elementTypeName(tensor.elementType) + " " + shapeText(tensor.dims) +
                              " needs " + Twine(byteCount));
  auto file = externalFile(tensor);
  if (!file)
    return file.takeError();
  uint64_t size = (*file)->size();
  if (external.offset > size || byteCount > size - external.offset)
    return refuse(tensor, "external data " + quotedText(external.location) + " has " + Twine(size) +
                              " bytes, but " + Twine(byteCount) + " at offset " +
                              Twine(external.offset) + " are needed");
  return TensorBytes{(*file)->bytes().slice(external.offset, byteCount), *file, nullptr};
}

} // namespace weft
