//===- X86Family.h - x86-64 by feature level ---------------------------------------------------------===//
#ifndef WEFT_TARGETS_X86_X86FAMILY_H
#define WEFT_TARGETS_X86_X86FAMILY_H

#include "targets/common/Registry.h"

namespace weft {

/// v2: SSE4.2. v3: AVX2 and FMA. v3+vnni: and products of bytes (AVX-VNNI). v4: AVX-512 F, BW, CD, DQ, VL. v4+vnni: and products of bytes. v4+bf16: and products of bf16. v4+amx: and tiles of bf16 and of bytes.
const TargetFamily &x86Family();

} // namespace weft

#endif // WEFT_TARGETS_X86_X86FAMILY_H
