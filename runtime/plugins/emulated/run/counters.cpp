#include "runtime/plugins/emulated/run/counters.h"

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

/// Whether lanes use banks of their own, which almost all do.
static bool is_free_of_conflicts(const uint64_t *address, uint32_t mask, uint32_t bytes) {
  uint32_t unit_bits = uint32_t(__builtin_ctz(std::max(bytes, 4u))), used = 0;
  uint32_t last_unit = (128u >> unit_bits) - 1, wanted = uint32_t(__builtin_popcount(mask));
  each_lane(mask, [&](int i) { used |= 1u << (address[i] >> unit_bits & last_unit); });
  return uint32_t(__builtin_popcount(used)) == wanted;
}

/// Shared memory answers lanes in groups of 128 bytes; a group takes as many turns as the words that one bank must give.
void count_shared(warp &w, const uint64_t *address, uint32_t mask, uint32_t bytes) {
  int group = bytes <= 4 ? 32 : int(128 / bytes);
  uint32_t words_each = bytes <= 4 ? 1 : bytes / 4;
  for (int first = 0; first < 32; first += group) {
    uint32_t lanes = group == 32 ? mask : mask >> first & ((1u << group) - 1);
    if (!lanes)
      continue;
    if (is_free_of_conflicts(address + first, lanes, bytes)) {
      ++w.count->shared_wavefronts;
      ++w.count->shared_ideal;
      continue;
    }
    uint64_t words[32];
    uint32_t most = 1;
    uint8_t in_bank[32] = {};
    uint32_t used = 0; ///< banks that give their first word
    each_lane(lanes, [&](int i) {
      for (uint32_t k = 0; k < words_each; ++k) {
        uint64_t word = address[first + i] / 4 + k;
        uint32_t bank = uint32_t(word & 31);
        if (!(used >> bank & 1)) {
          used |= 1u << bank;
          words[bank] = word;
          in_bank[bank] = 1;
        } else if (words[bank] != word) {
          words[bank] =
              word; // repeats of an earlier word count again: seldom, and on the safe side
          most = std::max<uint32_t>(most, ++in_bank[bank]);
        }
      }
    });
    w.count->shared_wavefronts += most;
    ++w.count->shared_ideal;
  }
}

void count_global(warp &w, const uint64_t *address, uint32_t mask, uint32_t bytes) {
  uint64_t sectors[64];
  uint32_t found = 0, lanes = uint32_t(__builtin_popcount(mask));
  uint64_t last = ~uint64_t(0), end = 0;
  each_lane(mask, [&](int i) {
    uint64_t sector = address[i] / 32;
    if (sector == last)
      return;
    last = sector;
    for (uint32_t k = sector < end ? found : 0; k-- > 0;) // behind all others it is a new one
      if (sectors[k] == sector)
        return;
    sectors[found++] = sector;
    end = std::max(end, sector + 1);
  });
  w.count->sectors += found;
  w.count->ideal_sectors += (lanes * bytes + 31) / 32;
  if (bytes < 16)
    ++w.count->narrow_accesses;
}

} // namespace weft_emulated
