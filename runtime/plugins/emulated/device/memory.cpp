// Memory of a device is the host's, with room between buffers so that what lies behind one is no other.
#include <algorithm>
#include <cstdlib>

#include "runtime/plugins/emulated/device/device.h"

namespace weft_emulated {

namespace {

constexpr size_t least_alignment = 256, gap = 256;

std::string in_bytes(uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

bool is_emulated(const weft_device_t *device) { return device && device->calls == &calls; }

size_t first_behind(const memory_map &memory, uint64_t address) {
  size_t at = 0, end = memory.size();
  while (at < end) {
    size_t middle = (at + end) / 2;
    if (memory[middle]->base <= address)
      at = middle + 1;
    else
      end = middle;
  }
  return at;
}

/// From the address to the end of its buffer; 0: it is in none.
uint64_t bytes_behind(const memory_map &memory, uint64_t address) {
  size_t behind = first_behind(memory, address);
  if (!behind)
    return 0;
  const allocation &found = *memory[behind - 1];
  uint64_t offset = address - found.base;
  return offset <= found.size ? found.size - offset : 0;
}

} // namespace

void add_allocation(device &d, std::shared_ptr<allocation> added, bool is_shared) {
  std::lock_guard<std::mutex> held(d.lock);
  if (is_shared)
    d.shared.insert(added.get());
  size_t place = first_behind(d.memory, added->base);
  d.memory.insert(d.memory.begin() + long(place), std::move(added));
}

void remove_allocation(device &d, uint64_t base) {
  std::lock_guard<std::mutex> held(d.lock);
  size_t behind = first_behind(d.memory, base);
  if (!behind || d.memory[behind - 1]->base != base)
    return;
  d.shared.erase(d.memory[behind - 1].get());
  d.memory.erase(d.memory.begin() + long(behind - 1));
}

memory_map memory_of(device &d) {
  memory_map all;
  std::vector<device *> peers;
  {
    std::lock_guard<std::mutex> held(d.lock);
    all = d.memory;
    peers = d.peers;
  }
  for (device *peer : peers) {
    std::lock_guard<std::mutex> held(peer->lock);
    for (const auto &each : peer->memory)
      if (peer->shared.count(each.get()))
        all.insert(all.begin() + long(first_behind(all, each->base)), each);
  }
  return all;
}

weft_status_t allocate(weft_device_t *base, uint32_t space, size_t bytes, size_t alignment,
                       void **out, weft_error_t *err) {
  device &d = *own(base);
  *out = nullptr;
  if (space < WEFT_MEMORY_DEVICE || space > WEFT_MEMORY_SHARED)
    return fail(err, WEFT_INVALID, "W0425",
                "the emulated GPU has no memory of kind " + std::to_string(space));
  alignment = std::max(alignment, least_alignment);
  bool is_device = space != WEFT_MEMORY_PINNED;
  {
    std::lock_guard<std::mutex> held(d.lock);
    if (bytes > d.options.memory_bytes || d.used_bytes > d.options.memory_bytes - bytes)
      return fail(err, WEFT_OUT_OF_MEMORY, "W0424",
                  "no memory for " + in_bytes(bytes) + " on the emulated GPU, which has " +
                      in_bytes(d.options.memory_bytes - d.used_bytes) + " left");
    d.used_bytes += bytes;
  }
  size_t size = (bytes + gap + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, size);
  if (!memory) {
    std::lock_guard<std::mutex> held(d.lock);
    d.used_bytes -= bytes;
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for " + in_bytes(bytes));
  }
  std::memset(memory, 0xff, std::min<size_t>(bytes, size_t(1) << 20)); // NaN in every type
  if (is_device)
    add_allocation(d, std::make_shared<allocation>(uint64_t(memory), bytes, true, ""),
                   space == WEFT_MEMORY_SHARED);
  *out = memory;
  return succeed(err);
}

void release(weft_device_t *base, uint32_t space, void *memory, size_t bytes) {
  if (!memory)
    return;
  device &d = *own(base);
  if (space != WEFT_MEMORY_PINNED)
    remove_allocation(d, uint64_t(memory));
  {
    std::lock_guard<std::mutex> held(d.lock);
    d.used_bytes -= bytes;
  }
  std::free(memory);
}

weft_status_t reach(weft_device_t *base, weft_device_t *peer, weft_error_t *err) {
  if (base == peer)
    return succeed(err);
  if (!is_emulated(peer))
    return fail(err, WEFT_UNSUPPORTED, "W0425",
                std::string("the emulated GPU cannot use memory of a '") +
                    (peer ? peer->calls->kind : "host") + "' device");
  device &d = *own(base);
  std::lock_guard<std::mutex> held(d.lock);
  if (std::find(d.peers.begin(), d.peers.end(), own(peer)) == d.peers.end())
    d.peers.push_back(own(peer));
  return succeed(err);
}

uint64_t bytes_at(weft_device_t *base, const void *memory) {
  device &d = *own(base);
  std::lock_guard<std::mutex> held(d.lock);
  return bytes_behind(d.memory, uint64_t(memory));
}

/// Whether this side of a copy is the host's, or all of it is memory that the queue's device may use.
static weft_status_t check_side(device &d, weft_device_t *side, const void *memory, int64_t bytes,
                                weft_error_t *err) {
  if (!side || side->calls->host)
    return WEFT_OK;
  if (!is_emulated(side))
    return reach(&d.base, side, err);
  if (!bytes || uint64_t(bytes) <= bytes_behind(memory_of(*own(side)), uint64_t(memory)))
    return WEFT_OK;
  return fail(err, WEFT_DEVICE, "W0426",
              "a copy of " + in_bytes(uint64_t(bytes)) + " goes out of the bounds of its buffer");
}

weft_status_t copy(weft_queue_t *queue, const weft_copy_t *given, weft_error_t *err) {
  weft_copy_t c;
  if (!read_sized(given, &c))
    return fail(err, WEFT_INVALID, "W0401", "copy.struct_size is wrong");
  if (c.bytes < 0)
    return fail(err, WEFT_INVALID, "W0425", "a copy of " + std::to_string(c.bytes) + " bytes");
  device &d = *device_of(queue);
  if (weft_status_t status = check_side(d, c.to_device, c.to, c.bytes, err))
    return status;
  if (weft_status_t status = check_side(d, c.from_device, c.from, c.bytes, err))
    return status;
  if (c.bytes)
    std::memcpy(c.to, c.from, size_t(c.bytes));
  return succeed(err);
}

} // namespace weft_emulated
