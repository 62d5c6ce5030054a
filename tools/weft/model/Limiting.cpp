//===- Limiting.cpp ---------------------------------------------------------------------------===//

#include "tools/weft/model/Limiting.h"
#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Unfinished.h"
#include "tools/weft/cli/Values.h"

#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <fstream>
#include <link.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

/// Of the ABI of thread-local data: where a module's begin, by its number and an offset.
extern "C" void *__tls_get_addr(size_t *index);

namespace weft::cli {

//===-- The flag ------------------------------------------------------------------------------===//

static Failure notUnderstood(const std::string &word, const std::string &what) {
  return {ExitWrongUsage, "'--limit " + word + "' " + what,
          "write nodes=N, nesting=N, tensor-bytes=SIZE or memory=SIZE, with commas between them",
          ""};
}

static Result<Done> readLimit(const std::string &word, GivenLimits &limits) {
  size_t equals = std::min(word.find('='), word.size());
  std::string name = word.substr(0, equals), text = word.substr(std::min(equals + 1, word.size()));
  bool isSize = name == "tensor-bytes" || name == "memory";
  if (!isSize && name != "nodes" && name != "nesting")
    return notUnderstood(word, "is not understood");
  std::optional<int64_t> value = isSize ? parseSize(text) : parseInteger(text);
  if (!value || *value == 0)
    return notUnderstood(word, isSize ? "needs a size such as 64M or 1.5GiB"
                                      : "needs a whole number of 1 or more");
  if (name == "nesting" && *value > Limits::mostNesting)
    return Failure{ExitWrongUsage,
                   "'--limit " + word + "' is more than the " +
                       std::to_string(Limits::mostNesting) + " levels that are safe",
                   "", ""};
  if (name == "nodes")
    limits.import.nodes = uint64_t(*value);
  else if (name == "nesting")
    limits.import.nesting = unsigned(*value);
  else if (name == "tensor-bytes")
    limits.import.tensorBytes = uint64_t(*value);
  else
    limits.memory = *value;
  return Done{};
}

Result<GivenLimits> readLimits(const ParsedOptions &options) {
  GivenLimits limits;
  if (!hasOption(options.verb(), "limit"))
    return limits;
  for (const std::string &list : options.values("limit"))
    for (size_t begin = 0, comma = 0; comma != std::string::npos; begin = comma + 1) {
      comma = list.find(',', begin);
      Result<Done> done = readLimit(list.substr(begin, comma - begin), limits);
      if (!done)
        return done.failure();
    }
  return limits;
}

//===-- No memory left ------------------------------------------------------------------------===//

namespace {

/// What giveUp() writes, made while there is memory.
struct LastWords {
  std::string document, line;
  int exitCode;
  void *reserve; ///< freed for those who clean up
};
LastWords *lastWords = nullptr;

void writeAll(int file, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t length = write(file, text.data() + at, text.size() - at);
    if (length <= 0 && errno != EINTR)
      return;
    at += size_t(std::max<ssize_t>(length, 0));
  }
}

/// Called where memory was asked for, on any thread, with no lock of the allocator held.
[[noreturn]] void giveUp() {
  static std::atomic_flag taken = ATOMIC_FLAG_INIT;
  while (taken.test_and_set())
    pause(); // another thread is at it, and ends this one too
  free(lastWords->reserve);
  Unfinished::removeAll();
  writeAll(STDOUT_FILENO, lastWords->document);
  writeAll(STDERR_FILENO, lastWords->line);
  _exit(lastWords->exitCode);
}

/// Nobody catches exceptions here. Of those that the standard library throws, two speak of memory: a thread
/// that cannot be started lacks it for its stack.
void onTerminate() {
  std::type_info *type = abi::__cxa_current_exception_type();
  if (type && (!strcmp(type->name(), "St9bad_alloc") || !strcmp(type->name(), "St12system_error")))
    giveUp();
  abort();
}

Failure noMemory(const ParsedOptions &options, int64_t limit) {
  std::string model = options.positional().empty() ? "" : options.positional()[0] + ": ",
              verb = "'weft " + std::string(options.verb().name) + "'";
  if (limit > 0)
    return {ExitInputRefused,
            model + verb + " needs more than " + printBytes(double(limit)) +
                ", the compile-time memory limit (raise it with --limit memory=SIZE)",
            "", "W0203"};
  return {ExitMachineLacks, model + "the machine has no memory left for " + verb, "", ""};
}

/// Bytes that count against the limit already; 0 when nobody says.
int64_t bytesInUse() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmData:", 0) == 0)
      return std::strtoll(line.c_str() + 7, nullptr, 10) * 1024;
  return 0;
}

/// Libraries' thread-local data of this thread. glibc makes it when it is first used, and ends the process when it cannot.
void makeThreadLocals() {
  std::vector<size_t> modules;
  auto collect = [](dl_phdr_info *library, size_t, void *list) {
    if (library->dlpi_tls_modid && !library->dlpi_tls_data)
      static_cast<std::vector<size_t> *>(list)->push_back(library->dlpi_tls_modid);
    return 0;
  };
  dl_iterate_phdr(collect, &modules);
  for (size_t module : modules) {
    size_t start[] = {module, 0};
    __tls_get_addr(start);
  }
}

} // namespace

Result<Done> guardMemory(const ParsedOptions &options, int64_t limit) {
  Failure failure = noMemory(options, limit);
  static LastWords words;
  words = {"", "", failure.exitCode, malloc(1 << 20)};
  words.line = "error" + (failure.code.empty() ? "" : "[" + failure.code + "]") + ": " +
               failure.message + "\n";
  if (options.json()) {
    JsonWriter json("weft.error/1");
    json.field("exit", failure.exitCode).field("code", failure.code);
    words.document = json.field("message", failure.message).field("hint", "").finish();
  }
  lastWords = &words;
  std::set_new_handler(giveUp);
  std::set_terminate(onTerminate);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { giveUp(); });
  // Unlike the address space, this leaves out mapped models, and what is only reserved.
  makeThreadLocals();
  if (limit > 0 && limit < bytesInUse()) // what libraries ask for next, they do not check
    return failure;
  rlimit bytes;
  if (limit == 0 || getrlimit(RLIMIT_DATA, &bytes) != 0)
    return Done{};
  bytes.rlim_cur = std::min(bytes.rlim_max, rlim_t(limit));
  if (setrlimit(RLIMIT_DATA, &bytes) != 0)
    return Failure{ExitMachineLacks,
                   std::string("the memory limit cannot be set: ") + strerror(errno), "", ""};
  return Done{};
}

} // namespace weft::cli
