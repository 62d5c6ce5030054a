#include "runtime/plugins/emulated/run/finding.h"

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

void stop(const warp &w, int lane, const std::string &what) {
  const block &b = *w.home;
  std::string text = "kernel '" + b.grid->code->name + "'";
  if (w.current)
    text += ", line " + std::to_string(w.current->line) + " (" + w.current->name + ")";
  text += ", block " + std::to_string(b.index);
  text +=
      lane < 0 ? ", warp " + std::to_string(w.id) : ", thread " + std::to_string(32 * w.id + lane);
  throw finding(text + ": " + what);
}

} // namespace weft_emulated
