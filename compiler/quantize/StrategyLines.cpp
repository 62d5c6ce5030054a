//===- StrategyLines.cpp ----------------------------------------------------------------------===//

#include "compiler/quantize/StrategyLines.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace weft {
namespace {

constexpr LineFormat kFormat{"weft-strategy",
                             "1",
                             "decision",
                             /*fields=*/6,
                             kMostStrategyLineBytes,
                             kMostStrategyLineBytes,
                             kMostStrategyLayers};
constexpr size_t kLayerDigits = 5;
constexpr int64_t kMostZero = 255, kMostWeight = 127, kMostBehind = 8;

/// A number above 0 that an f32 has, too.
std::optional<float> positive(StringRef text) {
  std::optional<double> number = realNumber(text);
  if (!number || !(float(*number) > 0) || !std::isfinite(float(*number)))
    return std::nullopt;
  return float(*number);
}

/// Such as "scale=0.5" "zero=3".
bool readScale(StringRef scaleWord, StringRef zeroWord, float &scale, int64_t &zero) {
  std::optional<float> number;
  std::optional<int64_t> whole;
  if (scaleWord.consume_front("scale=") && zeroWord.consume_front("zero="))
    number = positive(scaleWord), whole = wholeNumber(zeroWord, kMostZero);
  if (!number || !whole)
    return false;
  scale = *number;
  zero = *whole;
  return true;
}

/// "gives" "scale=0.5" "zero=3" "behind=1", as often as that is there; words that are none stay.
void readResults(ArrayRef<StringRef> &words, std::vector<StrategyLine::Result> &results) {
  while (words.size() >= 4 && words[0] == "gives") {
    StrategyLine::Result read;
    StringRef behindWord = words[3];
    if (!readScale(words[1], words[2], read.scale, read.zero) ||
        !behindWord.consume_front("behind="))
      return;
    std::optional<int64_t> behind = wholeNumber(behindWord, kMostBehind);
    if (!behind || (!results.empty() && *behind <= results.back().behind))
      return;
    read.behind = *behind;
    results.push_back(read);
    words = words.drop_front(4);
  }
}

std::string scaleText(float scale, int64_t zero) {
  return " scale=" + realText(scale) + " zero=" + std::to_string(zero);
}

bool hasScale(StrategyLine::Form form) {
  return form == StrategyLine::Static || form == StrategyLine::Everywhere;
}

/// "rounded=8b1d33a0c2f4e596"
Error readRoundedKey(StringRef word, StrategyLine &line) {
  if (!word.consume_front("rounded=") || !isKey(word))
    return readError(quotedText(word) + " is no rounding such as rounded=8b1d33a0c2f4e596");
  line.rounded = word.str();
  return Error::success();
}

/// Words behind a form, each at most once and in order; those that were not read stay.
void readRounding(ArrayRef<StringRef> &words, ByteRounding &rounding) {
  auto takes = [&](StringRef word) {
    bool isNext = !words.empty() && words.front() == word;
    if (isNext)
      words = words.drop_front();
    return isNext;
  };
  rounding.isSigned = takes("signed");
  StringRef most = words.empty() ? "" : words.front();
  if (most.consume_front("weight<="))
    if (std::optional<int64_t> number = wholeNumber(most, kMostWeight);
        number && *number > 0 && *number < kMostWeight) {
      rounding.mostWeight = *number;
      words = words.drop_front();
    }
  rounding.hasOneScale = takes("one_scale");
  rounding.hasPowersOfTwo = takes("powers_of_two");
}

std::string roundingText(const ByteRounding &rounding) {
  return std::string(rounding.isSigned ? " signed" : "") +
         (rounding.mostWeight < kMostWeight ? " weight<=" + std::to_string(rounding.mostWeight)
                                            : "") +
         (rounding.hasOneScale ? " one_scale" : "") +
         (rounding.hasPowersOfTwo ? " powers_of_two" : "");
}

/// In the order of StrategyLine::Form.
constexpr StringRef kForms[] = {"f32",       "static",    "everywhere", "rows", "rows16", "blocks4",
                                "blocks4x8", "blocks5x8", "blocks6x8",  "bf16", "bytes"};
static_assert(std::size(kForms) == StrategyLine::Bytes + 1);

/// F32 for what is no name.
StrategyLine::Form formNamed(StringRef name) {
  const StringRef *found = llvm::find(kForms, name);
  return found == std::end(kForms) ? StrategyLine::F32
                                   : StrategyLine::Form(found - std::begin(kForms));
}

/// "f32", "rows", "static scale=0.0123 zero=5", "blocks4 rounded=8b1d33a0c2f4e596"
Error readForm(StringRef text, StrategyLine &line) {
  SmallVector<StringRef> words;
  text.split(words, ' ');
  line.form = formNamed(words[0]);
  if (line.hasBlocks() && words.size() == 2)
    return readRoundedKey(words[1], line);
  size_t fixed = hasScale(line.form) ? 3 : 1;
  ArrayRef<StringRef> others = ArrayRef(words).drop_front(std::min(fixed, words.size()));
  if (hasScale(line.form) || line.hasRowScales())
    readRounding(others, line.rounding);
  if (hasScale(line.form))
    readResults(others, line.results);
  if (words.size() < fixed || !others.empty() || (line.form == StrategyLine::F32 && text != "f32"))
    return readError(quotedText(text) + " is no form such as f32, rows or static scale=0.5 zero=3");
  if (!hasScale(line.form))
    return Error::success();
  if (!readScale(words[1], words[2], line.scale, line.zero))
    return readError(quotedText(text) + " is no form such as static scale=0.5 zero=3");
  return Error::success();
}

/// "-", "0.8: 1.5 0.75"
Error readFactors(StringRef text, StrategyLine &line) {
  if (text == "-")
    return Error::success();
  auto [strengthText, list] = text.split(": ");
  std::optional<double> strength = realNumber(strengthText);
  bool hasFactors = line.form == StrategyLine::Static || line.hasRowScales() || line.hasBlocks();
  if (!hasFactors || !strength || *strength > 1)
    return readError(quotedText(text) + " is no equalisation such as 0.8: 1.5 0.75");
  line.strength = *strength;
  SmallVector<StringRef> words;
  list.split(words, ' ');
  for (StringRef word : words) {
    std::optional<float> factor = positive(word);
    if (!factor)
      return readError(quotedText(word) + " is no factor of a channel");
    line.factors.push_back(*factor);
  }
  return Error::success();
}

Expected<StrategyLine> readLine(StringRef text) {
  Expected<SmallVector<StringRef>> fields = fieldsOf(text, kFormat);
  if (!fields)
    return fields.takeError();
  StringRef layer = (*fields)[1];
  int64_t number = 0;
  if (layer.getAsInteger(10, number) || number < 0 || number >= int64_t(kMostStrategyLayers) ||
      layerText(number) != layer)
    return readError(quotedText(layer) + " is no layer: 5 digits");
  if (asField((*fields)[2]) != (*fields)[2])
    return readError(quotedText((*fields)[2]) + " is no name of a node");
  if (!isKey((*fields)[3]))
    return readError(quotedText((*fields)[3]) + " is no weight: 16 hexadecimal digits");
  StrategyLine line;
  line.layer = number;
  line.node = (*fields)[2].str();
  line.weight = (*fields)[3].str();
  if (Error error = readForm((*fields)[4], line))
    return std::move(error);
  if (Error error = readFactors((*fields)[5], line))
    return std::move(error);
  if (line.text().size() > kMostStrategyLineBytes) // numbers may take more digits than were written
    return readError("printed, it is longer than " + Twine(kMostStrategyLineBytes) + " bytes");
  return line;
}

} // namespace

std::string layerText(int64_t layer) {
  std::string digits = std::to_string(layer);
  return std::string(kLayerDigits - std::min(kLayerDigits, digits.size()), '0') + digits;
}

StringRef nameOf(StrategyLine::Form form) { return kForms[form]; }

std::string StrategyLine::text() const {
  std::string what = nameOf(form).str();
  if (hasScale(form))
    what += scaleText(scale, zero);
  what += roundingText(rounding);
  for (const Result &result : results)
    what += " gives" + scaleText(result.scale, result.zero) +
            " behind=" + std::to_string(result.behind);
  if (!rounded.empty())
    what += " rounded=" + rounded;
  std::string equalised = factors.empty() ? "-" : realText(strength) + ":";
  for (float factor : factors)
    equalised += " " + realText(factor);
  return lineOf(kFormat, {layerText(layer), node, weight, what, equalised});
}

Expected<std::vector<StrategyLine>> parseStrategy(StringRef text, StringRef name) {
  std::vector<StrategyLine> lines;
  std::set<int64_t> seen;
  Error error = eachLine(text, name, kFormat, [&](StringRef each) -> Error {
    Expected<StrategyLine> line = readLine(each);
    if (!line)
      return line.takeError();
    if (!seen.insert(line->layer).second)
      return readError("layer " + Twine(line->layer) + " is decided twice");
    lines.push_back(std::move(*line));
    return Error::success();
  });
  if (error)
    return std::move(error);
  llvm::sort(lines, [](const auto &a, const auto &b) { return a.layer < b.layer; });
  return std::move(lines);
}

Expected<std::vector<StrategyLine>> readStrategy(const std::string &path) {
  std::vector<StrategyLine> lines;
  Error error = withFile(path, kFormat, [&](StringRef text) -> Error {
    return parseStrategy(text, path).moveInto(lines);
  });
  if (error)
    return std::move(error);
  return std::move(lines);
}

std::string printStrategy(const std::vector<StrategyLine> &lines) {
  std::set<std::string> texts;
  for (const StrategyLine &line : lines)
    texts.insert(line.text());
  return sortedLines(texts);
}

} // namespace weft
