//===- Unfinished.cpp -------------------------------------------------------------------------===//

#include "tools/weft/cli/Unfinished.h"

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <unistd.h>

namespace weft::cli {
namespace {

std::mutex mutex;
Unfinished *last = nullptr;

} // namespace

Unfinished::Unfinished(std::string path, Kind kind)
    : path(std::move(path)), kind(kind), owner(getpid()) {
  std::lock_guard<std::mutex> lock(mutex);
  before = last;
  if (before)
    before->after = this;
  last = this;
}

Unfinished::~Unfinished() {
  std::lock_guard<std::mutex> lock(mutex);
  if (before)
    before->after = after;
  (after ? after->before : last) = before;
}

void Unfinished::removeAll() {
  // Whoever holds the lock only changes links, but may never run again.
  bool locked = mutex.try_lock();
  for (Unfinished *each = last; each; each = each->before)
    if (each->owner != getpid())
      continue;
    else if (each->kind == Folder) {
      std::error_code ignored;
      std::filesystem::remove_all(each->path, ignored);
    } else
      remove(each->path.c_str());
  if (locked)
    mutex.unlock();
}

} // namespace weft::cli
