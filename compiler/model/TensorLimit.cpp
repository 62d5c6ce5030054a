//===- TensorLimit.cpp ------------------------------------------------------------------------===//

#include "compiler/model/TensorLimit.h"
#include "compiler/import/readers/ReadError.h"
#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Reference.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {
namespace {

constexpr const char *kOverLimit = "W0203", *kFlag = "tensor-bytes=SIZE";

/// Of a tensor of constant size; 0 for a size that depends on symbols, and no less than 2^61 - 1 where 64 bits do not count the bits.
uint64_t bytesOf(SymTensorType type) {
  std::optional<SmallVector<int64_t>> dims = type.getConstantDims();
  if (!dims || llvm::is_contained(*dims, 0))
    return 0;
  uint64_t bits = elementBits(type.getElementType());
  for (int64_t dim : *dims)
    bits = llvm::SaturatingMultiply(bits, uint64_t(dim));
  return bits / 8 + (bits % 8 != 0);
}

/// Numbers that stand in the program; equal ones of one type are stored once.
uint64_t inlineBytes(Operation *op, llvm::SmallPtrSetImpl<const void *> &seen) {
  uint64_t bytes = 0;
  for (NamedAttribute each : op->getAttrs())
    if (auto dense = dyn_cast<DenseElementsAttr>(each.getValue());
        dense && seen.insert(dense.getAsOpaquePointer()).second)
      bytes += dense.getRawData().size();
  return bytes;
}

/// A constant that lies in a file is not made.
bool makesResults(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return !constant || !isa<FlatSymbolRefAttr>(constant.getValue());
}

} // namespace

Result<void> checkTensors(Module::Impl &model, const std::string &path, const Limits &limits) {
  DiagnosticCollector collector(model.context.get(), kOverLimit);
  llvm::SmallPtrSet<const void *, 16> seen;
  uint64_t constants = 0;
  for (auto &[name, file] : model.files)
    if (file->isView()) // decoded, or given by the caller
      constants += file->size();
  WalkResult end = model.module->walk([&](Operation *op) {
    constants += inlineBytes(op, seen);
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<SymTensorType>(type);
          tensor && makesResults(op) && bytesOf(tensor) > limits.tensorBytes) {
        op->emitError() << "a tensor of " << tensor << " has more than " << limits.tensorBytes
                        << " bytes" << limitText(kFlag);
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (end.wasInterrupted()) {
    weft::Diagnostic found = collector.take()[0];
    if (!StringRef(found.where).starts_with(path))
      found.where = path + (found.where.empty() ? "" : ": " + found.where);
    return found;
  }
  if (constants <= limits.tensorBytes)
    return {};
  return weft::Diagnostic{weft::Diagnostic::Error, kOverLimit, path,
                          "the constants of the model take " + std::to_string(constants) +
                              " bytes, more than " + std::to_string(limits.tensorBytes) +
                              limitText(kFlag),
                          ""};
}

} // namespace weft
