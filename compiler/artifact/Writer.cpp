//===- Writer.cpp - Patches the image, packs weights, hashes, renames ------------------------------------------------===//

#include "compiler/artifact/Writer.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/WeightBytes.h"
#include "compiler/host/DescriptorData.h"
#include "compiler/host/HostProgram.h"
#include "weft/sha256.h"

using namespace mlir;

namespace weft {
namespace {

/// Weights begin at a huge page, but for few ones, beside which the gap in front would show.
constexpr uint64_t kHugePage = 2 << 20, kAnyPage = 64 << 10;
constexpr uint64_t kLeaf = uint64_t(1) << WEFT_LEAF_LOG2;

/// Weight bytes on their way into the file, hashed leaf by leaf.
class WeightStream {
public:
  explicit WeightStream(OutputFile &file) : file(file) { weft_sha256_init(&state); }

  llvm::Error write(StringRef bytes) {
    if (llvm::Error error = file.write(bytes))
      return error;
    while (!bytes.empty()) {
      size_t part = std::min<uint64_t>(bytes.size(), kLeaf - inLeaf);
      weft_sha256_update(&state, bytes.data(), part);
      bytes = bytes.drop_front(part);
      inLeaf += part;
      size += part;
      if (inLeaf == kLeaf)
        endLeaf();
    }
    return llvm::Error::success();
  }
  std::string finish() {
    if (inLeaf > 0)
      endLeaf();
    return leaves;
  }
  uint64_t size = 0;

private:
  void endLeaf() {
    uint8_t hash[32];
    weft_sha256_final(&state, hash);
    leaves.append(reinterpret_cast<char *>(hash), sizeof(hash));
    weft_sha256_init(&state);
    inLeaf = 0;
  }
  OutputFile &file;
  weft_sha256_t state;
  uint64_t inLeaf = 0;
  std::string leaves;
};

class ArtifactWriter {
public:
  ArtifactWriter(Image &image, ArrayRef<StoredWeight> weights, Module::Impl &module)
      : image(image), weights(weights), module(module) {}

  llvm::Expected<uint64_t> write(const std::string &path, const Descriptor &descriptor,
                                 StringRef manifest) {
    if (llvm::Error error = patchDescriptor(descriptor))
      return std::move(error);
    if (llvm::Error error = file.open(path))
      return std::move(error);
    header.abi_major = WEFT_ABI_MAJOR;
    header.abi_minor = descriptor.hasDeviceCode ? 3 : descriptor.grows ? 2 : 1;
    header.struct_size = sizeof(header);
    header.image_size = image.bytes.size();
    header.descriptor = image.symbols.lookup(kDescriptorSymbol);
    header.descriptor_size = descriptor.bytes.size();
    header.variants = descriptor.functions.size();
    header.variant_step = descriptor.variantBytes();
    if (llvm::Error error = writeParts(manifest))
      return std::move(error);
    if (llvm::Error error = seal())
      return std::move(error);
    if (llvm::Error error = file.commit())
      return std::move(error);
    return header.file_size;
  }

private:
  llvm::Error patchDescriptor(const Descriptor &descriptor) {
    uint64_t base = image.symbols.lookup(kDescriptorSymbol);
    llvm::Expected<uint64_t> offset = image.fileOffset(base);
    if (!offset)
      return offset.takeError();
    for (auto [v, rows] : llvm::enumerate(descriptor.functions))
      for (auto [i, row] : llvm::enumerate(rows)) {
        char *function = image.bytes.data() + *offset + row;
        auto patch = [&](size_t field, const std::string &symbol) {
          int32_t distance = int32_t(int64_t(image.symbols.lookup(symbol)) - int64_t(base));
          memcpy(function + field, &distance, sizeof(distance));
        };
        patch(offsetof(weft_function_v1, bind), bindSymbol(v, i));
        patch(offsetof(weft_function_v1, run), runSymbol(v, i));
      }
    return llvm::Error::success();
  }

  llvm::Error writeParts(StringRef manifest) {
    tail.clear();
    if (llvm::Error error = file.write(image.bytes))
      return error;
    if (bytesOf(weights) > 0) {
      bool few = bytesOf(weights) < uint64_t(1) << WEFT_FEW_WEIGHTS_LOG2;
      padding = llvm::offsetToAlignment(file.position, llvm::Align(few ? kAnyPage : kHugePage));
      if ((file.position + padding) % kHugePage)
        header.abi_minor = 4;
      if (llvm::Error error = file.write(std::string(padding, '\0')))
        return error;
      header.weights_begin = file.position;
      WeightStream stream(file);
      if (llvm::Error error =
              writeWeights(weights, module, [&](StringRef bytes) { return stream.write(bytes); }))
        return error;
      header.weights_size = stream.size;
      header.leaves_begin = file.position;
      tail = stream.finish();
      header.leaf_count = tail.size() / 32;
    } else {
      header.leaves_begin = file.position;
    }
    header.manifest_begin = header.leaves_begin + tail.size();
    header.manifest_size = manifest.size();
    tail += manifest;
    if (llvm::Error error = file.write(tail))
      return error;
    header.file_size = file.position;
    return llvm::Error::success();
  }

  /// Fills the note; the hash covers everything but the weights, itself taken as zero.
  llvm::Error seal() {
    memcpy(image.bytes.data() + image.noteOffset, &header, sizeof(header));
    weft_sha256_t state;
    weft_sha256_init(&state);
    weft_sha256_update(&state, image.bytes.data(), image.bytes.size());
    std::string zeros(padding, '\0');
    weft_sha256_update(&state, zeros.data(), zeros.size());
    weft_sha256_update(&state, tail.data(), tail.size());
    weft_sha256_final(&state, header.hash);
    return file.overwrite(image.noteOffset,
                          StringRef(reinterpret_cast<char *>(&header), sizeof(header)));
  }

  Image &image;
  ArrayRef<StoredWeight> weights;
  Module::Impl &module;
  OutputFile file;
  weft_file_v1 header = {};
  uint64_t padding = 0;
  std::string tail;
};

} // namespace

llvm::Expected<uint64_t> writeArtifact(const std::string &path, Image &image,
                                       const Descriptor &descriptor, ArrayRef<StoredWeight> weights,
                                       Module::Impl &module, StringRef manifest) {
  return ArtifactWriter(image, weights, module).write(path, descriptor, manifest);
}

} // namespace weft
