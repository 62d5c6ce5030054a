// A rank's end of a group over MPI.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <sched.h>

#include <atomic>

#include "runtime/src/group/board.h"
#include "runtime/src/group/messages.h"

namespace weft_mpi {

enum { most_begun = 8, tag_greeting = 1, tag_elements = 2, tag_notice = 3 };
/// MPI counts in int.
constexpr int64_t most_message_bytes = 1 << 30;
constexpr int64_t spin_ns = 50000, shortest_sleep_ns = 20000, longest_sleep_ns = 100000;
constexpr int64_t look_ns = 100000000, farewell_ns = 100000000, last_barrier_ns = 1000000000;

/// What every rank says before a collective.
struct greeting_t {
  weft_signature_t signature;
  int32_t piece, pieces;
  char node[WEFT_NODE_BYTES];
};

/// Where a rank runs.
struct place_t {
  char host[96]; ///< with the namespace of its processes
  int64_t process;
  cpu_set_t cpus;
};

struct peer_t {
  greeting_t said, saying; ///< the last greeting, and the one that MPI is writing
  place_t place;
  bool has_left;
  MPI_Request told;
};

enum phase_t { idle, greeting, moving };

/// One allocation holds the link, its peers and letters.
struct mpi_link_t {
  weft_env_t env;
  size_t bytes;
  MPI_Comm comm;
  int32_t rank, world, timeout_ms;
  bool spins;
  std::atomic<int> is_aborted;
  weft_ending_t ending; ///< status 0: the group lives
  weft_ending_t notice; ///< that MPI is writing
  MPI_Request hears;
  peer_t *peers;
  weft_letter_t *letters; ///< of the stage that moves

  uint64_t begun, done;
  weft_collective_t waiting[most_begun];
  phase_t phase;
  weft_collective_t stages[2];
  int32_t stage, stage_count;
  greeting_t own;
  /// Messages on their way, and whom they are for or from.
  MPI_Request *requests;
  int32_t *partners;
  int32_t request_count, request_room;
  uint8_t *buffer; ///< messages that do not lie in the caller's memory as they are
  size_t buffer_bytes;
  uint64_t waits_since_ns, looks_again_ns;
};

} // namespace weft_mpi
