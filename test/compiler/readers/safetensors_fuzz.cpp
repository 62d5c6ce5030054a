// Any bytes: the safetensors reader gives an error of one line, or tensors that fill the file;
// likewise the shard index.
#include "compiler/import/readers/Safetensors.h"
#include "test/compiler/readers/FuzzTarget.h"
#include "test/compiler/readers/SampleFiles.h"

using namespace weft;

std::vector<std::string> weft::fuzzSeeds() {
  return {
      sampleSafetensors(), safetensorsFile("{}", ""),
      R"({"metadata":{"total_size":5},"weight_map":{"x":"m-1.safetensors","y":"m-2.safetensors"}})"};
}

static void checkTensors(const MappedFile &file, const std::vector<CheckpointTensor> &tensors) {
  uint64_t total = 0;
  for (const CheckpointTensor &tensor : tensors) {
    uint64_t needed = safetensorsTypeBytes(tensor.type);
    for (int64_t size : tensor.shape)
      needed *= static_cast<uint64_t>(size);
    fuzzRequire(tensor.bytes.size() == needed, "bytes agree with type and shape");
    fuzzRequire(file.contains(tensor.bytes), "bytes lie in their file");
    fuzzRequire(file.offsetOf(tensor.bytes) == tensor.offset, "offsets name the bytes");
    total += needed;
  }
  fuzzRequire(total <= file.size(), "tensors do not overlap");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  auto file = MappedFile::view("m", bytes);
  auto tensors = readSafetensors(file);
  if (tensors)
    checkTensors(*file, *tensors);
  else
    fuzzCheckError(llvm::toString(tensors.takeError()), "m");
  auto index = readShardIndex(llvm::StringRef(bytes.data(), size), "i");
  if (!index)
    fuzzCheckError(llvm::toString(index.takeError()), "i");
  fuzzAccepted += tensors || index;
  return 0;
}
