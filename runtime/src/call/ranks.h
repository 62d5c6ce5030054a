// Ranks that compute together: the groups of a context, where it stands among them, and what compiled code has them do.
#pragma once

#include "runtime/src/call/context.h"
#include "weft/transport.h"

/// What a rank says about a call.
enum { WEFT_CALL_KEY_BYTES = 8 };

/// How many groups the module's collectives need.
uint32_t weft_groups_needed(const weft_module_t *module);
/// Joins the other ranks of `group`, when the module's functions are for several; refuses a group that does not fit, and ranks that have
/// opened another file, or have another runtime or limit. All ranks do it.
weft_status_t weft_join_ranks(weft_context_t *context, weft_group *group, weft_error_t *err);
void weft_leave_ranks(weft_context_t *context);
/// Ends the groups for all ranks, as cancelling does. Signal handlers, too.
void weft_abort_ranks(weft_context_t *context);

/// Compares with all ranks what they call, by the function and the sizes of inputs, which bind has put into values[]. Fails with MISMATCH on all alike,
/// and names a rank that differs, the symbol and the input; the group goes on.
weft_status_t weft_compare_call(weft_context_t *context, int32_t index,
                                const weft_function_v1 &function, weft_error_t *err);

/// Sets the symbols that say where a rank stands, which are the function's last; how many there are.
uint32_t weft_set_places(const weft_module_t *module, const weft_function_v1 &function,
                         int32_t rank, int64_t *symbols);

/// An exchange of the running call, and its group. Does not return when there is no such row. Its `pieces` are the most that kernels beside it want.
weft_group *weft_find_exchange(weft_context_t *context, int64_t row, const int64_t *words,
                               weft_collective_t *out_collective);

/// The functions of the host table.
void weft_exchange_ranks(weft_frame_v1 *frame, int64_t row, const int64_t *words);
void weft_exchange_begin(weft_frame_v1 *frame, int64_t row, const int64_t *words);
void weft_exchange_end(weft_frame_v1 *frame, int64_t row, const int64_t *words);
