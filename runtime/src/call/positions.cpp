#include "runtime/src/call/positions.h"

#include "runtime/src/call/accelerated.h"
#include "runtime/src/open/words.h"

namespace {
/// What a check was called with.
struct positions {
  const void *data;
  const int64_t *dims, *sizes;
  uint32_t rank, size_count;
  int64_t count;
};
} // namespace

static positions read_words(const weft_positions_v1 &row, const int64_t *words) {
  positions p = {
      (const void *)(uintptr_t)words[0], words + 1, words + 1 + row.rank, row.rank, row.sizes, 1};
  for (uint32_t d = 0; d < row.rank; ++d)
    p.count *= p.dims[d];
  return p;
}

static bool is_outside(int64_t position, int64_t size) {
  return (uint64_t)position + (uint64_t)size >= 2 * (uint64_t)size;
}

/// The first that is outside, or their number. Whether there is one is found first, without a branch for each.
template <typename integer> static int64_t find_outside(const positions &p) {
  const integer *data = (const integer *)p.data;
  bool any = false;
  for (uint32_t s = 0; s < p.size_count; ++s)
    for (int64_t i = s; i < p.count; i += p.size_count)
      any |= is_outside(data[i], p.sizes[s]);
  int64_t first = any ? 0 : p.count;
  while (first < p.count && !is_outside(data[first], p.sizes[first % p.size_count]))
    ++first;
  return first;
}

/// " at [0, 3]"; nothing for a number alone.
static void add_place(weft_text_t *text, const positions &p, int64_t at) {
  int64_t inner = p.count;
  for (uint32_t d = 0; d < p.rank; ++d) {
    inner /= p.dims[d];
    weft_text_add(text, "%s%lld", d ? ", " : " at [", (long long)(at / inner % p.dims[d]));
  }
  weft_text_add(text, p.rank ? "]" : "");
}

/// node 'words' (Gather): index 40000 at [0, 3] of input 'ids' is outside 0..30521
static weft_status_t report_outside(weft_context_t *context, const weft_positions_v1 &row,
                                    const positions &p, int64_t at) {
  long long position =
      row.bits == 32 ? ((const int32_t *)p.data)[at] : ((const int64_t *)p.data)[at];
  long long size = p.sizes[at % p.size_count];
  const weft_descriptor_t &descriptor = context->module->descriptor;
  const char *node = weft_text(descriptor, row.node), *of = weft_text(descriptor, row.of);
  weft_message_t m;
  if (*node)
    weft_text_add(&m.text, "%.200s: ", node);
  weft_text_add(&m.text, "index %lld", position);
  add_place(&m.text, p, at);
  if (*of)
    weft_text_add(&m.text, " of %.100s", of);
  if (size)
    weft_text_add(&m.text, " is outside %lld..%lld", position < 0 ? -size : 0, size - 1);
  else
    weft_text_add(&m.text, " is outside an empty dimension");
  return m.fail(context->call.err, WEFT_INVALID, "W0419");
}

void weft_check_positions(weft_frame_v1 *frame, int64_t row, const int64_t *words) {
  weft_context_t *context = (weft_context_t *)frame->context;
  const weft_list_t &rows = context->call.function->positions;
  if (row < 0 || row >= rows.count)
    weft_leave_call(context, weft_fail(context->call.err, WEFT_BAD_ARTIFACT, "W0511",
                                       "%.150s: its code asked for positions %lld of %u: this is a "
                                       "fault of the compiler",
                                       context->module->path(), (long long)row, rows.count));
  auto found = weft_item<weft_positions_v1>(context->module->descriptor, rows, (uint32_t)row);
  positions p = read_words(found, words);
  if (context->accelerated)
    p.data = weft_bring(context, p.data, p.count * (found.bits / 8));
  int64_t at = found.bits == 32 ? find_outside<int32_t>(p) : find_outside<int64_t>(p);
  if (at < p.count)
    weft_leave_call(context, report_outside(context, found, p, at));
}
