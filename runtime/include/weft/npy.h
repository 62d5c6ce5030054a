/* Reads and writes the headers of NumPy's .npy files.
 *
 *   weft_npy_t npy;
 *   if (weft_npy_parse(bytes, size, &npy, &err)) return fail(err.message);
 *   weft_tensor_t t = weft_tensor_of(bytes + npy.data_offset, npy.element, npy.rank, npy.dim);
 *
 * Versions 1, 2 and 3; little endian; row-major; bool, i1 to i8, u1 to u8, f2, f4, f8. Everything
 * else is refused in words. NumPy has no bfloat16: such data is stored as u2, and only the caller
 * can know that it is WEFT_BF16.
 */
#ifndef WEFT_NPY_H
#define WEFT_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "weft/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint16_t element, rank;
  uint32_t reserved;
  int64_t dim[WEFT_MAX_RANK];
  uint64_t data_offset, data_bytes; /* data_offset + data_bytes <= size of the file */
} weft_npy_t;

/* Bytes that are enough for the header of any tensor. */
enum { WEFT_NPY_HEADER_MAX = 512 };

/* Reads the header of the .npy file at `bytes` and checks that its data is complete. Bytes after
 * the data are allowed. Fails with INVALID. */
WEFT_API weft_status_t weft_npy_parse(const void *bytes, size_t size, weft_npy_t *out_npy,
                                      weft_error_t *err);

/* Writes the header of a row-major tensor to `buffer`; the data follows it. Returns its size, a
 * multiple of 64, or 0 when `size` is too small, the rank too large, a dimension negative, or NumPy
 * has no such element. */
WEFT_API size_t weft_npy_header(void *buffer, size_t size, uint32_t element, uint32_t rank,
                                const int64_t *dim);

#ifdef __cplusplus
}
#endif
#endif
