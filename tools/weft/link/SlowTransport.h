//===- SlowTransport.h - Ranks of one machine with a link between them that is not there ------===//
//
//   SlowTransport transport(*sharedMemoryTransport("shm"), *readLinkSpeed("2GB/s,20us"));
//   options.table = transport.table();   // outlives the group and those made of it
//   weft_group_open(NULL, &options, &group, &err);
//
// A transport around another one: what ranks exchange is the other one's, but a collective is not
// done before a link of this speed would have delivered it (LinkModel.h). When ranks begin
// collectives is in memory that they share. Waiting takes no processor but for its last 100
// microseconds, so what is computed between `start` and `progress` hides what is on its way. A
// group that is made from another one has links of its own. Those collectives by which runtime and
// command agree what to do next take no time.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_LINK_SLOWTRANSPORT_H
#define WEFT_TOOLS_WEFT_LINK_SLOWTRANSPORT_H

#include "tools/weft/link/LinkModel.h"

namespace weft::cli {

/// The runtime's own transport of this name; null for one whose ranks share no memory.
const weft_transport_v1 *sharedMemoryTransport(std::string_view name);

/// Is its own table, by which its functions find the rest.
class SlowTransport : private weft_transport_v1 {
public:
  /// `inner` is one of these.
  SlowTransport(const weft_transport_v1 &inner, const LinkSpeed &speed);
  SlowTransport(const SlowTransport &) = delete;

  const weft_transport_v1 *table() const { return this; }
  /// The one whose table this is.
  static const SlowTransport &of(const weft_transport_v1 *table) {
    return *static_cast<const SlowTransport *>(table);
  }

  const weft_transport_v1 &inner;
  const LinkSpeed speed;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_LINK_SLOWTRANSPORT_H
