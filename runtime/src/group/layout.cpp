#include "runtime/src/group/layout.h"

#include <string.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "runtime/src/base/status.h"
#include "runtime/src/group/combine.h"

static const char *const kinds[] = {"?",          "all_reduce", "all_gather", "reduce_scatter",
                                    "all_to_all", "broadcast",  "permute"};
/// So few that their pieces can be counted.
static const int64_t most_bytes = int64_t(1) << 44;
static const char *const combiners[] = {"?", "sum", "max", "min", "prod"};

const char *weft_kind_name(uint32_t kind) { return kinds[kind <= WEFT_PERMUTE ? kind : 0]; }

const char *weft_combiner_name(uint32_t combiner) {
  return combiners[combiner <= WEFT_PROD ? combiner : 0];
}

void weft_part_of(int64_t extent, int32_t world, int32_t rank, int64_t *out_begin,
                  int64_t *out_end) {
  int64_t part = extent / world + (extent % world != 0);
  // rank * part overflows only where it is far behind the end.
  int64_t begin, end;
  if (__builtin_mul_overflow(part, (int64_t)rank, &begin) || begin > extent)
    begin = extent;
  if (__builtin_add_overflow(begin, part, &end) || end > extent)
    end = extent;
  *out_begin = begin;
  *out_end = end;
}

namespace {
/// A dimension, and the rows of it that one rank has.
struct share {
  int64_t begin, size;

  share(int64_t extent, int32_t world, int32_t rank) {
    int64_t end;
    weft_part_of(extent, world, rank, &begin, &end);
    size = end - begin;
  }
  /// Of the first dimension, what a piece has of it.
  share(const weft_collective_t &c, int32_t world, int32_t rank) : share(c.first, world, rank) {
    if (!c.rows)
      return;
    int64_t before = c.from < size ? c.from : size;
    begin += before;
    size = c.rows < size - before ? c.rows : size - before;
  }
};
} // namespace

/// Rows `rows` of the middle dimension of [outer, extent, inner].
static weft_view_t rows_of(int64_t outer, int64_t extent, int64_t inner, const share &rows) {
  return {rows.begin * inner, outer, rows.size * inner, extent * inner};
}

static int64_t whole_size(const weft_collective_t &c) { return c.outer * c.first * c.inner; }

bool weft_flows(const weft_collective_t &c, int32_t world, int32_t from, int32_t to) {
  if (c.kind == WEFT_BROADCAST)
    return from == c.peer;
  if (c.kind != WEFT_PERMUTE)
    return true;
  int32_t shift = c.peer % world;
  return to == ((c.is_reversed ? -from : from) + shift + 2 * world) % world;
}

/// Of all_to_all, where `first` is split: what the rank with `second` rows of the second dimension is sent.
static weft_view_t second_of_first(const weft_collective_t &c, const share &first,
                                   const share &second) {
  return rows_of(c.outer * first.size * c.middle, c.second, c.inner, second);
}

/// Where `second` is split: the elements with `first` rows of the first dimension.
static weft_view_t first_of_second(const weft_collective_t &c, const share &first,
                                   const share &second) {
  return rows_of(c.outer, c.first, c.middle * second.size * c.inner, first);
}

weft_view_t weft_sent(const weft_collective_t &c, int32_t world, int32_t from, int32_t to) {
  switch (c.kind) {
  case WEFT_ALL_GATHER:
    return weft_view_whole(c.outer * share(c, world, from).size * c.inner);
  case WEFT_REDUCE_SCATTER:
    return rows_of(c.outer, c.first, c.inner, share(c, world, to));
  case WEFT_ALL_TO_ALL:
    return c.is_reversed
               ? first_of_second(c, share(c.first, world, to), share(c.second, world, from))
               : second_of_first(c, share(c.first, world, from), share(c.second, world, to));
  default:
    return weft_view_whole(whole_size(c));
  }
}

weft_view_t weft_received(const weft_collective_t &c, int32_t world, int32_t from, int32_t to) {
  switch (c.kind) {
  case WEFT_ALL_GATHER:
    return rows_of(c.outer, c.first, c.inner, share(c, world, from));
  case WEFT_REDUCE_SCATTER:
    return weft_view_whole(c.outer * share(c, world, to).size * c.inner);
  case WEFT_ALL_TO_ALL:
    return c.is_reversed
               ? second_of_first(c, share(c.first, world, to), share(c.second, world, from))
               : first_of_second(c, share(c.first, world, from), share(c.second, world, to));
  case WEFT_PERMUTE:
    return weft_view_whole(weft_has_own_sizes(c) ? c.received : whole_size(c));
  default:
    return weft_view_whole(whole_size(c));
  }
}

int64_t weft_longest_sent(const weft_collective_t &c, int32_t world) {
  if (weft_has_own_sizes(c))
    return c.longest;
  return weft_view_size(weft_sent(c, world, 0, 0)); // rank 0 has the largest part
}

int64_t weft_sent_end(const weft_collective_t &c, int32_t world, int32_t from) {
  int64_t end = 0;
  for (int32_t to = 0; to < world; ++to) {
    weft_view_t view = weft_sent(c, world, from, to);
    int64_t last = view.at + (view.blocks - 1) * view.stride + view.run;
    end = weft_view_size(view) && last > end ? last : end;
  }
  return end;
}

int64_t weft_view_run(const weft_view_t &view, int64_t index, int64_t *out_at) {
  if (view.blocks == 1) {
    *out_at = view.at + index;
    return view.run - index;
  }
  int64_t within = index % view.run;
  *out_at = view.at + index / view.run * view.stride + within;
  return view.run - within;
}

/// memcpy that leaves the target out of the caches, which are too small for it: its lines need not be read before they are written.
static void copy_past_caches(uint8_t *target, const uint8_t *source, int64_t bytes) {
#ifdef __x86_64__
  int64_t head = -(int64_t)(uintptr_t)target & 63;
  head = head < bytes ? head : bytes;
  memcpy(target, source, (size_t)head);
  int64_t i = head;
  for (; i + 64 <= bytes; i += 64)
    for (int64_t j = i; j < i + 64; j += 16)
      _mm_stream_si128((__m128i *)(target + j), _mm_loadu_si128((const __m128i *)(source + j)));
  _mm_sfence(); // before a flag says that it is there
  memcpy(target + i, source + i, (size_t)(bytes - i));
#else
  memcpy(target, source, (size_t)bytes);
#endif
}

void weft_copy_view(const weft_view_t &to_view, void *to, const weft_view_t &from_view,
                    const void *from, const weft_range_t &range, int64_t element_bytes) {
  for (int64_t index = range.begin, count; index < range.end; index += count) {
    int64_t to_at, from_at;
    int64_t to_run = weft_view_run(to_view, index, &to_at),
            from_run = weft_view_run(from_view, index, &from_at);
    count = to_run < from_run ? to_run : from_run;
    count = count < range.end - index ? count : range.end - index;
    uint8_t *target = (uint8_t *)to + to_at * element_bytes;
    const uint8_t *source = (const uint8_t *)from + from_at * element_bytes;
    if (target == source) // in place
      continue;
    int64_t bytes = count * element_bytes;
    if (range.passes_caches && bytes >= 1024) // of short runs, the ends would cost more
      copy_past_caches(target, source, bytes);
    else
      memcpy(target, source, (size_t)bytes);
  }
}

static weft_status_t check_sizes(const weft_collective_t &c, int64_t element_bytes,
                                 weft_error_t *err) {
  bool is_exchange = c.kind == WEFT_ALL_TO_ALL;
  const int64_t sizes[] = {c.outer, c.first, is_exchange ? c.middle : 1, is_exchange ? c.second : 1,
                           c.inner};
  int64_t bytes = element_bytes;
  for (int64_t size : sizes)
    if (size < 0)
      return weft_fail(err, WEFT_INVALID, "W0602", "%s: a size is %lld", weft_kind_name(c.kind),
                       (long long)size);
  // An empty dimension hides no overflow: sizes of views multiply some of them only.
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, size ? size : 1, &bytes) || bytes > most_bytes)
      return weft_fail(err, WEFT_INVALID, "W0602", "%s: more than 16 TiB", weft_kind_name(c.kind));
  return WEFT_OK;
}

static weft_status_t check_peer(const weft_collective_t &c, int32_t world, weft_error_t *err) {
  if (c.kind == WEFT_BROADCAST && (c.peer < 0 || c.peer >= world))
    return weft_fail(err, WEFT_INVALID, "W0602", "broadcast: rank %d of %d ranks is the root",
                     c.peer, world);
  if (c.kind == WEFT_PERMUTE && (c.peer <= -world || c.peer >= world))
    return weft_fail(err, WEFT_INVALID, "W0602", "permute: %d ranks cannot be shifted by %d", world,
                     c.peer);
  return WEFT_OK;
}

static weft_status_t check_longest(const weft_collective_t &c, int64_t element_bytes,
                                   weft_error_t *err) {
  if (!weft_has_own_sizes(c))
    return WEFT_OK;
  bool fits = c.longest > 0 && c.longest <= most_bytes / element_bytes && c.first <= c.longest &&
              c.received >= 0 && c.received <= c.longest && c.outer == 1 && c.inner == 1;
  return fits ? WEFT_OK
              : weft_fail(err, WEFT_INVALID, "W0602",
                          "permute: %lld elements are sent and %lld received, of %lld at most",
                          (long long)(c.outer * c.first * c.inner), (long long)c.received,
                          (long long)c.longest);
}

static weft_status_t check_piece(const weft_collective_t &c, weft_error_t *err) {
  if (!c.from && !c.rows)
    return WEFT_OK;
  bool has_pieces = c.kind == WEFT_ALL_GATHER || c.kind == WEFT_REDUCE_SCATTER;
  bool fits = has_pieces && c.from >= 0 && c.rows > 0 && c.outer == 1;
  return fits ? WEFT_OK
              : weft_fail(err, WEFT_INVALID, "W0602", "%s: %lld rows from row %lld on are no piece",
                          weft_kind_name(c.kind), (long long)c.rows, (long long)c.from);
}

/// Elements of send and receive on this rank.
static void own_sizes(const weft_collective_t &c, int32_t rank, int32_t world, int64_t *out_send,
                      int64_t *out_receive) {
  *out_send = *out_receive = 0;
  for (int32_t peer = 0; peer < world; ++peer) {
    int64_t sent = weft_view_size(weft_sent(c, world, rank, peer));
    int64_t received = weft_view_size(weft_received(c, world, peer, rank));
    bool adds_up = weft_sends_parts(c) || peer == 0;
    *out_send += adds_up ? sent : 0;
    adds_up = c.kind == WEFT_ALL_GATHER || c.kind == WEFT_ALL_TO_ALL || peer == 0;
    *out_receive += adds_up ? received : 0;
  }
  if (c.kind == WEFT_BROADCAST && rank != c.peer)
    *out_send = 0;
}

static weft_status_t check_memory(const weft_collective_t &c, int32_t rank, int32_t world,
                                  int64_t element_bytes, weft_error_t *err) {
  int64_t send, receive;
  own_sizes(c, rank, world, &send, &receive);
  if ((send && !c.send) || (receive && !c.receive))
    return weft_fail(err, WEFT_INVALID, "W0602", "%s: %s is NULL", weft_kind_name(c.kind),
                     send && !c.send ? "send" : "receive");
  bool may_be_same = c.kind == WEFT_ALL_REDUCE || c.kind == WEFT_BROADCAST;
  if (!send || !receive || (may_be_same && c.send == c.receive))
    return WEFT_OK;
  uintptr_t from = (uintptr_t)c.send, to = (uintptr_t)c.receive;
  if (from < to + (uintptr_t)(receive * element_bytes) &&
      to < from + (uintptr_t)(send * element_bytes))
    return weft_fail(err, WEFT_INVALID, "W0602", "%s: send and receive overlap",
                     weft_kind_name(c.kind));
  return WEFT_OK;
}

weft_status_t weft_check_collective(const weft_collective_t &c, int32_t rank, int32_t world,
                                    weft_error_t *err) {
  if (c.kind < WEFT_ALL_REDUCE || c.kind > WEFT_PERMUTE)
    return weft_fail(err, WEFT_INVALID, "W0602", "there is no collective of kind %u", c.kind);
  uint32_t bits = weft_element_bits(c.element);
  if (bits < 8)
    return weft_fail(err, WEFT_INVALID, "W0602", "%s: elements of type %s cannot be sent",
                     weft_kind_name(c.kind), weft_element_name(c.element));
  if (weft_combines(c) && !weft_can_combine(c.element, c.combiner))
    return weft_fail(err, WEFT_INVALID, "W0602", "%s: there is no %s of %s", weft_kind_name(c.kind),
                     weft_combiner_name(c.combiner), weft_element_name(c.element));
  if (weft_status_t status = check_sizes(c, bits / 8, err))
    return status;
  if (weft_status_t status = check_peer(c, world, err))
    return status;
  if (weft_status_t status = check_longest(c, bits / 8, err))
    return status;
  if (weft_status_t status = check_piece(c, err))
    return status;
  return check_memory(c, rank, world, bits / 8, err);
}
