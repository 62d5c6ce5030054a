#include "runtime/src/base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

size_t weft_block_alignment(size_t bytes) { return bytes >= WEFT_HUGE_PAGE ? WEFT_HUGE_PAGE : 64; }

/// malloc would put a header in front of the block and so waste the alignment.
static void *map_block(size_t bytes) {
  size_t span;
  if (__builtin_add_overflow(bytes, (size_t)WEFT_HUGE_PAGE, &span))
    return nullptr;
  void *whole = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED)
    return nullptr;
  uint8_t *begin = (uint8_t *)whole;
  size_t head = -(uintptr_t)begin & (WEFT_HUGE_PAGE - 1);
  size_t page = (size_t)sysconf(_SC_PAGESIZE), kept = (bytes + page - 1) & ~(page - 1);
  if (head)
    munmap(begin, head);
  munmap(begin + head + kept, span - head - kept);
  madvise(begin + head, kept, MADV_HUGEPAGE);
  return begin + head;
}

void *weft_allocate(const weft_env_t *env, size_t bytes, size_t alignment) {
  if (env->allocate)
    return env->allocate(env->user, bytes, alignment);
  if (bytes >= WEFT_HUGE_PAGE)
    return map_block(bytes);
  void *pointer = nullptr;
  return posix_memalign(&pointer, alignment, bytes) == 0 ? pointer : nullptr;
}

void weft_free(const weft_env_t *env, void *pointer, size_t bytes) {
  if (!pointer)
    return;
  if (env->allocate)
    env->release(env->user, pointer, bytes);
  else if (bytes >= WEFT_HUGE_PAGE)
    munmap(pointer, bytes);
  else
    free(pointer);
}
