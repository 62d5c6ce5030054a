//===- Descriptor.h - The artifact's description of itself ---------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_DESCRIPTOR_H
#define WEFT_COMPILER_ARTIFACT_DESCRIPTOR_H

#include "compiler/plan/Variant.h"
#include "weft/artifact.h"
#include <cstddef>

namespace weft {

/// One weft_module_v1 per variant and all they refer to. bind and run of every function are left 0.
struct Descriptor {
  std::string bytes;
  std::vector<std::vector<uint32_t>>
      functions;              ///< by variant: offsets of the weft_function_v1 rows
  bool grows = false;         ///< an input does in place: older readers must refuse the file
  bool hasDeviceCode = false; ///< of some variant
  uint32_t variantBytes() const {
    return hasDeviceCode ? sizeof(weft_module_v1) : offsetof(weft_module_v1, device_code);
  }
};

Descriptor buildDescriptor(llvm::ArrayRef<Variant> variants, llvm::ArrayRef<StoredWeight> weights,
                           llvm::StringRef name);

/// WEFT_F32 and so on.
uint16_t elementCode(mlir::Type element);

constexpr llvm::StringLiteral kProducer = "weft 0.1.0";

} // namespace weft

#endif
