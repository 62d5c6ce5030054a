//===- ProfileCounters.cpp --------------------------------------------------------------------===//

#include "tools/weft/verbs/ProfileCounters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cli {

Counters countersOf(const weft_context_t *context, uint32_t kernel) {
  Counters all;
  weft_counter_t each = {sizeof each, 0, nullptr, 0};
  for (uint32_t i = 0; !weft_context_counter(context, kernel, i, &each); ++i)
    all.emplace_back(each.name, each.value);
  return all;
}

Counters since(const Counters &before, Counters after) {
  for (size_t i = 0; i < before.size() && i < after.size(); ++i)
    after[i].second -= before[i].second;
  return after;
}

/// "1,234,567"
static std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

static const uint64_t *find(const Counters &counters, const std::string &name) {
  for (const auto &[each, value] : counters)
    if (each == name)
      return &value;
  return nullptr;
}

/// "1,024 sectors (1.25 of the ideal)"
static std::string amount(const Counters &counters, const std::string &name, uint64_t value) {
  std::string text = grouped(value) + " " + name;
  const uint64_t *ideal = find(counters, "ideal " + name);
  if (!ideal || !*ideal)
    return text;
  char ratio[48];
  snprintf(ratio, sizeof ratio, " (%.2f of the ideal)",
           static_cast<double>(value) / static_cast<double>(*ideal));
  return text + ratio;
}

std::string counterLines(const Counters &counters) {
  constexpr size_t kMostWidth = 110;
  const std::string indent = "  ";
  std::string text, line;
  for (const auto &[name, value] : counters) {
    if (!value || name.rfind("ideal ", 0) == 0)
      continue;
    std::string next = amount(counters, name, value);
    if (!line.empty() && line.size() + next.size() > kMostWidth) {
      text += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + next;
  }
  return line.empty() ? text : text + indent + line + "\n";
}

void addCounters(JsonWriter &json, const Counters &counters) {
  json.object("counters");
  for (const auto &[name, value] : counters) {
    std::string field = name;
    std::replace(field.begin(), field.end(), ' ', '_');
    json.field(field, value);
  }
  json.end();
}

} // namespace weft::cli
