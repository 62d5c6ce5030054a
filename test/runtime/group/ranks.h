// Ranks for tests: threads of this process, or children of it.
//
//   std::vector<verdict> all = run_ranks("shm", 3, [&](weft_group_t *group, weft_error_t *err) { return weft_group_collective(…, err); });
//   REQUIRE(all[2].text == "");
#pragma once

#include <sys/mman.h>

#include <functional>
#include <string>
#include <vector>

#include "weft/group.h"

namespace weft_test {

/// How a rank ended.
struct verdict {
  weft_status_t status;
  std::string text; ///< "W0604 message", empty for success
  double seconds;   ///< until its last call returned
  int signal;       ///< that ended its process; 0: none
};

struct rank_settings {
  int32_t timeout_ms = 20000;
  std::string rendezvous; ///< empty: one of its own
  std::function<void(weft_group_options_t &)> change;
  std::vector<int32_t> absent; ///< ranks that are never started
};

using rank_body = std::function<weft_status_t(weft_group_t *, weft_error_t *)>;

/// Runs every rank of a group until its body returns; the first failure is its verdict. Bodies of "shm" run in children: what they compute reaches
/// the test through shared_array.
std::vector<verdict> run_ranks(const std::string &transport, int32_t world, const rank_body &body,
                               const rank_settings &settings = {});

/// A name that no other test uses.
std::string fresh_name();
/// Descriptors that this process has open.
size_t open_descriptors();

/// Elements that children write and the test reads.
template <class T> struct shared_array {
  T *data;
  size_t size;

  explicit shared_array(size_t size) : size(size) {
    data = (T *)mmap(nullptr, size * sizeof(T) + 1, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  ~shared_array() { munmap(data, size * sizeof(T) + 1); }
  shared_array(const shared_array &) = delete;
  T &operator[](size_t index) { return data[index]; }
};

/// A collective of one kind; outer, middle, second and inner are 1.
weft_collective_t collective_of(weft_collective_kind_t kind, weft_element_t element, int64_t first,
                                const void *send, void *receive);

} // namespace weft_test
