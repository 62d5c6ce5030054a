/* Weft's groups. RANK WORLD RENDEZVOUS share|own say who a rank is, and whether it sends from
 * memory that others read where it lies, as compiled programs do, or from memory of its own, as
 * callers of an MPI do. */
#include "backend.h"

#include "weft/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_group_t *group;
static weft_error_t err = WEFT_ERROR_INIT;
static int shares;

static int say(weft_status_t status) {
  if (status)
    fprintf(stderr, "%s\n", err.message);
  return status != WEFT_OK;
}

int backend_open(int argc, char **argv, int *rank, int *world) {
  if (argc != 4)
    return 1;
  *rank = atoi(argv[0]);
  *world = atoi(argv[1]);
  shares = strcmp(argv[3], "share") == 0;
  weft_group_options_t options = {sizeof options, *rank, *world, 0, "shm", argv[2], NULL};
  return say(weft_group_open(NULL, &options, &group, &err));
}

float *backend_memory(size_t bytes) {
  void **peers = NULL;
  if (!shares)
    return aligned_alloc(64, bytes);
  return say(weft_group_share(group, (int64_t)bytes, &peers, &err)) ? NULL
                                                                    : peers[weft_group_rank(group)];
}

int backend_call(int kind, const float *send, float *receive, size_t count) {
  static const uint16_t kinds[] = {WEFT_ALL_REDUCE, WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER};
  weft_collective_t collective = {sizeof collective, kinds[kind], WEFT_F32, WEFT_SUM};
  collective.send = send;
  collective.receive = receive;
  collective.outer = collective.inner = 1;
  collective.first = (int64_t)count;
  return say(weft_group_collective(group, &collective, &err));
}

void backend_close(void) { weft_group_release(group); }
