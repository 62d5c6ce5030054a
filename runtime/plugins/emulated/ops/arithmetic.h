// Arithmetic of reals, for the decoders that look at the type first.
#ifndef WEFT_EMULATED_OPS_ARITHMETIC_H
#define WEFT_EMULATED_OPS_ARITHMETIC_H

#include "runtime/plugins/emulated/code/decoder.h"

namespace weft_emulated {

enum class real_two { add, sub, mul, div, min, max };
void decode_real_two(decoder &d, real_two which);
void decode_real_sign(decoder &d, bool is_negation);

} // namespace weft_emulated

#endif
