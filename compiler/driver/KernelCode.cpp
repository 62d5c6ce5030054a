//===- KernelCode.cpp -------------------------------------------------------------------------===//

#include "compiler/driver/KernelCode.h"
#include "compiler/driver/KernelFolder.h"

namespace weft {

/// All that decides the code: the target with its accuracy, the schedule, the symbol and the
/// specification.
static std::string keyOf(const KernelTarget &target, llvm::StringRef specification,
                         llvm::StringRef symbol, llvm::StringRef schedule) {
  return (llvm::Twine(target.scope()) + "\n" + schedule + "\n" + symbol + "\n" + specification)
      .str();
}

llvm::Expected<KernelImage> imageOf(const KernelTarget &target, llvm::StringRef specification,
                                    llvm::StringRef symbol, llvm::StringRef schedule) {
  const KernelFolder *folder = KernelFolder::given();
  if (!folder)
    return target.compile(specification, symbol, schedule);
  std::string key = keyOf(target, specification, symbol, schedule);
  if (std::optional<KernelImage> known = folder->find(key))
    return std::move(*known);
  llvm::Expected<KernelImage> image = target.compile(specification, symbol, schedule);
  if (image)
    folder->keep(key, *image);
  return image;
}

KernelCode::KernelCode() : impl(std::make_unique<Impl>()) {}
KernelCode::~KernelCode() = default;

llvm::Expected<KernelImage> KernelCode::Impl::imageOf(const KernelTarget &target,
                                                      llvm::StringRef specification,
                                                      llvm::StringRef symbol,
                                                      llvm::StringRef schedule) {
  std::string key = keyOf(target, specification, symbol, schedule);
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  llvm::Expected<KernelImage> image = weft::imageOf(target, specification, symbol, schedule);
  if (!image)
    return image.takeError();
  std::lock_guard<std::mutex> guard(mutex);
  return known.emplace(std::move(key), std::move(*image)).first->second;
}

} // namespace weft
