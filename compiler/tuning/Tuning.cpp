//===- Tuning.cpp - Finds the record of a kernel ----------------------------------------------------===//

#include "compiler/tuning/Tuning.h"
#include "targets/common/Registry.h"
#include "weft/sha256.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kKeyBytes = 8;

bool isOffered(ArrayRef<Choice> choices, const std::string &name, int64_t value) {
  return llvm::any_of(choices, [&](const Choice &choice) {
    return choice.name == name && llvm::is_contained(choice.candidates, value);
  });
}

/// Gives the specification the record's picks, if all of them are offered. What is estimated anyway is left out: then its text, and with it
/// the kernel, is the one without a record.
bool follow(func::FuncOp specification, const KernelTarget &target, const Picks &wanted) {
  std::vector<std::string> schedules = target.alternatives(specification);
  if (!llvm::is_contained(schedules, wanted.schedule))
    return false;
  Picks picks = wanted;
  if (wanted.schedule == schedules.front())
    picks.schedule.clear();
  setPicks(specification, picks);
  std::vector<Choice> choices = target.choices(specification);
  for (const auto &[name, value] : wanted.values)
    if (!isOffered(choices, name, value))
      return false;
  for (const Choice &choice : choices)
    if (auto given = picks.values.find(choice.name);
        given != picks.values.end() && given->second == choice.estimate)
      picks.values.erase(given);
  setPicks(specification, picks);
  return true;
}

} // namespace

std::string keyOf(llvm::StringRef bytes) {
  uint8_t hash[32];
  weft_sha256(bytes.data(), bytes.size(), hash);
  return llvm::toHex(ArrayRef(hash, kKeyBytes), /*LowerCase=*/true);
}

std::string kernelKey(func::FuncOp specification) {
  Picks picks = picksOf(specification);
  setPicks(specification, {});
  std::string text;
  llvm::raw_string_ostream(text) << *specification->getParentOfType<ModuleOp>();
  setPicks(specification, picks);
  return keyOf(text);
}

std::optional<OverlapWay> wayOf(const Picks &picks, const OverlapOffer &offer) {
  if (picks.schedule == kApart && picks.values.empty() && offer.mayBeApart)
    return OverlapWay{false, 0};
  if (picks.schedule != kTogether)
    return std::nullopt;
  OverlapWay way{true, offer.estimate.pieces};
  for (const auto &[name, value] : picks.values) {
    if (name != kPieces || !llvm::is_contained(offer.pieces, value))
      return std::nullopt;
    way.pieces = value;
  }
  return way;
}

llvm::Expected<Tuning> Tuning::read(const std::vector<std::string> &files,
                                    const std::string &processor) {
  Tuning tuning;
  tuning.name = processor.empty() ? hostProcessor() : processor;
  std::set<std::string> strangers;
  for (const std::string &file : files) {
    llvm::Expected<std::vector<TuningRecord>> records = readRecords(file);
    if (!records)
      return records.takeError();
    for (TuningRecord &record : *records)
      if (record.processor == tuning.name)
        tuning.records[{record.target, record.kernel}].push_back(std::move(record));
      else
        strangers.insert(record.processor);
  }
  if (tuning.records.empty())
    tuning.strangers.assign(strangers.begin(), strangers.end());
  for (auto &[kernel, list] : tuning.records)
    llvm::sort(list, [](const TuningRecord &a, const TuningRecord &b) {
      return a.gain != b.gain ? a.gain > b.gain : a.text() < b.text();
    });
  return std::move(tuning);
}

const TuningRecord *Tuning::apply(func::FuncOp specification, const KernelTarget &target) const {
  if (records.empty())
    return nullptr;
  auto found = records.find({target.scope(), kernelKey(specification)});
  if (found == records.end())
    return nullptr;
  for (const TuningRecord &record : found->second) {
    if (follow(specification, target, record.picks))
      return picksOf(specification).empty() ? nullptr : &record;
    setPicks(specification, {});
  }
  return nullptr;
}

const TuningRecord *Tuning::find(const OverlapOffer &offer, const std::string &scope) const {
  auto found = records.find({scope, offer.key});
  if (found == records.end())
    return nullptr;
  for (const TuningRecord &record : found->second)
    if (std::optional<OverlapWay> way = wayOf(record.picks, offer))
      return *way == offer.estimate ? nullptr : &record;
  return nullptr;
}

} // namespace weft
