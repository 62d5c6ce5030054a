// The .npy parser on arbitrary bytes. What it accepts must lie inside the input, and its header
// must survive being written and read again.
#include <cstdlib>
#include <cstring>

#include "test/fuzz/NpySeeds.h"
#include "test/fuzz/Target.h"
#include "weft/npy.h"

const weft::fuzz::Format &weft::fuzz::targetFormat() { return npyFormat(); }

std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return npyFiles(corpus);
}

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_npy_t npy, again;
  if (weft_npy_parse_any(data, size, &npy, &err)) {
    require(err.status == WEFT_INVALID && err.message[0]);
    return 0;
  }
  ++weft::fuzz::accepted;
  require(npy.data_offset <= size && npy.data_bytes <= size - npy.data_offset);
  char header[WEFT_NPY_HEADER_MAX];
  size_t written = weft_npy_header(header, sizeof header, npy.element, npy.rank, npy.dim);
  require(written > 0);
  if (npy.data_bytes > 1 << 20)
    return 0;
  char *file = static_cast<char *>(std::calloc(written + npy.data_bytes, 1));
  std::memcpy(file, header, written);
  weft_npy_copy(&npy, data, file + written);
  require(weft_npy_parse(file, written + npy.data_bytes, &again, &err) == WEFT_OK);
  require(again.element == npy.element && again.rank == npy.rank &&
          std::memcmp(again.dim, npy.dim, sizeof npy.dim) == 0);
  std::free(file);
  return 0;
}
