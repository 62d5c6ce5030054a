//===- PriceBook.cpp --------------------------------------------------------------------------===//

#include "compiler/quantize/PriceBook.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/tuning/Tuning.h"
#include "targets/common/KernelBuild.h"
#include "targets/common/Registry.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLargeConstant = 16; ///< elements; whose number no kernel's time depends on

std::string textWithoutNumbers(const Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.get().module->print(os, OpPrintingFlags()
                                     .elideLargeElementsAttrs(kLargeConstant)
                                     .elideLargeResourceString(kLargeConstant));
  return text;
}

Timed timedOf(const PriceRecord &record) { return {record.base, record.other, record.more}; }

/// What disturbs makes times longer; equal ones are told apart by their text, so the order of lines
/// does not matter.
bool isLessDisturbed(const PriceRecord &a, const PriceRecord &b) {
  double first = a.base + a.other, second = b.base + b.other;
  return first != second ? first < second : a.text() < b.text();
}

} // namespace

void PriceBook::Known::add(PriceRecord other) {
  if (times++ == 0 || isLessDisturbed(other, record))
    record = std::move(other);
}

Result<PriceBook> PriceBook::open(const Module &module, const QuantizeOptions &options) {
  PriceBook book;
  book.options = &options;
  llvm::Expected<std::vector<FoundTarget>> targets = findTargets(options.compile.target);
  if (!targets)
    return quantizeError("W0308", llvm::toString(targets.takeError()));
  book.target = targets->front().kernels->scope();
  book.processor = hostProcessor();
  book.program = textWithoutNumbers(module);
  llvm::Expected<std::vector<PriceRecord>> records = parsePrices(options.prices, "prices");
  if (!records)
    return quantizeError("W0325", llvm::toString(records.takeError()));
  for (PriceRecord &record : *records)
    if (record.processor == book.processor && record.target == book.target &&
        record.build == kernelBuild() && record.threads == int64_t(options.threads))
      book.known[record.programs].add(std::move(record));
  return book;
}

void PriceBook::setCalls(const std::vector<BoundCall> &calls) {
  sizes.clear();
  for (const BoundCall &call : calls)
    for (const CallTensor &tensor : call.call.tensors) {
      sizes += (sizes.empty() ? "" : " ") + tensor.name + "=";
      for (size_t d = 0; d < tensor.dims.size(); ++d)
        sizes += (d > 0 ? "x" : "") + std::to_string(tensor.dims[d]);
    }
}

std::string PriceBook::keyFor(const std::string &base, const std::string &other) const {
  return keyOf(program + "\n" + sizes + "\n" + base + "\n" + other);
}

std::optional<Timed> PriceBook::find(const std::string &base, const std::string &other) const {
  auto found = known.find(keyFor(base, other));
  return found == known.end() ? std::nullopt : std::optional<Timed>(timedOf(found->second.record));
}

bool PriceBook::isAlone(const std::string &base, const std::string &other) const {
  auto found = known.find(keyFor(base, other));
  return found != known.end() && found->second.times == 1;
}

Timed PriceBook::add(const std::string &base, const std::string &other, const Timed &taken) {
  PriceRecord record{processor,           target,         kernelBuild().str(),
                     keyFor(base, other), asField(sizes), int64_t(options->threads),
                     taken.base,          taken.other,    taken.more};
  std::string line = record.text();
  if (options->onPrice)
    options->onPrice(line);
  llvm::Expected<std::vector<PriceRecord>> again = parsePrices(line, "");
  if (!again) { // times that no record has are not kept
    llvm::consumeError(again.takeError());
    return taken;
  }
  Known &all = known[record.programs];
  all.add(std::move(again->front()));
  return timedOf(all.record);
}

} // namespace weft
