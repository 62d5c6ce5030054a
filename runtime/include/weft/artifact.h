/* The file format of a Weft artifact (`model.weft`) as C structs, and the contract between its compiled code and the
 * runtime. Written by compiler/artifact, read by runtime/src; docs/artifact-format.md explains it for people.
 *
 *   0   ELF header, program headers, PT_NOTE "WEFT" (weft_file_v1)             all within the first 4 KiB
 *       R   segment: descriptor (one weft_module_v1 per variant and everything they point to), constants
 *       RX  segment: bind and run of every function, kernels, of every variant
 *   W   weights, W a multiple of 2 MiB, or since 1.4 of 64 KiB (absent when there are none)
 *   T   tail: SHA-256 leaves of the weights, then the manifest (JSON)
 *
 * The image has no relocations, no imports, no constructors and nothing writable. Every `offset` inside the descriptor counts
 * from the descriptor's first byte; code is given as a signed distance from that byte.
 */
#ifndef WEFT_ARTIFACT_H
#define WEFT_ARTIFACT_H

#include <stdint.h>

#include "weft/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_ABI_MAJOR = 1, WEFT_ABI_MINOR = 4 };
#define WEFT_NOTE_NAME "WEFT"
enum {
  WEFT_NOTE_TYPE = 1,
  WEFT_LEAF_LOG2 = 22,
  WEFT_FEW_WEIGHTS_LOG2 =
      25, /* fewer bytes of weights are written at a multiple of 64 KiB, more at one of 2 MiB */
  WEFT_HEADER_BYTES = 4096,
  WEFT_MAX_WORDS = 64,
  WEFT_MAX_VARIANTS = 16,
  WEFT_MAX_PARTS = 8
};

typedef enum {
  WEFT_ALL_REDUCE = 1, /* every rank gets the combination of what all send */
  WEFT_ALL_GATHER,     /* every rank gets the parts of all */
  WEFT_REDUCE_SCATTER, /* every rank gets its part of the combination */
  WEFT_ALL_TO_ALL,     /* what was split along one dimension is split along another */
  WEFT_BROADCAST,      /* every rank gets what rank `peer` sends */
  WEFT_PERMUTE         /* every rank sends to the one `peer` further on, in a ring */
} weft_collective_kind_t;

/* Combinations are made in the order of ranks, so that every rank, run and transport has the same bits. f16 and bf16 are combined in f32 and
 * rounded once; integers wrap around. The largest and smallest of numbers with a nan among them is a nan. */
typedef enum { WEFT_SUM = 1, WEFT_MAX, WEFT_MIN, WEFT_PROD } weft_combiner_t;

/* Content of the note. All positions are file offsets unless said otherwise; unknown flags are refused. */
typedef struct {
  uint32_t abi_major, abi_minor, struct_size, flags;
  uint64_t file_size;
  uint64_t image_size; /* bytes of the ELF image at the start of the file */
  uint64_t descriptor,
      descriptor_size; /* virtual address (= offset in the mapped image) of the first weft_module_v1 */
  uint64_t weights_begin,
      weights_size; /* weights_begin is a multiple of 2 MiB, since 1.4 of 64 KiB; 0, 0 without weights */
  uint64_t leaves_begin,
      leaf_count; /* SHA-256 of each 2^22-byte piece of the weights, the last one shorter */
  uint64_t manifest_begin, manifest_size;
  uint8_t hash[32]; /* SHA-256 of all bytes but the weights, this field taken as zero */
  /* Since 1.1; a file of 1.0 has one variant. The descriptor starts with `variants` structs weft_module_v1, each `variant_step` bytes
   * long, for one target each, the best first. A reader takes the first whose cpu_features the machine has. */
  uint32_t variants, variant_step;
} weft_file_v1;

/* `count` elements of `step` bytes each at descriptor + offset; newer writers may append fields to elements, so a reader walks
 * by `step`. Text is a list of bytes (step 1) followed by a NUL that `count` does not include. */
typedef struct {
  uint32_t offset, count, step;
} weft_list_t;

/* A quantity as code over the function's symbols, for machines, and as text, for people. Absent when code.count is 0. */
typedef struct {
  weft_list_t code, text;
} weft_formula_v1;

typedef struct {
  weft_list_t name, producer, target; /* "minilm", "weft 0.1.0", "x86:v4" */
  weft_list_t functions, kernels,
      weights;              /* weft_function_v1, weft_kernel_v1, weft_weight_v1 of all variants */
  weft_list_t cpu_features; /* weft_list_t texts: "avx2", "avx512f", … all needed */
  uint64_t
      host_table_size; /* bytes of weft_host_v1 the code uses; refused when the runtime has fewer */
  /* Since 1.3, and absent from variants whose kernels run on the host: their code, a text for all of them, and what it is
   * (weft_device_code_kind_t of weft/device.h). Features that no processor has are the device's. */
  weft_list_t device_code;
  uint32_t device_code_kind;
} weft_module_v1;

typedef struct {
  weft_list_t name, inputs, outputs; /* weft_argument_v1 */
  weft_list_t symbols; /* weft_symbol_v1; values[] of bind starts with them, in this order */
  weft_list_t facts;   /* weft_list_t texts: "1 <= seq", "p + s <= 2048" */
  weft_list_t checks;  /* weft_check_v1: row r is what bind reports as r + 1 */
  int32_t bind, run;   /* weft_bind_fn, weft_run_fn: distance from the descriptor's first byte */
  weft_formula_v1 arena, scratch_per_worker, flops, bytes_moved;
  /* Absent in files without sizes that only data limit, and from older writers: readers take it as empty. */
  weft_list_t late_blocks; /* weft_late_block_v1 */
  weft_list_t regions; /* weft_region_v1, those of one kernel left out; absent as late_blocks are */
  /* Since 1.2, and absent from functions without: weft_in_place_v1, in the order of inputs. */
  weft_list_t in_place;
  weft_list_t positions; /* weft_positions_v1; absent from functions without */
  /* Absent from functions for one rank. Functions of a variant that have a mesh have the same mesh and the same groups. */
  weft_list_t mesh;         /* weft_axis_v1, of which the last tells neighbours apart */
  weft_list_t rank_symbols; /* uint32_t for each axis: the symbol that says where a rank stands, or
                               0xffffffff; it has its value before bind */
  weft_list_t groups;       /* weft_axes_v1 */
  weft_list_t exchanges;    /* weft_exchange_v1 */
  weft_list_t traffic;      /* weft_traffic_v1 */
  /* Bytes of the weights that one rank reads at most; absent from files for one rank. */
  weft_formula_v1 weights_read;
} weft_function_v1;

/* Ranks along one direction of a mesh. */
typedef struct {
  weft_list_t name;
  uint32_t size;
} weft_axis_v1;

/* Ranks that differ along these axes of the mesh alone are a group. Their places in it count along the last one first. */
typedef struct {
  weft_list_t axes; /* uint32_t */
} weft_axes_v1;

/* A collective of the ranks of a group: weft_collective_t without what differs from call to call. `node`: what it follows in the model. */
typedef struct {
  weft_list_t node;
  uint16_t kind, element, combiner, is_reversed;
  int32_t peer;
  uint16_t group;
  uint16_t most_pieces; /* that it is cut into while ranks compute; 0: WEFT_MOST_PIECES */
} weft_exchange_v1;

/* What one rank sends during a call along axes, "tp" or "dp, tp": bytes, and messages. For people. */
typedef struct {
  weft_list_t axes;
  weft_formula_v1 bytes, messages;
} weft_traffic_v1;

/* Integers of `bits` bits that must be positions inside, on behalf of `node`; `of` says whose they are: "input 'ids'". They have `rank`
 * dimensions, and one size or as many as the last dimension. */
typedef struct {
  weft_list_t node, of;
  uint32_t rank, sizes, bits;
  uint32_t input;        /* whose elements they are, or 0xffffffff */
  weft_formula_v1 below; /* the size; absent where there are several */
} weft_positions_v1;

/* Output `output` lies in the memory of input `input`, which has room along `dim`: as much as symbol `symbol` says. Both have the flag
 * WEFT_ARGUMENT_IN_PLACE and differ in that dimension only. */
typedef struct {
  uint32_t input, output, dim, symbol;
} weft_in_place_v1;

/* Kernels that `run` gives to the workers together: rows of weft_module_v1.kernels, at most WEFT_MAX_PARTS. */
typedef struct {
  weft_list_t kernels; /* uint32_t */
} weft_region_v1;

/* Memory that `run` asks for when it knows how much it is: what depends on symbols that data decide and nothing limits. The formula
 * is for people and queries; flags: WEFT_LATE_PER_WORKER. */
typedef struct {
  weft_formula_v1 bytes;
  uint32_t flags;
} weft_late_block_v1;
enum { WEFT_LATE_PER_WORKER = 1 }; /* scratch: every worker gets so many bytes */

/* flags: WEFT_ARGUMENT_LATE, of outputs only; WEFT_ARGUMENT_IN_PLACE: weft_in_place_v1 says which pair. */
typedef struct {
  weft_list_t name;
  uint16_t element, rank;
  uint32_t flags;
  weft_list_t dims; /* weft_formula_v1 */
} weft_argument_v1;
enum {
  WEFT_ARGUMENT_LATE = 1, /* bind cannot limit its size: run asks for its memory */
  WEFT_ARGUMENT_IN_PLACE = 2
};

/* multiple: the value must be divisible by it. bound_by_*: the input dimension that determines the symbol, or 0xffffffff for one
 * that gets its value while the function runs: bind stores the most it can be, or -1 when nothing limits it, run the value; also for
 * the room of weft_in_place_v1, which the stride in front of the dimension determines, and for those of rank_symbols. */
typedef struct {
  weft_list_t name;
  int64_t min, max, multiple;
  uint32_t bound_by_input, bound_by_dim;
} weft_symbol_v1;

typedef enum {
  WEFT_CHECK_DIM = 1, /* input `input`, dimension `dim` must equal `expected` */
  WEFT_CHECK_MIN,     /* symbol `symbol` >= its min */
  WEFT_CHECK_MAX,
  WEFT_CHECK_MULTIPLE,
  WEFT_CHECK_SOLVE, /* input `input`, dimension `dim` cannot have this size: no value of `symbol` gives it (`expected` is the dimension's formula) */
  WEFT_CHECK_FACT,  /* the fact with text `fact` is false; symbol values are printed with it */
  WEFT_CHECK_SIZE,  /* some tensor or the arena would exceed 2^62 bytes */
  WEFT_CHECK_DATA, /* symbol `symbol`, which data determine, would be negative or more than 2^31 - 1; reported by run */
  WEFT_CHECK_ROOM /* since 1.2: input `input` must have `symbol` places along `dim`, and these at least `expected` */
} weft_check_kind_t;
typedef struct {
  uint32_t kind, input, dim, symbol;
  weft_formula_v1 expected;
  weft_list_t fact, node;
} weft_check_v1;

/* Weight bytes lie at weights_begin + offset. `layout` is text: "rows", "panels<32>". */
typedef struct {
  weft_list_t name, layout;
  uint16_t element, rank;
  uint32_t flags;
  weft_list_t dims; /* int64_t */
  uint64_t offset, bytes;
} weft_weight_v1;

/* A distinct kernel. `nodes`: weft_list_t texts, the user's nodes it computes. calls: call sites in the module. Its words are
 * `pointers` addresses, then `symbols` integers, over which flops and bytes_moved are formulas. */
typedef struct {
  weft_list_t name, nodes;
  uint8_t key[16];
  uint32_t calls, pointers, symbols, reserved;
  weft_formula_v1 flops, bytes_moved;
  /* Of a device's kernel, which is called `name` in the code of its variant: threads of a block, and bytes that they share beside what
   * the code declares. Absent from files without. */
  uint32_t block_threads, block_bytes;
} weft_kernel_v1;

/* Formula code: a stack machine over int64. Evaluation is checked: overflow is an error, never a wrong number. At most 32 values
 * deep, one value left at the end. FLOORDIV by a value <= 0 is an error. */
typedef enum {
  WEFT_CODE_CONST = 1, /* zigzag LEB128 follows */
  WEFT_CODE_SYMBOL,    /* LEB128 index into the symbols follows */
  WEFT_CODE_ADD,
  WEFT_CODE_MUL,
  WEFT_CODE_FLOORDIV,
  WEFT_CODE_POS,   /* a -> max(a, 0) */
  WEFT_CODE_BCAST, /* a b -> a == 1 ? b : a */
  WEFT_CODE_MAX
} weft_code_t;

/* ---- compiled code and runtime ---------------------------------------------------------------------------------------- */

typedef struct {
  void *scratch;
  int32_t index, reserved;
} weft_worker_t;

/* Computes units [begin, end). Never fails, allocates or calls anything outside the image. words: pointers, then integers. */
typedef void (*weft_kernel_fn)(const uint64_t *words, int64_t begin, int64_t end,
                               weft_worker_t *worker);

typedef struct weft_frame_v1 weft_frame_v1;
typedef struct weft_queue weft_queue_t; /* weft/device.h */

/* A kernel among those of a region, with what `parallel` takes. work: about how many nanoseconds all its units take one worker. It
 * decides who computes what, never what comes out. */
typedef struct {
  weft_kernel_fn kernel;
  const uint64_t *words;
  int64_t units, grain;
  double work;
  int32_t kernel_id, reserved;
} weft_part_v1;

/* How the units of a kernel follow the rows of what it reads or makes: `rows` are cut into `tiles` parts of which the first rows % tiles have a
 * row more, and units [t * u, (t + 1) * u) are tile t's, u = units / tiles, where there are `least` tiles or more; else b * tiles + t for every b < u.
 * With a height the kernel may be called for some rows: u units for every `height` of them, with addresses moved by so many rows, and their number
 * as word `count_word`. */
typedef struct {
  int64_t rows, tiles, least, height;
  int64_t addresses, count_word; /* words: the first so many are addresses */
  const int64_t *row_bytes;      /* of every address; 0 where there are no rows */
} weft_row_tiles_v1;

/* What an exchange is cut into while ranks compute: at most so many pieces, as many collectives as every transport lets be under way; with so many
 * rows of each rank, as of fewer tiles would often wait for two; and of what is summed with so many, if there are two such: each is a run of tiles of its own,
 * which reads all weights, while what is gathered is multiplied as it has come. */
enum { WEFT_MOST_PIECES = 8, WEFT_LEAST_ROWS = 16, WEFT_LEAST_ROWS_OF_SUM = 64 };

/* What `overlap` takes. The exchange's rows, outer * first of its words, or first / (elements of a row) of an all_reduce, are the kernels'. */
typedef struct {
  const weft_part_v1 *parts;
  const weft_row_tiles_v1 *tiles; /* of every part */
  const int64_t *words;           /* of the exchange, as `exchange` takes them */
  int64_t exchange;               /* row of the function's `exchanges` */
  int32_t count, comes_first;     /* the exchange: kernels read what it brings */
} weft_overlap_v1;

/* What compiled code may call. Append only. */
typedef struct {
  uint32_t struct_size, reserved;
  /* Runs `kernel` over [0, units) on the context's workers and returns when all are done. Pieces are multiples of `grain`
   * (>= 1) except the last. units <= 0 does nothing. `kernel_id` is the row in weft_module_v1.kernels. */
  void (*parallel)(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                   int64_t units, int64_t grain, int32_t kernel_id);
  /* Gives `bytes` >= 0 of memory in the function's late block, or for every worker's scratch, until it is called for that block
   * again or the call ends; 64-byte aligned, and NULL for scratch. Does not return when there is no memory: the call ends then. */
  void *(*reserve)(weft_frame_v1 *frame, int64_t block, int64_t bytes);
  /* Makes out[output].data a place for `bytes`: checks what the caller gave, or allocates. Does not return when that fails. */
  void (*output)(weft_frame_v1 *frame, int64_t output, int64_t bytes);
  /* Runs `count` kernels, 1 to WEFT_MAX_PARTS, none of which reads what another of them writes, and returns when all are done: as
   * `parallel` one after the other, but workers that have nothing to do in one compute others. */
  void (*together)(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count);
  /* Compares integers with the sizes that they must be below, and at least their negative: row `row` of the function's `positions`.
   * words: the address, the dimensions, the sizes. Does not return when one is outside: the call ends then. */
  void (*check_positions)(weft_frame_v1 *frame, int64_t row, const int64_t *words);
  /* Does row `row` of the function's `exchanges` with the other ranks of its group. words: the addresses of what this rank gives and gets, then
   * outer, first, middle, second, inner, received, longest. Does not return when it fails: the call ends then. */
  void (*exchange)(weft_frame_v1 *frame, int64_t row, const int64_t *words);
  /* As `overlap_rows`, of files whose weft_row_tiles_v1 are shorter: the exchange and the kernels one after the other. */
  void (*overlap)(weft_frame_v1 *frame, const weft_overlap_v1 *overlap);
  /* Gives `blocks` blocks of kernel `kernel_id`, a row of weft_module_v1.kernels, to the device behind what was given before; blocks <= 0 does
   * nothing. Its parameters are the words of the row, and the address of the call's scratch. Does not return when that fails. */
  void (*launch)(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks, int32_t kernel_id);
  /* The `bits` (8, 32 or 64) bits at an address of the device, once all is done that was given before; those above are 0. Does not
   * return when that fails. */
  int64_t (*fetch)(weft_frame_v1 *frame, const void *address, int64_t bits);
  /* Does an exchange in pieces while kernels compute that read what it brings, or make what it sends. As `exchange` and `together` one after
   * the other, but for the order. `parts` of at most WEFT_MAX_PARTS kernels. Does not return when it fails. */
  void (*overlap_rows)(weft_frame_v1 *frame, const weft_overlap_v1 *overlap);
  /* As `exchange`, but goes on while kernels run: at most WEFT_MOST_BESIDE do at a time. Does not return when it fails. */
  void (*exchange_begin)(weft_frame_v1 *frame, int64_t row, const int64_t *words);
  /* Ends what was begun with the same arguments, behind what was begun before it and with no `exchange` between. Does not return when it fails. */
  void (*exchange_end)(weft_frame_v1 *frame, int64_t row, const int64_t *words);
  /* As `launch`, of a kernel whose blocks count each other: behind the others it has as parameter the address of WEFT_COUNTERS words of 32 bits on
   * the device, which are 0 when it begins and when it ends. */
  void (*launch_counted)(weft_frame_v1 *frame, const uint64_t *words, int64_t blocks,
                         int32_t kernel_id);
} weft_host_v1;

enum { WEFT_MOST_BESIDE = 8, WEFT_COUNTERS = 1024 };

/* What `run` works on. values: as filled by bind. arena: values[n_symbols] bytes, 64-byte aligned at least. */
struct weft_frame_v1 {
  const weft_host_v1 *host;
  void *context;
  const weft_tensor_t *in;
  weft_tensor_t *out;
  uint8_t *arena;
  const uint8_t *weights;
  int64_t *values;
  weft_worker_t *worker0;
  /* Behind what compiled code knows: the queue that `parallel` and `together` launch on. */
  weft_queue_t *queue;
  /* Where they go when a launch failed: ends the call with the status and does not return; copies the texts. */
  void (*leave)(weft_frame_v1 *frame, weft_status_t status, const char *code, const char *message);
};

/* Fills values[], in which those of rank_symbols stand already: the symbols, then the bytes of the arena, then the dimensions of all outputs in order (the most they can be, -1 when
 * nothing limits them). Has no side effects, so it
 * also answers shape queries. Elements, ranks and null pointers were checked before. Returns 0, or 1 + the row of the
 * check that failed. */
typedef int32_t (*weft_bind_fn)(const weft_tensor_t *in, int64_t *values);

/* Computes; writes the dimensions of outputs that depend on data. Returns 0, or 1 + the row of the check about such a dimension
 * that failed. */
typedef int32_t (*weft_run_fn)(weft_frame_v1 *frame);

#ifdef __cplusplus
}
#endif
#endif
