/* Calls one module from 8 threads at once: each has a context of its own, and all share the code
 * and the weights, also on one GPU.
 *
 *   call_threads model.weft SIZE [DEVICE]                    call_threads model.weft 16 cuda
 *
 * Every symbol of the model is SIZE, and every input is f32, of other numbers in each thread.
 * Outputs stay on the device; the first of each thread's last call is compared with that of a call
 * alone. Prints how many calls were made.
 * Exit codes: 0 success, 1 refused, 2 wrong usage, 3 threads got other results.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft/runtime.h"

enum { thread_count = 8, call_count = 4, max_tensors = 16 };

/* What all threads share; nobody writes it while they run. */
typedef struct {
  weft_module_t *module;
  weft_function_info_t function;
  const char *device;
  int64_t size;
} job_t;

/* What one thread has. */
typedef struct {
  const job_t *job;
  int number; /* which inputs */
  int calls;
  pthread_t thread;
  weft_status_t status;
  weft_error_t err;
  float *first; /* the first output of the last call */
  int64_t bytes;
} caller_t;

static int fail(const char *reason) {
  fprintf(stderr, "error: %s\n", reason);
  return 1;
}

/* The shape of input `index`; its number of elements, or 0 when it is not f32. */
static int64_t shape_of(const job_t *job, uint32_t index, weft_tensor_t *tensor) {
  weft_argument_info_t argument = {sizeof argument, NULL, 0, 0, 0, {NULL}};
  int64_t count = 1;
  weft_argument_info(job->module, 0, index, &argument);
  tensor->element = argument.element;
  tensor->rank = argument.rank;
  for (int d = 0; d < argument.rank; ++d) {
    char *end;
    int64_t number = strtoll(argument.dim_text[d], &end, 10);
    tensor->dim[d] = *end || end == argument.dim_text[d] ? job->size : number;
    count *= tensor->dim[d];
  }
  return argument.element == WEFT_F32 ? count : 0;
}

/* Makes the inputs of this caller. */
static weft_status_t make_inputs(caller_t *caller, weft_tensor_t *in) {
  for (uint32_t i = 0; i < caller->job->function.inputs; ++i) {
    in[i] = (weft_tensor_t)WEFT_TENSOR_EMPTY;
    int64_t count = shape_of(caller->job, i, &in[i]);
    float *data = count > 0 ? malloc(sizeof(float) * (size_t)count) : NULL;
    in[i].data = data;
    for (int64_t at = 0; data && at < count; ++at)
      data[at] = (float)((at + caller->number) % 7) - 3;
    if (!data) {
      snprintf(caller->err.message, sizeof caller->err.message, "an input is empty, or not f32");
      return WEFT_INVALID;
    }
  }
  return WEFT_OK;
}

/* The last call's first output is copied to the host. */
static weft_status_t call(caller_t *caller, weft_context_t *context, const weft_tensor_t *in) {
  const job_t *job = caller->job;
  weft_tensor_t out[max_tensors];
  int is_host = strcmp(weft_context_device(context), "cpu") == 0;
  const char *colon = strchr(weft_context_device(context), ':');
  for (uint32_t i = 0; i < job->function.outputs; ++i) {
    out[i] = (weft_tensor_t)WEFT_TENSOR_EMPTY;
    out[i].device = is_host ? -1 : colon ? atoi(colon + 1) : 0;
  }
  weft_status_t status = WEFT_OK;
  for (int i = 0; i < caller->calls && !status; ++i)
    status = weft_call_function(context, 0, in, job->function.inputs, out, job->function.outputs,
                                &caller->err);
  if (!status) {
    weft_tensor_t here = out[0];
    caller->bytes = out[0].capacity;
    caller->first = here.data = calloc(1, (size_t)caller->bytes);
    here.device = -1;
    status = weft_tensor_copy(context, &out[0], &here, &caller->err);
  }
  for (uint32_t i = 0; i < job->function.outputs; ++i)
    weft_tensor_release(context, &out[i]);
  return status;
}

static void *run_caller(void *argument) {
  caller_t *caller = argument;
  weft_context_options_t options = {sizeof options, 1, -1, 0, NULL, caller->job->device};
  weft_context_t *context = NULL;
  weft_tensor_t in[max_tensors] = {WEFT_TENSOR_EMPTY};
  caller->status = weft_context_create(caller->job->module, &options, &context, &caller->err);
  if (!caller->status)
    caller->status = make_inputs(caller, in);
  if (!caller->status)
    caller->status = call(caller, context, in);
  for (uint32_t i = 0; i < caller->job->function.inputs; ++i)
    free(in[i].data);
  weft_context_release(context);
  return NULL;
}

static void prepare(caller_t *caller, const job_t *job, int number, int calls) {
  caller->job = job;
  caller->number = number;
  caller->calls = calls;
  caller->err = (weft_error_t)WEFT_ERROR_INIT;
}

/* Each thread's result against that of a call alone. */
static int compare(const job_t *job, caller_t *callers) {
  int exit_code = 0;
  for (int i = 0; i < thread_count && !exit_code; ++i) {
    caller_t alone = {0};
    prepare(&alone, job, i, 1);
    if (!callers[i].status)
      run_caller(&alone);
    if (callers[i].status || alone.status)
      exit_code = fail(callers[i].status ? callers[i].err.message : alone.err.message);
    else if (memcmp(callers[i].first, alone.first, (size_t)alone.bytes) != 0)
      exit_code = 2 + fail("a thread has other results than a call alone");
    free(alone.first);
  }
  return exit_code;
}

int main(int argc, char **argv) {
  static job_t job;
  static caller_t callers[thread_count];
  weft_error_t err = WEFT_ERROR_INIT;
  job.size = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
  if (argc < 3 || argc > 4 || job.size < 1 || job.size > 1 << 20) {
    fprintf(stderr, "error: usage: call_threads MODEL.weft SIZE [DEVICE]\n");
    return 2;
  }
  job.device = argc > 3 ? argv[3] : NULL;
  if (weft_module_open(NULL, argv[1], &job.module, &err) != WEFT_OK)
    return fail(err.message);
  job.function.struct_size = sizeof job.function;
  weft_function_info(job.module, 0, &job.function);
  if (job.function.inputs > max_tensors || job.function.outputs > max_tensors ||
      !job.function.outputs)
    return fail("the model has no outputs, or more than 16 of them or of inputs");
  for (int i = 0; i < thread_count; ++i) {
    prepare(&callers[i], &job, i, call_count);
    if (pthread_create(&callers[i].thread, NULL, run_caller, &callers[i]) != 0)
      exit(fail("no thread for a caller")); /* others use what main has */
  }
  for (int i = 0; i < thread_count; ++i)
    pthread_join(callers[i].thread, NULL);
  int exit_code = compare(&job, callers);
  if (!exit_code)
    printf("%d threads made %d calls on %s\n", thread_count, thread_count * call_count,
           job.device ? job.device : "the best there is");
  for (int i = 0; i < thread_count; ++i)
    free(callers[i].first);
  weft_module_release(job.module);
  return exit_code;
}
