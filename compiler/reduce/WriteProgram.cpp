//===- WriteProgram.cpp -----------------------------------------------------------------------===//

#include "compiler/reduce/WriteProgram.h"
#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {

constexpr uint64_t kAlignment = 64;

/// The weights one after the other; each names its new place in `file`.
static llvm::Expected<std::string> gatherWeights(Module::Impl &impl, StringRef file) {
  std::string bytes;
  for (auto weight : impl.module->getOps<WeightOp>()) {
    const char *data = impl.weightBytes(weight.getSymName());
    if (!data)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "weight '" + weight.getSymName() + "' has no bytes");
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
    uint64_t offset = bytes.size();
    bytes.append(data, size_t(weight.getBytes()));
    weight.setFile(file);
    weight.setOffset(offset);
  }
  return bytes;
}

llvm::Error writeWhole(const std::string &path, const std::string &bytes) {
  std::string beside = path + ".part";
  std::error_code problem;
  {
    llvm::raw_fd_ostream out(beside, problem);
    if (!problem) {
      out << bytes;
      out.close();
      problem = out.error();
      out.clear_error();
    }
  }
  if (!problem)
    problem = llvm::sys::fs::rename(beside, path);
  if (!problem)
    return llvm::Error::success();
  llvm::sys::fs::remove(beside);
  return llvm::createStringError(problem, "cannot write '" + path + "': " + problem.message());
}

llvm::Error writeProgram(const Module &module, const std::string &path) {
  Module copy(module.get().clone());
  std::string beside = path + ".weights";
  llvm::Expected<std::string> weights =
      gatherWeights(copy.get(), llvm::sys::path::filename(beside));
  if (!weights)
    return weights.takeError();
  if (!weights->empty())
    if (llvm::Error problem = writeWhole(beside, *weights))
      return problem;
  return writeWhole(path, copy.text());
}

} // namespace weft
