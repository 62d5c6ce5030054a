//===- Header.h - The C99 header of an embedded model -----------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_HEADER_H
#define WEFT_COMPILER_EMBED_HEADER_H

#include "compiler/embed/Interface.h"
#include "compiler/plan/Variant.h"

namespace weft {

/// `weightsBytes`: of the file of weights; 0: there is none.
std::string headerOf(const EmbeddedModel &model, const Variant &variant, uint64_t weightsBytes);

} // namespace weft

#endif
