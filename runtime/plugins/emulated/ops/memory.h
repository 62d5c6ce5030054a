// Modifiers that loads, stores and atomics share.
#ifndef WEFT_EMULATED_OPS_MEMORY_H
#define WEFT_EMULATED_OPS_MEMORY_H

#include "runtime/plugins/emulated/code/decoder.h"

namespace weft_emulated {

/// How an access is ordered: instruction::mode; its scope is instruction::mode2.
enum access_order : uint8_t { weak, relaxed, acquiring, releasing, both_orders };

void take_order(decoder &d);
space take_any_space(decoder &d);
void fix_space(decoder &d, size_t address);

} // namespace weft_emulated

#endif
