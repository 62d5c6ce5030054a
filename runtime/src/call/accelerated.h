// Calls whose kernels run on a device beside the host: arguments are the caller's. Those that lie on the host travel there and back.
//
//   weft_send_arguments(context, function, in, out, err)     copies of the host's inputs, room for its outputs; the frame names these
//   … run: launches …
//   weft_fetch_outputs(context, function, in, out, err)      waits; the outputs are the caller's
#pragma once

#include "runtime/src/call/context.h"

/// Memory that calls use again, as late blocks are.
struct weft_staged_t {
  uint8_t *memory;
  size_t bytes;
};

/// What a context has on the device of its module; one allocation holds it and its lists.
struct weft_accelerated {
  size_t bytes;
  weft_queue_t *queue;
  weft_tensor_t *in, *out; ///< the caller's, with data on the device
  weft_staged_t *staged;   ///< by argument of the running function, inputs first
  uint32_t count;          ///< of arguments, the most that a function has
  weft_staged_t brought;   ///< of the host: what was fetched to be looked at
  uint64_t sent, fetched;  ///< bytes that were copied to the device, and from it
  void *counters;          ///< there, once a kernel asked for them
  bool are_zeros;          ///< the counters; not behind a call that failed
};

/// Opens what the context needs on its module's device, when that has one; there, `stream` is the caller's, or NULL.
weft_status_t weft_join_device(weft_context_t *context, void *stream, weft_error_t *err);
void weft_leave_device(weft_context_t *context);

weft_status_t weft_send_arguments(weft_context_t *context, const weft_function_v1 &function,
                                  const weft_tensor_t *in, const weft_tensor_t *out,
                                  weft_error_t *err);
/// Returns when the device has done everything, however the call ended, or at once where the context does not wait and nothing failed.
weft_status_t weft_fetch_outputs(weft_context_t *context, const weft_function_v1 &function,
                                 const weft_tensor_t *in, weft_tensor_t *out, weft_error_t *err);
weft_status_t weft_finish_device(weft_context_t *context, weft_error_t *err);

/// Room on the device for an output whose size the running call has found.
weft_status_t weft_provide_on_device(weft_context_t *context, uint32_t index, int64_t bytes,
                                     weft_error_t *err);
enum weft_way_t { WEFT_TO_DEVICE, WEFT_FROM_DEVICE, WEFT_ON_DEVICE };

/// A copy between the host and the device, or there, in the order of the context's work.
weft_status_t weft_copy_in_order(weft_context_t *context, weft_way_t way, void *to,
                                 const void *from, int64_t bytes, weft_error_t *err);

/// What lies on the device: where the caller has it on the host, else a copy there, until the next one. Does not return when that fails.
const void *weft_bring(weft_context_t *context, const void *from, int64_t bytes);

/// Functions of the host table.
void weft_launch_on_device(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks,
                           int32_t kernel_id);
void weft_launch_counted(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks,
                         int32_t kernel_id);
int64_t weft_fetch_from_device(weft_frame_v1 *frame, const void *address, int64_t bits);
