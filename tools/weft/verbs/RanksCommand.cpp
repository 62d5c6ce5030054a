//===- RanksCommand.cpp - weft ranks ------------------------------------------------------------===//
//
// Puts what ranks did last side by side: how far the ranks of every group came together, and who began, finished or never came to
// the collective behind that.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/History.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <map>

namespace weft::cli {

namespace {

/// A group, and the first collective that its ranks have not all finished.
struct Standing {
  std::string name, title;
  int world = 0;
  std::vector<int> finished, inside, absent; ///< ranks of the run
  uint64_t together = 0, furthest = 0;
  const PastCollective *next = nullptr; ///< as its first rank calls it; NULL: nobody remembers
  std::map<std::string, std::vector<int>> calls; ///< what ranks call there

  bool isTogether() const { return furthest == together; }
  bool isMixed() const { return calls.size() > 1; }
  std::vector<int> members() const {
    std::vector<int> all;
    for (const std::vector<int> *some : {&finished, &inside, &absent})
      all.insert(all.end(), some->begin(), some->end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

std::string list(const std::vector<int> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += (end - i > 2 ? "-" : ", ") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

/// "ranks 0-3 and 5"
std::string named(const std::vector<int> &ranks) {
  std::string text = list(ranks);
  if (size_t comma = text.rfind(", "); comma != std::string::npos)
    text.replace(comma, 2, " and ");
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

/// Sizes of a permute may differ between ranks.
std::string comparable(const PastCollective &collective) {
  return collective.kind == "permute"
             ? "permute of " + collective.element + " by " + std::to_string(collective.peer)
             : collective.what();
}

class Ranks {
public:
  Ranks(const ParsedOptions &options, Console &console) : options(options), console(console) {}

  int run() {
    Result<std::string> format = readFormat(options);
    if (!format)
      return console.fail(format.failure());
    Result<std::vector<RankHistory>> read = readHistories(options.positional()[0]);
    if (!read)
      return console.fail(read.failure());
    histories = std::move(*read);
    for (int rank = 0; rank < histories[0].world; ++rank)
      if (!historyOf(rank))
        silent.push_back(rank);
    compare();
    *format == "json" ? reportJson() : report(*format);
    return console.finish();
  }

private:
  const RankHistory *historyOf(int rank) const {
    for (const RankHistory &history : histories)
      if (history.rank == rank)
        return &history;
    return nullptr;
  }

  using Member = std::pair<const RankHistory *, uint32_t>; ///< and the group's number there

  void compare() {
    std::map<std::string, std::vector<Member>> groups;
    for (const RankHistory &history : histories)
      for (const auto &[number, group] : history.groups)
        groups[group.name].push_back({&history, number});
    for (const auto &[name, members] : groups)
      standings.push_back(standingOf(name, members));
    std::stable_sort(standings.begin(), standings.end(),
                     [&](const Standing &a, const Standing &b) { return urgency(a) < urgency(b); });
  }

  static Standing standingOf(const std::string &name, const std::vector<Member> &members) {
    Standing found;
    found.name = name;
    found.together = UINT64_MAX;
    for (const auto &[history, number] : members) {
      const PastGroup &group = history->groups.at(number);
      found.title = group.title;
      found.world = group.world;
      found.together = std::min(found.together, group.done);
      found.furthest = std::max(found.furthest, group.begun);
    }
    for (const auto &[history, number] : members) {
      const PastGroup &group = history->groups.at(number);
      (group.done > found.together    ? found.finished
       : group.begun > found.together ? found.inside
                                      : found.absent)
          .push_back(history->rank);
      if (const PastCollective *next = history->find(number, found.together + 1)) {
        found.next = found.next ? found.next : next;
        found.calls[comparable(*next)].push_back(history->rank);
      }
    }
    return found;
  }

  /// What explains the others comes first: ranks at different collectives, then a rank that waits nowhere, though others wait for it.
  int urgency(const Standing &standing) const {
    if (standing.isTogether())
      return 3;
    bool isIdle = std::any_of(standing.absent.begin(), standing.absent.end(),
                              [&](int rank) { return !openOf(*historyOf(rank)); });
    return standing.isMixed() ? 0 : isIdle ? 1 : 2;
  }

  /// The collective that a rank is in.
  static const PastCollective *openOf(const RankHistory &history) {
    return history.collectives.empty() || history.collectives.back().endedAt
               ? nullptr
               : &history.collectives.back();
  }

  static std::string over(const RankHistory &history, const PastCollective &collective) {
    const PastGroup &group = history.groups.at(collective.group);
    return group.title.empty() ? "" : " over " + group.title;
  }

  static std::string whereabouts(const RankHistory &history) {
    if (history.collectives.empty())
      return "has not begun a collective";
    const PastCollective &last = history.collectives.back();
    return (last.endedAt ? "behind " : "in ") + last.place() + over(history, last);
  }

  static double secondsThere(const RankHistory &history) {
    if (history.collectives.empty())
      return 0;
    const PastCollective &last = history.collectives.back();
    uint64_t since = std::max(last.beganAt, last.endedAt);
    return history.writtenAt > since ? 1e-9 * static_cast<double>(history.writtenAt - since) : 0;
  }

  static std::string titleOf(const Standing &standing) {
    return standing.title.empty() ? standing.name : standing.title;
  }

  /// One sentence.
  std::string verdict() const {
    if (standings.empty() || standings.front().isTogether())
      return "all ranks have finished what they began";
    const Standing &first = standings.front();
    std::string text =
        "collective " + std::to_string(first.together + 1) + " over " + titleOf(first);
    if (first.next && !first.isMixed())
      text += ", " + first.next->place();
    if (first.isMixed()) {
      text = "ranks differ at " + text + ":";
      for (const auto &[what, ranks] : first.calls)
        text += (&what == &first.calls.begin()->first ? " " : ", ") + named(ranks) + " " + what;
      return text;
    }
    if (first.absent.empty())
      return named(first.inside) + " began " + text + ", but did not finish it" +
             (first.finished.empty() ? "" : " as " + named(first.finished) + " did");
    return named(first.absent) + " never came to " + text;
  }

  void report(const std::string &format) {
    auto print = [&](const Table &table) {
      return format == "md" ? table.markdown() : format == "csv" ? table.csv() : table.text();
    };
    const RankHistory &any = histories[0];
    console.say("run " + any.run + ": " + std::to_string(histories.size()) + " of " +
                std::to_string(any.world) + " ranks have written what they did");
    if (!silent.empty())
      console.say(named(silent) + ": nothing, for lack of a start or of the time to write");
    std::string sentence = verdict() + "\n";
    console.result(format == "table" ? sentence + "\n" : "");
    if (format != "table")
      console.say(verdict());
    Table groups{{"group", "ranks", "together", "next", "finished", "inside", "not come"}, {}};
    for (const Standing &s : standings)
      groups.rows.push_back({titleOf(s), list(s.members()), std::to_string(s.together),
                             s.isTogether() ? ""
                             : s.next       ? s.next->place()
                                            : "?",
                             s.isTogether() ? "" : list(s.finished), list(s.inside),
                             s.isTogether() ? "" : list(s.absent)});
    Table ranks{{"rank", "process", "host", "where", "for"}, {}};
    for (const RankHistory &history : histories)
      ranks.rows.push_back({std::to_string(history.rank), std::to_string(history.process),
                            history.host, whereabouts(history),
                            printSeconds(secondsThere(history))});
    console.result(print(groups) + "\n" + print(ranks));
    for (const RankHistory &history : histories)
      console.say("rank " + std::to_string(history.rank) + ": " + history.reason, 1);
  }

  void reportJson() {
    const RankHistory &any = histories[0];
    JsonWriter json("weft.ranks/1");
    json.field("run", any.run).field("world", any.world).list("silent", silent);
    json.field("verdict", verdict()).array("groups");
    for (const Standing &s : standings) {
      json.object().field("group", s.name).field("axes", s.title).field("size", s.world);
      json.list("ranks", s.members()).field("together", s.together).field("furthest", s.furthest);
      if (!s.isTogether()) {
        json.field("next", s.next ? s.next->place() : "");
        json.list("finished", s.finished).list("inside", s.inside).list("absent", s.absent);
      }
      json.end();
    }
    json.end().array("ranks");
    for (const RankHistory &history : histories)
      json.object()
          .field("rank", history.rank)
          .field("process", history.process)
          .field("host", history.host)
          .field("where", whereabouts(history))
          .field("seconds", secondsThere(history))
          .field("reason", history.reason)
          .end();
    json.end();
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  std::vector<RankHistory> histories;
  std::vector<int> silent; ///< ranks without a file
  std::vector<Standing> standings;
};

} // namespace

int ranksCommand(const ParsedOptions &options, Console &console) {
  return Ranks(options, console).run();
}

} // namespace weft::cli
