// The pool of a context: persistent workers that share the units of one region at a time.
//
//   weft_pool_init(pool, threads, spin_us);            no thread yet
//   weft_pool_begin_call(pool); … weft_pool_run(pool, &region) …; weft_pool_end_call(pool);
//   weft_pool_stop(pool);                              joins all
//
// The caller is worker 0. Between calls every worker sleeps. The split of a region is static:
// worker p gets the p-th contiguous piece of every part, a multiple of its grain.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include <atomic>

#include "runtime/src/cpu/shares.h"

/// More workers than any machine has; keeps sizes small enough to add.
enum { WEFT_MAX_WORKERS = 1024, WEFT_SPIN_US = 50 };

/// Kernels that run at the same time. One alone is split evenly; several as `shares` say, which are for `sharers` workers. `workers`
/// has as many elements as the pool has threads.
struct weft_region_t {
  const weft_part_v1 *parts;
  int32_t count, sharers;
  int32_t pieces; ///< workers that have something to do
  bool is_timed;  ///< sets shares.spent
  weft_shares_t shares;
  weft_worker_t *workers;
};

/// For functions that call into an image: UBSan would look for type information before the callee.
#if defined(__clang__)
#define WEFT_CALLS_IMAGE __attribute__((no_sanitize("function")))
#else
#define WEFT_CALLS_IMAGE
#endif

WEFT_CALLS_IMAGE inline void weft_call_kernel(const weft_part_v1 &part, int64_t begin, int64_t end,
                                              weft_worker_t *worker) {
  part.kernel(part.words, begin, end, worker);
}

/// Computes piece `piece` of every part.
void weft_compute_piece(const weft_region_t &region, int32_t piece, weft_worker_t *worker);
/// CLOCK_MONOTONIC.
uint64_t weft_now_ns(void);
/// Tells the processor that this thread spins.
void weft_relax(void);

struct weft_pool;

/// A worker's letter box, alone on its cache line.
struct alignas(64) weft_pool_slot_t {
  std::atomic<uint32_t> ticket; ///< counts the regions given to this worker; the futex it sleeps on
  std::atomic<uint32_t> asleep;
  const weft_region_t *region; ///< NULL: end
  int32_t piece;               ///< of the region
  weft_pool *pool;
  pthread_t thread;
};

struct alignas(64) weft_pool {
  alignas(64) std::atomic<uint32_t> pending; ///< pieces that other workers still compute
  std::atomic<uint32_t> caller_asleep;
  alignas(64) std::atomic<uint32_t> in_call;
  int32_t threads, started; ///< wanted, and running besides the caller
  int32_t spin_us;
  int32_t caller_cpu; ///< that the workers keep off; -1 before the first region
  bool is_started;
  weft_pool_slot_t *slots; ///< threads elements; slot 0 is not used
};
typedef struct weft_pool weft_pool_t;

void weft_pool_init(weft_pool_t *pool, weft_pool_slot_t *slots, int32_t threads, int32_t spin_us);
void weft_pool_begin_call(weft_pool_t *pool);
void weft_pool_end_call(weft_pool_t *pool);
/// Workers there are, with the caller. Starts them the first time; the system may give fewer than wanted.
int32_t weft_pool_workers(weft_pool_t *pool);
/// Whether the workers wait for the next region without sleeping, so far as can be told.
bool weft_pool_is_awake(const weft_pool_t *pool);
/// Computes the region, which has no more pieces than there are workers, and returns when all its units are done.
void weft_pool_run(weft_pool_t *pool, const weft_region_t *region);
void weft_pool_stop(weft_pool_t *pool);

/// Units [*out_begin, *out_end) of piece `piece` of `pieces`.
void weft_split(int64_t units, int64_t grain, int32_t pieces, int32_t piece, int64_t *out_begin,
                int64_t *out_end);

/// CPUs this process may use, by its affinity mask and the CPU quota of its control group. At least
/// 1.
int32_t weft_cpus_allowed(void);

/// Of the third-level cache that the first CPU shares with its neighbours; 0: not known.
int64_t weft_last_cache_bytes(void);

/// Sets rounding to nearest and keeps denormals, so that results do not depend on what the calling
/// program set; returns what to restore.
uint64_t weft_float_mode_enter(void);
void weft_float_mode_leave(uint64_t saved);
