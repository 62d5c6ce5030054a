//===- LinkModel.cpp --------------------------------------------------------------------------===//
#include "tools/weft/link/LinkModel.h"
#include "runtime/src/group/layout.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <utility>

namespace weft::cli {

namespace {

constexpr double kLongest = 1e18; ///< nanoseconds that still can be added to a clock

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kSpeeds[] = {{"GB/s", 1}, {"MB/s", 1e-3}, {"KB/s", 1e-6}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

/// A number with one of the units, in the terms of the one with factor 1.
template <size_t count>
std::optional<double> readUnit(std::string_view text, const Unit (&units)[count]) {
  size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string number(text.substr(0, digits));
  char *end = nullptr;
  double value = strtod(number.c_str(), &end);
  if (number.empty() || !isdigit(static_cast<unsigned char>(number[0])) || *end || value <= 0 ||
      value >= 1e15)
    return std::nullopt;
  for (const Unit &unit : units)
    if (text.substr(digits) == unit.name)
      return value * unit.factor;
  return std::nullopt;
}

/// Elements that the others send to the rank.
int64_t received(const weft_collective_t &collective, int32_t world, int32_t rank) {
  int64_t elements = 0;
  for (int32_t from = 0; from < world; ++from)
    if (from != rank && weft_flows(collective, world, from, rank))
      elements += weft_view_size(weft_received(collective, world, from, rank));
  return elements;
}

} // namespace

std::optional<LinkSpeed> readLinkSpeed(std::string_view text) {
  size_t comma = text.find(',');
  if (comma == std::string_view::npos)
    return std::nullopt;
  std::optional<double> bytes = readUnit(trimmed(text.substr(0, comma)), kSpeeds),
                        time = readUnit(trimmed(text.substr(comma + 1)), kTimes);
  if (!bytes || !time)
    return std::nullopt;
  return LinkSpeed{*bytes, *time};
}

Arrival arrivalOf(const weft_collective_t &collective, int32_t world, int32_t rank) {
  int64_t each = weft_element_bits(collective.element) / 8;
  if (collective.kind != WEFT_ALL_REDUCE) {
    int64_t elements = received(collective, world, rank);
    return {elements * each, elements > 0 ? 1 : 0};
  }
  weft_collective_t stage = collective;
  stage.first *= stage.outer * stage.inner;
  stage.outer = stage.inner = 1;
  stage.kind = WEFT_REDUCE_SCATTER;
  int64_t elements = received(stage, world, rank);
  stage.kind = WEFT_ALL_GATHER;
  elements += received(stage, world, rank);
  return {elements * each, elements > 0 ? 2 : 0};
}

double timeOnLink(const LinkSpeed &speed, const std::vector<weft_collective_t> &pieces,
                  int32_t world, int32_t rank) {
  double bytes = 0, latencies = 0;
  for (const weft_collective_t &piece : pieces) {
    Arrival arrival = arrivalOf(piece, world, rank);
    bytes += double(arrival.bytes);
    latencies = std::max(latencies, double(arrival.latencies));
  }
  return bytes / speed.bytesPerNanosecond + latencies * speed.latency;
}

uint16_t kindCalled(std::string_view name) {
  for (uint16_t kind = WEFT_ALL_REDUCE; kind <= WEFT_PERMUTE; ++kind)
    if (name == weft_kind_name(kind))
      return kind;
  return 0;
}

bool isSender(const weft_collective_t &collective, int32_t world, int32_t from, int32_t to) {
  return collective.kind == WEFT_ALL_REDUCE ||
         (from != to && weft_flows(collective, world, from, to));
}

uint64_t IncomingLink::deliver(const Arrival &arrival, uint64_t begin) {
  double onTheWay = std::min(arrival.latencies * speed.latency, kLongest),
         passing = std::min(double(arrival.bytes) / speed.bytesPerNanosecond, kLongest);
  busyUntil = std::max(busyUntil, begin);
  busyUntil = std::min(busyUntil + uint64_t(passing), uint64_t(4 * kLongest));
  return busyUntil + uint64_t(onTheWay);
}

} // namespace weft::cli
