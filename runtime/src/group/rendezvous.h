// How the ranks of one machine find each other and come to map the same board.
//
// Rank 0 is the host: it listens on a unix socket, at the path that the rendezvous names or, for a name without '/', at one of Linux' abstract
// addresses, which no file stands for. Every guest says who it is; processes of other users are not heard. When all have come, the host makes the
// board, hands it over, and closes the socket. Whoever does not fit in ends the start for all, with the reason.
#pragma once

#include "runtime/src/group/board.h"

/// Returns when all ranks have come. `in_one_process`: ranks are threads of this process, else processes. The board is the caller's until
/// weft_leave_board, and so is the file of processes that it lies in, which may grow; its seats know the processes of all ranks. Fails as weft_group_open says.
weft_status_t weft_meet(const weft_group_options_t &options, bool in_one_process,
                        weft_board_t **out_board, int *out_file, weft_error_t *err);
/// Ends this rank's use of the board.
void weft_leave_board(weft_board_t *board, bool in_one_process);
