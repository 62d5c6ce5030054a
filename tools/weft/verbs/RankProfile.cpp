//===- RankProfile.cpp ------------------------------------------------------------------------===//
#include "tools/weft/verbs/RankProfile.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::cli {

namespace {

std::string historyText(const weft_group_t *group) {
  std::string text;
  int file = memfd_create("weft-profile", MFD_CLOEXEC);
  if (file < 0)
    return text;
  if (weft_group_dump(group, file, "profile", nullptr) == WEFT_OK) {
    text.resize(size_t(lseek(file, 0, SEEK_END)));
    ssize_t count = pread(file, text.data(), text.size(), 0);
    text.resize(count < 0 ? 0 : size_t(count));
  }
  close(file);
  return text;
}

weft_status_t broadcast(weft_group_t *group, int32_t root, void *bytes, int64_t count,
                        weft_error_t *error) {
  weft_collective_t collective = {};
  collective.struct_size = sizeof collective;
  collective.kind = WEFT_BROADCAST;
  collective.element = WEFT_U8;
  collective.peer = root;
  collective.node = "the last call";
  collective.send = collective.receive = bytes;
  collective.outer = collective.inner = 1;
  collective.first = count;
  return weft_group_collective(group, &collective, error);
}

/// Gives all ranks the text of `root`.
weft_status_t share(weft_group_t *group, int32_t root, std::string &text, weft_error_t *error) {
  int64_t size = static_cast<int64_t>(text.size());
  if (weft_status_t status = broadcast(group, root, &size, sizeof size, error))
    return status;
  text.resize(size_t(size));
  return size ? broadcast(group, root, text.data(), size, error) : WEFT_OK;
}

/// A context's groups have a title.
bool isContexts(const PastGroup &group) { return !group.title.empty(); }

/// A group's collectives up to call `calls` of `all`: each does as many.
uint64_t doneAfter(const PastGroup &group, int64_t calls, int64_t all) {
  return group.done * static_cast<uint64_t>(calls) / static_cast<uint64_t>(all);
}

using Times = std::map<std::pair<std::string, uint64_t>, std::map<int, uint64_t>>;

/// When each rank began each collective of each group.
Times beginnings(const std::vector<RankTrace> &all) {
  Times times;
  for (const RankTrace &trace : all)
    for (const PastCollective &c : trace.history.collectives)
      times[{trace.history.groups.at(c.group).name, c.sequence}][trace.history.rank] = c.beganAt;
  return times;
}

/// What one call spends.
struct Spent {
  double seconds = 0, waiting = 0;
};

/// Seconds until the rank that came last was there, which *out_last says.
double waitOf(const PastCollective &c, const std::map<int, uint64_t> &began, int *out_last) {
  auto last = std::max_element(began.begin(), began.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  *out_last = last->first;
  uint64_t until = std::min(last->second, c.endedAt);
  return until > c.beganAt ? 1e-9 * static_cast<double>(until - c.beganAt) : 0;
}

double medianOf(std::vector<Spent> &calls, double Spent::*part) {
  auto middle = calls.begin() + static_cast<ptrdiff_t>(calls.size() / 2);
  std::nth_element(calls.begin(), middle, calls.end(),
                   [&](const Spent &a, const Spent &b) { return a.*part < b.*part; });
  return *middle.*part;
}

std::string number(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof text, format, value);
  return text;
}

/// The rank that was waited for longest, and its share of the waiting.
std::string longestWaited(const ExchangeRow &row) {
  auto longest = std::max_element(row.waitedFor.begin(), row.waitedFor.end(),
                                  [](const auto &a, const auto &b) { return a.second < b.second; });
  return longest == row.waitedFor.end() ? ""
                                        : "rank " + std::to_string(longest->first) +
                                              number(" (%.0f %%)", 100 * longest->second);
}

} // namespace

weft_status_t gatherTraces(weft_group_t *group, const std::vector<weft_trace_event_t> &own,
                           std::vector<RankTrace> &all, weft_error_t *error) {
  std::string history = historyText(group),
              events(reinterpret_cast<const char *>(own.data()), own.size() * sizeof own[0]);
  for (int32_t rank = 0; rank < weft_group_world(group); ++rank) {
    bool isOwn = rank == weft_group_rank(group);
    std::string text = isOwn ? history : "", bytes = isOwn ? events : "";
    if (weft_status_t status = share(group, rank, text, error))
      return status;
    if (weft_status_t status = share(group, rank, bytes, error))
      return status;
    if (weft_group_rank(group) != 0)
      continue;
    RankTrace trace;
    if (Result<RankHistory> parsed = parseHistory(text))
      trace.history = std::move(*parsed);
    trace.history.rank = rank;
    trace.events.resize(bytes.size() / sizeof(weft_trace_event_t));
    std::copy(bytes.begin(),
              bytes.begin() + ptrdiff_t(trace.events.size() * sizeof(weft_trace_event_t)),
              reinterpret_cast<char *>(trace.events.data()));
    all.push_back(std::move(trace));
  }
  return WEFT_OK;
}

Result<RankHistory> ownHistory(const weft_group_t *group) {
  return parseHistory(historyText(group));
}

int64_t collectivesDone(const weft_group_t *group) {
  uint64_t count = 0;
  if (Result<RankHistory> history = ownHistory(group))
    for (const auto &[number, past] : history->groups)
      count += isContexts(past) ? past.done : 0;
  return static_cast<int64_t>(count);
}

/// Of one group; false when collectives of the calls are forgotten.
static bool fillRow(ExchangeRow &row, const RankHistory &history, uint32_t number, int64_t warm,
                    int64_t rounds, Times &times) {
  const PastGroup &group = history.groups.at(number);
  uint64_t first = doneAfter(group, warm, warm + rounds), found = 0, all = group.done - first,
           each = std::max<uint64_t>(all / static_cast<uint64_t>(rounds), 1);
  std::vector<Spent> calls(all / each + 1);
  double waiting = 0;
  for (const PastCollective &c : history.collectives) {
    if (c.group != number || c.sequence <= first || !c.endedAt)
      continue;
    ++found;
    int last;
    double wait = waitOf(c, times[{group.name, c.sequence}], &last);
    Spent &call = calls[(c.sequence - first - 1) / each];
    call.seconds += 1e-9 * static_cast<double>(c.endedAt - c.beganAt);
    call.waiting += wait;
    waiting += wait;
    if (wait > 0)
      row.waitedFor[last] += wait;
    row.bytes += static_cast<double>(sentBytes(c, group));
  }
  calls.resize(static_cast<size_t>(rounds));
  for (auto &[rank, share] : row.waitedFor)
    share /= waiting;
  row.bytes /= static_cast<double>(rounds);
  row.collectives = static_cast<double>(each);
  row.seconds = medianOf(calls, &Spent::seconds);
  row.waiting = medianOf(calls, &Spent::waiting);
  return found == all && found == each * static_cast<uint64_t>(rounds);
}

Result<std::vector<ExchangeRow>> exchangeRows(const std::vector<RankTrace> &all, int64_t warm,
                                              int64_t rounds) {
  std::vector<ExchangeRow> rows;
  Times times = beginnings(all);
  for (const RankTrace &trace : all)
    for (const auto &[number, group] : trace.history.groups) {
      if (!isContexts(group) || !group.done)
        continue;
      ExchangeRow row;
      row.rank = trace.history.rank;
      row.axes = group.title;
      if (!fillRow(row, trace.history, number, warm, rounds, times))
        return Failure{ExitWrongUsage,
                       "ranks do not remember the collectives of " + std::to_string(rounds) +
                           " calls",
                       "give fewer --rounds",
                       {}};
      rows.push_back(std::move(row));
    }
  return rows;
}

Table exchangeTable(const std::vector<ExchangeRow> &rows) {
  Table table{{"rank", "axes", "collectives", "sent", "time", "waiting", "most for"}, {}};
  for (const ExchangeRow &row : rows)
    table.rows.push_back({std::to_string(row.rank), row.axes, number("%.0f", row.collectives),
                          printBytes(row.bytes), printSeconds(row.seconds),
                          printSeconds(row.waiting), longestWaited(row)});
  return table;
}

void addExchanges(JsonWriter &json, const std::vector<ExchangeRow> &rows) {
  json.array("exchanges");
  for (const ExchangeRow &row : rows) {
    json.object().field("rank", row.rank).field("axes", row.axes);
    json.field("collectives", row.collectives).field("bytes_sent", row.bytes);
    json.field("seconds", row.seconds).field("waiting_seconds", row.waiting).array("waited_for");
    for (const auto &[rank, share] : row.waitedFor)
      json.object().field("rank", rank).field("share", share).end();
    json.end().end();
  }
  json.end();
}

std::vector<std::vector<PastCollective>> lastCalls(const RankHistory &history, uint32_t group,
                                                   int64_t warm, int64_t rounds) {
  const PastGroup &past = history.groups.at(group);
  uint64_t first = doneAfter(past, warm, warm + rounds);
  uint64_t each = (past.done - first) / static_cast<uint64_t>(rounds);
  std::vector<std::vector<PastCollective>> calls(static_cast<size_t>(rounds));
  if (!isContexts(past) || !each)
    return {};
  for (const PastCollective &c : history.collectives)
    if (c.group == group && c.sequence > first && c.endedAt)
      calls[std::min<size_t>((c.sequence - first - 1) / each, calls.size() - 1)].push_back(c);
  for (const std::vector<PastCollective> &call : calls)
    if (call.size() != each)
      return {};
  return calls;
}

std::vector<PastCollective> lastExchanges(const RankHistory &history, int64_t calls) {
  std::vector<PastCollective> last;
  for (const PastCollective &c : history.collectives) {
    const PastGroup &group = history.groups.at(c.group);
    if (isContexts(group) && c.endedAt && c.sequence > doneAfter(group, calls - 1, calls))
      last.push_back(c);
  }
  return last;
}

} // namespace weft::cli
