/* Reads and writes the headers of NumPy's .npy files.
 *
 *   weft_npy_t npy;
 *   if (weft_npy_parse(bytes, size, &npy, &err)) return fail(err.message);
 *   weft_tensor_t t = weft_tensor_of(bytes + npy.data_offset, npy.element, npy.rank, npy.dim);
 *
 * Versions 1, 2 and 3; little endian; bool, i1 to i8, u1 to u8, f2, f4, f8. Everything else is refused
 * in words. Data in Fortran order (column-major) is read by weft_npy_parse_any and weft_npy_copy. NumPy has no bfloat16: such data is stored as u2, and only the caller
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
  uint32_t is_fortran; /* 1: the data is column-major; 0 from weft_npy_parse */
  int64_t dim[WEFT_MAX_RANK];
  uint64_t data_offset, data_bytes; /* data_offset + data_bytes <= size of the file */
} weft_npy_t;

/* Bytes that are enough for the header of any tensor. */
enum { WEFT_NPY_HEADER_MAX = 512 };

/* Reads the header of the .npy file at `bytes` and checks that its data is complete and row-major.
 * Bytes after the data are allowed. Fails with INVALID. */
WEFT_API weft_status_t weft_npy_parse(const void *bytes, size_t size, weft_npy_t *out_npy,
                                      weft_error_t *err);

/* The same, for data in Fortran order, too: what it says then holds for the tensor that weft_npy_copy
 * makes of the data. */
WEFT_API weft_status_t weft_npy_parse_any(const void *bytes, size_t size, weft_npy_t *out_npy,
                                          weft_error_t *err);

/* Copies the data of the file at `bytes`, which was parsed as `npy`, to npy->data_bytes at `to`,
 * which is apart: row-major, whatever order the file has. */
WEFT_API void weft_npy_copy(const weft_npy_t *npy, const void *bytes, void *to);

/* Writes the header of a row-major tensor to `buffer`; the data follows it. Returns its size, a
 * multiple of 64, or 0 when `size` is too small, the rank too large, a dimension negative, or NumPy
 * has no such element. */
WEFT_API size_t weft_npy_header(void *buffer, size_t size, uint32_t element, uint32_t rank,
                                const int64_t *dim);

#ifdef __cplusplus
}
#endif
#endif
