#include "runtime/src/group/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/door.h"
#include "runtime/src/group/ranks_text.h"
#include "runtime/src/group/watch.h"

static const int32_t retry_ms = 2, hello_ms = 1000, look_ms = 100;

/// 0 when the time is over.
static int32_t left_ms(uint64_t deadline_ns) {
  uint64_t now = weft_now_ns();
  return now < deadline_ns ? (int32_t)((deadline_ns - now + 999999) / 1000000) : 0;
}

static uint64_t deadline_in(int32_t milliseconds) {
  return weft_now_ns() + (uint64_t)milliseconds * 1000000u;
}

static weft_status_t fail_lost(const weft_group_options_t &options, int32_t rank, int32_t process,
                               weft_error_t *err) {
  return weft_fail(err, WEFT_LOST_PEER, "W0605",
                   "rendezvous '%s': rank %d is lost (process %d ended)", options.rendezvous, rank,
                   process);
}

//===----------------------------------------------------------------------===//
// The memory
//===----------------------------------------------------------------------===//

static void *map_file(int file, size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// A file without a name, which may grow but cannot be made smaller under those who map it. Its pages are taken now: later, there would be a signal instead
/// of an error.
static int new_file(size_t bytes) {
  int file = memfd_create("weft-group", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return -1;
  if (fallocate(file, 0, 0, (off_t)bytes) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
    return file;
  int reason = errno;
  close(file);
  errno = reason;
  return -1;
}

/// Makes the board; *out_file is -1 where ranks share it as threads do.
static weft_status_t make_board(int32_t world, bool in_one_process, weft_board_t **out_board,
                                int *out_file, weft_error_t *err) {
  size_t bytes = weft_board_bytes(world);
  *out_file = in_one_process ? -1 : new_file(bytes);
  void *memory = nullptr;
  if (in_one_process) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory = memory == MAP_FAILED ? nullptr : memory;
  } else if (*out_file >= 0) {
    memory = map_file(*out_file, bytes);
  }
  if (!memory) {
    int reason = errno;
    if (*out_file >= 0)
      close(*out_file);
    *out_file = -1;
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603", "no memory that %d ranks share: %s", world,
                     strerror(reason));
  }
  *out_board = weft_board_in(memory, world);
  (*out_board)->users.store((uint32_t)world);
  return WEFT_OK;
}

void weft_leave_board(weft_board_t *board, bool in_one_process) {
  if (board->users.fetch_sub(1) == 1 || !in_one_process)
    munmap(board, board->bytes);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {
struct host_t {
  const weft_group_options_t &options;
  bool in_one_process;
  uint64_t deadline;
  int32_t come;                   ///< guests
  pollfd waiting[WEFT_MAX_WORLD]; ///< the door, then the connection of every guest by rank
  int32_t processes[WEFT_MAX_WORLD];
  weft_watch_t watches[WEFT_MAX_WORLD]; ///< of the processes that our caller knows

  host_t(const weft_group_options_t &options, bool in_one_process)
      : options(options), in_one_process(in_one_process), deadline(deadline_in(options.timeout_ms)),
        come(0), watches() {
    for (int32_t rank = 0; rank < options.world; ++rank) {
      waiting[rank] = {-1, POLLIN, 0};
      if (rank && options.processes)
        watches[rank].begin(options.processes[rank]);
    }
    processes[0] = getpid();
  }
  host_t(const host_t &) = delete;
  ~host_t() {
    for (int32_t rank = 1; rank < options.world; ++rank)
      watches[rank].end();
  }
};
} // namespace

/// Judges what a guest says of itself.
static weft_status_t admit(host_t &host, const weft_hello_t &hello, size_t size, int32_t process,
                           weft_error_t *err) {
  const char *name = host.options.rendezvous;
  if (size != sizeof hello || hello.version != weft_hello_begin.version)
    return weft_fail(err, WEFT_MISMATCH, "W0604",
                     "rendezvous '%s': process %d has another version of the runtime", name,
                     process);
  if (hello.world != host.options.world)
    return weft_fail(err, WEFT_MISMATCH, "W0604",
                     "rendezvous '%s': rank %d is one of %d ranks, but rank 0 one of %d", name,
                     hello.rank, hello.world, host.options.world);
  if (hello.rank < 0 || hello.rank >= hello.world)
    return weft_fail(err, WEFT_MISMATCH, "W0604", "rendezvous '%s': process %d is rank %d of %d",
                     name, process, hello.rank, hello.world);
  if (host.waiting[hello.rank].fd >= 0 || hello.rank == 0)
    return weft_fail(err, WEFT_MISMATCH, "W0604",
                     "rendezvous '%s': processes %d and %d are both rank %d", name,
                     host.processes[hello.rank], process, hello.rank);
  if (hello.process != process)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0603",
                     "rendezvous '%s': rank %d counts processes differently: it is in another "
                     "container",
                     name, hello.rank);
  return WEFT_OK;
}

static weft_answer_t refusal_of(const weft_error_t &err) {
  weft_answer_t answer = {};
  answer.ending.status = err.status;
  memcpy(answer.ending.code, err.code, sizeof answer.ending.code);
  snprintf(answer.ending.text, sizeof answer.ending.text, "%.*s",
           (int)sizeof answer.ending.text - 1, err.message);
  return answer;
}

/// Lets one guest in, whom others do not wait for if it says nothing.
static weft_status_t receive_guest(host_t &host, weft_error_t *err) {
  int guest = accept4(host.waiting[0].fd, nullptr, nullptr, SOCK_CLOEXEC);
  if (guest < 0)
    return WEFT_OK;
  int32_t process;
  weft_hello_t hello = {};
  timeval patience = {hello_ms / 1000, hello_ms % 1000 * 1000};
  setsockopt(guest, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ssize_t size = weft_door_peer(guest, &process) ? recv(guest, &hello, sizeof hello, 0) : -1;
  if (size < (ssize_t)sizeof hello.magic ||
      memcmp(hello.magic, weft_hello_begin.magic, sizeof hello.magic) != 0) {
    close(guest);
    return WEFT_OK;
  }
  weft_status_t status = admit(host, hello, (size_t)size, process, err);
  if (status) {
    weft_door_send(guest, refusal_of(*err), -1);
    close(guest);
    return status;
  }
  host.waiting[hello.rank] = {guest, POLLIN, 0};
  host.processes[hello.rank] = process;
  ++host.come;
  return WEFT_OK;
}

static weft_status_t fail_missing(const host_t &host, weft_error_t *err) {
  bool is_missing[WEFT_MAX_WORLD] = {};
  for (int32_t rank = 1; rank < host.options.world; ++rank)
    is_missing[rank] = host.waiting[rank].fd < 0;
  char text[320];
  weft_text_t said = weft_text_in(text, sizeof text);
  weft_text_add_ranks(&said, is_missing, host.options.world);
  weft_text_add(&said, " of %d did not come within ", host.options.world);
  weft_text_add_seconds(&said, host.options.timeout_ms);
  return weft_fail(err, WEFT_TIMEOUT, "W0606", "rendezvous '%s': %s", host.options.rendezvous,
                   text);
}

static weft_status_t receive_guests(host_t &host, weft_error_t *err) {
  while (host.come + 1 < host.options.world) {
    int32_t left = left_ms(host.deadline);
    if (!left)
      return fail_missing(host, err);
    for (int32_t rank = 1; rank < host.options.world; ++rank)
      if (host.watches[rank].has_ended())
        return fail_lost(host.options, rank, host.watches[rank].process, err);
    if (host.options.processes && left > look_ms)
      left = look_ms;
    if (poll(host.waiting, (nfds_t)host.options.world, left) <= 0)
      continue;
    for (int32_t rank = 1; rank < host.options.world; ++rank)
      if (host.waiting[rank].fd >= 0 && host.waiting[rank].revents) // a guest says nothing more
        return fail_lost(host.options, rank, host.processes[rank], err);
    if (host.waiting[0].revents)
      if (weft_status_t status = receive_guest(host, err))
        return status;
  }
  return WEFT_OK;
}

/// Gives all guests the board, or when that is NULL the reason.
static void answer_guests(host_t &host, weft_board_t *board, int file, const weft_error_t &err) {
  weft_answer_t answer = refusal_of(err);
  if (board) {
    answer.board = board;
    answer.bytes = board->bytes;
  }
  for (int32_t rank = 1; rank < host.options.world; ++rank)
    if (host.waiting[rank].fd >= 0) {
      weft_door_send(host.waiting[rank].fd, answer, file);
      close(host.waiting[rank].fd);
    }
}

static weft_status_t be_host(const weft_group_options_t &options, bool in_one_process,
                             const weft_address_t &address, weft_board_t **out_board, int *out_file,
                             weft_error_t *err) {
  host_t host(options, in_one_process);
  if (weft_status_t status = weft_door_open(address, options.rendezvous, &host.waiting[0].fd, err))
    return status;
  weft_error_t reason = WEFT_ERROR_INIT; // the guests are told, also where our caller is not
  weft_status_t status = receive_guests(host, &reason);
  close(host.waiting[0].fd);
  if (address.is_path)
    unlink(address.name.sun_path);
  if (!status)
    status = make_board(options.world, in_one_process, out_board, out_file, &reason);
  for (int32_t rank = 0; !status && rank < options.world; ++rank)
    weft_seat(*out_board, rank)->process.store(host.processes[rank]);
  answer_guests(host, *out_board, *out_file, reason);
  return status ? weft_fail(err, status, reason.code, "%s", reason.message) : WEFT_OK;
}

//===----------------------------------------------------------------------===//
// A guest
//===----------------------------------------------------------------------===//

/// Connects as soon as the host listens, whose process is watched.
static weft_status_t find_host(const weft_group_options_t &options, const weft_address_t &address,
                               const weft_watch_t &watch, int *out_socket, weft_error_t *err) {
  uint64_t deadline = deadline_in(options.timeout_ms);
  for (;;) {
    int host = *out_socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (host < 0)
      return weft_fail(err, WEFT_IO, "W0603", "no socket: %s", strerror(errno));
    if (connect(host, (const sockaddr *)&address.name, address.size) == 0)
      return WEFT_OK;
    int reason = errno;
    close(host);
    if (reason != ENOENT && reason != ECONNREFUSED && reason != EAGAIN && reason != EINTR)
      return weft_fail(err, WEFT_IO, "W0603", "rendezvous '%s': %s", options.rendezvous,
                       strerror(reason));
    if (watch.has_ended())
      return fail_lost(options, 0, watch.process, err);
    if (!left_ms(deadline))
      break;
    timespec pause = {0, retry_ms * 1000000};
    nanosleep(&pause, nullptr);
  }
  char time[32];
  weft_text_t said = weft_text_in(time, sizeof time);
  weft_text_add_seconds(&said, options.timeout_ms);
  return weft_fail(err, WEFT_TIMEOUT, "W0606",
                   "rendezvous '%s': rank 0 of %d did not come within %s", options.rendezvous,
                   options.world, time);
}

/// Waits for the host's answer, a little longer than the host waits for others: it knows who is missing.
static weft_status_t hear_host(const weft_group_options_t &options, int host,
                               weft_answer_t *out_answer, int *out_file, weft_error_t *err) {
  uint64_t deadline = deadline_in(options.timeout_ms) + (uint64_t)hello_ms * 1000000u;
  pollfd waiting = {host, POLLIN, 0};
  int ready = 0;
  while (ready <= 0 && left_ms(deadline))
    ready = poll(&waiting, 1, left_ms(deadline));
  if (ready <= 0)
    return weft_fail(err, WEFT_TIMEOUT, "W0606", "rendezvous '%s': rank 0 does not answer",
                     options.rendezvous);
  if (!weft_door_receive(host, out_answer, out_file))
    return weft_fail(err, WEFT_LOST_PEER, "W0605", "rendezvous '%s': rank 0 is lost",
                     options.rendezvous);
  const weft_ending_t &ending = out_answer->ending;
  if (ending.status)
    return weft_fail(err, (weft_status_t)ending.status, ending.code, "%s", ending.text);
  return WEFT_OK;
}

static weft_status_t be_guest(const weft_group_options_t &options, bool in_one_process,
                              const weft_address_t &address, weft_board_t **out_board,
                              int *out_file, weft_error_t *err) {
  int host;
  weft_watch_t watch = {};
  if (options.processes)
    watch.begin(options.processes[0]);
  weft_status_t status = find_host(options, address, watch, &host, err);
  watch.end();
  if (status)
    return status;
  int32_t process;
  weft_answer_t answer = {};
  weft_hello_t hello = weft_hello_begin;
  hello.rank = options.rank;
  hello.world = options.world;
  hello.process = getpid();
  if (!weft_door_peer(host, &process))
    status = weft_fail(err, WEFT_INVALID, "W0603", "rendezvous '%s' is another user's",
                       options.rendezvous);
  else {
    send(host, &hello, sizeof hello, MSG_NOSIGNAL);
    status = hear_host(options, host, &answer, out_file, err);
  }
  close(host);
  if (status)
    return status;
  *out_board = answer.board;
  if (!in_one_process) {
    *out_board = *out_file >= 0 ? (weft_board_t *)map_file(*out_file, answer.bytes) : nullptr;
    if (!*out_board && *out_file >= 0)
      close(*out_file);
  }
  return *out_board ? WEFT_OK
                    : weft_fail(err, WEFT_OUT_OF_MEMORY, "W0603",
                                "rendezvous '%s': the memory that ranks share cannot be mapped",
                                options.rendezvous);
}

weft_status_t weft_meet(const weft_group_options_t &options, bool in_one_process,
                        weft_board_t **out_board, int *out_file, weft_error_t *err) {
  *out_board = nullptr;
  *out_file = -1;
  weft_address_t address;
  if (weft_status_t status = weft_door_address(options.rendezvous, in_one_process, &address, err))
    return status;
  if (options.world == 1) // nobody to meet
    return make_board(1, in_one_process, out_board, out_file, err);
  auto meet = options.rank == 0 ? be_host : be_guest;
  return meet(options, in_one_process, address, out_board, out_file, err);
}
