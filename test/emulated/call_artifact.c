/* Calls of an artifact in a process of its own, for tests and counts of processors that are emulated.
 *
 *   call_artifact ARTIFACT INPUTS OUTPUTS [THREADS [CALLS]]
 *
 * After each call it asks for the group of a process that there is not: a mark for what counts instructions (tools/bench/arm).
 *
 * Files of tensors are as test/support/EmulatedCall.h says. Exits with 1 and a line on stderr when something is refused. */
#include "weft/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TENSORS = 64, MARK = 0x77656674 };

static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static int64_t read_word(FILE *file) {
  int64_t word;
  if (fread(&word, sizeof word, 1, file) != 1)
    fail("call: the file of inputs ends too early");
  return word;
}

static void write_word(FILE *file, int64_t word) {
  if (fwrite(&word, sizeof word, 1, file) != 1)
    fail("call: the outputs cannot be written");
}

/* The dimensions of `tensor` are kept in `dims`. */
static void read_tensor(FILE *file, weft_tensor_t *tensor, int64_t *dims) {
  weft_element_t element = (weft_element_t)read_word(file);
  int32_t rank = (int32_t)read_word(file);
  if (rank < 0 || rank > WEFT_MAX_RANK)
    fail("call: an input has an impossible rank");
  for (int32_t d = 0; d < rank; ++d)
    dims[d] = read_word(file);
  size_t bytes = (size_t)read_word(file);
  void *data = malloc(bytes ? bytes : 1); /* ends where the heap's guard begins, at best */
  if (!data || fread(data, 1, bytes, file) != bytes)
    fail("call: an input has no memory or no bytes");
  *tensor = weft_tensor_of(data, element, rank, dims);
}

static size_t bytes_of(const weft_tensor_t *tensor) {
  int64_t count = 1;
  for (uint32_t d = 0; d < tensor->rank; ++d)
    count *= tensor->dim[d];
  return (size_t)((count * (int64_t)weft_element_bits(tensor->element) + 7) / 8);
}

static void write_tensor(FILE *file, const weft_tensor_t *tensor) {
  size_t bytes = bytes_of(tensor);
  write_word(file, tensor->element);
  write_word(file, tensor->rank);
  for (uint32_t d = 0; d < tensor->rank; ++d)
    write_word(file, tensor->dim[d]);
  write_word(file, (int64_t)bytes);
  if (bytes && fwrite(tensor->data, 1, bytes, file) != bytes)
    fail("call: the outputs cannot be written");
}

static weft_context_t *open_context(const char *path, int32_t threads, weft_module_t **module) {
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_t *context = NULL;
  weft_context_options_t options = {sizeof options, threads, -1, 0, NULL};
  if (weft_module_open(NULL, path, module, &error) ||
      weft_context_create(*module, &options, &context, &error))
    fail(error.message);
  return context;
}

static uint32_t count_outputs(const weft_module_t *module) {
  weft_function_info_t info = {sizeof info};
  weft_function_info(module, weft_function_find(module, NULL), &info);
  return info.outputs;
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("usage: call_artifact ARTIFACT INPUTS OUTPUTS [THREADS [CALLS]]");
  weft_module_t *module = NULL;
  weft_context_t *context = open_context(argv[1], argc > 4 ? atoi(argv[4]) : 1, &module);
  FILE *from = fopen(argv[2], "rb"), *to = fopen(argv[3], "wb");
  if (!from || !to)
    fail("call: a file of tensors cannot be opened");
  static weft_tensor_t inputs[MOST_TENSORS], outputs[MOST_TENSORS];
  static int64_t dims[MOST_TENSORS][WEFT_MAX_RANK];
  uint32_t given = (uint32_t)read_word(from), made = count_outputs(module);
  if (given > MOST_TENSORS || made > MOST_TENSORS)
    fail("call: there are too many inputs or outputs");
  for (uint32_t i = 0; i < given; ++i)
    read_tensor(from, &inputs[i], dims[i]);
  for (uint32_t i = 0; i < made; ++i)
    outputs[i] = (weft_tensor_t)WEFT_TENSOR_EMPTY;
  weft_error_t error = WEFT_ERROR_INIT;
  for (int call = 0, calls = argc > 5 ? atoi(argv[5]) : 1; call < calls; ++call) {
    for (uint32_t i = 0; call && i < made; ++i)
      weft_tensor_release(context, &outputs[i]);
    if (weft_call(context, NULL, inputs, given, outputs, made, &error))
      fail(error.message);
    getpgid(MARK);
  }
  write_word(to, made);
  for (uint32_t i = 0; i < made; ++i)
    write_tensor(to, &outputs[i]);
  if (fclose(to))
    fail("call: the outputs cannot be written");
  for (uint32_t i = 0; i < made; ++i)
    weft_tensor_release(context, &outputs[i]);
  weft_context_release(context);
  weft_module_release(module);
  return 0;
}
