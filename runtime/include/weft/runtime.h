/* The Weft runtime: opens artifacts and calls them.
 *
 *   weft_error_t err = WEFT_ERROR_INIT;
 *   weft_module_t *module = NULL; weft_context_t *context = NULL;
 *   if (weft_module_open(NULL, "model.weft", &module, &err)) return fail(err.message);
 *   if (weft_context_create(module, NULL, &context, &err)) return fail(err.message);
 *   weft_tensor_t in[1] = {weft_tensor_of(ids, WEFT_I64, 2, (int64_t[]){2, 41})}, out[1] = {WEFT_TENSOR_EMPTY};
 *   if (weft_call(context, NULL, in, 1, out, 1, &err)) return fail(err.message);
 *   … out[0].data …
 *   weft_tensor_release(context, &out[0]); weft_context_release(context); weft_module_release(module);
 *
 * Threads: a module may be used by any number of threads at once. A context serves one call at a time (a second caller gets
 * WEFT_BUSY); weft_cancel may come from anywhere. There is no global state. C99, and C++17 without exceptions inside; needs libc
 * and pthreads only. Enum values never change.
 *
 * Structs that grow start with struct_size, which the program sets to its sizeof. They grow at the end only. A shorter one, of a
 * program for an older library, is accepted in every size it ever had: what it lacks is as if it were zero. A longer one, of a program for a
 * newer library, is accepted when what this library does not know is zero; queries leave that part as it was. weft_tensor_t, which compiled
 * code reads, never grows.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(WEFT_RUNTIME_SHARED)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

typedef enum {
  WEFT_OK = 0,
  WEFT_INVALID = 1, /* the caller's tensors or arguments are wrong */
  WEFT_NOT_FOUND = 2,
  WEFT_BAD_ARTIFACT = 3, /* damaged, truncated, or not an artifact */
  WEFT_UNSUPPORTED = 4,  /* other processor, missing CPU feature, newer format */
  WEFT_OUT_OF_MEMORY = 5,
  WEFT_OVER_LIMIT = 6, /* the call needs more than memory_limit, or a size overflows */
  WEFT_IO = 7,
  WEFT_CANCELLED = 8,
  WEFT_LOST_PEER = 9, /* another rank of the group has ended */
  WEFT_TIMEOUT = 10,  /* another rank did not come in time */
  WEFT_MISMATCH = 11, /* ranks of the group ask for different things */
  WEFT_DEVICE = 12,   /* a device failed: what ran on it has no results */
  WEFT_BUSY = 13
} weft_status_t;

/* Lives on the caller's stack; failing needs no memory. code: "W0411"; message: one sentence; hint: what to do, may be empty. */
typedef struct {
  uint32_t struct_size;
  int32_t status;
  char code[8], message[488], hint[256];
} weft_error_t;
#define WEFT_ERROR_INIT                                                                            \
  {                                                                                                \
    sizeof(weft_error_t), 0, {0}, {0}, { 0 }                                                       \
  }

typedef enum {
  WEFT_BOOL = 1,
  WEFT_I4,
  WEFT_U4,
  WEFT_I8,
  WEFT_U8,
  WEFT_I16,
  WEFT_U16,
  WEFT_I32,
  WEFT_U32,
  WEFT_I64,
  WEFT_U64,
  WEFT_F8E4M3,
  WEFT_F8E5M2,
  WEFT_F16,
  WEFT_BF16,
  WEFT_F32,
  WEFT_F64,
  WEFT_F8E4M3FNUZ, /* one nan (0x80), no infinity, no -0 */
  WEFT_F8E5M2FNUZ,
  WEFT_I2,
  WEFT_U2,
  WEFT_F4E2M1, /* neither nan nor infinity */
  WEFT_F8E8M0  /* powers of two from 2^-127, and nan (0xff) */
} weft_element_t;

/* Bits of one element; 0 for an unknown value. Elements of 4 or 2 bits share a byte, the first in its lowest bits. */
WEFT_API uint32_t weft_element_bits(uint32_t element);
/* "f32", "i64", "bool", …; "?" for an unknown value. */
WEFT_API const char *weft_element_name(uint32_t element);

enum { WEFT_MAX_RANK = 8 };

/* A tensor in the caller's memory: the host's, or that of the device that the context computes on, where data is an address there.
 * stride counts elements; all 0 means row-major without gaps.
 * As an output: data NULL asks the library to allocate (end it with weft_tensor_release); otherwise `capacity` bytes are at data.
 * The library fills element, rank and dim of outputs.
 * An input with room (weft_in_place_info) is a view of a row-major buffer that is longer along one dimension, as its strides say. The
 * output in place gets the input's data and capacity, and the buffer's strides: it can be the next call's input as it is. Its data before
 * the call is NULL, and then its device does not matter, or the input's. */
typedef struct {
  uint32_t struct_size;
  uint16_t element, rank;
  uint32_t flags;
  int32_t
      device; /* whose memory `data` is in: -1 is the host's, N that of "KIND:N", where the context computes */
  void *data;
  int64_t capacity;
  int64_t dim[WEFT_MAX_RANK], stride[WEFT_MAX_RANK];
} weft_tensor_t;
#define WEFT_TENSOR_EMPTY                                                                          \
  {                                                                                                \
    sizeof(weft_tensor_t), 0, 0, 0, -1, NULL, 0, {0}, { 0 }                                        \
  }

/* A row-major tensor over `data`; capacity is left 0, which for an input means "as many bytes as the shape needs". */
static inline weft_tensor_t weft_tensor_of(void *data, weft_element_t element, uint16_t rank,
                                           const int64_t *dim) {
  weft_tensor_t tensor = WEFT_TENSOR_EMPTY;
  tensor.element = (uint16_t)element;
  tensor.rank = rank;
  tensor.data = data;
  if (rank > 0)
    memcpy(tensor.dim, dim,
           sizeof(int64_t) * (rank < (uint16_t)WEFT_MAX_RANK ? rank : (uint16_t)WEFT_MAX_RANK));
  return tensor;
}

typedef struct weft_module weft_module_t;
typedef struct weft_context weft_context_t;

/* What an embedder may replace; NULL members mean the default. */
typedef struct {
  uint32_t struct_size;
  void *user; /* the first argument of the functions below */
  /* Gives `bytes` > 0 at a multiple of `alignment`, a power of two, or NULL when there is no memory. Any thread. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  /* Takes back what `allocate` gave, with the same number of bytes. Cannot fail. Any thread. */
  void (*release)(void *user, void *pointer, size_t bytes);
  /* Runs body over [0, units) in pieces on `workers` threads (each piece names a worker below `workers`) and returns when all
   * are done. Called by the thread of a call; calls of several contexts may come at once. */
  void (*parallel)(void *user, void (*body)(void *arg, int64_t begin, int64_t end, int32_t worker),
                   void *arg, int64_t units, int64_t grain);
  int32_t workers; /* of `parallel` */
  uint32_t verify; /* 0: everything but weight bytes is checked when opening; 1: weights too */
  /* Reserved; nothing calls it today. */
  void (*log)(void *user, int level, const char *line);
  /* Of an artifact for several targets, the one to use; NULL: the best that this machine can run. Read while opening only. */
  const char *target;
  /* What calls compute on (weft/device.h), which must be able to run compiled host code; NULL: the CPU, with the memory and threads
   * above. It stays the caller's and is closed after the module is released. Then `parallel` is NULL: a device has threads of its own. */
  struct weft_device *device;
  /* Of an artifact for several numbers of ranks, the one that queries speak of; 0: the fewest. A context takes the one of its group. */
  uint32_t ranks;
  /* 1: the module is opened to be asked what it is. Code for any processor will do, none of it is loaded, and no context is made of it.
   * Of an artifact none of whose targets can run here, the first is the one that queries speak of. */
  uint32_t describe;
} weft_env_t;

typedef struct {
  uint32_t struct_size;
  int32_t threads; /* 0: as many as the process may use */
  int32_t spin_us; /* how long workers spin between regions of one call; -1: default, 0: never */
  int64_t memory_limit; /* bytes of arena, late blocks and scratch one call may use; 0: no limit */
  /* The ranks that run functions with a mesh together (weft/group.h): as many as the mesh has; of an artifact for several numbers of ranks
   * this picks the one. NULL: one rank. It stays the caller's and outlives the context. */
  struct weft_group *group;
  /* Where kernels run: "cpu", or a kind of devices and an index, "cuda:0", of which "cuda" is the first; libweft_cuda.so implements that kind.
   * NULL: where the variant runs that the module was opened for, which is a processor's whenever there is one that fits, and else "cuda". */
  const char *device;
  /* 1: what ranks exchange while they compute is exchanged before or behind it instead, as by --fuse-comm never: to the same bits, on all ranks
   * alike. */
  int32_t exchanges_apart;
  int32_t reserved;
  /* The caller's stream on the device, a CUstream on "cuda", in whose order calls compute: behind what it has been given, before what it is given
   * later. It stays the caller's and outlives the context. NULL: the context's own. */
  void *stream;
} weft_context_options_t;

/* "0.1.0": the version of the library. A constant of the library. */
WEFT_API const char *weft_version(void);

/* Maps the artifact at `path` after checking header, sizes and hash. Nothing is copied. `env` NULL means defaults; it is copied.
 * On success the caller owns *out_module. On failure *out_module is NULL and *err, unless err is NULL, says why.
 * Fails with NOT_FOUND, IO, BAD_ARTIFACT, UNSUPPORTED, OUT_OF_MEMORY. */
WEFT_API weft_status_t weft_module_open(const weft_env_t *env, const char *path,
                                        weft_module_t **out_module, weft_error_t *err);
/* The same for an open regular file, read from its start wherever its position is; `fd` stays the caller's and may be closed
 * afterwards. */
WEFT_API weft_status_t weft_module_open_fd(const weft_env_t *env, int fd,
                                           weft_module_t **out_module, weft_error_t *err);
/* Reads all weights and compares them with their hashes: seconds for gigabytes. Fails with BAD_ARTIFACT, or INVALID for NULL. */
WEFT_API weft_status_t weft_module_verify(const weft_module_t *module, weft_error_t *err);
/* Ends what weft_module_open gave. The module lives on as long as contexts of it do. NULL is allowed. */
WEFT_API void weft_module_release(weft_module_t *module);

/* ---- Queries -------------------------------------------------------------------------------------------------------------------
 * They run nothing of the artifact, but for weft_query_outputs, and speak of the variant that was chosen. Texts live as long as the
 * module. Each fills a struct whose struct_size the caller has set, and fails with INVALID, without a text, when an argument is NULL,
 * the struct too short, or an index behind the last one. Any thread. */

typedef struct {
  uint32_t struct_size;
  const char *name;
  uint32_t inputs, outputs, symbols, facts, checks;
  const char *arena, *scratch, *flops, *bytes_moved;
  const char *weights_read; /* bytes of weights, by one rank; "" of a file for one rank */
} weft_function_info_t;
typedef struct {
  uint32_t struct_size;
  const char *name;
  uint16_t element, rank;
  uint32_t flags;
  const char *dim_text[WEFT_MAX_RANK];
} weft_argument_info_t;
typedef struct {
  uint32_t struct_size;
  const char *name;
  int64_t min, max, multiple;
  int32_t bound_by_input, bound_by_dim;
} weft_symbol_info_t;
typedef struct {
  uint32_t struct_size;
  int64_t arena, scratch_per_worker, outputs, flops, bytes_moved;
} weft_cost_t;
typedef struct {
  uint32_t struct_size;
  const char *name;
  uint32_t nodes, calls;
} weft_kernel_info_t;
typedef struct {
  uint32_t struct_size;
  const char *name, *producer, *target;
  uint32_t functions, kernels, weights;
  uint64_t file_size, image_size, weight_bytes;
  uint8_t hash[32];
} weft_module_info_t;
/* Name, producer, target, numbers and sizes (bytes) of the module, and the hash that its file carries. */
WEFT_API weft_status_t weft_module_info(const weft_module_t *module, weft_module_info_t *out_info);
/* The code of an artifact for one target and number of ranks. missing: the first CPU feature that this machine does not have, or NULL.
 * is_refused: it has the feature, but the system does not let this process use it. */
typedef struct {
  uint32_t struct_size, features, is_chosen;
  const char *target, *missing;
  uint32_t is_refused, ranks;
} weft_variant_info_t;
/* The number of variants of an artifact, the best first; 0 for NULL. */
WEFT_API uint32_t weft_variant_count(const weft_module_t *module);
/* What variant `variant` is compiled for, and whether this machine can run it. */
WEFT_API weft_status_t weft_variant_info(const weft_module_t *module, uint32_t variant,
                                         weft_variant_info_t *out_info);
/* Feature `index` that the variant needs; NULL when there is none. */
WEFT_API const char *weft_variant_feature(const weft_module_t *module, uint32_t variant,
                                          uint32_t index);
/* Index of a function, or -1. NULL stands for the only one, or "main". */
WEFT_API int32_t weft_function_find(const weft_module_t *module, const char *name);
/* Name, numbers and formulas of function `function`. arena and scratch are bytes, flops operations of one call. */
WEFT_API weft_status_t weft_function_info(const weft_module_t *module, int32_t function,
                                          weft_function_info_t *out_info);
/* Name, element, rank and the formulas of the dimensions of an argument; `index` counts inputs first, then outputs. */
WEFT_API weft_status_t weft_argument_info(const weft_module_t *module, int32_t function,
                                          uint32_t index, weft_argument_info_t *out_info);
/* Name and range of a symbol, and the dimension of an input that it is read from, -1 for one that data determine. */
WEFT_API weft_status_t weft_symbol_info(const weft_module_t *module, int32_t function,
                                        uint32_t index, weft_symbol_info_t *out_info);
/* Memory that a call asks for when it knows sizes that data decide and nothing limits; per_worker: scratch. */
typedef struct {
  uint32_t struct_size, per_worker;
  const char *bytes; /* a formula */
} weft_late_block_info_t;
/* The formula of late block number `block` of the function. INVALID behind the last one. */
WEFT_API weft_status_t weft_late_block_info(const weft_module_t *module, int32_t function,
                                            uint32_t block, weft_late_block_info_t *out_info);
/* Output `output` lies in the memory of input `input`, which has room along `dim`; `symbol` is how much: the stride in front of the
 * dimension says it, and no dimension of an input. */
typedef struct {
  uint32_t struct_size, input, output, dim, symbol;
} weft_in_place_info_t;
/* Pair number `pair` of an input and the output that lies in its memory. INVALID behind the last one. */
WEFT_API weft_status_t weft_in_place_info(const weft_module_t *module, int32_t function,
                                          uint32_t pair, weft_in_place_info_t *out_info);
/* Elements of input `input` are positions: below what the formula says, and at least minus that. */
typedef struct {
  uint32_t struct_size, input;
  const char *below; /* "30522"; lives as long as the module */
} weft_positions_info_t;
/* Number `index` of what inputs must hold so that calls find positions inside; one input may have several. INVALID behind the last one. */
WEFT_API weft_status_t weft_positions_info(const weft_module_t *module, int32_t function,
                                           uint32_t index, weft_positions_info_t *out_info);
/* The row of the kernel that is number `part` of those that run together in the function's region `region`. INVALID behind
 * the last one. */
WEFT_API weft_status_t weft_region_kernel(const weft_module_t *module, int32_t function,
                                          uint32_t region, uint32_t part, uint32_t *out_kernel);
/* Fact `index` of the function: "1 <= seq"; NULL behind the last one. */
WEFT_API const char *weft_fact_text(const weft_module_t *module, int32_t function, uint32_t index);
/* The check of entry row `index` in words ("input 'mask': dimension 1 equals seq"), written to the `size` bytes at `text`; what does
 * not fit is cut off. */
WEFT_API weft_status_t weft_check_text(const weft_module_t *module, int32_t function,
                                       uint32_t index, char *text, size_t size);
/* Name of kernel `index` of the module, the number of the model's nodes that it computes and of places that call it. */
WEFT_API weft_status_t weft_kernel_info(const weft_module_t *module, uint32_t index,
                                        weft_kernel_info_t *out_info);
/* Node `index` that the kernel computes, in the words of the model; NULL behind the last one. */
WEFT_API const char *weft_kernel_node(const weft_module_t *module, uint32_t kernel, uint32_t index);
/* An axis of the mesh of ranks that run the function together; symbol: the one that says where a rank stands along it, -1: none. */
typedef struct {
  uint32_t struct_size, size;
  const char *name;
  int32_t symbol, reserved;
} weft_axis_info_t;
/* Axis number `axis` of the function's mesh, of which the last tells neighbours apart. INVALID behind the last one: a function for one
 * rank has none. */
WEFT_API weft_status_t weft_axis_info(const weft_module_t *module, int32_t function, uint32_t axis,
                                      weft_axis_info_t *out_info);
/* What one rank sends to others during a call along axes, "tp" or "dp, tp": formulas of bytes and of messages. */
typedef struct {
  uint32_t struct_size, reserved;
  const char *axes, *bytes, *messages;
} weft_traffic_info_t;
/* Number `index` of the axes along which ranks talk. INVALID behind the last one. */
WEFT_API weft_status_t weft_traffic_info(const weft_module_t *module, int32_t function,
                                         uint32_t index, weft_traffic_info_t *out_info);
/* What a call with these symbol values takes, in the order of weft_symbol_info: bytes of arena, of one worker's scratch and of all
 * outputs, operations, and bytes that kernels read and write. Late blocks and work whose size nothing limits are not in it. Fails with
 * INVALID for values outside their ranges, OVER_LIMIT when a number overflows. */
WEFT_API weft_status_t weft_query_cost(const weft_module_t *module, int32_t function,
                                       const int64_t *symbols, weft_cost_t *out_cost,
                                       weft_error_t *err);
/* Checks inputs as a call would and gives element, rank and dims of all outputs; where data decide, the most a dimension can be, or -1
 * when nothing limits it. Input data may be NULL. Runs the artifact's bind, which has no side effects. Fails as a call does with INVALID,
 * and with OUT_OF_MEMORY when there are hundreds of values. */
WEFT_API weft_status_t weft_query_outputs(const weft_module_t *module, int32_t function,
                                          const weft_tensor_t *in, uint32_t n_in,
                                          weft_tensor_t *out, uint32_t n_out, weft_error_t *err);
/* A text of the file, not ended by a NUL: "manifest" is the JSON that says how the artifact was made. NOT_FOUND for other names. */
WEFT_API weft_status_t weft_module_text(const weft_module_t *module, const char *what,
                                        const char **out_text, size_t *out_size);

/* ---- Calls ----------------------------------------------------------------------------------------------------------------- */

/* Makes a context for calls of the module, which it keeps alive. `options` NULL means defaults; it is copied. Memory of calls and threads
 * come with the first call. On success the caller owns *out_context; on failure it is NULL. Fails with INVALID, OUT_OF_MEMORY. A module with
 * functions for several ranks needs options.group: all its ranks make their contexts in the same order, compare what they have opened, and
 * call the same functions in the same order. Then it also fails with MISMATCH, and as collectives do. */
WEFT_API weft_status_t weft_context_create(weft_module_t *module,
                                           const weft_context_options_t *options,
                                           weft_context_t **out_context, weft_error_t *err);
/* Ends the context: joins its threads and frees its memory, but no outputs. No call may run. NULL is allowed. */
WEFT_API void weft_context_release(weft_context_t *context);
/* Makes the arena large enough for these symbol values, so that calls up to that size allocate nothing; where this rank stands is known
 * already, and values of such symbols are not looked at. Fails with INVALID, OVER_LIMIT,
 * OUT_OF_MEMORY, BUSY. */
WEFT_API weft_status_t weft_reserve(weft_context_t *context, int32_t function,
                                    const int64_t *symbols, weft_error_t *err);
/* Calls a function by its name (NULL as in weft_function_find) and returns when its outputs are computed. `in` and `out` are `n_in` and
 * `n_out` tensors of the caller's; outputs without data are allocated, see weft_tensor_t, and freed again when the call fails. Fails with
 * INVALID before anything is computed, OVER_LIMIT, OUT_OF_MEMORY, CANCELLED, BUSY when the context is in a call, BAD_ARTIFACT
 * when compiled code is at fault; where ranks compute together also with LOST_PEER, TIMEOUT, MISMATCH. After such a failure, and when one rank fails
 * alone, the context can be called no more: release it, so that others need not wait. */
WEFT_API weft_status_t weft_call(weft_context_t *context, const char *function,
                                 const weft_tensor_t *in, uint32_t n_in, weft_tensor_t *out,
                                 uint32_t n_out, weft_error_t *err);
/* The same by the index that weft_function_find gave: nothing is searched. */
WEFT_API weft_status_t weft_call_function(weft_context_t *context, int32_t function,
                                          const weft_tensor_t *in, uint32_t n_in,
                                          weft_tensor_t *out, uint32_t n_out, weft_error_t *err);
/* The same, but may return before the outputs are computed: they are there for what is given to the context's stream later, for later calls of the
 * context, and for everybody behind weft_wait. Inputs stay as they are until then. What fails late is told by weft_wait or a later call. Where a
 * context computes on the host it is weft_call_function. */
WEFT_API weft_status_t weft_submit(weft_context_t *context, int32_t function,
                                   const weft_tensor_t *in, uint32_t n_in, weft_tensor_t *out,
                                   uint32_t n_out, weft_error_t *err);
/* Returns when all that was submitted is computed. Fails with DEVICE where something of it failed, and with BUSY while a call runs. */
WEFT_API weft_status_t weft_wait(weft_context_t *context, weft_error_t *err);
/* What one kernel of a call did. flops and bytes are what its formulas say, -1 where they say nothing. Times are CLOCK_MONOTONIC. */
typedef struct {
  uint32_t struct_size, kernel;
  int64_t units, flops, bytes;
  uint64_t begin_ns, end_ns;
} weft_trace_event_t;
/* Receives what a kernel did; `user` is what weft_context_trace got. The event is valid during the call. */
typedef void (*weft_trace_fn)(void *user, const weft_trace_event_t *event);
/* From the next call on, `event` is called after every kernel, on the calling thread; NULL ends it. Not while a call runs: BUSY. Kernels
 * that run at the same time divide this time as their pieces took, one behind the other. */
WEFT_API weft_status_t weft_context_trace(weft_context_t *context, weft_trace_fn event, void *user,
                                          weft_error_t *err);
/* The module as the context's calls see it: queries of it speak of the variant that the context runs. It lives as long as the context. */
WEFT_API const weft_module_t *weft_context_module(const weft_context_t *context);
/* Something that a device counts: "instructions", "bytes read". The name lives as long as the process. */
typedef struct {
  uint32_t struct_size, reserved;
  const char *name;
  uint64_t value;
} weft_counter_t;
/* Counter `index`, from 0 on, of what kernel `kernel` did on the context's device, for all contexts that are there. INVALID, without a text,
 * behind the last one, and of a device that counts nothing. Not while a call runs. */
WEFT_API weft_status_t weft_context_counter(const weft_context_t *context, uint32_t kernel,
                                            uint32_t index, weft_counter_t *out_counter);
/* "cpu", or the context's device as the module's first context there named it: "cuda" is "cuda:0". It lives as long as the context. */
WEFT_API const char *weft_context_device(const weft_context_t *context);
/* Bytes that calls of the context copied from the host to its device and back. */
typedef struct {
  uint32_t struct_size, reserved;
  uint64_t to_device, from_device;
} weft_copied_t;
/* What the context has copied so far: arguments that lie on the other side, and numbers that the host decides by. 0 of a context that computes on
 * the host. INVALID, without a text, for NULL. Not while a call runs. */
WEFT_API weft_status_t weft_context_copied(const weft_context_t *context,
                                           weft_copied_t *out_copied);
/* Gives the tensor, whose data is NULL, memory of its `device` for its element and dims, without gaps and with undefined contents. It ends with
 * weft_tensor_release. Fails with INVALID, OUT_OF_MEMORY. */
WEFT_API weft_status_t weft_tensor_allocate(weft_context_t *context, weft_tensor_t *tensor,
                                            weft_error_t *err);
/* Copies the elements of `from` to `to`, which have one element type, the same dims and no gaps, each on the host or on the context's device, and
 * returns when that is done. Fails with INVALID, as the device does, and with BUSY while a call runs. */
WEFT_API weft_status_t weft_tensor_copy(weft_context_t *context, const weft_tensor_t *from,
                                        const weft_tensor_t *to, weft_error_t *err);
/* Makes the running call, if there is one, return WEFT_CANCELLED soon; with ranks, on all of them. Any thread, signal handlers too. */
WEFT_API void weft_cancel(weft_context_t *context);
/* Frees what a call allocated for an output, or weft_tensor_allocate for a tensor, and makes its data NULL; a tensor in the caller's memory stays as it is. `context` is the
 * one that was called. NULL is allowed for both. */
WEFT_API void weft_tensor_release(weft_context_t *context, weft_tensor_t *tensor);

#ifdef __cplusplus
}
#endif
#endif
