//===- Import.h - Readers behind weft::Compiler::importFile ------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_IMPORT_H
#define WEFT_COMPILER_DRIVER_IMPORT_H

#include "compiler/model/ModuleImpl.h"

namespace weft {

/// What importFile takes a path for.
enum class ModelKind { Missing, Checkpoint, Text, Onnx };
ModelKind modelKind(const std::string &path);

} // namespace weft

#endif
