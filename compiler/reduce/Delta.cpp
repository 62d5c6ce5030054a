//===- Delta.cpp - The choice of edits --------------------------------------------------------===//

#include "compiler/reduce/Delta.h"

#include <algorithm>

namespace weft {

/// `chosen` and the edits from `begin` on; nothing when it has them all.
static std::optional<Edits> withChunk(const Edits &chosen, size_t begin, size_t size) {
  Edits more = chosen;
  std::fill(more.begin() + begin, more.begin() + std::min(begin + size, more.size()), true);
  return more == chosen ? std::nullopt : std::optional<Edits>(more);
}

Edits chooseEdits(size_t count, const std::function<bool(const Edits &)> &works,
                  const std::function<bool()> &stop) {
  Edits chosen(count, false);
  for (size_t size = count; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
    for (size_t chunks = (count + size - 1) / size; chunks > 0; --chunks) {
      if (stop && stop())
        return chosen;
      std::optional<Edits> trial = withChunk(chosen, (chunks - 1) * size, size);
      if (trial && works(*trial))
        chosen = std::move(*trial);
    }
  return chosen;
}

} // namespace weft
