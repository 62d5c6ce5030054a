// The reader of .npz and .npy files, as 'weft run' uses it, on arbitrary bytes. What it accepts is read to its last element.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tools/weft/TensorFile.h"
#include "tools/weft/Zip.h"
#include "weft/npy.h"

using namespace weft::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  Result<std::vector<NamedTensor>> tensors = readTensorBytes(bytes.data(), bytes.size(), nullptr);
  if (!tensors) {
    if (tensors.failure().message.empty())
      std::abort();
    return 0;
  }
  double sum = 0;
  for (const NamedTensor &named : *tensors)
    for (int64_t i = 0; i < named.tensor.count(); ++i)
      sum += named.tensor.get(i);
  volatile double read = sum; // or nothing would be read
  (void)read;
  return 0;
}

extern "C" size_t weft_fuzz_seed(unsigned index, uint8_t *out, size_t size) {
  static const weft_element_t elements[] = {WEFT_F32, WEFT_I64, WEFT_BOOL};
  static const int64_t dim[] = {2, 3};
  if (index >= 9)
    return 0;
  ZipWriter zip;
  weft_element_t element = elements[index % 3];
  std::string header(WEFT_NPY_HEADER_MAX, '\0'), zeros(6 * weft_element_bits(element) / 8, '\0');
  header.resize(weft_npy_header(header.data(), header.size(), element, 2, dim));
  for (unsigned i = 0; i < index / 3; ++i)
    zip.add("x" + std::to_string(i) + ".npy", {header, zeros});
  size_t written = 0;
  for (std::string_view piece : zip.finish()) {
    if (written + piece.size() > size)
      return 0;
    std::memcpy(out + written, piece.data(), piece.size());
    written += piece.size();
  }
  return written;
}
