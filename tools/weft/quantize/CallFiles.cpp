//===- CallFiles.cpp --------------------------------------------------------------------------===//

#include "tools/weft/quantize/CallFiles.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <filesystem>

namespace weft::cli {
namespace {

constexpr const char *kEnding = ".npz";

weft::Result<Call> readCall(const std::string &path) {
  Result<std::vector<NamedTensor>> tensors = readTensorFile(path);
  if (!tensors)
    return Diagnostic{Diagnostic::Error, "W0320", "", tensors.failure().message,
                      tensors.failure().hint};
  Call call{path, {}};
  for (const NamedTensor &each : *tensors) {
    auto owner = std::make_shared<HostTensor>(each.tensor);
    call.tensors.push_back(
        {each.name, weft_element_name(owner->element()), owner->dims(), owner->data(), owner});
  }
  return call;
}

struct BudgetWord {
  const char *word;
  QuantizeBudget::Metric metric;
  bool isLeast; ///< the bound is the least that the metric may be
};
constexpr BudgetWord kBudgetWords[] = {
    {"cosine", QuantizeBudget::Cosine, true},   {"sqnr", QuantizeBudget::Sqnr, true},
    {"top1", QuantizeBudget::Top1, true},       {"kl", QuantizeBudget::Kl, false},
    {"score", QuantizeBudget::Score, true},     {"size", QuantizeBudget::Size, false},
    {"latency", QuantizeBudget::Latency, false}};

bool isShare(QuantizeBudget::Metric metric) {
  return metric == QuantizeBudget::Cosine || metric == QuantizeBudget::Top1 ||
         metric == QuantizeBudget::Latency;
}

std::string adviceFor(QuantizeBudget::Metric metric) {
  if (metric == QuantizeBudget::Latency)
    return "write a part of the f32 artifact's time such as 0.5x, or a time such as 3ms";
  if (metric == QuantizeBudget::Size)
    return "write bytes such as 25M, or a part of the f32 artifact's such as 0.3x";
  if (metric == QuantizeBudget::Top1)
    return "write a number above 0, at most 1";
  return isShare(metric) ? "write a number between 0 and 1" : "write a number above 0";
}

/// Nothing where no model could keep it or every one does.
std::optional<double> boundOf(QuantizeBudget::Metric metric, std::string number) {
  bool isSize = metric == QuantizeBudget::Size, isPart = !number.empty() && number.back() == 'x';
  if (isSize && !isPart) {
    std::optional<int64_t> bytes = parseSize(number);
    return bytes && *bytes > 1 ? std::optional<double>(double(*bytes)) : std::nullopt;
  }
  if (isPart && (isSize || metric == QuantizeBudget::Latency))
    number.pop_back();
  std::optional<double> bound = parseReal(number);
  bool isBelow1 = isSize || isShare(metric);
  if (!bound || (metric != QuantizeBudget::Score && !(*bound > 0)) ||
      !(*bound < (isBelow1 ? 1 : 1e6) || (metric == QuantizeBudget::Top1 && *bound == 1)))
    return std::nullopt;
  return bound;
}

/// "3ms", "0.5s", "250us"; nothing where it is no time.
std::optional<double> secondsIn(const std::string &text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"us", 1e-6}, {"s", 1}};
  for (auto [unit, seconds] : kUnits)
    if (text.size() > unit.size() &&
        text.compare(text.size() - unit.size(), unit.size(), unit) == 0) {
      std::optional<double> number = parseReal(text.substr(0, text.size() - unit.size()));
      return number && *number > 0 ? std::optional(*number * seconds) : std::nullopt;
    }
  return std::nullopt;
}

} // namespace

Result<Calls> readCallFiles(const std::string &path, const std::string &option) {
  namespace fs = std::filesystem;
  std::error_code problem;
  std::vector<std::string> files;
  if (fs::is_directory(path, problem)) {
    for (const fs::directory_entry &entry : fs::directory_iterator(path, problem))
      if (entry.path().extension() == kEnding)
        files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    if (files.empty())
      return Failure{ExitInputRefused, "'" + option + " " + path + "' has no .npz files",
                     "each call is a file of its own, with one array for every input", "W0320"};
  } else if (fs::exists(path, problem)) {
    files.push_back(path);
  } else {
    return Failure{ExitInputRefused, "'" + option + " " + path + "' does not exist",
                   "name a folder of .npz files, or one", "W0320"};
  }
  size_t count = files.size();
  return Calls{count, [files = std::move(files)](size_t i) { return readCall(files[i]); }};
}

Result<QuantizeBudget> parseBudget(const std::string &text) {
  for (const BudgetWord &word : kBudgetWords) {
    std::string start = std::string(word.word) + (word.isLeast ? ">=" : "<=");
    if (text.rfind(start, 0) != 0)
      continue;
    std::string number = text.substr(start.size());
    if (word.metric == QuantizeBudget::Latency)
      if (std::optional<double> seconds = secondsIn(number))
        return QuantizeBudget{QuantizeBudget::Seconds, *seconds};
    std::optional<double> bound = boundOf(word.metric, number);
    if (!bound)
      return Failure{ExitWrongUsage, "'--budget " + text + "' has no sensible bound",
                     adviceFor(word.metric), ""};
    return QuantizeBudget{word.metric, *bound};
  }
  return Failure{ExitWrongUsage, "'--budget " + text + "' is not understood",
                 "write 'cosine>=0.998', 'sqnr>=30', 'top1>=0.99', 'kl<=0.01', 'score>=0.9', "
                 "'latency<=0.5x', "
                 "'latency<=3ms' or 'size<=25M', in quotes",
                 ""};
}

std::string printBudget(const QuantizeBudget &budget) {
  if (budget.metric == QuantizeBudget::Seconds)
    return "latency<=" + printSeconds(budget.bound);
  for (const BudgetWord &word : kBudgetWords)
    if (word.metric == budget.metric) {
      if (budget.metric == QuantizeBudget::Size && budget.bound > 1)
        return "size<=" + printBytes(budget.bound);
      char text[64];
      snprintf(text, sizeof text, "%s%s%g%s", word.word, word.isLeast ? ">=" : "<=", budget.bound,
               budget.metric == QuantizeBudget::Latency || budget.metric == QuantizeBudget::Size
                   ? "x"
                   : "");
      return text;
    }
  return "";
}

} // namespace weft::cli
