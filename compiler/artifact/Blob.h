//===- Blob.h - Builds the descriptor: structs that refer to each other by offset -------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_BLOB_H
#define WEFT_COMPILER_ARTIFACT_BLOB_H

#include "dialects/symbolic/SymExpr.h"
#include "weft/artifact.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace weft {

class Blob {
public:
  /// Room for a struct that is filled in last; its offset.
  /// The first `size` bytes of it are stored.
  template <typename T> uint32_t reserve(size_t size) { return append(nullptr, size, alignof(T)); }
  template <typename T> void fill(uint32_t offset, const T &value, size_t size) {
    memcpy(bytes.data() + offset, &value, size);
  }
  template <typename T> weft_list_t list(const std::vector<T> &elements) {
    return {append(elements.data(), elements.size() * sizeof(T), alignof(T)),
            uint32_t(elements.size()), sizeof(T)};
  }
  /// Of every element the first `step` bytes: readers take what is missing as absent.
  template <typename T> weft_list_t list(const std::vector<T> &elements, size_t step) {
    uint32_t begin = append(nullptr, 0, alignof(T));
    for (const T &element : elements)
      append(&element, step, alignof(T));
    return {begin, uint32_t(elements.size()), uint32_t(step)};
  }
  weft_list_t text(llvm::StringRef text);
  weft_list_t texts(llvm::ArrayRef<std::string> list);
  /// The maximum of `maximands` as code over `symbols` and as text.
  weft_formula_v1 formula(llvm::ArrayRef<SymExpr> maximands,
                          llvm::ArrayRef<mlir::StringAttr> symbols);
  const std::string &data() const { return bytes; }

private:
  uint32_t append(const void *data, size_t size, size_t align);
  std::string bytes;
};

/// Code of `expr` for the runtime's stack machine.
std::string expressionCode(SymExpr expr, llvm::ArrayRef<mlir::StringAttr> symbols);

} // namespace weft

#endif
