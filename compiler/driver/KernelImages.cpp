//===- KernelImages.cpp -----------------------------------------------------------------------===//

#include "compiler/driver/KernelImages.h"
#include "compiler/driver/KernelCode.h"
#include "llvm/ADT/StringSet.h"
#include <atomic>
#include <thread>

namespace weft {

std::vector<std::pair<const KernelTarget *, const PlannedKernel *>>
distinctKernels(const std::vector<Variant> &variants) {
  std::vector<std::pair<const KernelTarget *, const PlannedKernel *>> kernels;
  llvm::StringSet<> known;
  for (const Variant &variant : variants)
    for (const PlannedKernel &kernel : variant.program.kernels)
      if (known.insert(kernel.symbol).second)
        kernels.push_back({&variant.targetOf(kernel), &kernel});
  return kernels;
}

/// Calls `work` in threads until each says that nothing is left.
static void inThreads(size_t count, llvm::function_ref<void()> work) {
  std::vector<std::thread> threads;
  for (size_t t = 1; t < count; ++t)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

llvm::Error KernelImages::compile(const std::vector<Variant> &variants,
                                  const CompileOptions &options) {
  auto kernels = distinctKernels(variants);
  std::vector<KernelImage> made(kernels.size());
  std::vector<std::string> failures(kernels.size());
  std::atomic<size_t> next{0};
  unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  inThreads(std::min<size_t>(jobs, kernels.size()), [&] {
    for (size_t i; (i = next++) < kernels.size() && !(options.cancelled && options.cancelled());) {
      auto [target, kernel] = kernels[i];
      llvm::Expected<KernelImage> image =
          options.kernelCode ? options.kernelCode->get().imageOf(*target, kernel->text,
                                                                 kernel->symbol, kernel->schedule)
                             : target->compile(kernel->text, kernel->symbol, kernel->schedule);
      if (image)
        made[i] = std::move(*image);
      else
        failures[i] = llvm::toString(image.takeError());
    }
  });
  for (const std::string &failure : failures)
    if (!failure.empty())
      return llvm::createStringError(failure);
  for (auto [kernel, image] : llvm::zip_equal(kernels, made)) {
    if (image.unit != Unit::Reals)
      units[image.unit].insert(kernel.second->symbol);
    images[kernel.second->symbol] = std::move(image);
  }
  return llvm::Error::success();
}

std::vector<std::string> KernelImages::takeObjects(std::vector<Variant> &variants) {
  std::vector<std::string> objects;
  for (auto [target, kernel] : distinctKernels(variants))
    if (KernelImage &image = images[kernel->symbol]; image.kind == KernelImage::ElfObject)
      objects.push_back(std::move(image.bytes));
  for (Variant &variant : variants) {
    if (!variant.target.kernels->isForDevice())
      continue;
    std::vector<std::string> texts;
    for (PlannedKernel &kernel : variant.program.kernels) {
      const KernelImage &image = images[kernel.symbol];
      kernel.blockThreads = image.threads;
      kernel.blockBytes = image.blockBytes;
      kernel.isCounted = image.isCounted;
      texts.push_back(image.bytes);
    }
    variant.deviceCode = variant.target.kernels->join(texts);
  }
  return objects;
}

} // namespace weft
