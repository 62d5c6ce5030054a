//===- KernelImages.cpp -----------------------------------------------------------------------===//

#include "compiler/driver/KernelImages.h"
#include "compiler/driver/KernelCode.h"
#include "llvm/ADT/StringSet.h"

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

std::vector<Job> KernelImages::jobs(const std::vector<Variant> &variants,
                                    const CompileOptions &options) {
  std::vector<Job> jobs;
  for (auto [of, kernel] : distinctKernels(variants)) {
    KernelImage &image = images[kernel->symbol];
    jobs.push_back([&options, &image, target = of, kernel = kernel]() -> llvm::Error {
      llvm::Expected<KernelImage> made =
          options.kernelCode ? options.kernelCode->get().imageOf(*target, kernel->text,
                                                                 kernel->symbol, kernel->schedule)
                             : imageOf(*target, kernel->text, kernel->symbol, kernel->schedule);
      if (!made)
        return made.takeError();
      image = std::move(*made);
      return llvm::Error::success();
    });
  }
  return jobs;
}

size_t KernelImages::kept() const {
  return size_t(llvm::count_if(images, [](const auto &each) { return each.second.isKept; }));
}

std::map<Unit, std::set<std::string>> KernelImages::byUnit() const {
  std::map<Unit, std::set<std::string>> units;
  for (const auto &[symbol, image] : images)
    if (image.unit != Unit::Reals)
      units[image.unit].insert(symbol);
  return units;
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
