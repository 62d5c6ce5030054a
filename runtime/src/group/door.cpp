#include "runtime/src/group/door.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/src/base/status.h"

/// The layout of the board and of these messages.
const weft_hello_t weft_hello_begin = {{'W', 'E', 'F', 'T', 'R', 'A', 'N', 'K'}, 1, 0, 0, 0};

weft_status_t weft_door_address(const char *rendezvous, bool in_one_process,
                                weft_address_t *out_address, weft_error_t *err) {
  *out_address = {};
  sockaddr_un &name = out_address->name;
  name.sun_family = AF_UNIX;
  out_address->is_path = !in_one_process && strchr(rendezvous, '/');
  int length;
  if (out_address->is_path)
    length = snprintf(name.sun_path, sizeof name.sun_path, "%s", rendezvous);
  else // abstract addresses begin with a zero; other users and processes have others
    length = 1 + snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "weft-%u-%d-%s",
                          (unsigned)geteuid(), in_one_process ? (int)getpid() : 0, rendezvous);
  if (!*rendezvous || length >= (int)sizeof name.sun_path)
    return weft_fail(err, WEFT_INVALID, "W0601",
                     *rendezvous ? "the rendezvous '%.40s...' is too long for a socket's name"
                                 : "the rendezvous has no name%.0s",
                     rendezvous);
  out_address->size = (socklen_t)(offsetof(sockaddr_un, sun_path) + (size_t)length);
  return WEFT_OK;
}

static int new_socket() { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }

/// Whether the path is a socket that nobody listens on.
static bool is_left_behind(const weft_address_t &address) {
  struct stat info;
  if (!address.is_path || lstat(address.name.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
    return false;
  int probe = new_socket();
  bool refused =
      connect(probe, (const sockaddr *)&address.name, address.size) != 0 && errno == ECONNREFUSED;
  close(probe);
  return refused;
}

weft_status_t weft_door_open(const weft_address_t &address, const char *rendezvous, int *out_socket,
                             weft_error_t *err) {
  int door = *out_socket = new_socket();
  const sockaddr *name = (const sockaddr *)&address.name;
  bool is_bound = door >= 0 && bind(door, name, address.size) == 0;
  if (!is_bound && door >= 0 && errno == EADDRINUSE && is_left_behind(address)) {
    unlink(address.name.sun_path);
    is_bound = bind(door, name, address.size) == 0;
  }
  if (is_bound && listen(door, WEFT_MAX_WORLD) == 0)
    return WEFT_OK;
  int reason = errno;
  if (door >= 0)
    close(door);
  *out_socket = -1;
  if (reason == EADDRINUSE)
    return weft_fail(err, WEFT_BUSY, "W0603", "rendezvous '%s' is in use", rendezvous);
  return weft_fail(err, WEFT_IO, "W0603", "rendezvous '%s': %s", rendezvous, strerror(reason));
}

bool weft_door_peer(int socket, int32_t *out_process) {
  ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return false;
  *out_process = peer.pid;
  return peer.uid == geteuid();
}

namespace {
/// A message with room for one file.
struct message {
  iovec part;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
  msghdr header;

  message(const void *data, size_t bytes) : part{(void *)data, bytes}, room{}, header{} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
};
} // namespace

void weft_door_send(int socket, const weft_answer_t &answer, int file) {
  message m(&answer, sizeof answer);
  if (file < 0) {
    m.header.msg_controllen = 0;
  } else {
    cmsghdr *control = CMSG_FIRSTHDR(&m.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(control), &file, sizeof file);
  }
  while (sendmsg(socket, &m.header, MSG_NOSIGNAL) < 0 && errno == EINTR)
    ;
}

bool weft_door_receive(int socket, weft_answer_t *out_answer, int *out_file) {
  *out_file = -1;
  message m(out_answer, sizeof *out_answer);
  ssize_t got;
  do
    got = recvmsg(socket, &m.header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  cmsghdr *control = got > 0 ? CMSG_FIRSTHDR(&m.header) : nullptr;
  if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS)
    memcpy(out_file, CMSG_DATA(control), sizeof *out_file);
  return got == (ssize_t)sizeof *out_answer;
}
