//===- WeightBytes.cpp - Bytes of weights in the layouts that kernels read ------------------------------===//

#include "compiler/artifact/WeightBytes.h"
#include "compiler/artifact/WeightPacker.h"
#include "compiler/model/ElementRuns.h"

using namespace mlir;

namespace weft {
namespace {

constexpr uint64_t kWeightAlign = 64;

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

int64_t product(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

std::unique_ptr<WeightPacker> packerOf(const StoredWeight &weight) {
  return WeightPacker::of(*WeightLayout::parse(weight.layout));
}

uint64_t bytesOfPart(const StoredWeight &weight) {
  return weight.layout.empty()
             ? elementBytes(weight.type.getElementType(), product(*weight.type.getConstantDims()))
             : packerOf(weight)->bytes(weight.type);
}

class WeightWriter {
public:
  WeightWriter(Module::Impl &module, WeightSink sink) : module(module), sink(sink) {}

  llvm::Error writeWeight(const StoredWeight &weight) {
    if (llvm::Error error = align())
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
      return writePart(weight, bytes);
    for (const Starts &starts : partsOf(weight)) {
      if (llvm::Error error = align())
        return error;
      if (llvm::Error error = writePart(weight, bytesAt(weight, bytes, starts).data()))
        return error;
    }
    return align();
  }

private:
  llvm::Error writePart(const StoredWeight &weight, const char *bytes) {
    if (weight.layout.empty())
      return write(StringRef(bytes, bytesOfPart(weight)));
    return packerOf(weight)->pack(weight.type, bytes,
                                  [&](StringRef panel) { return write(panel); });
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

  llvm::Error write(StringRef bytes) {
    size += bytes.size();
    return sink(bytes);
  }
  llvm::Error align() {
    return write(std::string(llvm::offsetToAlignment(size, llvm::Align(kWeightAlign)), '\0'));
  }

  Module::Impl &module;
  WeightSink sink;
  uint64_t size = 0;
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

uint64_t bytesOf(ArrayRef<StoredWeight> weights) {
  return weights.empty() ? 0 : weights.back().offset + weights.back().bytes;
}

llvm::Error writeWeights(ArrayRef<StoredWeight> weights, Module::Impl &module, WeightSink sink) {
  WeightWriter writer(module, sink);
  for (const StoredWeight &weight : weights)
    if (llvm::Error error = writer.writeWeight(weight))
      return error;
  return llvm::Error::success();
}

} // namespace weft
