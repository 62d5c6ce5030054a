//===- Jobs.cpp ---------------------------------------------------------------------------------------===//

#include "compiler/driver/Jobs.h"
#include <atomic>
#include <thread>

namespace weft {

llvm::Error runJobs(const std::vector<Job> &jobs, const CompileOptions &options) {
  std::vector<std::string> failures(jobs.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size() && !(options.cancelled && options.cancelled());)
      if (llvm::Error failure = jobs[i]())
        failures[i] = llvm::toString(std::move(failure));
  };
  size_t count = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (size_t t = 1; t < std::min(count, jobs.size()); ++t)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
  for (const std::string &failure : failures)
    if (!failure.empty())
      return llvm::createStringError(failure);
  return llvm::Error::success();
}

} // namespace weft
