//===- ExchangeTimes.cpp ----------------------------------------------------------------------===//
#include "tools/weft/verbs/ExchangeTimes.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>

namespace weft::cli {

namespace {

/// The pieces of one exchange, or itself.
using Pieces = std::vector<PastCollective>;

/// Those of one call, in their order. Pieces of one exchange begin behind each other.
std::vector<Pieces> exchangesOf(const std::vector<PastCollective> &call) {
  std::vector<Pieces> exchanges;
  for (const PastCollective &c : call) {
    if (c.piece <= 1 || exchanges.empty())
      exchanges.emplace_back();
    exchanges.back().push_back(c);
  }
  return exchanges;
}

double totalOf(const Pieces &pieces) {
  uint64_t end = 0;
  for (const PastCollective &piece : pieces)
    end = std::max(end, piece.endedAt);
  return 1e-9 * static_cast<double>(end - pieces.front().beganAt);
}

double exposedOf(const Pieces &pieces) {
  if (pieces.size() == 1)
    return totalOf(pieces);
  double spent = 0;
  for (const PastCollective &piece : pieces)
    spent += 1e-9 * static_cast<double>(piece.spent);
  return spent;
}

double medianOf(std::vector<double> samples) {
  auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// What is shown in one row: exchanges that differ by their nodes only.
std::string nameOf(const Pieces &pieces, const std::string &axes) {
  PastCollective first = pieces.front();
  first.node.clear();
  return axes + first.what() + std::to_string(pieces.size()) + " " + std::to_string(first.from);
}

/// One group of one rank.
void addGroup(std::vector<ExchangeTime> &times, const RankTrace &trace, uint32_t number,
              const std::vector<std::vector<PastCollective>> &calls, const std::string &link) {
  const PastGroup &group = trace.history.groups.at(number);
  std::vector<std::vector<Pieces>> rounds;
  for (const std::vector<PastCollective> &call : calls)
    rounds.push_back(exchangesOf(call));
  std::map<std::string, size_t> rows;
  for (size_t i = 0; i < rounds[0].size(); ++i) {
    const Pieces &pieces = rounds[0][i];
    auto [found, isNew] = rows.emplace(nameOf(pieces, group.title), times.size());
    if (isNew)
      times.push_back({trace.history.rank, group.title, pieces[0].kind, {}, pieces[0].pieces});
    ExchangeTime &time = times[found->second];
    std::vector<double> totals, exposed;
    for (const std::vector<Pieces> &round : rounds)
      if (i < round.size()) {
        totals.push_back(totalOf(round[i]));
        exposed.push_back(exposedOf(round[i]));
      }
    time.nodes.push_back(pieces[0].node);
    time.total += medianOf(totals);
    time.exposed += medianOf(exposed);
    time.onLink += secondsOnLink(link, pieces, group);
    for (const PastCollective &piece : pieces)
      time.bytes += static_cast<double>(sentBytes(piece, group));
  }
}

std::string number(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof text, format, value);
  return text;
}

} // namespace

std::optional<double> ExchangeTime::efficiency() const {
  if (onLink <= 0 || pieces < 2)
    return std::nullopt;
  return 1 - exposed / onLink;
}

std::vector<ExchangeTime> exchangeTimes(const std::vector<RankTrace> &all, int64_t warm,
                                        int64_t rounds, const std::string &link) {
  std::vector<ExchangeTime> times;
  for (const RankTrace &trace : all)
    for (const auto &[number, group] : trace.history.groups)
      if (auto calls = lastCalls(trace.history, number, warm, rounds); !calls.empty())
        addGroup(times, trace, number, calls, link);
  std::stable_sort(times.begin(), times.end(), [](const ExchangeTime &a, const ExchangeTime &b) {
    return a.rank != b.rank ? a.rank < b.rank : a.exposed > b.exposed;
  });
  return times;
}

double secondsOfWhole(const weft_group_t *group, uint64_t sinceNs) {
  double seconds = 0;
  if (Result<RankHistory> history = ownHistory(group))
    for (const PastCollective &c : history->collectives)
      if (c.pieces == 1 && c.beganAt >= sinceNs && c.endedAt)
        seconds += totalOf({c});
  return seconds;
}

Table exchangeTimesTable(const std::vector<ExchangeTime> &times) {
  Table table{
      {"exchange", "axes", "calls", "pieces", "sent", "time", "hidden", "exposed", "E", "after"},
      {}};
  for (const ExchangeTime &time : times) {
    if (time.rank != 0)
      continue;
    size_t more = time.nodes.size() - 1;
    std::optional<double> part = time.efficiency();
    bool isCut = time.pieces > 1;
    table.rows.push_back({time.kind, time.axes, std::to_string(time.nodes.size()),
                          isCut ? std::to_string(time.pieces) : "-", printBytes(time.bytes),
                          printSeconds(time.total), isCut ? printSeconds(time.hidden()) : "-",
                          printSeconds(time.exposed), part ? number("%.2f", *part) : "-",
                          time.nodes[0] + (more ? " +" + std::to_string(more) : "")});
  }
  return table;
}

void addExchangeTimes(JsonWriter &json, const std::vector<ExchangeTime> &times) {
  json.array("exchange_times");
  for (const ExchangeTime &time : times) {
    json.object().field("rank", time.rank).field("axes", time.axes).field("kind", time.kind);
    json.field("calls", static_cast<int64_t>(time.nodes.size())).field("pieces", time.pieces);
    json.field("bytes_sent", time.bytes).field("seconds", time.total);
    json.field("hidden_seconds", time.hidden()).field("exposed_seconds", time.exposed);
    if (std::optional<double> part = time.efficiency())
      json.field("link_seconds", time.onLink).field("efficiency", *part);
    json.list("after", time.nodes).end();
  }
  json.end();
}

} // namespace weft::cli
