//===- ProfileCounters.h - What a device counts of kernels ------------------------------------===//
//
//   Counters before = countersOf(context, kernel), after = …;
//   lines += counterLines(since(before, after));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERBS_PROFILECOUNTERS_H
#define WEFT_TOOLS_WEFT_VERBS_PROFILECOUNTERS_H

#include "tools/weft/cli/Json.h"
#include "weft/runtime.h"

#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

/// In the device's order; empty where it counts nothing.
using Counters = std::vector<std::pair<std::string, uint64_t>>;

Counters countersOf(const weft_context_t *context, uint32_t kernel);

/// What `after` has more than `before`.
Counters since(const Counters &before, Counters after);

/// Lines for people, each with a newline: instructions by what they do, and what memory had to give beside the least that it could.
std::string counterLines(const Counters &counters);

/// An object of its own: all of them by name.
void addCounters(JsonWriter &json, const Counters &counters);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERBS_PROFILECOUNTERS_H
