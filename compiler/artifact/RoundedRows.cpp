//===- RoundedRows.cpp ----------------------------------------------------------------------------===//

#include "compiler/artifact/RoundedRows.h"
#include "compiler/artifact/StoredElements.h"

using namespace mlir;

namespace weft {

static int64_t elementsOf(SymTensorType type) { return *type.getElements().asConstant(); }

uint64_t RoundedRowPacker::bytes(SymTensorType type) const {
  return uint64_t(elementsOf(type)) * sizeof(uint16_t);
}

/// Piece by piece.
llvm::Error RoundedRowPacker::pack(SymTensorType type, const char *bytes, Write write) const {
  constexpr int64_t kPiece = 1 << 15;
  const llvm::fltSemantics &semantics =
      layout.form == WeightLayout::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
  StoredElements elements(type.getElementType(), bytes);
  std::vector<uint16_t> piece;
  for (int64_t first = 0, count = elementsOf(type); first < count; first += kPiece) {
    piece.clear();
    for (int64_t i = first; i < std::min(first + kPiece, count); ++i)
      piece.push_back(elements.half(i, semantics));
    StringRef raw(reinterpret_cast<const char *>(piece.data()), piece.size() * sizeof(uint16_t));
    if (llvm::Error error = write(raw))
      return error;
  }
  return llvm::Error::success();
}

} // namespace weft
