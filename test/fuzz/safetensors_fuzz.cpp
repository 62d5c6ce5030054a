// Any bytes: the safetensors reader gives an error of one line, or tensors that fill the file;
// likewise the shard index.
#include "compiler/import/readers/Safetensors.h"
#include "test/compiler/readers/SampleFiles.h"
#include "test/fuzz/Target.h"

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return safetensorsFormat(); }

/// The corpus has indices of shards, and headers, behind which a kilobyte of data belongs to the last tensor.
std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  std::vector<std::string> seeds = {sampleSafetensors(), safetensorsFile("{}", "")};
  for (const std::string &text : corpus)
    seeds.push_back(text.find("weight_map") != std::string::npos
                        ? text
                        : safetensorsFile(text, std::string(1024, 'x')));
  return seeds;
}

static void checkTensors(const MappedFile &file, const std::vector<CheckpointTensor> &tensors) {
  uint64_t total = 0;
  for (const CheckpointTensor &tensor : tensors) {
    uint64_t needed = safetensorsTypeBytes(tensor.type);
    for (int64_t size : tensor.shape)
      needed *= static_cast<uint64_t>(size);
    require(tensor.bytes.size() == needed, "bytes agree with type and shape");
    require(file.contains(tensor.bytes), "bytes lie in their file");
    require(file.offsetOf(tensor.bytes) == tensor.offset, "offsets name the bytes");
    total += needed;
  }
  require(total <= file.size(), "tensors do not overlap");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  auto file = MappedFile::view("m", bytes);
  auto tensors = readSafetensors(file);
  if (tensors)
    checkTensors(*file, *tensors);
  else
    requireError(llvm::toString(tensors.takeError()), "m");
  auto index = readShardIndex(llvm::StringRef(bytes.data(), size), "i");
  if (!index)
    requireError(llvm::toString(index.takeError()), "i");
  fuzz::accepted += tensors || index;
  return 0;
}
