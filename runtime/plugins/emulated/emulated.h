/* The emulated GPU, for programs that link it in and for tools that print what it counted.
 *
 *   weft_emulated_open("seed=7,lazy", 0, &device, &err)      a device with options of its own
 *   weft_emulated_counters(kernel, &counters)                what the launches of a kernel did so far
 */
#ifndef WEFT_EMULATED_H
#define WEFT_EMULATED_H

#include "weft/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_EMULATED_API __attribute__((visibility("default")))

/* The variable of the environment with the options of devices that a plug-in opens. docs/emulated-gpu.md has them. */
#define WEFT_EMULATED_OPTIONS "WEFT_EMULATED"

/* Instructions of warps by what they do, in this order: integers, reals, moves, control, global memory, shared memory, local memory, lanes of
 * a warp, barriers, atomic operations, asynchronous copies, tensor cores. */
#define WEFT_EMULATED_UNITS 12

typedef struct {
  uint32_t struct_size, reserved;
  uint64_t launches, blocks;
  uint64_t instructions, lanes; /* of warps, and of their threads */
  uint64_t by_unit[WEFT_EMULATED_UNITS];
  uint64_t divergent_branches;
  uint64_t tensor_products; /* multiply-adds of tensor cores */
  /* Turns of 128 bytes of shared memory, and how many there would be without two words of a bank. */
  uint64_t shared_wavefronts, shared_ideal;
  /* Sectors of 32 bytes of global memory, and how few could hold the same bytes. */
  uint64_t sectors, ideal_sectors;
  uint64_t bytes_read, bytes_written; /* of global memory */
  uint64_t narrow_accesses; /* of warps to global memory, with less than 16 bytes a thread */
} weft_emulated_counters_t;

/* Opens a device of its own kind with these options; NULL means those of the environment, with which
 * every index is one device for all who have it open. Fails with INVALID for unknown options,
 * NOT_FOUND for an index that they do not have. The caller ends it with calls->close. */
WEFT_EMULATED_API weft_status_t weft_emulated_open(const char *options, int32_t index,
                                                   weft_device_t **out_device, weft_error_t *err);

/* Fills what `out`, by its struct_size, has room for with the sums over all launches of a kernel that `find` gave. INVALID for too small
 * a struct. */
WEFT_EMULATED_API weft_status_t weft_emulated_counters(const void *kernel,
                                                       weft_emulated_counters_t *out);

/* What stands for a CUtensorMap in code that runs here: its bytes are copied to memory of the device, at a multiple of 64. */
typedef struct {
  uint64_t bytes[16];
} weft_emulated_tensor_map_t;

typedef struct {
  const void *base;
  uint32_t element_bytes, rank;
  uint32_t sizes[5], box[5]; /* of dimensions from the innermost on */
  uint64_t strides[4];       /* of all but that, in bytes */
  uint32_t swizzle;          /* 0, 32, 64 or 128 bytes */
} weft_emulated_tensor_t;

/* Describes a tensor as cuTensorMapEncodeTiled does. INVALID where the driver's function refuses: more than 5 dimensions, a base or a stride that is no multiple of 16, a box of
 * more than 256 elements or with rows wider than the swizzle. */
WEFT_EMULATED_API weft_status_t weft_emulated_encode_tiled(weft_emulated_tensor_map_t *out,
                                                           const weft_emulated_tensor_t *tensor);

#ifdef __cplusplus
}
#endif
#endif
