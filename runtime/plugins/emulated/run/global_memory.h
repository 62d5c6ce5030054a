// Memory of devices: what is allocated, and who touched it last.
//
// An address is a host's. Each allocation has shadow cells for 4 bytes each, in pages that come when they are used.
#ifndef WEFT_EMULATED_RUN_GLOBAL_MEMORY_H
#define WEFT_EMULATED_RUN_GLOBAL_MEMORY_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/plugins/emulated/run/order.h"

namespace weft_emulated {

struct warp;

/// One access: who, when, and which of the 4 bytes.
struct access_stamp {
  uint32_t block = 0; ///< number in this process; 0: nobody
  uint32_t clock : 20, warp : 5, bytes : 4, is_strong : 1;
  access_stamp() : clock(0), warp(0), bytes(0), is_strong(0) {}
};
constexpr uint32_t last_clock = (1u << 20) - 1;

struct global_cell {
  access_stamp write, read;
};

constexpr size_t shadow_page_bytes = 4096;
struct shadow_page {
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  global_cell cells[shadow_page_bytes / 4];
};

struct allocation {
  uint64_t base = 0, size = 0;
  bool is_writable = true;
  std::string name; ///< of a variable of a module, else empty
  std::unique_ptr<std::atomic<shadow_page *>[]> pages;

  allocation(uint64_t base, uint64_t size, bool is_writable, std::string name);
  ~allocation();
  shadow_page &page(uint64_t address);
};

/// Allocations in the order of their addresses.
using memory_map = std::vector<std::shared_ptr<allocation>>;

/// A lane's access to global memory.
struct global_access {
  uint64_t address;
  uint32_t bytes;
  bool is_write, is_strong;
  bool is_constant = false; ///< a read that relies on nobody writing while the launch runs
};

/// The allocation that holds all of an access of this lane; a finding when there is none, or when it is not aligned or not allowed.
allocation &find_allocation(warp &w, int lane, const global_access &access);
/// Finds the allocations of lanes' accesses, looks for races and remembers them. `access` says what all have in common.
void access_global(warp &w, uint32_t lanes, const uint64_t *addresses, global_access access);

/// Scopes of releases and acquires, from the narrow one on.
enum class scope : uint8_t { block, device, system };

/// What was released at addresses, for all devices of the process.
class sync_points {
public:
  void release(uint64_t address, int device, scope s, const foreign_clocks &clocks);
  foreign_clocks acquire(uint64_t address, int device, scope s);
  void clear();

private:
  struct point {
    foreign_clocks system;
    std::map<int, foreign_clocks> devices;
  };
  std::mutex lock;
  std::unordered_map<uint64_t, point> points;
};

} // namespace weft_emulated

#endif
