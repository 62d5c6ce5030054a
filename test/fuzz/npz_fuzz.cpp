// The reader of .npz and .npy files, as 'weft run' uses it, on arbitrary bytes. What it accepts is read to its last element.
#include <cmath>
#include <cstdlib>

#include "test/fuzz/NpySeeds.h"
#include "test/fuzz/Target.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Zip.h"

using namespace weft::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  Result<std::vector<NamedTensor>> tensors = readTensorBytes(bytes.data(), bytes.size(), nullptr);
  if (!tensors) {
    if (tensors.failure().message.empty())
      std::abort();
    return 0;
  }
  ++weft::fuzz::accepted;
  double sum = 0;
  for (const NamedTensor &named : *tensors)
    for (int64_t i = 0; i < named.tensor.count(); ++i)
      sum += named.tensor.get(i);
  volatile double read = sum; // or nothing would be read
  (void)read;
  return 0;
}

const weft::fuzz::Format &weft::fuzz::targetFormat() { return npzFormat(); }

/// Archives of none, one and more of the .npy files; a file alone is read, too.
std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  std::vector<std::string> files = npyFiles(corpus), seeds = {files[0]};
  for (size_t members = 0; members <= files.size(); members += 1 + members / 2) {
    ZipWriter zip;
    for (size_t i = 0; i < members; ++i)
      zip.add("x" + std::to_string(i) + ".npy", {files[i]});
    std::string archive;
    for (std::string_view piece : zip.finish())
      archive += piece;
    seeds.push_back(archive);
  }
  return seeds;
}
