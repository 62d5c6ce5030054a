// The .npy parser on arbitrary bytes. What it accepts must lie inside the input, and its header
// must survive being written and read again.
#include <cstdlib>
#include <cstring>

#include "weft/npy.h"

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_npy_t npy, again;
  if (weft_npy_parse(data, size, &npy, &err)) {
    require(err.status == WEFT_INVALID && err.message[0]);
    return 0;
  }
  require(npy.data_offset <= size && npy.data_bytes <= size - npy.data_offset);
  char header[WEFT_NPY_HEADER_MAX];
  size_t written = weft_npy_header(header, sizeof header, npy.element, npy.rank, npy.dim);
  require(written > 0);
  if (npy.data_bytes > 1 << 20)
    return 0;
  char *file = static_cast<char *>(std::calloc(written + npy.data_bytes, 1));
  std::memcpy(file, header, written);
  require(weft_npy_parse(file, written + npy.data_bytes, &again, &err) == WEFT_OK);
  require(again.element == npy.element && again.rank == npy.rank &&
          std::memcmp(again.dim, npy.dim, sizeof npy.dim) == 0);
  std::free(file);
  return 0;
}

extern "C" size_t weft_fuzz_seed(unsigned index, uint8_t *out, size_t size) {
  static const weft_element_t elements[] = {WEFT_F32, WEFT_I64, WEFT_BOOL};
  static const int64_t dim[] = {2, 3, 1, 0};
  if (index >= 12)
    return 0;
  size_t written = weft_npy_header(out, size, elements[index % 3], index / 3, dim);
  std::memset(out + written, 1, 64);
  return written + 64;
}
