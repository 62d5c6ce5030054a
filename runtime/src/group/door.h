// The socket of a rendezvous: addresses, and what is said through it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/src/group/board.h"

/// What a guest says first. Another version of the runtime says something else.
struct weft_hello_t {
  char magic[8];
  uint32_t version;
  int32_t rank, world, process;
};
extern const weft_hello_t weft_hello_begin; ///< with nobody's numbers

/// What the host answers: the board, or why there is none.
struct weft_answer_t {
  weft_ending_t ending; ///< status 0: all have come
  weft_board_t *board;  ///< of threads; processes get a file beside the answer
  uint64_t bytes;
};

struct weft_address_t {
  sockaddr_un name;
  socklen_t size;
  bool is_path;
};

/// Fails with INVALID for a rendezvous that is empty or too long.
weft_status_t weft_door_address(const char *rendezvous, bool in_one_process,
                                weft_address_t *out_address, weft_error_t *err);
/// A socket that listens there. One that a process left behind which has ended is removed. Fails with BUSY, INVALID, IO.
weft_status_t weft_door_open(const weft_address_t &address, const char *rendezvous, int *out_socket,
                             weft_error_t *err);
/// Who is at the other end; false when it is another user's process.
bool weft_door_peer(int socket, int32_t *out_process);
/// Sends the answer, and a file unless it is -1. Failure shows when nobody answers.
void weft_door_send(int socket, const weft_answer_t &answer, int file);
/// Gets an answer; false when the host has ended. *out_file is -1 when none came.
bool weft_door_receive(int socket, weft_answer_t *out_answer, int *out_file);
