/* Opens any artifact and calls one of its functions through the C API, with inputs made up here.
 *
 *   c_call model.weft [FUNCTION] [SYMBOL=VALUE ...]        c_call minilm.weft main batch=2 seq=16
 *
 * A symbol that is not given is 4, or what is nearest to that and allowed. Inputs are all 1;
 * floating-point inputs narrower than f32 are 0.
 * Exit codes: 0 success, 1 refused, 2 wrong usage, 4 the machine lacks something.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft/runtime.h"

enum { max_tensors = 64 };

/* A call and what must be freed after it. */
typedef struct {
  weft_module_t *module;
  weft_context_t *context;
  int32_t function;
  weft_function_info_t info;
  weft_tensor_t in[max_tensors], out[max_tensors];
} call_t;

static int fail(int exit_code, const char *reason, const char *detail) {
  fprintf(stderr, "error: %s%s%s%s\n", reason, detail[0] ? " '" : "", detail, detail[0] ? "'" : "");
  return exit_code;
}

static int fail_with(weft_status_t status, const weft_error_t *err) {
  fprintf(stderr, "error: %s%s%s\n", err->message, err->hint[0] ? "\n  hint: " : "", err->hint);
  return status == WEFT_UNSUPPORTED || status == WEFT_OUT_OF_MEMORY ? 4 : 1;
}

/* "name=value" among the assignments, else a small value that the symbol's range and divisor
 * allow. */
static int64_t value_of(const weft_symbol_info_t *symbol, char **assignments) {
  const size_t length = strlen(symbol->name);
  const int64_t step = symbol->multiple > 1 ? symbol->multiple : 1;
  const int64_t wanted = symbol->min > 4 ? symbol->min : 4,
                value = (wanted + step - 1) / step * step;
  for (; *assignments; ++assignments)
    if (strncmp(*assignments, symbol->name, length) == 0 && (*assignments)[length] == '=')
      return strtoll(*assignments + length + 1, NULL, 10);
  return value > symbol->max ? symbol->max / step * step : value;
}

/* What a dimension's text stands for: a number or a symbol; -1 for any other formula. */
static int64_t size_of(const call_t *call, const char *text, char **assignments) {
  weft_symbol_info_t symbol = {sizeof symbol, NULL, 0, 0, 0, 0, 0};
  if (text[0] && text[strspn(text, "0123456789")] == 0)
    return strtoll(text, NULL, 10);
  for (uint32_t i = 0; weft_symbol_info(call->module, call->function, i, &symbol) == WEFT_OK; ++i)
    if (strcmp(text, symbol.name) == 0)
      return value_of(&symbol, assignments);
  return -1;
}

/* Every assignment must be SYMBOL=NUMBER. */
static int check_assignments(const call_t *call, char **assignments) {
  weft_symbol_info_t symbol = {sizeof symbol, NULL, 0, 0, 0, 0, 0};
  for (; *assignments; ++assignments) {
    const char *equals = strchr(*assignments, '=');
    const size_t length = equals ? (size_t)(equals - *assignments) : 0;
    int known = 0;
    for (uint32_t i = 0; weft_symbol_info(call->module, call->function, i, &symbol) == WEFT_OK; ++i)
      known |= strlen(symbol.name) == length && strncmp(*assignments, symbol.name, length) == 0;
    if (!known)
      return fail(2, "no symbol of the function has the name in", *assignments);
    if (!equals[1] || equals[1 + strspn(equals + 1, "0123456789")])
      return fail(2, "a symbol's value must be a number, not as in", *assignments);
  }
  return 0;
}

/* Memory for a tensor whose shape was checked; NULL when there is not enough. */
static void *make_elements(const weft_tensor_t *tensor) {
  const size_t bytes = (weft_element_bits(tensor->element) + 7) / 8;
  size_t count = 1;
  for (int i = 0; i < tensor->rank; ++i)
    count *= (size_t)tensor->dim[i];
  uint8_t *data = calloc(count + 1, bytes);
  for (size_t i = 0; data && i < count; ++i) {
    if (tensor->element == WEFT_F32)
      ((float *)data)[i] = 1;
    else if (tensor->element == WEFT_F64)
      ((double *)data)[i] = 1;
    else if (tensor->element == WEFT_I4 || tensor->element == WEFT_U4)
      data[i / 2] = 0x11;
    else if (tensor->element == WEFT_I2 || tensor->element == WEFT_U2)
      data[i / 4] = 0x55;
    else if (tensor->element < WEFT_F8E4M3)
      data[i * bytes] = 1; /* the lowest byte comes first */
  }
  return data;
}

static int make_inputs(call_t *call, char **assignments) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_argument_info_t argument = {sizeof argument, NULL, 0, 0, 0, {NULL}};
  for (uint32_t i = 0; i < call->info.inputs; ++i) {
    int64_t dim[WEFT_MAX_RANK] = {0};
    weft_argument_info(call->module, call->function, i, &argument);
    for (int d = 0; d < argument.rank; ++d)
      if ((dim[d] = size_of(call, argument.dim_text[d], assignments)) < 0)
        return fail(1,
                    "an input's dimension is neither a number nor a symbol:", argument.dim_text[d]);
    call->in[i] = weft_tensor_of(NULL, (weft_element_t)argument.element, argument.rank, dim);
  }
  for (uint32_t i = 0; i < call->info.outputs; ++i)
    call->out[i] = (weft_tensor_t)WEFT_TENSOR_EMPTY;
  /* Says what is wrong with the shapes before memory is spent on them. */
  weft_status_t status = weft_query_outputs(call->module, call->function, call->in,
                                            call->info.inputs, call->out, call->info.outputs, &err);
  if (status != WEFT_OK)
    return fail_with(status, &err);
  for (uint32_t i = 0; i < call->info.inputs; ++i)
    if (!(call->in[i].data = make_elements(&call->in[i])))
      return fail(4, "not enough memory for the inputs", "");
  return 0;
}

static void print_output(const call_t *call, uint32_t index) {
  const weft_tensor_t *tensor = &call->out[index];
  weft_argument_info_t argument = {sizeof argument, NULL, 0, 0, 0, {NULL}};
  int64_t count = 1;
  weft_argument_info(call->module, call->function, call->info.inputs + index, &argument);
  printf("%s: %s[", argument.name, weft_element_name(tensor->element));
  for (int i = 0; i < tensor->rank; count *= tensor->dim[i], ++i)
    printf("%s%" PRId64, i ? ", " : "", tensor->dim[i]);
  printf("]");
  for (int64_t i = 0; i < count && i < 4 && tensor->element == WEFT_F32; ++i)
    printf(" %g", ((const float *)tensor->data)[i]);
  printf("%s\n", count > 4 ? " ..." : "");
}

static int run(call_t *call, const char *path, const char *name, char **assignments) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_module_open(NULL, path, &call->module, &err);
  if (status == WEFT_OK)
    status = weft_context_create(call->module, NULL, &call->context, &err);
  if (status != WEFT_OK)
    return fail_with(status, &err);
  call->function = weft_function_find(call->module, name);
  if (weft_function_info(call->module, call->function, &call->info) != WEFT_OK)
    return fail(1, "the artifact has no function", name ? name : "main");
  if (call->info.inputs > max_tensors || call->info.outputs > max_tensors)
    return fail(1, "the function has more than 64 inputs or outputs", "");

  int exit_code = check_assignments(call, assignments);
  if (exit_code == 0)
    exit_code = make_inputs(call, assignments);
  if (exit_code != 0)
    return exit_code;
  status = weft_call_function(call->context, call->function, call->in, call->info.inputs, call->out,
                              call->info.outputs, &err);
  if (status != WEFT_OK)
    return fail_with(status, &err);
  for (uint32_t i = 0; i < call->info.outputs; ++i)
    print_output(call, i);
  return 0;
}

int main(int argc, char **argv) {
  static call_t call = {.info = {.struct_size = sizeof call.info}};
  if (argc < 2 || argv[1][0] == '-')
    return fail(2, "usage: c_call MODEL.weft [FUNCTION] [SYMBOL=VALUE ...]", "");
  const char *name = argc > 2 && !strchr(argv[2], '=') ? argv[2] : NULL;
  int exit_code = run(&call, argv[1], name, argv + (name ? 3 : 2));

  for (int i = 0; i < max_tensors; ++i) {
    free(call.in[i].data);
    weft_tensor_release(call.context, &call.out[i]);
  }
  weft_context_release(call.context);
  weft_module_release(call.module);
  return exit_code;
}
