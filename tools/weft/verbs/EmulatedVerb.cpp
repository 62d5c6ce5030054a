//===- EmulatedVerb.cpp - Verbs that another processor's weft runs ----------------------------------------===//
//
//   weft run model.weft --dim n=3 --emulator "qemu-aarch64 -L /usr/aarch64-linux-gnu arm/weft"
//   becomes   qemu-aarch64 -L /usr/aarch64-linux-gnu arm/weft run model.weft --dim n=3
//
// The process becomes that command, so its output and exit code are the verb's.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace weft::cli {

static constexpr std::string_view kOption = "--emulator";

/// What follows `weft` on the command line, without the emulator.
static std::vector<std::string> withoutEmulator(int argc, const char *const *argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == kOption)
      ++i; // and what it is
    else if (word.substr(0, kOption.size() + 1) != std::string(kOption) + "=")
      words.emplace_back(word);
  }
  return words;
}

int emulatedCommand(const ParsedOptions &options, Console &console, int argc,
                    const char *const *argv) {
  std::istringstream text(options.value("emulator"));
  std::vector<std::string> words;
  for (std::string word; text >> word;)
    words.push_back(word);
  if (words.empty())
    return console.usageError("--emulator names no command",
                              "such as --emulator \"qemu-aarch64 -L DIR arm/weft\"");
  for (const std::string &word : withoutEmulator(argc, argv))
    words.push_back(word);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  fflush(nullptr);
  execvp(arguments[0], arguments.data());
  return console.fail(
      {ExitMachineLacks, "emulator '" + words[0] + "': " + strerror(errno), {}, {}});
}

} // namespace weft::cli
