//===- Unfinished.h - Files that must not outlive a process that ends early -------------------===//
//
//   Unfinished file(path + ".partial");      // from here on an early end removes it
//
// Destructors remove them on every other way out: this is for ends that destroy nothing.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_UNFINISHED_H
#define WEFT_TOOLS_WEFT_CLI_UNFINISHED_H

#include <string>
#include <sys/types.h>

namespace weft::cli {

class Unfinished {
public:
  /// Folder: with all that is in it. File: also for a folder that is only removed when empty.
  enum Kind { File, Folder };
  explicit Unfinished(std::string path, Kind kind = File);
  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;
  ~Unfinished();

  /// Removes those of this process, the last first. A fork's are its parent's.
  static void removeAll();

private:
  const std::string path;
  const Kind kind;
  const pid_t owner;
  Unfinished *before = nullptr, *after = nullptr;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_UNFINISHED_H
