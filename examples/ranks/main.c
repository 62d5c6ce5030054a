/* Runs a model that is split over ranks in one process: every rank is a thread with a group and a
 * context of its own.
 *
 *   weft compile mlp.mlir --mesh tp=2 -o mlp.weft
 *   call_ranks mlp.weft SIZE [FLIGHT]               call_ranks mlp.weft 8
 *
 * Every symbol of the model is SIZE, and every input is f32 and made up here. Prints the first
 * values of each output. Where ranks fail, every rank writes what it did last to
 * FLIGHT/rank-N.flight, for 'weft ranks FLIGHT'.
 * Exit codes: 0 success, 1 refused, 2 wrong usage, 5 a rank failed.
 */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft/group.h"
#include "weft/runtime.h"

enum { max_ranks = 64, max_tensors = 16 };

/* What all ranks share; nobody writes it while they run. */
typedef struct {
  weft_module_t *module;
  weft_function_info_t function;
  weft_tensor_t in[max_tensors];
  int32_t world;
  const char *flight;
} job_t;

/* What one rank has. */
typedef struct {
  const job_t *job;
  int32_t rank;
  pthread_t thread;
  weft_status_t status;
  weft_error_t err;
  weft_tensor_t out[max_tensors];
  float first[max_tensors][4]; /* values of every output */
} rank_t;

static void keep_history(const rank_t *rank, const weft_group_t *group) {
  char path[512];
  snprintf(path, sizeof path, "%s/rank-%d.flight", rank->job->flight, rank->rank);
  FILE *file = fopen(path, "w");
  if (!file || weft_group_dump(group, fileno(file), rank->err.message, NULL) != WEFT_OK)
    fprintf(stderr, "warning: %s cannot be written\n", path);
  if (file)
    fclose(file);
}

static void call(rank_t *rank, weft_group_t *group) {
  const job_t *job = rank->job;
  /* One thread for kernels, beside those of the other ranks. */
  weft_context_options_t options = {sizeof options, 1, -1, 0, group};
  weft_context_t *context = NULL;
  for (uint32_t i = 0; i < job->function.outputs; ++i)
    rank->out[i] = (weft_tensor_t)WEFT_TENSOR_EMPTY;
  rank->status = weft_context_create(job->module, &options, &context, &rank->err);
  if (rank->status == WEFT_OK)
    rank->status = weft_call(context, NULL, job->in, job->function.inputs, rank->out,
                             job->function.outputs, &rank->err);
  for (uint32_t i = 0; rank->status == WEFT_OK && i < job->function.outputs; ++i) {
    int64_t count = 1;
    for (int d = 0; d < rank->out[i].rank; ++d)
      count *= rank->out[i].dim[d];
    if (rank->out[i].element == WEFT_F32 && count > 0)
      memcpy(rank->first[i], rank->out[i].data, sizeof(float) * (size_t)(count < 4 ? count : 4));
    weft_tensor_release(context, &rank->out[i]);
  }
  weft_context_release(context); /* before its group */
}

static void *run_rank(void *argument) {
  rank_t *rank = argument;
  char rendezvous[64];
  snprintf(rendezvous, sizeof rendezvous, "call_ranks-%p", (const void *)rank->job);
  weft_group_options_t options = {
      sizeof options, rank->rank, rank->job->world, 5000, "threads", rendezvous, NULL, 0, 0};
  weft_group_t *group = NULL;
  rank->status = weft_group_open(NULL, &options, &group, &rank->err);
  if (rank->status == WEFT_OK)
    call(rank, group);
  if (group && rank->status != WEFT_OK && rank->job->flight)
    keep_history(rank, group);
  weft_group_release(group);
  return NULL;
}

static int fail(const char *reason) {
  fprintf(stderr, "error: %s\n", reason);
  return 1;
}

/* Opens the model, and makes inputs that all ranks read. */
static int prepare(job_t *job, const char *path, int64_t size) {
  weft_error_t err = WEFT_ERROR_INIT;
  if (weft_module_open(NULL, path, &job->module, &err) != WEFT_OK)
    return fail(err.message);
  int32_t function = weft_function_find(job->module, NULL);
  job->function.struct_size = sizeof job->function;
  if (weft_function_info(job->module, function, &job->function) != WEFT_OK ||
      job->function.inputs > max_tensors || job->function.outputs > max_tensors)
    return fail("the model has no function 'main' of at most 16 inputs and outputs");
  weft_axis_info_t axis = {sizeof axis, 0, NULL, 0, 0};
  job->world = 1;
  for (uint32_t i = 0; weft_axis_info(job->module, function, i, &axis) == WEFT_OK; ++i)
    job->world *=
        axis.size <= max_ranks && job->world <= max_ranks ? (int32_t)axis.size : max_ranks;
  if (job->world < 2 || job->world > max_ranks)
    return fail("the model is not for 2 to 64 ranks: weft compile MODEL --mesh tp=2");
  for (uint32_t i = 0; i < job->function.inputs; ++i) {
    weft_argument_info_t argument = {sizeof argument, NULL, 0, 0, 0, {NULL}};
    weft_argument_info(job->module, function, i, &argument);
    int64_t dim[WEFT_MAX_RANK], count = 1;
    for (int d = 0; d < argument.rank; count *= dim[d++]) {
      char *end;
      dim[d] = strtoll(argument.dim_text[d], &end, 10);
      dim[d] = *end || end == argument.dim_text[d] ? size : dim[d];
    }
    float *data = argument.element == WEFT_F32 ? malloc(sizeof(float) * (size_t)count) : NULL;
    for (int64_t at = 0; data && at < count; ++at)
      data[at] = (float)(at % 7) - 3;
    job->in[i] = weft_tensor_of(data, WEFT_F32, argument.rank, dim);
    if (!data)
      return fail("an input is not f32, or too large");
  }
  return 0;
}

/* Prints rank 0's values, which all ranks have. */
static int report(const job_t *job, const rank_t *ranks) {
  for (int32_t rank = 0; rank < job->world; ++rank)
    if (ranks[rank].status != WEFT_OK) {
      fprintf(stderr, "error: rank %d: %s\n", rank, ranks[rank].err.message);
      return 5;
    }
  for (uint32_t i = 0; i < job->function.outputs; ++i) {
    printf("output %u, of %d ranks:", i, job->world);
    for (int at = 0; at < 4; ++at)
      printf(" %g", ranks[0].first[i][at]);
    printf("\n");
    for (int32_t rank = 1; rank < job->world; ++rank)
      if (memcmp(ranks[rank].first[i], ranks[0].first[i], sizeof ranks[0].first[i]) != 0)
        return fail("ranks disagree");
  }
  return 0;
}

int main(int argc, char **argv) {
  static job_t job;
  static rank_t ranks[max_ranks];
  int64_t size = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
  if (argc < 3 || argc > 4 || size < 1 || size > 1 << 20) {
    fprintf(stderr, "error: usage: call_ranks MODEL.weft SIZE [FLIGHT]\n");
    return 2;
  }
  job.flight = argc > 3 ? argv[3] : NULL;
  int exit_code = prepare(&job, argv[1], size);
  for (int32_t rank = 0; exit_code == 0 && rank < job.world; ++rank) {
    ranks[rank].job = &job;
    ranks[rank].rank = rank;
    ranks[rank].err = (weft_error_t)WEFT_ERROR_INIT;
    if (pthread_create(&ranks[rank].thread, NULL, run_rank, &ranks[rank]) != 0)
      exit(fail("no thread for a rank")); /* others may wait for it */
  }
  for (int32_t rank = 0; exit_code == 0 && rank < job.world; ++rank)
    pthread_join(ranks[rank].thread, NULL);
  if (exit_code == 0)
    exit_code = report(&job, ranks);
  for (int i = 0; i < max_tensors; ++i)
    free(job.in[i].data);
  weft_module_release(job.module);
  return exit_code;
}
