#include "runtime/src/cpu/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void futex_wait(std::atomic<uint32_t> *word, uint32_t expected) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

static void futex_wake(std::atomic<uint32_t> *word) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void weft_relax(void) {
#if defined(__x86_64__)
  _mm_pause();
#else
  __asm__ volatile("yield");
#endif
}

uint64_t weft_now_ns(void) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int64_t now_ns() { return (int64_t)weft_now_ns(); }

/// Spins until `word` is no longer `value`, at most `spin_us`, and only while `go_on` is not 0.
static bool spin_while(const std::atomic<uint32_t> &word, uint32_t value, int32_t spin_us,
                       const std::atomic<uint32_t> &go_on) {
  if (spin_us <= 0)
    return word.load(std::memory_order_acquire) != value;
  int64_t deadline = now_ns() + spin_us * 1000ll;
  do
    for (int i = 0; i < 32; ++i) {
      if (word.load(std::memory_order_acquire) != value)
        return true;
      weft_relax();
    }
  while (go_on.load(std::memory_order_relaxed) && now_ns() < deadline);
  return false;
}

void weft_split(int64_t units, int64_t grain, int32_t pieces, int32_t piece, int64_t *out_begin,
                int64_t *out_end) {
  int64_t chunks = weft_chunks(units, grain);
  int64_t each = chunks / pieces, more = chunks % pieces;
  int64_t first = piece * each + (piece < more ? piece : more);
  int64_t last = first + each + (piece < more);
  *out_begin = first * grain;
  *out_end = last == chunks ? units : last * grain; // the last chunk may be smaller
}

void weft_compute_piece(const weft_region_t &region, int32_t piece, weft_worker_t *worker) {
  int64_t begin, end;
  if (region.count == 1) {
    weft_split(region.parts->units, region.parts->grain, region.pieces, piece, &begin, &end);
    return weft_call_kernel(*region.parts, begin, end, worker);
  }
  for (int32_t i = 0; i < region.count; ++i) {
    weft_share_of(region.parts, i, region.sharers, piece, region.shares, &begin, &end);
    uint64_t start = region.is_timed ? weft_now_ns() : 0;
    if (begin < end)
      weft_call_kernel(region.parts[i], begin, end, worker);
    if (region.is_timed)
      region.shares.spent[(size_t)i * region.sharers + piece] = weft_now_ns() - start;
  }
}

static void wait_for_ticket(weft_pool_slot_t *slot, uint32_t seen) {
  weft_pool_t *pool = slot->pool;
  if (spin_while(slot->ticket, seen, pool->spin_us, pool->in_call))
    return;
  // The giver first changes the ticket and then looks whether we sleep; we do it the other way
  // round.
  slot->asleep.store(1);
  while (slot->ticket.load() == seen)
    futex_wait(&slot->ticket, seen);
  slot->asleep.store(0, std::memory_order_relaxed);
}

static void *work(void *argument) {
  weft_pool_slot_t *slot = (weft_pool_slot_t *)argument;
  weft_pool_t *pool = slot->pool;
  weft_float_mode_enter();
  for (uint32_t seen = 0;;) {
    wait_for_ticket(slot, seen);
    seen = slot->ticket.load(std::memory_order_acquire);
    const weft_region_t *region = slot->region;
    if (!region)
      return nullptr;
    weft_compute_piece(*region, slot->piece, &region->workers[slot->piece]);
    if (pool->pending.fetch_sub(1) == 1 && pool->caller_asleep.load())
      futex_wake(&pool->pending);
  }
}

static void give(weft_pool_slot_t *slot, const weft_region_t *region, int32_t piece) {
  slot->region = region;
  slot->piece = piece;
  slot->ticket.fetch_add(1);
  if (slot->asleep.load())
    futex_wake(&slot->ticket);
}

/// Starts the workers, with all signals blocked: handlers belong to the program's own threads.
static void start_workers(weft_pool_t *pool) {
  pool->is_started = true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return;
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int32_t i = 1; i < pool->threads; ++i) {
    if (pthread_create(&pool->slots[i].thread, &attributes, work, &pool->slots[i]) != 0)
      break;
    pool->started = i;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Workers may run where the caller may, but not on the CPU it is on when there are enough others.
/// A system likes to wake a thread beside its waker and takes tens of milliseconds to notice that
/// the two share a CPU while another one is idle.
static void keep_off(weft_pool_t *pool, int cpu) {
  pool->caller_cpu = cpu;
  cpu_set_t set;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0)
    return;
  if (CPU_COUNT(&set) >= pool->threads)
    CPU_CLR(cpu, &set);
  for (int32_t i = 1; i <= pool->started; ++i)
    pthread_setaffinity_np(pool->slots[i].thread, sizeof set, &set);
}

void weft_pool_init(weft_pool_t *pool, weft_pool_slot_t *slots, int32_t threads, int32_t spin_us) {
  pool->pending.store(0);
  pool->caller_asleep.store(0);
  pool->in_call.store(0);
  pool->threads = threads;
  pool->started = 0;
  pool->spin_us = spin_us;
  pool->caller_cpu = -1;
  pool->is_started = false;
  pool->slots = slots;
  for (int32_t i = 0; i < threads; ++i) {
    slots[i].ticket.store(0);
    slots[i].asleep.store(0);
    slots[i].pool = pool;
  }
}

void weft_pool_begin_call(weft_pool_t *pool) {
  pool->in_call.store(1, std::memory_order_relaxed);
  if (!pool->started)
    return;
  int cpu = sched_getcpu();
  if (cpu != pool->caller_cpu)
    keep_off(pool, cpu);
}

void weft_pool_end_call(weft_pool_t *pool) { pool->in_call.store(0, std::memory_order_relaxed); }

static void wait_for_others(weft_pool_t *pool) {
  int64_t deadline = pool->spin_us > 0 ? now_ns() + pool->spin_us * 1000ll : 0;
  while (deadline && now_ns() < deadline)
    for (int i = 0; i < 32; ++i) {
      if (!pool->pending.load(std::memory_order_acquire))
        return;
      weft_relax();
    }
  pool->caller_asleep.store(1);
  while (uint32_t left = pool->pending.load())
    futex_wait(&pool->pending, left);
  pool->caller_asleep.store(0, std::memory_order_relaxed);
}

int32_t weft_pool_workers(weft_pool_t *pool) {
  if (!pool->is_started && pool->threads > 1) {
    start_workers(pool);
    keep_off(pool, sched_getcpu());
  }
  return pool->started + 1;
}

bool weft_pool_is_awake(const weft_pool_t *pool) {
  return pool->started && !pool->slots[1].asleep.load(std::memory_order_relaxed);
}

void weft_pool_run(weft_pool_t *pool, const weft_region_t *region) {
  pool->pending.store((uint32_t)region->pieces - 1);
  for (int32_t i = 1; i < region->pieces; ++i)
    give(&pool->slots[i], region, i);
  weft_compute_piece(*region, 0, &region->workers[0]);
  if (region->pieces > 1)
    wait_for_others(pool);
}

void weft_pool_stop(weft_pool_t *pool) {
  for (int32_t i = 1; i <= pool->started; ++i)
    give(&pool->slots[i], nullptr, 0);
  for (int32_t i = 1; i <= pool->started; ++i)
    pthread_join(pool->slots[i].thread, nullptr);
  pool->started = 0;
  pool->is_started = false;
}

/// The first line of a small file; false when there is none.
static bool read_line(const char *path, char *line, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t got = read(fd, line, size - 1);
  close(fd);
  if (got <= 0)
    return false;
  line[got] = 0;
  return true;
}

static void lower_by_quota(int64_t quota, int64_t period, int64_t *cpus) {
  if (quota > 0 && period > 0 && (quota - 1) / period + 1 < *cpus)
    *cpus = (quota - 1) / period + 1;
}

/// Control groups, version 2: the quota of the process's group and of all groups above it.
static void apply_quota_v2(int64_t *cpus) {
  char text[4096], path[4400], line[64];
  if (!read_line("/proc/self/cgroup", text, sizeof text))
    return;
  char *group = strstr(text, "0::/");
  if (!group || (group != text && group[-1] != '\n'))
    return;
  group += 3;
  for (size_t length = strcspn(group, "\n");; --length) {
    group[length] = 0;
    long long quota, period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    if (read_line(path, line, sizeof line) && sscanf(line, "%lld %lld", &quota, &period) == 2)
      lower_by_quota(quota, period, cpus);
    while (length > 0 && group[length - 1] != '/')
      --length;
    if (length == 0)
      return;
  }
}

static void apply_quota_v1(int64_t *cpus) {
  char quota[64], period[64];
  if (read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, sizeof quota) &&
      read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period))
    lower_by_quota(atoll(quota), atoll(period), cpus);
}

int32_t weft_cpus_allowed(void) {
  cpu_set_t set;
  bool is_known = sched_getaffinity(0, sizeof set, &set) == 0; // else: more CPUs than it has bits
  int64_t cpus = is_known ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  apply_quota_v2(&cpus);
  apply_quota_v1(&cpus);
  return cpus < 1 ? 1 : cpus > WEFT_MAX_WORKERS ? (int32_t)WEFT_MAX_WORKERS : (int32_t)cpus;
}

int64_t weft_last_cache_bytes(void) {
  char line[32];
  bool is_known = read_line("/sys/devices/system/cpu/cpu0/cache/index3/size", line, sizeof line);
  return is_known ? atoll(line) * 1024 : 0; // "32768K"
}

uint64_t weft_float_mode_enter(void) {
#if defined(__x86_64__)
  uint32_t saved = _mm_getcsr();
  _mm_setcsr(0x1F80);
  return saved;
#else
  uint64_t saved;
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
  __asm__ volatile("msr fpcr, %0" : : "r"(0ull));
  return saved;
#endif
}

void weft_float_mode_leave(uint64_t saved) {
#if defined(__x86_64__)
  _mm_setcsr((uint32_t)saved);
#else
  __asm__ volatile("msr fpcr, %0" : : "r"(saved));
#endif
}
