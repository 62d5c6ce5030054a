//===- SearchName.cpp -------------------------------------------------------------------------===//

#include "tools/weft/quantize/SearchName.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"

namespace weft::cli {
namespace {

struct SearchWord {
  const char *word;
  QuantizeSearch::Kind kind;
};
constexpr SearchWord kSearchWords[] = {{"exact", QuantizeSearch::Exact},
                                       {"all", QuantizeSearch::All},
                                       {"random", QuantizeSearch::Random},
                                       {"greedy", QuantizeSearch::Greedy}};
constexpr const char *kRandomStart = "random:";

} // namespace

Result<QuantizeSearch> parseSearch(const std::string &text) {
  for (const SearchWord &word : kSearchWords)
    if (text == word.word)
      return QuantizeSearch{word.kind};
  std::string start = kRandomStart;
  if (text.rfind(start, 0) == 0)
    if (std::optional<int64_t> seed = parseInteger(text.substr(start.size())); seed && *seed >= 0)
      return QuantizeSearch{QuantizeSearch::Random, uint64_t(*seed)};
  return Failure{ExitWrongUsage,
                 "'--search " + text + "' is none of exact, all, random, random:SEED and greedy",
                 "", ""};
}

std::string printSearch(const QuantizeSearch &search) {
  if (search.kind == QuantizeSearch::Random)
    return kRandomStart + std::to_string(search.seed);
  for (const SearchWord &word : kSearchWords)
    if (word.kind == search.kind)
      return word.word;
  return "";
}

} // namespace weft::cli
