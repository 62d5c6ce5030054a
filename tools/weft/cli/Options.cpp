//===- Options.cpp - Tables, parser and suggestions -------------------------------------------===//
//
// Nothing here knows a verb or a flag by name, but the two that every verb has: json and help.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <cassert>

namespace weft::cli {

namespace {

namespace verb {
enum Index : unsigned {
#define VERB(name, half, operands, least, most, summary) name##_index,
#include "tools/weft/cli/options.def"
};
#define VERB(name, half, operands, least, most, summary)                                           \
  constexpr uint32_t name = 1u << name##_index;
#include "tools/weft/cli/options.def"
constexpr uint32_t every = ~0u;
} // namespace verb

std::string join(const std::vector<std::string_view> &words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? last : std::string_view(", ");
    text += words[i];
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

/// Letters to insert, drop, change or swap to make `b` from `a`.
unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<unsigned> before, previous, current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    current[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = previous;
    previous = current;
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned change = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
  }
  return current[b.size()];
}

/// "[=a|b]": with '=' only; without it the value is empty.
bool hasOptionalValue(const OptionRow &option) { return option.argument.substr(0, 2) == "[="; }

/// How the value is written: "a|b".
std::string_view valueText(const OptionRow &option) {
  std::string_view text = option.argument;
  return hasOptionalValue(option) ? text.substr(2, text.size() - 3) : text;
}

/// "KERNEL" stands for any text; "a|b", "a|b[,c]" and "[=a]" are the words that are allowed.
bool isOneOf(const OptionRow &option) {
  std::string_view text = valueText(option);
  bool isName = std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return text.find('|') != std::string_view::npos || (hasOptionalValue(option) && !isName);
}

/// The words of "a|b"; of "a|b[,c]" also "a,c" and "b,c".
std::vector<std::string> choicesOf(std::string_view kind) {
  size_t bracket = std::min(kind.find('['), kind.size());
  std::vector<std::string> choices;
  for (std::string_view word : split(kind.substr(0, bracket), '|'))
    choices.emplace_back(word);
  for (size_t i = 0, count = choices.size(); bracket < kind.size() && i < count; ++i)
    choices.push_back(choices[i] +
                      std::string(kind.substr(bracket + 1, kind.size() - bracket - 2)));
  return choices;
}

/// Why `value` does not fit how the option's argument is written in the table, or nothing.
std::string judge(const OptionRow &option, const std::string &value) {
  std::string flag = "'--" + std::string(option.name) + "'";
  std::string_view kind = valueText(option);
  if (value.empty())
    return flag + " needs a value: " + std::string(kind);
  if (kind == "N" && !parseInteger(value))
    return flag + " is '" + value + "', but must be a whole number";
  if (kind == "SIZE" && !parseSize(value))
    return flag + " is '" + value + "', but must be a size such as 64M or 1.5GiB";
  if (kind == "TIME" && !parseDuration(value))
    return flag + " is '" + value + "', but must be a time such as 60s, 5m or 1h";
  if (kind == "NUMBER" && !parseReal(value))
    return flag + " is '" + value + "', but must be a number >= 0";
  if (kind.substr(0, 4) == "SYM=" && (value.find('=') == std::string::npos || value[0] == '='))
    return flag + " is '" + value + "', but must be written " + std::string(kind);
  if (isOneOf(option)) {
    std::vector<std::string> choices = choicesOf(kind);
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      return flag + " is '" + value + "', but must be " +
             join({choices.begin(), choices.end()}, " or ");
  }
  return {};
}

} // namespace

const std::vector<VerbRow> &verbTable() {
  static const std::vector<VerbRow> table = {
#define VERB(name, half, operands, least, most, summary)                                           \
  {#name, Half::half, operands, least, most, summary, verb::name},
#include "tools/weft/cli/options.def"
  };
  return table;
}

const std::vector<OptionRow> &optionTable() {
  static const std::vector<OptionRow> table = [] {
    using namespace verb;
    return std::vector<OptionRow>{
#define OPTION(verbs, long, short, argument, many, needs, group, help)                             \
  {verbs, long, short, argument, many, needs, group, help},
#include "tools/weft/cli/options.def"
    };
  }();
  return table;
}

const VerbRow *findVerb(std::string_view name) {
  for (const VerbRow &row : verbTable())
    if (row.name == name)
      return &row;
  return nullptr;
}

bool hasOption(const VerbRow &verb, std::string_view option) {
  return std::any_of(optionTable().begin(), optionTable().end(), [&](const OptionRow &row) {
    return (row.verbs & verb.bit) && row.name == option;
  });
}

std::optional<std::string_view> closest(std::string_view word,
                                        const std::vector<std::string_view> &words) {
  std::optional<std::string_view> best;
  unsigned bestDistance = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : words) {
    // A beginning is meant to be completed, however much is missing.
    bool isStart = word.size() > 1 && candidate.substr(0, word.size()) == word;
    unsigned distance = isStart ? 0 : editDistance(word, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string ParsedOptions::value(std::string_view option, std::string_view fallback) const {
  const std::vector<std::string> &all = values(option);
  return all.empty() ? std::string(fallback) : all.back();
}

const std::vector<std::string> &ParsedOptions::values(std::string_view option) const {
  static const std::vector<std::string> none;
  auto found = given.find(option);
  assert((found != given.end() || std::any_of(optionTable().begin(), optionTable().end(),
                                              [&](const OptionRow &row) {
                                                return row.name == option &&
                                                       (!verbRow || (row.verbs & verbRow->bit));
                                              })) &&
         "the verb has no such option");
  return found == given.end() ? none : found->second;
}

int64_t ParsedOptions::number(std::string_view option, int64_t fallback) const {
  return has(option) ? parseInteger(value(option)).value_or(fallback) : fallback;
}

int ParsedOptions::verbosity() const {
  return has("quiet") ? -1 : static_cast<int>(std::min<size_t>(values("verbose").size(), 2));
}

/// One walk over the command line. Every function returns false once the line is refused.
class Parser {
public:
  Parser(std::string_view verb, int argc, const char *const *argv)
      : args(argv, argv + std::max(argc, 0)) {
    parsed.verbRow = findVerb(verb);
    assert(parsed.verbRow && "no such verb");
    for (const OptionRow &row : optionTable())
      if (row.verbs & parsed.verbRow->bit)
        rows.push_back(&row);
  }

  ParsedOptions run() {
    if (asksForHelp()) {
      parsed.given["help"] = {""};
      return parsed;
    }
    bool good = true;
    for (; good && at < args.size(); ++at)
      good = readOne(args[at]);
    good = good && checkNeeds() && checkOperands();
    return parsed;
  }

private:
  bool asksForHelp() const {
    for (const std::string &arg : args) {
      if (arg == "--")
        return false;
      if (arg == "--help" || arg == "-h")
        return true;
    }
    return false;
  }

  bool refuse(std::string error, std::string hint) {
    parsed.complaint = std::move(error);
    parsed.advice = std::move(hint);
    return false;
  }
  bool refuse(std::string error) {
    return refuse(std::move(error),
                  "'weft help " + std::string(parsed.verbRow->name) + "' lists the options");
  }

  bool readOne(const std::string &arg) {
    if (onlyOperands || arg.size() < 2 || arg[0] != '-') {
      parsed.operands.push_back(arg);
      return true;
    }
    if (arg == "--") {
      onlyOperands = true;
      return true;
    }
    return arg[1] == '-' ? readLong(arg) : readLetters(arg);
  }

  bool readLong(const std::string &arg) {
    size_t equals = arg.find('=');
    std::string name = arg.substr(2, equals == std::string::npos ? equals : equals - 2);
    const OptionRow *row = nullptr;
    for (const OptionRow *candidate : rows)
      if (candidate->name == name)
        row = candidate;
    if (!row)
      return refuseUnknown(name);
    if (row->argument.empty() && equals != std::string::npos)
      return refuse("option '--" + name + "' takes no value");
    if (row->argument.empty())
      return keep(*row, "");
    if (equals != std::string::npos)
      return store(*row, arg.substr(equals + 1));
    return hasOptionalValue(*row) ? keep(*row, "") : storeNext(*row);
  }

  /// -o FILE, -oFILE, -vv, -qo FILE.
  bool readLetters(const std::string &arg) {
    for (size_t i = 1; i < arg.size(); ++i) {
      auto found = std::find_if(rows.begin(), rows.end(),
                                [&](const OptionRow *row) { return row->letter == arg[i]; });
      if (found == rows.end())
        return refuse("unknown option '-" + arg.substr(i, 1) + "'");
      if (!(*found)->argument.empty())
        return i + 1 < arg.size() ? store(**found, arg.substr(i + 1)) : storeNext(**found);
      if (!keep(**found, ""))
        return false;
    }
    return true;
  }

  bool storeNext(const OptionRow &row) {
    if (at + 1 == args.size())
      return refuse("option '--" + std::string(row.name) +
                    "' needs a value: " + std::string(row.argument));
    return store(row, args[++at]);
  }

  bool store(const OptionRow &row, std::string value) {
    std::string wrong = judge(row, value);
    return wrong.empty() ? keep(row, std::move(value)) : refuse(wrong);
  }

  bool keep(const OptionRow &row, std::string value) {
    std::vector<std::string> &all = parsed.given[std::string(row.name)];
    if (!all.empty() && !row.many)
      return refuse("option '--" + std::string(row.name) + "' is given twice");
    all.push_back(std::move(value));
    return true;
  }

  bool refuseUnknown(const std::string &name) {
    std::string others;
    std::vector<std::string_view> names;
    for (const OptionRow *row : rows)
      names.push_back(row->name);
    std::vector<std::string_view> owners;
    for (const VerbRow &verb : verbTable())
      for (const OptionRow &row : optionTable())
        if (row.name == name && (row.verbs & verb.bit))
          owners.push_back(verb.name);
    if (!owners.empty())
      return refuse("'weft " + std::string(parsed.verbRow->name) + "' has no option '--" + name +
                    "'; it belongs to " + join(owners, " and "));
    std::string text = "unknown option '--" + name + "'";
    if (std::optional<std::string_view> like = closest(name, names))
      text += "; the closest is '--" + std::string(*like) + "'";
    return refuse(text);
  }

  bool checkNeeds() {
    for (const OptionRow *row : rows) {
      if (row->needs.empty() || !parsed.given.count(row->name))
        continue;
      std::string text;
      bool met = false;
      for (std::string_view other : split(row->needs, '|')) {
        met |= parsed.given.count(std::string(other)) != 0;
        text += (text.empty() ? "'--" : " or '--") + std::string(other) + "'";
      }
      if (!met)
        return refuse("'--" + std::string(row->name) + "' has no effect without " + text);
    }
    return true;
  }

  bool checkOperands() {
    const VerbRow &verb = *parsed.verbRow;
    std::string usage = "usage: weft " + std::string(verb.name) + " " + std::string(verb.operands);
    if (parsed.operands.size() < verb.least)
      return refuse("'weft " + std::string(verb.name) + "' needs " + std::string(verb.operands),
                    usage + " [options]");
    if (parsed.operands.size() > verb.most)
      return refuse("'" + parsed.operands[verb.most] + "' is one argument too many",
                    usage + " [options]");
    return true;
  }

  ParsedOptions parsed;
  std::vector<const OptionRow *> rows;
  std::vector<std::string> args;
  size_t at = 0;
  bool onlyOperands = false;
};

ParsedOptions parse(std::string_view verb, int argc, const char *const *argv) {
  return Parser(verb, argc, argv).run();
}

} // namespace weft::cli
