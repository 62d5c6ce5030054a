//===- Writer.cpp - Patches the image, packs weights, hashes, renames ------------------------------------------------===//

#include "compiler/artifact/Writer.h"
#include "compiler/artifact/WeightPacker.h"
#include "compiler/host/HostProgram.h"
#include "compiler/model/ElementRuns.h"
#include "weft/sha256.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace weft {

std::string unfinishedPath(const std::string &path) {
  return path + ".tmp" + std::to_string(getpid());
}
namespace {

constexpr uint64_t kWeightAlign = 64, kWeightsAlign = 2 << 20,
                   kLeaf = uint64_t(1) << WEFT_LEAF_LOG2;

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

int64_t product(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

/// The file being written; removed again unless renamed.
class OutputFile {
public:
  llvm::Error open(const std::string &path) {
    target = path;
    struct stat there;
    if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) // renaming would replace it
      return fail("cannot write '" + path + "': it is not a regular file");
    temporary = unfinishedPath(path);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? fail("cannot write '" + path + "': " + strerror(errno))
                  : llvm::Error::success();
  }
  ~OutputFile() {
    if (fd >= 0) {
      ::close(fd);
      ::unlink(temporary.c_str());
    }
  }
  /// Goes to the file in large pieces: the system then keeps the file in large pages, from which weights are read faster.
  llvm::Error write(StringRef bytes) {
    position += bytes.size();
    while (!bytes.empty()) {
      StringRef part = bytes.take_front(kPiece - gathered.size());
      gathered.append(part.data(), part.size());
      bytes = bytes.drop_front(part.size());
      if (gathered.size() == kPiece)
        if (llvm::Error error = flush())
          return error;
    }
    return llvm::Error::success();
  }
  llvm::Error overwrite(uint64_t at, StringRef bytes) {
    if (llvm::Error error = flush())
      return error;
    if (::pwrite(fd, bytes.data(), bytes.size(), at) != ssize_t(bytes.size()))
      return fail("cannot write '" + target + "': " + strerror(errno));
    return llvm::Error::success();
  }
  llvm::Error commit() {
    if (llvm::Error error = flush())
      return error;
    if (::fsync(fd) != 0 || ::close(fd) != 0) {
      fd = -1;
      ::unlink(temporary.c_str());
      return fail("cannot write '" + target + "': " + strerror(errno));
    }
    fd = -1;
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
      int why = errno;
      ::unlink(temporary.c_str());
      return fail("cannot write '" + target + "': " + strerror(why));
    }
    return llvm::Error::success();
  }
  uint64_t position = 0;

private:
  llvm::Error flush() {
    for (StringRef bytes = gathered; !bytes.empty();) {
      ssize_t done = ::write(fd, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR)
        continue;
      if (done < 0)
        return fail("cannot write '" + target + "': " + strerror(errno));
      bytes = bytes.drop_front(done);
    }
    gathered.clear();
    return llvm::Error::success();
  }

  static constexpr size_t kPiece = 8 << 20;
  std::string target, temporary, gathered;
  int fd = -1;
};

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
  llvm::Error align() {
    return write(std::string(llvm::offsetToAlignment(size, llvm::Align(kWeightAlign)), '\0'));
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

std::unique_ptr<WeightPacker> packerOf(const StoredWeight &weight) {
  return WeightPacker::of(*WeightLayout::parse(weight.layout));
}

uint64_t bytesOfPart(const StoredWeight &weight) {
  return weight.layout.empty()
             ? elementBytes(weight.type.getElementType(), product(*weight.type.getConstantDims()))
             : packerOf(weight)->bytes(weight.type);
}

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
    header.abi_minor = descriptor.hasDeviceCode ? WEFT_ABI_MINOR : descriptor.grows ? 2 : 1;
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
    if (!weights.empty()) {
      padding = llvm::offsetToAlignment(file.position, llvm::Align(kWeightsAlign));
      if (llvm::Error error = file.write(std::string(padding, '\0')))
        return error;
      header.weights_begin = file.position;
      WeightStream stream(file);
      for (const StoredWeight &weight : weights)
        if (llvm::Error error = writeWeight(stream, weight))
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

  llvm::Error writeWeight(WeightStream &stream, const StoredWeight &weight) {
    if (llvm::Error error = stream.align())
      return error;
    std::string owned;
    const char *bytes = nullptr;
    if (auto name = dyn_cast<FlatSymbolRefAttr>(weight.value)) {
      bytes = module.weightBytes(name.getValue());
      if (!bytes)
        return fail("the file of weight '" + weight.name + "' is not open or too short");
    } else {
      owned = denseBytes(cast<DenseElementsAttr>(weight.value), weight.whole);
      bytes = owned.data();
    }
    if (weight.size.empty())
      return writePart(stream, weight, bytes);
    for (const Starts &starts : partsOf(weight)) {
      if (llvm::Error error = stream.align())
        return error;
      if (llvm::Error error = writePart(stream, weight, bytesAt(weight, bytes, starts).data()))
        return error;
    }
    return stream.align();
  }

  static llvm::Error writePart(WeightStream &stream, const StoredWeight &weight,
                               const char *bytes) {
    if (weight.layout.empty())
      return stream.write(StringRef(bytes, bytesOfPart(weight)));
    return packerOf(weight)->pack(weight.type, bytes,
                                  [&](StringRef panel) { return stream.write(panel); });
  }

  using Starts = SmallVector<int64_t>;

  /// Where parts begin, in the order in which they are stored.
  static std::vector<Starts> partsOf(const StoredWeight &weight) {
    std::vector<Starts> parts(1);
    for (auto [dim, size] : llvm::zip_equal(*weight.whole.getConstantDims(), weight.size)) {
      std::vector<Starts> longer;
      for (const Starts &part : parts)
        for (int64_t start = 0; start < dim; start += size) {
          longer.push_back(part);
          longer.back().push_back(start);
        }
      parts = std::move(longer);
    }
    return parts;
  }

  /// The bytes of one part, whose lines fill bytes.
  static std::string bytesAt(const StoredWeight &weight, const char *bytes,
                             ArrayRef<int64_t> starts) {
    std::string part;
    for (const ElementRun &run : runsOfBox(*weight.whole.getConstantDims(), starts, weight.size)) {
      Type element = weight.whole.getElementType();
      part.append(bytes + elementBytes(element, run.begin), elementBytes(element, run.count));
    }
    return part;
  }

  static std::string denseBytes(DenseElementsAttr elements, SymTensorType type) {
    RefTensor tensor(type.getElementType(), *type.getConstantDims());
    ReferenceCall call;
    OpBuilder b(elements.getContext());
    auto constant = b.create<ConstantOp>(b.getUnknownLoc(), type, elements);
    (void)constant.evaluate(call);
    constant.erase();
    std::string bytes(elementBytes(type.getElementType(), tensor.size()), '\0');
    toBytes(call.outputs[0], bytes.data());
    return bytes;
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

void placeWeights(std::vector<StoredWeight> &weights) {
  uint64_t offset = 0;
  for (StoredWeight &weight : weights) {
    weight.bytes = bytesOfPart(weight);
    if (!weight.size.empty()) {
      weight.distance = llvm::alignTo(weight.bytes, kWeightAlign);
      weight.bytes = weight.distance *
                     uint64_t(product(*weight.whole.getConstantDims()) / product(weight.size));
    }
    weight.offset = llvm::alignTo(offset, kWeightAlign);
    offset = weight.offset + weight.bytes;
  }
}

llvm::Expected<uint64_t> writeArtifact(const std::string &path, Image &image,
                                       const Descriptor &descriptor, ArrayRef<StoredWeight> weights,
                                       Module::Impl &module, StringRef manifest) {
  return ArtifactWriter(image, weights, module).write(path, descriptor, manifest);
}

} // namespace weft
