//===- Descriptor.h - The artifact's description of itself ---------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_DESCRIPTOR_H
#define WEFT_COMPILER_ARTIFACT_DESCRIPTOR_H

#include "compiler/pipeline/Lower.h"

namespace weft {

/// The bytes of weft_module_v1 and all it refers to. bind and run of every function are left 0.
struct Descriptor {
  std::string bytes;
  std::vector<uint32_t> functions; ///< offsets of the weft_function_v1 rows
};

Descriptor buildDescriptor(const Program &program, llvm::StringRef name, const Target &target);

/// WEFT_F32 and so on.
uint16_t elementCode(mlir::Type element);

constexpr llvm::StringLiteral kProducer = "weft 0.1.0";

} // namespace weft

#endif
