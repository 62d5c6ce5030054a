// The transport "mpi", a plug-in: ranks that an MPI's launcher started, on one machine or several.
//
//   mpicxx -std=c++17 -O2 -shared -fPIC -fno-exceptions -fno-rtti -I. -Iruntime/include \
//     runtime/mpi/mpi_transport.cpp libweft_runtime.a -Wl,--exclude-libs,ALL -o libweft_mpi.so
//
// A collective is messages between pairs of ranks. First all tell each other what they call: a greeting. When all say the same, every rank sends
// what weft_sent says, and who receives it combines it, in the order of ranks: the bits are those of the other transports. So a wait is always for ranks
// that have a name, and it ends. A rank that ends the group, or leaves it, sends a notice, which all expect at any time.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "runtime/mpi/mpi_link.h"
#include "runtime/src/base/memory.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/ranks_text.h"

using namespace weft_mpi;

namespace {

/// Of this process: MPI begins and ends once.
struct {
  pid_t began; ///< the process that initialised MPI here, and ends it
  bool has_failed;
} process_state;

mpi_link_t *own(weft_link_t *link) { return (mpi_link_t *)link; }

const weft_collective_t &current(const mpi_link_t *link) {
  return link->waiting[link->done % most_begun];
}

//===----------------------------------------------------------------------===//
// How a group ends
//===----------------------------------------------------------------------===//

weft_status_t say_ending(const mpi_link_t *link, const weft_collective_t &collective,
                         weft_error_t *err) {
  char place[160];
  weft_text_t text = weft_text_in(place, sizeof place);
  weft_text_add_place(&text, weft_place_of(collective));
  return weft_fail(err, (weft_status_t)link->ending.status, link->ending.code, "%s: %s", place,
                   link->ending.text);
}

void tell(mpi_link_t *link, const weft_ending_t *notice) {
  for (int32_t peer = 0; peer < link->world; ++peer)
    if (peer != link->rank && link->peers[peer].told == MPI_REQUEST_NULL)
      MPI_Isend(notice, (int)sizeof *notice, MPI_BYTE, peer, tag_notice, link->comm,
                &link->peers[peer].told);
}

/// Ends the group, unless that happened before, and tells all.
weft_status_t end_group(mpi_link_t *link, const weft_ending_t &ending, weft_error_t *err) {
  if (!link->ending.status) {
    link->ending = ending;
    process_state.has_failed = true;
    tell(link, &link->ending);
  }
  return say_ending(link, current(link), err);
}

weft_ending_t ending_of(weft_status_t status, const char *code) {
  weft_ending_t ending = {};
  ending.status = status;
  snprintf(ending.code, sizeof ending.code, "%s", code);
  return ending;
}

weft_status_t fail_call(mpi_link_t *link, int result, weft_error_t *err) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(result, text, &length);
  weft_ending_t ending = ending_of(WEFT_LOST_PEER, "W0605");
  snprintf(ending.text, sizeof ending.text, "MPI failed on rank %d: %.200s", link->rank, text);
  return end_group(link, ending, err);
}

weft_status_t fail_memory(mpi_link_t *link, weft_error_t *err) {
  weft_ending_t ending = ending_of(WEFT_OUT_OF_MEMORY, "W0603");
  snprintf(ending.text, sizeof ending.text, "rank %d has no memory for messages", link->rank);
  return end_group(link, ending, err);
}

/// Hears the notices that have come.
void hear(mpi_link_t *link) {
  for (;;) {
    int has_come = 0;
    MPI_Status status;
    if (link->hears == MPI_REQUEST_NULL ||
        MPI_Test(&link->hears, &has_come, &status) != MPI_SUCCESS || !has_come)
      return;
    if (!link->notice.status)
      link->peers[status.MPI_SOURCE].has_left = true;
    else if (!link->ending.status)
      link->ending = link->notice;
    process_state.has_failed = process_state.has_failed || link->notice.status;
    MPI_Irecv(&link->notice, (int)sizeof link->notice, MPI_BYTE, MPI_ANY_SOURCE, tag_notice,
              link->comm, &link->hears);
  }
}

/// Whether the group has ended; ends it when another thread asked for that.
bool has_ended(mpi_link_t *link, weft_error_t *err) {
  hear(link);
  if (link->is_aborted.load() && !link->ending.status) {
    weft_ending_t ending = ending_of(WEFT_CANCELLED, "W0607");
    snprintf(ending.text, sizeof ending.text, "rank %d ended the group", link->rank);
    end_group(link, ending, err);
  }
  return link->ending.status != 0;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Makes room for so many more messages on their way.
bool reserve(mpi_link_t *link, int64_t more) {
  int64_t room = link->request_count + more, each = sizeof(MPI_Request) + sizeof(int32_t);
  if (room <= link->request_room)
    return true;
  uint8_t *memory = (uint8_t *)weft_allocate(&link->env, (size_t)(room * each), 64);
  if (!memory)
    return false;
  MPI_Request *requests = (MPI_Request *)memory;
  int32_t *partners = (int32_t *)(requests + room);
  for (int32_t i = 0; i < link->request_count; ++i) {
    requests[i] = link->requests[i];
    partners[i] = link->partners[i];
  }
  weft_free(&link->env, link->requests, (size_t)(link->request_room * each));
  link->requests = requests;
  link->partners = partners;
  link->request_room = (int32_t)room;
  return true;
}

struct message_t {
  void *memory;
  int64_t bytes;
  int32_t peer;
  int tag;
  bool is_sent;
};

weft_status_t post(mpi_link_t *link, const message_t &m, weft_error_t *err) {
  if (!reserve(link, m.bytes / most_message_bytes + 1))
    return fail_memory(link, err);
  for (int64_t at = 0; at < m.bytes || at == 0; at += most_message_bytes) {
    int64_t left = m.bytes - at;
    int count = (int)(left < most_message_bytes ? left : most_message_bytes);
    uint8_t *memory = (uint8_t *)m.memory + at;
    link->partners[link->request_count] = m.peer;
    MPI_Request *request = &link->requests[link->request_count];
    int result = m.is_sent ? MPI_Isend(memory, count, MPI_BYTE, m.peer, m.tag, link->comm, request)
                           : MPI_Irecv(memory, count, MPI_BYTE, m.peer, m.tag, link->comm, request);
    if (result != MPI_SUCCESS)
      return fail_call(link, result, err);
    ++link->request_count;
  }
  return WEFT_OK;
}

/// Marks the ranks of whom a message is missing.
void find_missing(mpi_link_t *link, bool *is_missing) {
  for (int32_t i = 0; i < link->request_count; ++i) {
    int is_done = 0;
    if (MPI_Test(&link->requests[i], &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
      is_missing[link->partners[i]] = true;
  }
}

//===----------------------------------------------------------------------===//
// One collective
//===----------------------------------------------------------------------===//

weft_status_t greet(mpi_link_t *link, weft_error_t *err) {
  const weft_collective_t &c = current(link);
  memset(&link->own, 0, sizeof link->own);
  link->own.signature = weft_signature_of(c, link->done + 1);
  link->own.piece = c.piece;
  link->own.pieces = c.pieces;
  if (c.node)
    snprintf(link->own.node, sizeof link->own.node, "%s", c.node);
  link->phase = greeting;
  weft_status_t status = WEFT_OK;
  for (int32_t i = 1; i < link->world && !status; ++i) {
    int32_t peer = (link->rank + i) % link->world;
    status =
        post(link, {&link->peers[peer].saying, sizeof(greeting_t), peer, tag_greeting, false}, err);
    if (!status)
      status = post(link, {&link->own, sizeof(greeting_t), peer, tag_greeting, true}, err);
  }
  return status;
}

weft_status_t compare_greetings(mpi_link_t *link, weft_error_t *err) {
  const weft_signature_t *all[WEFT_MAX_WORLD];
  bool agree = true;
  link->peers[link->rank].saying = link->own;
  for (int32_t rank = 0; rank < link->world; ++rank) {
    link->peers[rank].said = link->peers[rank].saying;
    all[rank] = &link->peers[rank].said.signature;
    agree = agree && weft_same_signature(*all[rank], link->own.signature);
  }
  if (agree)
    return WEFT_OK;
  weft_ending_t ending = ending_of(WEFT_MISMATCH, "W0604");
  weft_text_t text = weft_text_in(ending.text, sizeof ending.text);
  weft_text_add_mismatch(&text, all, link->world);
  return end_group(link, ending, err);
}

weft_mail_t mail_of(const mpi_link_t *link) {
  return {link->stages[link->stage], link->rank, link->world, link->letters};
}

bool grow_buffer(mpi_link_t *link, size_t bytes) {
  if (bytes <= link->buffer_bytes)
    return true;
  uint8_t *memory = (uint8_t *)weft_allocate(&link->env, bytes, 64);
  if (!memory)
    return false;
  weft_free(&link->env, link->buffer, link->buffer_bytes);
  link->buffer = memory;
  link->buffer_bytes = bytes;
  return true;
}

weft_status_t begin_stage(mpi_link_t *link, weft_error_t *err) {
  weft_mail_t mail = mail_of(link);
  if (!grow_buffer(link, (size_t)weft_lay_out(mail, nullptr)))
    return fail_memory(link, err);
  weft_lay_out(mail, link->buffer);
  weft_pack(mail);
  link->phase = moving;
  weft_status_t status = WEFT_OK;
  for (int32_t i = 1; i < link->world && !status; ++i) {
    int32_t peer = (link->rank + i) % link->world;
    const weft_letter_t &letter = link->letters[peer];
    if (letter.is_received)
      status = post(link, {letter.in, letter.in_bytes, peer, tag_elements, false}, err);
    if (letter.is_sent && !status)
      status = post(link, {letter.out, letter.out_bytes, peer, tag_elements, true}, err);
  }
  return status;
}

/// What follows when all messages of a phase are there.
weft_status_t go_on(mpi_link_t *link, weft_error_t *err) {
  link->request_count = 0;
  switch (link->phase) {
  case idle:
    return greet(link, err);
  case greeting:
    if (weft_status_t status = compare_greetings(link, err))
      return status;
    link->stage = 0;
    link->stage_count = weft_plan_stages(current(link), link->rank, link->world, link->stages);
    return begin_stage(link, err);
  case moving:
    weft_unpack(mail_of(link));
    if (++link->stage < link->stage_count)
      return begin_stage(link, err);
    link->phase = idle;
    ++link->done;
  }
  return WEFT_OK;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool has_died(const mpi_link_t *link, int32_t rank) {
  const place_t &place = link->peers[rank].place, &here = link->peers[link->rank].place;
  return place.process && strcmp(place.host, here.host) == 0 &&
         kill((pid_t)place.process, 0) != 0 && errno == ESRCH;
}

/// Where the rank is: ", which is at all_gather after 'x'".
void add_whereabouts(weft_text_t *text, const mpi_link_t *link, int32_t rank) {
  const greeting_t &said = link->peers[rank].said;
  if (said.signature.sequence == 0)
    return weft_text_add(text, ", which has not begun a collective");
  bool is_behind = said.signature.sequence <= link->done;
  weft_text_add(text, is_behind ? ", which came no further than " : ", which is at ");
  weft_text_add_place(text, {said.signature.kind, said.node, 0, said.piece, said.pieces});
}

weft_status_t fail_late(mpi_link_t *link, const bool *is_missing, weft_error_t *err) {
  weft_ending_t ending = ending_of(WEFT_TIMEOUT, "W0606");
  weft_text_t text = weft_text_in(ending.text, sizeof ending.text);
  weft_text_add(&text, "waited ");
  weft_text_add_seconds(&text, link->timeout_ms);
  weft_text_add(&text, " for ");
  weft_text_add_ranks(&text, is_missing, link->world);
  int32_t first = 0;
  while (first + 1 < link->world && !is_missing[first])
    ++first;
  add_whereabouts(&text, link, first);
  return end_group(link, ending, err);
}

weft_status_t fail_lost(mpi_link_t *link, int32_t rank, weft_error_t *err) {
  weft_ending_t ending = ending_of(WEFT_LOST_PEER, "W0605");
  if (link->peers[rank].has_left)
    snprintf(ending.text, sizeof ending.text, "rank %d has left the group", rank);
  else
    snprintf(ending.text, sizeof ending.text, "rank %d is lost (process %lld ended)", rank,
             (long long)link->peers[rank].place.process);
  return end_group(link, ending, err);
}

/// Whether those that are waited for can still come.
weft_status_t look_around(mpi_link_t *link, uint64_t now, weft_error_t *err) {
  bool is_over = now >= link->waits_since_ns + (uint64_t)link->timeout_ms * 1000000u;
  bool looks = is_over || now >= link->looks_again_ns;
  bool is_missing[WEFT_MAX_WORLD] = {}, is_known = false;
  if (looks)
    link->looks_again_ns = now + look_ns;
  for (int32_t rank = 0; rank < link->world; ++rank) {
    if (!looks && !link->peers[rank].has_left)
      continue;
    if (!is_known)
      find_missing(link, is_missing);
    is_known = true;
    if (is_missing[rank] && (link->peers[rank].has_left || has_died(link, rank)))
      return fail_lost(link, rank, err);
  }
  bool waits = false;
  for (int32_t rank = 0; rank < link->world; ++rank)
    waits = waits || is_missing[rank];
  return is_over && waits ? fail_late(link, is_missing, err) : WEFT_OK;
}

void pause_for(int64_t nanoseconds) {
  timespec time = {0, (long)nanoseconds};
  nanosleep(&time, nullptr);
}

void pause(const mpi_link_t *link, uint64_t now) {
  int64_t waited = (int64_t)(now - link->waits_since_ns);
  if (link->spins && waited < spin_ns)
    return weft_relax();
  int64_t sleep = waited / 4 > shortest_sleep_ns ? waited / 4 : shortest_sleep_ns;
  pause_for(sleep < longest_sleep_ns ? sleep : longest_sleep_ns);
}

weft_status_t progress(weft_link_t *moved, uint64_t ticket, int64_t wait_us, int32_t *out_done,
                       weft_error_t *err) {
  mpi_link_t *link = own(moved);
  *out_done = 0;
  if (ticket > link->begun)
    return weft_fail(err, WEFT_INVALID, "W0602", "ticket %llu was not given",
                     (unsigned long long)ticket);
  uint64_t until = weft_now_ns() + (uint64_t)(wait_us > 0 ? wait_us : 0) * 1000u;
  while (link->done < ticket) {
    int has_come = 0;
    if (!link->ending.status && !link->is_aborted.load())
      if (int result =
              MPI_Testall(link->request_count, link->requests, &has_come, MPI_STATUSES_IGNORE))
        return fail_call(link, result, err);
    if (has_come) {
      link->waits_since_ns = 0;
      if (weft_status_t status = go_on(link, err))
        return status;
      continue;
    }
    if (has_ended(link, err))
      return say_ending(link, current(link), err);
    uint64_t now = weft_now_ns();
    if (!link->waits_since_ns) {
      link->waits_since_ns = now;
      link->looks_again_ns = now + look_ns;
    }
    if (weft_status_t status = look_around(link, now, err))
      return status;
    if (now >= until)
      return WEFT_OK;
    pause(link, now);
  }
  *out_done = 1;
  return WEFT_OK;
}

weft_status_t start(weft_link_t *started, weft_queue_t *queue, const weft_collective_t *collective,
                    uint64_t *out_ticket, weft_error_t *err) {
  mpi_link_t *link = own(started);
  if (weft_status_t status = weft_check_collective(*collective, link->rank, link->world, err))
    return status;
  if (queue)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0602",
                     "%s: the transport 'mpi' has no queues of devices",
                     weft_kind_name(collective->kind));
  if (has_ended(link, err))
    return say_ending(link, *collective, err);
  if (link->begun - link->done == most_begun)
    return weft_fail(err, WEFT_BUSY, "W0602", "%s: %d collectives are under way",
                     weft_kind_name(collective->kind), (int)most_begun);
  link->waiting[link->begun % most_begun] = *collective;
  *out_ticket = ++link->begun;
  return WEFT_OK;
}

/// Gives every rank the `bytes` that each has, by rank.
weft_status_t gather(mpi_link_t *link, const char *node, const void *data, int64_t bytes, void *all,
                     weft_error_t *err) {
  weft_collective_t c = weft_gather_of_bytes(link->world, node, data, bytes, all);
  uint64_t ticket;
  weft_status_t status = start((weft_link_t *)link, nullptr, &c, &ticket, err);
  for (int32_t is_done = 0; !is_done && !status;)
    status = progress((weft_link_t *)link, ticket, 1000000, &is_done, err);
  return status;
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

bool wait_for(MPI_Request *requests, int count, int64_t nanoseconds) {
  uint64_t end = weft_now_ns() + (uint64_t)nanoseconds;
  for (int is_done = 0;;) {
    if (MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE) != MPI_SUCCESS || is_done)
      return is_done;
    if (weft_now_ns() >= end)
      return false;
    pause_for(shortest_sleep_ns);
  }
}

/// When the process ends. After a failure others may be gone, and MPI_Finalize would wait for them for ever.
void leave_mpi() {
  int is_over = 0;
  MPI_Request all_here;
  if (getpid() != process_state.began || MPI_Finalized(&is_over) != MPI_SUCCESS || is_over)
    return;
  if (process_state.has_failed && (MPI_Ibarrier(MPI_COMM_WORLD, &all_here) != MPI_SUCCESS ||
                                   !wait_for(&all_here, 1, last_barrier_ns)))
    return;
  MPI_Finalize();
}

weft_status_t enter_mpi(weft_error_t *err) {
  int is_begun = 0, is_over = 0, level = MPI_THREAD_FUNNELED;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&is_over);
  if (is_over)
    return weft_fail(err, WEFT_INVALID, "W0601", "transport 'mpi': MPI_Finalize has been called");
  if (is_begun)
    MPI_Query_thread(&level);
  else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return weft_fail(err, WEFT_IO, "W0603", "transport 'mpi': MPI_Init_thread failed");
  if (!is_begun) {
    process_state.began = getpid();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    atexit(leave_mpi);
  }
  return level >= MPI_THREAD_FUNNELED
             ? WEFT_OK
             : weft_fail(err, WEFT_UNSUPPORTED, "W0601",
                         "transport 'mpi': this MPI was started without MPI_THREAD_FUNNELED");
}

mpi_link_t *new_link(const weft_env_t &env, MPI_Comm comm, int32_t timeout_ms) {
  int rank, world;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &world);
  size_t peers_at = (sizeof(mpi_link_t) + 63) / 64 * 64;
  size_t letters_at = peers_at + (size_t)world * sizeof(peer_t);
  size_t bytes = letters_at + (size_t)world * sizeof(weft_letter_t);
  void *memory = weft_allocate(&env, bytes, 64);
  if (!memory)
    return nullptr;
  memset(memory, 0, bytes);
  mpi_link_t *link = new (memory) mpi_link_t();
  link->env = env;
  link->bytes = bytes;
  link->comm = comm;
  link->rank = rank;
  link->world = world;
  link->timeout_ms = timeout_ms;
  link->peers = (peer_t *)((uint8_t *)memory + peers_at);
  link->letters = (weft_letter_t *)((uint8_t *)memory + letters_at);
  for (int32_t i = 0; i < world; ++i)
    link->peers[i].told = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Irecv(&link->notice, (int)sizeof link->notice, MPI_BYTE, MPI_ANY_SOURCE, tag_notice, comm,
            &link->hears);
  return link;
}

place_t own_place() {
  place_t place = {};
  place.process = getpid();
  gethostname(place.host, 64);
  size_t length = strlen(place.host);
  if (readlink("/proc/self/ns/pid", place.host + length, sizeof place.host - length - 1) < 0)
    place.process = 0; // nobody can tell whether it lives
  sched_getaffinity(0, sizeof place.cpus, &place.cpus);
  return place;
}

/// Learns where the others are, and whether each rank of this machine has a CPU.
weft_status_t introduce(mpi_link_t *link, weft_error_t *err) {
  place_t here = own_place();
  size_t bytes = (size_t)link->world * sizeof here;
  place_t *all = (place_t *)weft_allocate(&link->env, bytes, 64);
  if (!all)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603", "no memory for a group of %d ranks",
                     link->world);
  weft_status_t status = gather(link, "the start", &here, sizeof here, all, err);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  int32_t neighbours = 0;
  for (int32_t rank = 0; rank < link->world && !status; ++rank) {
    link->peers[rank].place = all[rank];
    link->peers[rank].said = greeting_t();
    if (strcmp(all[rank].host, here.host) == 0) {
      CPU_OR(&cpus, &cpus, &all[rank].cpus);
      ++neighbours;
    }
  }
  link->spins = neighbours <= CPU_COUNT(&cpus);
  link->begun = link->done = 0;
  weft_free(&link->env, all, bytes);
  return status;
}

/// Ends a receive that nobody needs.
void forget(MPI_Request *request) {
  if (*request == MPI_REQUEST_NULL)
    return;
  MPI_Cancel(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

bool all_have_left(mpi_link_t *link) {
  hear(link);
  for (int32_t rank = 0; rank < link->world; ++rank)
    if (rank != link->rank && !link->peers[rank].has_left)
      return false;
  return true;
}

/// What MPI may still use is not freed: memory of messages that nobody has taken, and a communicator through which somebody may still send.
void close(weft_link_t *closed) {
  static const weft_ending_t leaves = {};
  mpi_link_t *link = own(closed);
  if (!link)
    return;
  has_ended(link, nullptr);
  uint64_t end = weft_now_ns() + farewell_ns;
  bool is_told = true;
  for (int32_t rank = 0; rank < link->world; ++rank)
    is_told = wait_for(&link->peers[rank].told, 1, is_told ? farewell_ns : 0) && is_told;
  if (is_told)
    tell(link, &leaves);
  while (!link->ending.status && !all_have_left(link) && weft_now_ns() < end)
    pause_for(shortest_sleep_ns);
  bool is_free = is_told && link->request_count == 0 && all_have_left(link);
  forget(&link->hears);
  for (int32_t rank = 0; rank < link->world; ++rank)
    is_free = wait_for(&link->peers[rank].told, 1, 0) && is_free;
  if (!is_free)
    return;
  MPI_Comm_free(&link->comm);
  weft_env_t env = link->env;
  weft_free(&env, link->requests,
            (size_t)link->request_room * (sizeof(MPI_Request) + sizeof(int32_t)));
  weft_free(&env, link->buffer, link->buffer_bytes);
  weft_free(&env, link, link->bytes);
}

weft_status_t make_link(const weft_env_t &env, MPI_Comm comm, int32_t timeout_ms,
                        weft_link_t **out_link, weft_error_t *err) {
  mpi_link_t *link = new_link(env, comm, timeout_ms);
  if (!link)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603", "no memory for a group");
  weft_status_t status = introduce(link, err);
  if (status)
    close((weft_link_t *)link);
  else
    *out_link = (weft_link_t *)link;
  return status;
}

weft_status_t open(const weft_env_t *env, const weft_group_options_t *options,
                   weft_link_t **out_link, weft_error_t *err) {
  *out_link = nullptr;
  if (weft_status_t status = enter_mpi(err))
    return status;
  int rank, world;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (rank != options->rank || world != options->world || world > WEFT_MAX_WORLD) {
    weft_fail(
        err, WEFT_INVALID, "W0601",
        "transport 'mpi': rank %d of %d is asked for, but MPI says that this is rank %d of %d",
        options->rank, options->world, rank, world);
    weft_set_hint(err, world == 1 ? "the launcher must be the one of the MPI that libweft_mpi.so "
                                    "was built for"
                                  : "groups are made of all ranks, 1024 at most");
    return WEFT_INVALID;
  }
  MPI_Comm comm;
  MPI_Request request;
  if (MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request) != MPI_SUCCESS)
    return weft_fail(err, WEFT_IO, "W0603", "transport 'mpi': MPI_Comm_idup failed");
  if (!wait_for(&request, 1, options->timeout_ms * int64_t(1000000)))
    return weft_fail(err, WEFT_TIMEOUT, "W0606",
                     "transport 'mpi': not all of %d ranks came within %g s", world,
                     options->timeout_ms / 1000.0);
  return make_link(*env, comm, options->timeout_ms, out_link, err);
}

struct choice_t {
  int32_t color, key;
};

weft_status_t split(weft_link_t *divided, int32_t color, int32_t key, weft_link_t **out_link,
                    weft_error_t *err) {
  mpi_link_t *link = own(divided);
  *out_link = nullptr;
  choice_t choice = {color, key}, choices[WEFT_MAX_WORLD];
  // All are here before they enter a call that has no time-out.
  if (weft_status_t status = gather(link, "split", &choice, sizeof choice, choices, err))
    return status;
  MPI_Comm part;
  if (int result = MPI_Comm_split(link->comm, color < 0 ? MPI_UNDEFINED : color, key, &part))
    return fail_call(link, result, err);
  return color < 0 ? WEFT_OK : make_link(link->env, part, link->timeout_ms, out_link, err);
}

void place(weft_link_t *link, int32_t *out_rank, int32_t *out_world) {
  *out_rank = own(link)->rank;
  *out_world = own(link)->world;
}

/// MPI may not be called here; who waits sees it, or who closes.
void abort(weft_link_t *link) { own(link)->is_aborted.store(1); }

const weft_transport_v1 table = {sizeof table, 0,        "mpi",   open,  split, place,
                                 start,        progress, nullptr, abort, close};

} // namespace

extern "C" __attribute__((visibility("default"))) const weft_transport_v1 *
weft_transport_plugin(void) {
  return &table;
}
