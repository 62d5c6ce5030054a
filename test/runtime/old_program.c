/* A program as it was compiled when the library was young: it has the layouts of that time in it and includes no header of today. A layout
 * here is never changed. */
#include "test/runtime/old_program.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t struct_size;
  int32_t status;
  char code[8], message[488], hint[256];
} old_error;

typedef struct {
  uint32_t struct_size;
  uint16_t element, rank;
  uint32_t flags;
  int32_t device;
  void *data;
  int64_t capacity, dim[8], stride[8];
} old_tensor;

/* Version 0 ends in front of `target`. */
typedef struct {
  uint32_t struct_size;
  void *user;
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *pointer, size_t bytes);
  void (*parallel)(void *user, void (*body)(void *arg, int64_t begin, int64_t end, int32_t worker),
                   void *arg, int64_t units, int64_t grain);
  int32_t workers;
  uint32_t verify;
  void (*log)(void *user, int level, const char *line);
  const char *target;
} old_env;

typedef struct {
  uint32_t struct_size;
  int32_t threads, spin_us;
  int64_t memory_limit;
} old_options;

typedef struct {
  uint32_t struct_size;
  const char *name, *producer, *target;
  uint32_t functions, kernels, weights;
  uint64_t file_size, image_size, weight_bytes;
  uint8_t hash[32];
} old_module_info;

typedef struct {
  uint32_t struct_size;
  const char *name;
  uint32_t inputs, outputs, symbols, facts, checks;
  const char *arena, *scratch, *flops, *bytes_moved;
} old_function_info;

typedef struct {
  uint32_t struct_size;
  const char *name;
  uint16_t element, rank;
  uint32_t flags;
  const char *dim_text[8];
} old_argument_info;

typedef struct {
  uint32_t struct_size;
  const char *name;
  int64_t min, max, multiple;
  int32_t bound_by_input, bound_by_dim;
} old_symbol_info;

typedef struct {
  uint32_t struct_size;
  int64_t arena, scratch_per_worker, outputs, flops, bytes_moved;
} old_cost;

typedef struct {
  uint32_t struct_size;
  const char *name;
  uint32_t nodes, calls;
} old_kernel_info;

typedef struct {
  uint32_t struct_size, features, is_chosen;
  const char *target, *missing;
} old_variant_info;

/* A struct with a wall behind it, which the library must not touch. */
#define WALLED(type)                                                                               \
  struct {                                                                                         \
    type of;                                                                                       \
    uint64_t wall;                                                                                 \
  }
static const uint64_t stone = 0x5a5a5a5a5a5a5a5a;

int weft_module_open_fd(const old_env *, int, void **, old_error *);
void weft_module_release(void *);
int weft_module_info(const void *, old_module_info *);
int weft_variant_info(const void *, uint32_t, old_variant_info *);
int weft_function_info(const void *, int32_t, old_function_info *);
int weft_argument_info(const void *, int32_t, uint32_t, old_argument_info *);
int weft_symbol_info(const void *, int32_t, uint32_t, old_symbol_info *);
int weft_kernel_info(const void *, uint32_t, old_kernel_info *);
int weft_query_cost(const void *, int32_t, const int64_t *, old_cost *, old_error *);
int weft_context_create(void *, const old_options *, void **, old_error *);
void weft_context_release(void *);
int weft_call(void *, const char *, const old_tensor *, uint32_t, old_tensor *, uint32_t,
              old_error *);
void weft_tensor_release(void *, old_tensor *);

static void *count_allocate(void *user, size_t bytes, size_t alignment) {
  void *pointer = NULL;
  ++*(int *)user;
  return posix_memalign(&pointer, alignment, bytes) ? NULL : pointer;
}

static void count_release(void *user, void *pointer, size_t bytes) {
  (void)bytes;
  --*(int *)user;
  free(pointer);
}

/* Sets the size and the wall, asks, and says whether the wall stands. */
#define ASK(type, info, question)                                                                  \
  WALLED(type) info;                                                                               \
  memset(&info, 0, sizeof info);                                                                   \
  info.of.struct_size = sizeof info.of;                                                            \
  info.wall = stone;                                                                               \
  if ((question) != 0 || info.wall != stone || info.of.struct_size != sizeof info.of)              \
  return #question

static const char *ask(const void *module) {
  int64_t symbols[2] = {2, 3};
  ASK(old_module_info, m, weft_module_info(module, &m.of));
  ASK(old_variant_info, v, weft_variant_info(module, 0, &v.of));
  ASK(old_function_info, f, weft_function_info(module, 0, &f.of));
  ASK(old_argument_info, a, weft_argument_info(module, 0, 0, &a.of));
  ASK(old_symbol_info, s, weft_symbol_info(module, 0, 0, &s.of));
  ASK(old_kernel_info, k, weft_kernel_info(module, 0, &k.of));
  ASK(old_cost, c, weft_query_cost(module, 0, symbols, &c.of, NULL));
  if (m.of.functions == 0 || strcmp(f.of.name, "main") != 0 || strcmp(a.of.name, "ids") != 0 ||
      s.of.max != 100000 || c.of.arena != 24 || !v.of.is_chosen || k.of.calls == 0)
    return "an answer is wrong";
  return "";
}

static old_tensor matrix(float *data, int64_t rows, int64_t columns) {
  old_tensor tensor = {sizeof tensor, 16, 2, 0, -1, data, 0, {rows, columns}, {0}};
  return tensor;
}

/* y = x * mask + w, total = its sum; w[j] = j. */
static const char *call(void *module, old_error *err) {
  float x[6] = {1, 2, 3, 4, 5, 6}, mask[6] = {1, 1, 1, 1, 1, 1};
  old_options options = {sizeof options, 1, -1, 0};
  old_tensor in[2] = {matrix(x, 2, 3), matrix(mask, 2, 3)};
  old_tensor out[2] = {{sizeof *out, 0, 0, 0, -1, NULL, 0, {0}, {0}},
                       {sizeof *out, 0, 0, 0, -1, NULL, 0, {0}, {0}}};
  void *context = NULL;
  const char *wrong = "";
  if (weft_context_create(module, &options, &context, err))
    return err->message;
  if (weft_call(context, "main", in, 2, out, 2, err))
    wrong = err->message;
  else if (((float *)out[0].data)[5] != 8 || ((float *)out[1].data)[0] != 9)
    wrong = "a number is wrong";
  weft_tensor_release(context, &out[0]);
  weft_tensor_release(context, &out[1]);
  weft_context_release(context);
  return wrong;
}

const char *weft_old_program(int fd, int env_version) {
  static old_error err;
  static int live;
  WALLED(old_env) env;
  void *module = NULL;
  const char *wrong;
  memset(&err, 0, sizeof err);
  err.struct_size = sizeof err;
  /* Whatever lies behind the struct of its time is not the library's to read. */
  memset(&env, 0xa5, sizeof env);
  memset(&env.of, 0, env_version ? sizeof env.of : offsetof(old_env, target));
  env.of.struct_size = env_version ? sizeof env.of : offsetof(old_env, target);
  env.of.user = &live;
  env.of.allocate = count_allocate;
  env.of.release = count_release;
  live = 0;
  if (weft_module_open_fd(&env.of, fd, &module, &err))
    return err.message;
  wrong = ask(module);
  if (!*wrong)
    wrong = call(module, &err);
  weft_module_release(module);
  return *wrong || live == 0 ? wrong : "memory was lost";
}
