//===- ProfileTrace.cpp -----------------------------------------------------------------------===//
#include "tools/weft/verbs/ProfileTrace.h"
#include "tools/weft/cli/Json.h"

#include <algorithm>

namespace weft::cli {

namespace {

/// Lanes of a rank. Pieces are on their way together, so each has its own, beside one for when the rank does nothing but wait for them.
enum Lane : int { Kernels = 1, Exchanges = 2, FirstPiece = 3 };

/// Begins an entry, up to its args.
JsonWriter &begin(JsonWriter &json, const std::string &name, int process, int lane) {
  return json.object()
      .field("name", name)
      .field("ph", "X")
      .field("pid", process)
      .field("tid", lane);
}

JsonWriter &lasts(JsonWriter &json, uint64_t from, uint64_t to, uint64_t start) {
  return json.field("ts", 1e-3 * static_cast<double>(from - start))
      .field("dur", 1e-3 * static_cast<double>(to - from));
}

void addKernels(JsonWriter &json, const std::vector<KernelView> &kernels,
                const std::vector<weft_trace_event_t> &events, int process, uint64_t start) {
  for (const weft_trace_event_t &event : events) {
    const KernelView &kernel = kernels[event.kernel];
    begin(json, kernel.name, process, Kernels);
    lasts(json, event.begin_ns, event.end_ns, start).object("args");
    json.field("units", event.units).field("flops", event.flops).field("bytes", event.bytes);
    json.list("nodes", kernel.nodes).end().end();
  }
}

void name(JsonWriter &json, const char *kind, int process, int lane, const std::string &name) {
  json.object().field("name", kind).field("ph", "M").field("pid", process).field("tid", lane);
  json.object("args").field("name", name).end().end();
}

void addCollectives(JsonWriter &json, const RankHistory &history, int64_t calls, uint64_t start) {
  int pieces = 0;
  for (const PastCollective &c : lastExchanges(history, calls)) {
    const PastGroup &group = history.groups.at(c.group);
    bool isPiece = c.pieces > 1;
    begin(json, c.kind, history.rank, isPiece ? FirstPiece + c.piece - 1 : Exchanges);
    lasts(json, c.beganAt, c.endedAt, start).object("args");
    json.field("axes", group.title).field("sent", sentBytes(c, group)).field("after", c.node);
    json.end().end();
    if (!isPiece)
      continue;
    pieces = std::max(pieces, c.pieces);
    if (!c.waitsFrom)
      continue;
    begin(json, "wait for " + c.kind, history.rank, Exchanges);
    lasts(json, c.waitsFrom, c.endedAt, start).object("args");
    json.field("after", c.node).field("piece", c.piece).field("pieces", c.pieces).end().end();
  }
  name(json, "thread_name", history.rank, Kernels, "kernels");
  name(json, "thread_name", history.rank, Exchanges, "exchanges and waits");
  for (int piece = 1; piece <= pieces; ++piece)
    name(json, "thread_name", history.rank, FirstPiece + piece - 1,
         "piece " + std::to_string(piece));
}

/// When the first of them began.
uint64_t startOf(const std::vector<RankTrace> &ranks, int64_t calls) {
  uint64_t start = UINT64_MAX;
  for (const RankTrace &trace : ranks) {
    for (const weft_trace_event_t &event : trace.events)
      start = std::min(start, event.begin_ns);
    for (const PastCollective &collective : lastExchanges(trace.history, calls))
      start = std::min(start, collective.beganAt);
  }
  return start;
}

} // namespace

std::string traceText(const std::vector<KernelView> &kernels,
                      const std::vector<weft_trace_event_t> &events) {
  JsonWriter json("weft.trace/1");
  json.field("displayTimeUnit", "ns").array("traceEvents");
  addKernels(json, kernels, events, 1, events.empty() ? 0 : events[0].begin_ns);
  json.end();
  return json.finish();
}

std::string traceText(const std::vector<KernelView> &kernels, const std::vector<RankTrace> &ranks,
                      int64_t calls) {
  JsonWriter json("weft.trace/1");
  json.field("displayTimeUnit", "ns").array("traceEvents");
  uint64_t start = startOf(ranks, calls);
  for (const RankTrace &trace : ranks) {
    int rank = trace.history.rank;
    name(json, "process_name", rank, 0, "rank " + std::to_string(rank));
    addKernels(json, kernels, trace.events, rank, start);
    addCollectives(json, trace.history, calls, start);
  }
  json.end();
  return json.finish();
}

} // namespace weft::cli
