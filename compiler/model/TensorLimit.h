//===- TensorLimit.h - Refuses programs of tensors that no machine should make ----------------===//
#ifndef WEFT_COMPILER_MODEL_TENSORLIMIT_H
#define WEFT_COMPILER_MODEL_TENSORLIMIT_H

#include "compiler/model/ModuleImpl.h"

namespace weft {

/// Holds an imported model against Limits::tensorBytes; `path` names it. Whatever the front end was: they all end in one module.
Result<void> checkTensors(Module::Impl &model, const std::string &path, const Limits &limits);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_TENSORLIMIT_H
