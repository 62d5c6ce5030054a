//===- KernelCode.cpp -------------------------------------------------------------------------===//

#include "compiler/driver/KernelCode.h"

namespace weft {

KernelCode::KernelCode() : impl(std::make_unique<Impl>()) {}
KernelCode::~KernelCode() = default;

llvm::Expected<KernelImage> KernelCode::Impl::imageOf(const KernelTarget &target,
                                                      llvm::StringRef specification,
                                                      llvm::StringRef symbol,
                                                      llvm::StringRef schedule) {
  std::string key = target.scope() + "\n" + schedule.str() + "\n" + symbol.str() + "\n";
  key += specification;
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  llvm::Expected<KernelImage> image = target.compile(specification, symbol, schedule);
  if (!image)
    return image.takeError();
  std::lock_guard<std::mutex> guard(mutex);
  return known.emplace(std::move(key), std::move(*image)).first->second;
}

} // namespace weft
