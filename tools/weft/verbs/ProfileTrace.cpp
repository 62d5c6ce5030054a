//===- ProfileTrace.cpp -----------------------------------------------------------------------===//
#include "tools/weft/verbs/ProfileTrace.h"
#include "tools/weft/cli/Json.h"

#include <algorithm>

namespace weft::cli {

namespace {

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
    begin(json, kernel.name, process, 1);
    lasts(json, event.begin_ns, event.end_ns, start).object("args");
    json.field("units", event.units).field("flops", event.flops).field("bytes", event.bytes);
    json.list("nodes", kernel.nodes).end().end();
  }
}

void addCollectives(JsonWriter &json, const RankHistory &history, int64_t calls, uint64_t start) {
  for (const PastCollective &c : lastExchanges(history, calls)) {
    const PastGroup &group = history.groups.at(c.group);
    begin(json, c.kind, history.rank, 2);
    lasts(json, c.beganAt, c.endedAt, start).object("args");
    json.field("axes", group.title).field("sent", sentBytes(c, group)).field("after", c.node);
    json.end().end();
  }
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
    json.object().field("name", "process_name").field("ph", "M").field("pid", rank);
    json.object("args").field("name", "rank " + std::to_string(rank)).end().end();
    addKernels(json, kernels, trace.events, rank, start);
    addCollectives(json, trace.history, calls, start);
  }
  json.end();
  return json.finish();
}

} // namespace weft::cli
