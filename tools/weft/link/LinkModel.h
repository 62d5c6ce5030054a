//===- LinkModel.h - When a link would have delivered what a rank receives --------------------===//
//
//   std::optional<LinkSpeed> speed = readLinkSpeed("2GB/s,20us");
//   IncomingLink link(*speed);
//   Arrival arrival = arrivalOf(collective, world, rank);
//   uint64_t due = link.deliver(arrival, latestBegin);   // in the order of collectives
//
// Every rank has one link in: what it receives comes one after the other, from whomever. A
// collective is on it when it is free and the last of those that send has begun, for as long as its
// bytes take, and there a latency later. Others' links out are never what one waits for.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_LINK_LINKMODEL_H
#define WEFT_TOOLS_WEFT_LINK_LINKMODEL_H

#include "weft/transport.h"

#include <optional>
#include <string_view>
#include <vector>

namespace weft::cli {

/// Times in nanoseconds.
struct LinkSpeed {
  double bytesPerNanosecond, latency;
};

/// Reads `2GB/s,20us`, as 'weft compile --link' does; nothing when it is none.
std::optional<LinkSpeed> readLinkSpeed(std::string_view text);

/// What one collective brings to a rank.
struct Arrival {
  int64_t bytes;
  int32_t latencies; ///< of stages behind each other
};

/// Of a collective that could be started. An all_reduce is a reduce_scatter and an all_gather
/// behind it.
Arrival arrivalOf(const weft_collective_t &collective, int32_t world, int32_t rank);
/// Nanoseconds that pieces of one exchange are on a link that has nothing else to do.
double timeOnLink(const LinkSpeed &speed, const std::vector<weft_collective_t> &pieces,
                  int32_t world, int32_t rank);
/// weft_collective_kind_t of "all_gather"; 0: there is none.
uint16_t kindCalled(std::string_view name);
/// Whether one rank waits for what the other sends; of an all_reduce also for itself, since what
/// comes back from others has its part in it.
bool isSender(const weft_collective_t &collective, int32_t world, int32_t from, int32_t to);

class IncomingLink {
public:
  explicit IncomingLink(const LinkSpeed &speed) : speed(speed) {}
  /// When it is there that was sent from `begin` on.
  uint64_t deliver(const Arrival &arrival, uint64_t begin);

private:
  LinkSpeed speed;
  uint64_t busyUntil = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_LINK_LINKMODEL_H
