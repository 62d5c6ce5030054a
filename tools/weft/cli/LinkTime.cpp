//===- LinkTime.cpp ---------------------------------------------------------------------------===//
#include "tools/weft/cli/LinkTime.h"
#include "tools/weft/link/LinkModel.h"
#include "weft/artifact.h"

namespace weft::cli {

static uint16_t elementCalled(const std::string &name) {
  uint16_t element = WEFT_BOOL;
  while (weft_element_bits(element) && name != weft_element_name(element))
    ++element;
  return element;
}

static weft_collective_t collectiveOf(const PastCollective &past) {
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = kindCalled(past.kind);
  c.element = elementCalled(past.element);
  c.is_reversed = static_cast<uint16_t>(past.isReversed);
  c.peer = past.peer;
  c.outer = past.sizes[0];
  c.first = past.sizes[1];
  c.middle = past.sizes[2];
  c.second = past.sizes[3];
  c.inner = past.sizes[4];
  c.from = past.from;
  c.rows = past.rows;
  return c;
}

double secondsOnLink(const std::string &link, const std::vector<PastCollective> &pieces,
                     const PastGroup &group) {
  std::optional<LinkSpeed> speed = readLinkSpeed(link);
  std::vector<weft_collective_t> collectives;
  for (const PastCollective &piece : pieces)
    collectives.push_back(collectiveOf(piece));
  return speed ? 1e-9 * timeOnLink(*speed, collectives, group.world, group.rank) : 0;
}

} // namespace weft::cli
