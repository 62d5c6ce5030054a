#include "runtime/src/cpu/shares.h"

#include <stddef.h>

/// What it takes to give pieces to other workers and to wait for them, in nanoseconds: when they are awake, and when the first has to
/// wake them. Every part of several costs the workers half a barrier more, because what they read of it lies in the caller's cache.
static const double kBarrier = 1000, kWaking = 20000, kPart = 500;

int64_t weft_chunks(int64_t units, int64_t grain) { return units / grain + (units % grain != 0); }

size_t weft_shares_bytes(int32_t workers) {
  return (size_t)workers * (sizeof(double) + WEFT_MAX_PARTS * (sizeof(int64_t) + sizeof(uint64_t)));
}

weft_shares_t weft_shares_in(void *memory, int32_t workers) {
  double *loads = (double *)memory;
  int64_t *ends = (int64_t *)(loads + workers);
  return {loads, ends, (uint64_t *)(ends + (size_t)workers * WEFT_MAX_PARTS)};
}

static int64_t chunks_of(const weft_part_v1 &part) {
  return part.units > 0 ? weft_chunks(part.units, part.grain) : 0;
}

/// Nanoseconds of a chunk, as estimated; at least a little, so that chunks without an estimate count.
static double chunk_time(const weft_part_v1 &part) {
  double time = part.work / (double)chunks_of(part);
  return time >= 1 && time < 1e15 ? time : 1;
}

/// The load that all workers reach which are not above it already, when `work` more is spread.
static double find_level(const double *loads, int32_t workers, double work) {
  double sum = work;
  for (int32_t w = 0; w < workers; ++w)
    sum += loads[w];
  double level = sum / workers;
  // Leaving out who is above it lowers the level, so that others may be above it then.
  for (int32_t before = workers;;) {
    int32_t below = 0;
    sum = work;
    for (int32_t w = 0; w < workers; ++w)
      if (loads[w] < level) {
        sum += loads[w];
        ++below;
      }
    if (!below || below >= before)
      return level;
    before = below;
    level = sum / below;
  }
}

/// Spreads `chunks` that take `time` each, so that loads end as level as whole chunks allow.
static void spread(double *loads, int32_t workers, int64_t chunks, double time, int64_t *counts) {
  double level = find_level(loads, workers, (double)chunks * time);
  int64_t left = chunks;
  for (int32_t w = 0; w < workers; ++w) {
    double room = loads[w] < level ? (level - loads[w]) / time : 0;
    counts[w] = room < (double)left ? (int64_t)room : left;
    left -= counts[w];
  }
  int64_t each = left / workers; // not 0 only beyond what doubles count exactly
  left -= each * workers;
  for (int32_t w = 0; w < workers; ++w) {
    counts[w] += each;
    loads[w] += (double)counts[w] * time;
  }
  for (; left > 0; --left) {
    int32_t least = 0;
    for (int32_t w = 1; w < workers; ++w)
      if (loads[w] < loads[least])
        least = w;
    ++counts[least];
    loads[least] += time;
  }
}

/// Parts with the largest chunks first: the small ones then level out what those left.
static void sort_by_chunk(const weft_part_v1 *parts, int32_t count, int32_t *order) {
  for (int32_t i = 0; i < count; ++i) {
    int32_t at = i;
    for (; at > 0 && chunk_time(parts[order[at - 1]]) < chunk_time(parts[i]); --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

bool weft_have_gaps(const weft_part_v1 *parts, int32_t count, int32_t workers) {
  for (int32_t i = 0; i < count; ++i)
    if (chunks_of(parts[i]) % workers != 0)
      return true;
  return false;
}

int32_t weft_share(const weft_part_v1 *parts, int32_t count, int32_t workers,
                   const weft_shares_t &shares) {
  int32_t order[WEFT_MAX_PARTS];
  sort_by_chunk(parts, count, order);
  for (int32_t w = 0; w < workers; ++w)
    shares.loads[w] = 0;
  for (int32_t i = 0; i < count; ++i) {
    const weft_part_v1 &part = parts[order[i]];
    int64_t *ends = shares.ends + (size_t)order[i] * workers;
    spread(shares.loads, workers, chunks_of(part), chunk_time(part), ends);
    for (int32_t w = 1; w < workers; ++w)
      ends[w] += ends[w - 1];
  }
  // Of equal loads the first is taken, so that nobody behind an idle worker has work.
  int32_t busy = 0;
  while (busy < workers && shares.loads[busy] > 0)
    ++busy;
  return busy;
}

bool weft_sharing_pays(const weft_part_v1 *parts, int32_t count, int32_t workers, bool are_awake,
                       const weft_shares_t &shares) {
  double first = are_awake ? kBarrier : kWaking, next = first, apart = 0, together = 0;
  for (int32_t i = 0; i < count; ++i) {
    int64_t chunks = chunks_of(parts[i]);
    apart += (double)((chunks + workers - 1) / workers) * chunk_time(parts[i]);
    if (chunks > 1) {
      apart += next;
      next = kBarrier;
    }
  }
  for (int32_t w = 0; w < workers; ++w)
    if (shares.loads[w] > together)
      together = shares.loads[w];
  return together + first + count * kPart < apart;
}

void weft_share_of(const weft_part_v1 *parts, int32_t part, int32_t workers, int32_t worker,
                   const weft_shares_t &shares, int64_t *out_begin, int64_t *out_end) {
  const int64_t *ends = shares.ends + (size_t)part * workers;
  int64_t chunks = chunks_of(parts[part]), first = worker ? ends[worker - 1] : 0;
  *out_begin = first * parts[part].grain;
  *out_end = ends[worker] == chunks ? (chunks ? parts[part].units : 0)
                                    : ends[worker] * parts[part].grain; // the last may be smaller
  if (first == ends[worker])
    *out_end = *out_begin;
}
