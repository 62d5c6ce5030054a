/* One rank that measures collectives as it is told: all libraries are measured by this loop.
 *
 *   main PIPES MOST_BYTES [what the backend needs]
 *
 * It reads lines `KIND BYTES CALLS` from PIPES.RANK, a pipe of its own so that nobody waits awake
 * for his turn, and rank 0 writes the seconds of a call to PIPES.answer; a wrong result is -1.
 * BYTES are those of the whole tensor. The end of a pipe is the end of the rank. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, world;
static float *send, *receive;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whole numbers, so that sums are exact in any order. */
static float own(int of, size_t i) { return (float)(of + 1) + (float)(i % 7); }

static int is_right(int kind, size_t count) {
  size_t part = count / (size_t)world;
  size_t elements = kind == REDUCE_SCATTER ? part : count;
  for (size_t i = 0; i < elements; ++i) {
    size_t at = kind == REDUCE_SCATTER ? (size_t)rank * part + i : i;
    float sum = (float)(world * (world + 1) / 2) + (float)world * (float)(at % 7);
    float expected = kind == ALL_GATHER ? own((int)(i / part), i % part) : sum;
    if (receive[i] != expected)
      return 0;
  }
  return 1;
}

/* Seconds of a call, behind one by which the ranks come together and whose result is looked at. */
static int measure(int kind, size_t count, long calls, double *seconds) {
  if (backend_call(kind, send, receive, count))
    return 1;
  int right = is_right(kind, count);
  if (backend_call(kind, send, receive, count)) /* together again */
    return 1;
  double begin = now();
  for (long i = 0; i < calls; ++i)
    if (backend_call(kind, send, receive, count))
      return 1;
  *seconds = right ? (now() - begin) / (double)calls : -1;
  return 0;
}

static FILE *pipe_named(const char *pipes, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", pipes, name);
  FILE *file = fopen(path, mode);
  if (!file)
    perror(path);
  return file;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc < 3 || backend_open(argc - 3, argv + 3, &rank, &world))
    return 1;
  size_t most = (size_t)strtoull(argv[2], NULL, 10);
  send = backend_memory(most);
  receive = backend_memory(most);
  char number[16];
  snprintf(number, sizeof number, "%d", rank);
  FILE *asked = pipe_named(argv[1], number, "r");
  FILE *answer = rank == 0 ? pipe_named(argv[1], "answer", "w") : NULL;
  if (!send || !receive || !asked || (rank == 0 && !answer))
    return 1;
  for (size_t i = 0; i < most / sizeof(float); ++i) {
    send[i] = own(rank, i);
    receive[i] = 0;
  }
  int kind;
  long calls;
  size_t bytes;
  while (!failed && fscanf(asked, "%d %zu %ld", &kind, &bytes, &calls) == 3) {
    double seconds = -1;
    failed = measure(kind, bytes / sizeof(float), calls, &seconds);
    if (answer) {
      fprintf(answer, "%.9g\n", seconds);
      fflush(answer);
    }
  }
  backend_close();
  return failed;
}
