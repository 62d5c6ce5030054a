//===- History.cpp ----------------------------------------------------------------------------===//
#include "tools/weft/cli/History.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"
#include "weft/artifact.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <optional>
#include <sstream>

namespace weft::cli {

namespace {

constexpr std::string_view kFirstWord = "weft-flight", kBefore = "rank-", kBehind = ".flight";
constexpr int kMostRanks = 1 << 20;

/// Words of a line, of which the last may have spaces.
class Words {
public:
  explicit Words(std::string_view line) : rest(line) {}

  std::string_view word() {
    size_t end = std::min(rest.find(' '), rest.size());
    std::string_view found = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    good = good && !found.empty();
    return found;
  }
  template <typename T> void number(T &value) {
    std::string_view text = word();
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    good = good && error == std::errc() && end == text.data() + text.size();
  }
  std::string remaining() { return std::string(rest); }

  bool good = true;

private:
  std::string_view rest;
};

bool readHead(Words words, RankHistory &history) {
  int version = 0;
  bool isHead = words.word() == kFirstWord;
  words.number(version);
  words.number(history.rank);
  words.number(history.world);
  words.number(history.process);
  words.number(history.writtenAt);
  history.host = words.word();
  history.run = words.remaining();
  return isHead && version == 2 && words.good && history.rank >= 0 &&
         history.rank < history.world && history.world <= kMostRanks;
}

bool readGroup(Words words, RankHistory &history) {
  uint32_t number = 0;
  PastGroup group;
  words.number(number);
  group.name = words.word();
  words.number(group.rank);
  words.number(group.world);
  words.number(group.begun);
  words.number(group.done);
  group.title = words.remaining();
  return words.good && group.rank >= 0 && group.rank < group.world &&
         group.world <= history.world && group.done <= group.begun &&
         history.groups.emplace(number, group).second;
}

bool readCollective(Words words, RankHistory &history) {
  PastCollective c;
  words.number(c.group);
  words.number(c.sequence);
  c.kind = words.word();
  c.element = words.word();
  words.number(c.combiner);
  words.number(c.isReversed);
  words.number(c.peer);
  for (int64_t &size : c.sizes)
    words.number(size);
  words.number(c.row);
  words.number(c.beganAt);
  words.number(c.endedAt);
  words.number(c.waitsFrom);
  words.number(c.spent);
  words.number(c.from);
  words.number(c.rows);
  words.number(c.piece);
  words.number(c.pieces);
  c.node = words.remaining();
  if (!words.good || !c.sequence)
    return false;
  if (history.groups.count(c.group)) // else the group was forgotten
    history.collectives.push_back(std::move(c));
  return true;
}

bool readLine(std::string_view line, RankHistory &history) {
  Words words(line);
  std::string_view kind = words.word();
  if (kind == "group")
    return readGroup(words, history);
  return kind == "call" && readCollective(words, history);
}

/// The number in "rank-1.flight".
std::optional<int64_t> rankOfFile(std::string_view name) {
  if (name.size() <= kBefore.size() + kBehind.size() || name.substr(0, kBefore.size()) != kBefore ||
      name.substr(name.size() - kBehind.size()) != kBehind)
    return std::nullopt;
  return parseInteger(name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size()));
}

Result<RankHistory> readHistory(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return Failure{ExitInputRefused, path + ": cannot be read", {}, {}};
  Result<RankHistory> history = parseHistory(text.str());
  return history ? history
                 : Failure{ExitInputRefused, path + ": " + history.failure().message, {}, {}};
}

} // namespace

std::string PastCollective::place() const {
  std::string where = !node.empty() ? " after '" + node + "'"
                      : row         ? " of row " + std::to_string(row)
                                    : "";
  std::string which = ", piece " + std::to_string(piece) + " of " + std::to_string(pieces);
  return kind + where + (pieces > 1 ? which : "");
}

std::string PastCollective::what() const {
  constexpr std::array kCombiners = {"", " (sum)", " (max)", " (min)", " (prod)"};
  std::string text =
      kind + (combiner < kCombiners.size() ? kCombiners[combiner] : "") + " of " + element + " [";
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  text += "]";
  if (kind == "broadcast" || kind == "permute")
    text += (kind == "permute" ? " by " : " from rank ") + std::to_string(peer);
  return text + (isReversed ? " back" : "");
}

static int64_t bytesOf(const std::string &element) {
  for (uint32_t type = WEFT_BOOL; weft_element_bits(type); ++type)
    if (element == weft_element_name(type))
      return (weft_element_bits(type) + 7) / 8;
  return 0;
}

int64_t sentBytes(const PastCollective &c, const PastGroup &group) {
  auto partOf = [&](int64_t extent, int rank) {
    int64_t size = (extent + group.world - 1) / group.world;
    int64_t rows = std::clamp<int64_t>(extent - rank * size, 0, size);
    return c.rows ? std::clamp<int64_t>(rows - c.from, 0, c.rows) : rows;
  };
  auto part = [&](int64_t extent) { return partOf(extent, group.rank); };
  auto partsOfOthers = [&](int64_t extent) {
    int64_t rows = -part(extent);
    for (int rank = 0; rank < group.world; ++rank)
      rows += partOf(extent, rank);
    return rows;
  };
  const auto &[outer, first, middle, second, inner] = c.sizes;
  int64_t all = outer * first * inner, others = group.world - 1, sent = 0;
  if (c.kind == "all_reduce")
    sent = all - part(all) + part(all) * others;
  else if (c.kind == "all_gather")
    sent = outer * part(first) * inner * others;
  else if (c.kind == "reduce_scatter")
    sent = outer * partsOfOthers(first) * inner;
  else if (c.kind == "all_to_all" && c.isReversed)
    sent = outer * (first - part(first)) * middle * part(second) * inner;
  else if (c.kind == "all_to_all")
    sent = outer * part(first) * middle * (second - part(second)) * inner;
  else if (c.kind == "broadcast")
    sent = c.peer == group.rank ? all * others : 0;
  else
    sent = c.isReversed && (2 * group.rank - c.peer) % group.world == 0 ? 0
           : others                                                     ? all
                                                                        : 0; // permute
  return sent * bytesOf(c.element);
}

const PastCollective *RankHistory::find(uint32_t group, uint64_t sequence) const {
  for (const PastCollective &collective : collectives)
    if (collective.group == group && collective.sequence == sequence)
      return &collective;
  return nullptr;
}

Result<std::vector<int>> ranksWithHistories(const std::string &folder) {
  DIR *opened = opendir(folder.c_str());
  if (!opened)
    return Failure{ExitInputRefused, folder + ": " + strerror(errno), {}, {}};
  std::vector<int> ranks;
  while (const dirent *entry = readdir(opened))
    if (std::optional<int64_t> rank = rankOfFile(entry->d_name); rank && *rank < kMostRanks)
      ranks.push_back(static_cast<int>(*rank));
  closedir(opened);
  std::sort(ranks.begin(), ranks.end());
  if (ranks.empty())
    return Failure{ExitInputRefused,
                   folder + " has no file " + std::string(kBefore) + "N" + std::string(kBehind),
                   "'weft run FILE --ranks N --flight " + folder + "' writes them when ranks fail",
                   {}};
  return ranks;
}

std::string historyPath(const std::string &folder, int rank) {
  return folder + "/" + std::string(kBefore) + std::to_string(rank) + std::string(kBehind);
}

Result<RankHistory> parseHistory(std::string_view text) {
  RankHistory history;
  auto refuse = [](std::string message) {
    return Failure{ExitInputRefused, std::move(message), {}, {}};
  };
  for (size_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos)
      return refuse("line " + std::to_string(number) + " is cut off");
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number > 2 && line == "end")
      return text.empty()
                 ? Result<RankHistory>(std::move(history))
                 : refuse("something follows line " + std::to_string(number) + ", its end");
    bool isGood = number == 1   ? readHead(Words(line), history)
                  : number == 2 ? line.substr(0, 7) == "reason "
                                : readLine(line, history);
    if (!isGood)
      return refuse(number == 1 ? "is not what a rank did last"
                                : "line " + std::to_string(number) + " is damaged");
    if (number == 2)
      history.reason = line.substr(7);
  }
  return refuse("its end is missing");
}

Result<std::vector<RankHistory>> readHistories(const std::string &folder) {
  Result<std::vector<int>> ranks = ranksWithHistories(folder);
  if (!ranks)
    return ranks.failure();
  std::vector<RankHistory> all;
  for (int rank : *ranks) {
    std::string path = historyPath(folder, rank);
    Result<RankHistory> history = readHistory(path);
    if (!history)
      return history.failure();
    if (history->rank != rank)
      return Failure{
          ExitInputRefused, path + ": is of rank " + std::to_string(history->rank), {}, {}};
    if (!all.empty() && (history->run != all[0].run || history->world != all[0].world))
      return Failure{ExitInputRefused,
                     path + ": is of run '" + history->run + "' of " +
                         std::to_string(history->world) + " ranks, but rank " +
                         std::to_string(all[0].rank) + "'s of '" + all[0].run + "' of " +
                         std::to_string(all[0].world),
                     "give a folder with the files of one run",
                     {}};
    all.push_back(std::move(*history));
  }
  return all;
}

} // namespace weft::cli
