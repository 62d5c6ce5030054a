//===- Embed.cpp - The files, one after the other ---------------------------------------------===//
//
//   kernels, bind and run, functions for C programs, weights → one object
//
// In it the functions for C programs alone are visible.
//===------------------------------------------------------------------------------------------===//

#include "compiler/embed/Embed.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/WeightBytes.h"
#include "compiler/embed/EntryPoints.h"
#include "compiler/embed/Header.h"
#include "compiler/embed/Relocatable.h"
#include "compiler/host/HostProgram.h"
#include "weft/sha256.h"
#include "llvm/Support/FileSystem.h"
#include <deque>

using namespace mlir;

namespace weft {

/// More would lie further from code than its addresses reach.
constexpr uint64_t kMostInObject = uint64_t(1) << 30;

EmbeddedFiles::EmbeddedFiles(const Embedding &embedding, const Variant &variant,
                             ArrayRef<StoredWeight> weights, Module::Impl &module)
    : embedding(embedding), variant(variant), weights(weights), module(module),
      model(interfaceOf(module.name, variant.program,
                        embedding.weightsInFile && bytesOf(weights) > 0)) {}

uint64_t EmbeddedFiles::weightBytes() const { return bytesOf(weights); }

llvm::Expected<std::string> EmbeddedFiles::entryObject() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const HostTarget &target = *variant.target.host;
  target.loadDialects(context);
  OwningOpRef<ModuleOp> host = ModuleOp::create(UnknownLoc::get(&context));
  emitHostProgram(*host, 0, variant, weights, Reach::Kernels);
  emitEntryPoints(*host, model, weightBytes() > 0 && !embedding.weightsInFile, mark);
  (*host)->setAttr(kHostProgramAttr, UnitAttr::get(&context));
  return target.compile(*host);
}

llvm::Error EmbeddedFiles::loadWeights() {
  auto append = [&](StringRef more) {
    stored += more;
    return llvm::Error::success();
  };
  if (llvm::Error error = writeWeights(weights, module, append))
    return error;
  uint8_t hash[32];
  weft_sha256(stored.data(), stored.size(), hash);
  memcpy(&mark, hash, sizeof mark);
  return llvm::Error::success();
}

llvm::Expected<std::string> EmbeddedFiles::object(std::vector<std::string> objects,
                                                  EmbeddedSizes &sizes) {
  llvm::Expected<std::string> entry = entryObject();
  if (!entry)
    return entry.takeError();
  objects.push_back(std::move(*entry));
  for (const std::string &each : objects)
    sizes.code += each.size();
  if (weightBytes() > 0 && !embedding.weightsInFile) {
    if (weightBytes() > kMostInObject)
      return llvm::createStringError(
          "weights of more than 1 GiB do not fit an object: '--weights-in file' keeps them apart");
    llvm::Expected<std::string> constants =
        objectOfBytes(objects[0], stored, ".rodata." + model.name + "_weights", kEmbeddedWeights);
    if (!constants)
      return constants.takeError();
    objects.push_back(std::move(*constants));
  }
  std::vector<std::string> visible;
  for (const EmbeddedFunction &function : model.functions)
    visible.push_back(function.name);
  return joinObjects(objects, visible);
}

llvm::Expected<EmbeddedSizes> EmbeddedFiles::write(const std::string &folder,
                                                   std::vector<std::string> kernels) {
  EmbeddedSizes sizes;
  std::vector<std::pair<std::string, std::string>> contents; // by ending
  if (llvm::Error error = loadWeights())
    return std::move(error);
  if (embedding.object) {
    llvm::Expected<std::string> bytes = object(std::move(kernels), sizes);
    if (!bytes)
      return bytes.takeError();
    contents.emplace_back(".o", std::move(*bytes));
  }
  if (embedding.header)
    contents.emplace_back(
        ".h", headerOf(model, variant, hasFileOfWeights() ? kWeightsHead + weightBytes() : 0));
  if (hasFileOfWeights()) {
    std::string head(kWeightsHead, '\0');
    memcpy(head.data(), &mark, sizeof mark);
    contents.emplace_back(".weights", head + stored);
  }
  if (std::error_code why = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError("cannot make the folder '" + folder + "': " + why.message());
  std::deque<OutputFile> files;
  for (const auto &[ending, bytes] : contents) {
    OutputFile &file = files.emplace_back();
    if (llvm::Error error = file.open(folder + "/" + model.name + ending))
      return std::move(error);
    if (llvm::Error error = file.write(bytes))
      return std::move(error);
    if (llvm::Error error = file.complete())
      return std::move(error);
    sizes.all += bytes.size();
  }
  for (OutputFile &file : files)
    if (llvm::Error error = file.commit())
      return std::move(error);
  return sizes;
}

} // namespace weft
