//===- CompilerHalf.cpp - Loads the half that links LLVM, when a verb needs it ----------------===//
//
// `weft run` starts in milliseconds because LLVM is only mapped for the verbs that compile.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace weft::cli {

static const char *const kLibrary = "libweft_tool.so";

/// The folder that the running program really lies in, links resolved.
static std::string programFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof path))
    return ".";
  std::string folder(path, static_cast<size_t>(length));
  return folder.substr(0, folder.rfind('/'));
}

std::string findCompilerHalf() {
  std::string folder = programFolder();
  // A build folder keeps both side by side; an installation has bin/ and lib/weft/.
  for (const char *place : {"/", "/../lib/weft/", "/../lib/"}) {
    std::string path = folder + place + kLibrary;
    if (access(path.c_str(), R_OK) == 0)
      return path;
  }
  return {};
}

int compilerCommand(const ParsedOptions &options, Console &console, int argc,
                    const char *const *argv) {
  std::string verb(options.verb().name), path = findCompilerHalf();
  if (path.empty())
    return console.fail({ExitMachineLacks,
                         "'weft " + verb + "' needs the compiler, but " + kLibrary +
                             " was not found in " + programFolder() + " or " + programFolder() +
                             "/../lib/weft",
                         "build with WEFT_COMPILER=ON, or install the compiler beside weft",
                         {}});
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return console.fail(
        {ExitMachineLacks,
         "'weft " + verb + "' needs the compiler, which cannot be loaded: " + dlerror(),
         "the compiler needs LLVM and MLIR 19; tools/setup installs them",
         {}});
  using Entry = int (*)(int, const char *const *);
  auto entry = reinterpret_cast<Entry>(dlsym(library, "weft_tool_main"));
  if (!entry)
    return console.fail({ExitMachineLacks, path + " is not weft's compiler", {}, {}});
  // Never unloaded: LLVM's destructors run at exit.
  return entry(argc, argv);
}

} // namespace weft::cli
