// Memory of ranks that the others read: of processes, a further part of the file that the board lies in, which all map.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/status.h"
#include "runtime/src/group/link.h"

namespace {
/// What every rank says before memory is shared, and after it mapped the file.
struct offer_t {
  int64_t bytes;
  void *memory;             ///< of threads
  int32_t reason, reserved; ///< errno; 0: none
};
} // namespace

static int64_t whole_pages(int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

static void *map(int file, uint64_t offset, int64_t bytes) {
  int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void *memory = mmap(nullptr, (size_t)bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)offset);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// What all ranks map of the file, or what a thread has.
static int64_t mapped_bytes(const weft_shared_link_t *link, int64_t bytes) {
  return link->in_one_process ? bytes : bytes * link->world;
}

/// Compares what the ranks say; every rank comes to the same answer.
static weft_status_t judge(const weft_shared_link_t *link, const offer_t *offers,
                           weft_error_t *err) {
  for (int32_t rank = 0; rank < link->world; ++rank) {
    if (offers[rank].bytes != offers[0].bytes)
      return weft_fail(err, WEFT_MISMATCH, "W0604", "rank %d shares %lld bytes, but rank 0 %lld",
                       rank, (long long)offers[rank].bytes, (long long)offers[0].bytes);
    if (offers[rank].reason)
      return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603",
                       "no memory of %lld bytes that %d ranks share: %s",
                       (long long)offers[rank].bytes, link->world, strerror(offers[rank].reason));
  }
  return WEFT_OK;
}

/// Makes the memory: every thread its own; of processes, rank 0 makes the file longer, and then all map it.
static weft_status_t make(weft_shared_link_t *link, offer_t *own, offer_t *offers,
                          weft_error_t *err) {
  if (link->in_one_process)
    own->memory = map(-1, 0, own->bytes);
  else if (link->rank == 0 &&
           fallocate(link->file, 0, (off_t)link->file_bytes, mapped_bytes(link, own->bytes)) != 0)
    own->reason = errno;
  if (link->in_one_process && !own->memory)
    own->reason = errno;
  weft_status_t status = weft_link_gather(link, "share", own, sizeof *own, offers, err);
  if (!status)
    status = judge(link, offers, err);
  if (status || link->in_one_process)
    return status;
  own->memory = map(link->file, link->file_bytes, mapped_bytes(link, own->bytes));
  own->reason = own->memory ? 0 : errno;
  status = weft_link_gather(link, "share", own, sizeof *own, offers, err);
  return status ? status : judge(link, offers, err);
}

weft_status_t weft_link_share(weft_shared_link_t *link, int64_t bytes, void ***out_peers,
                              weft_error_t *err) {
  int64_t most = (int64_t(1) << weft_reach_t::area_shift) / link->world;
  int32_t index = link->reach.area_count;
  if (bytes > most / 2 || index == WEFT_MAX_AREAS)
    return weft_fail(err, WEFT_INVALID, "W0601",
                     index == WEFT_MAX_AREAS ? "memory is shared %d times at most"
                                             : "more bytes than %d ranks can share",
                     index == WEFT_MAX_AREAS ? (int)WEFT_MAX_AREAS : link->world);
  link->file_bytes = (uint64_t)whole_pages((int64_t)link->file_bytes); // the board's end
  offer_t own = {whole_pages(bytes), nullptr, 0, 0}, offers[WEFT_MAX_WORLD];
  void **peers = (void **)weft_allocate(&link->env, (size_t)link->world * sizeof(void *), 64);
  own.reason = peers ? 0 : ENOMEM;
  weft_status_t status = make(link, &own, offers, err);
  if (status) {
    if (own.memory)
      munmap(own.memory, (size_t)mapped_bytes(link, own.bytes));
    weft_free(&link->env, peers, (size_t)link->world * sizeof(void *));
    return status;
  }
  link->reach.areas[index] = {(uint8_t *)own.memory, own.bytes};
  link->reach.area_count = index + 1;
  link->file_bytes += (uint64_t)mapped_bytes(link, own.bytes);
  for (int32_t rank = 0; rank < link->world; ++rank)
    peers[rank] =
        link->in_one_process ? offers[rank].memory : (uint8_t *)own.memory + rank * own.bytes;
  *out_peers = link->peers[index] = peers;
  return WEFT_OK;
}

void weft_link_unshare(weft_shared_link_t *link) {
  for (int32_t i = 0; i < link->reach.area_count; ++i) {
    const weft_area_t &area = link->reach.areas[i];
    munmap(area.begin, (size_t)mapped_bytes(link, area.bytes));
    weft_free(&link->env, link->peers[i], (size_t)link->world * sizeof(void *));
  }
}
