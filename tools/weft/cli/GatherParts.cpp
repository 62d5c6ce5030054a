//===- GatherParts.cpp ------------------------------------------------------------------------===//
#include "tools/weft/cli/GatherParts.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/Room.h"

#include <algorithm>
#include <cstring>

namespace weft::cli {

weft_status_t gatherBytes(weft_group_t *group, const std::vector<uint8_t> &own,
                          std::vector<uint8_t> &all, weft_error_t *error) {
  all.resize(own.size() * size_t(weft_group_world(group)));
  weft_collective_t gather = {};
  gather.struct_size = sizeof gather;
  gather.kind = WEFT_ALL_GATHER;
  gather.element = WEFT_U8;
  gather.node = "the last call";
  gather.send = own.data();
  gather.receive = all.data();
  gather.outer = gather.inner = 1;
  gather.first = int64_t(all.size());
  return all.empty() ? WEFT_OK : weft_group_collective(group, &gather, error);
}

/// Room for the parts of all ranks: their sizes come first.
static weft_status_t makeRoom(weft_group_t *group, const weft_tensor_t &own,
                              std::vector<HostTensor> &made, weft_error_t *error) {
  std::vector<uint8_t> dims(own.rank * sizeof(int64_t)), all;
  memcpy(dims.data(), own.dim, dims.size());
  if (weft_status_t status = gatherBytes(group, dims, all, error))
    return status;
  for (int32_t other = 0; other < weft_group_world(group); ++other) {
    std::vector<int64_t> sizes(own.rank);
    memcpy(sizes.data(), all.data() + size_t(other) * dims.size(), dims.size());
    Result<HostTensor> room = HostTensor::allocate(own.element, sizes);
    if (!room)
      return toError(room.failure(), error);
    made.push_back(std::move(*room));
  }
  return WEFT_OK;
}

weft_status_t gatherParts(weft_group_t *group, const weft_tensor_t &own,
                          std::vector<HostTensor> *parts, weft_error_t *error) {
  std::vector<HostTensor> made;
  if (weft_status_t status = makeRoom(group, own, made, error))
    return status;
  Result<HostTensor> part = withoutGaps(own, nullptr);
  if (!part)
    return toError(part.failure(), error);
  size_t most = 0;
  for (const HostTensor &other : made)
    most = std::max(most, other.bytes());
  std::vector<uint8_t> bytes(most), all;
  memcpy(bytes.data(), part->data(), part->bytes());
  if (weft_status_t status = gatherBytes(group, bytes, all, error))
    return status;
  for (size_t other = 0; other < made.size(); ++other)
    memcpy(made[other].data(), all.data() + other * most, made[other].bytes());
  if (parts)
    *parts = std::move(made);
  return WEFT_OK;
}

} // namespace weft::cli
