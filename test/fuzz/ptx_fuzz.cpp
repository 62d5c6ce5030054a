// Any text: PTX is refused by its line, or its kernels run on the emulated GPU until they end or something is found.
#include "runtime/plugins/emulated/emulated.h"
#include "test/fuzz/Target.h"

using namespace weft::fuzz;

const Format &weft::fuzz::targetFormat() {
  static const TokenFormat format(/*lines=*/true);
  return format;
}

std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

namespace {

/// One line, and not an empty one.
void requireLine(const weft_error_t &err) {
  std::string text = err.message;
  require(!text.empty(), "an error has a text");
  for (char byte : text)
    require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f,
            "the error has no control characters");
}

/// Names of kernels as the text has them, wherever they stand.
std::vector<std::string> entries(const std::string &text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find(".entry ", at)) != text.npos && names.size() < 4;) {
    at += 7;
    size_t end = text.find_first_of("( \n\t{;", at);
    names.push_back(text.substr(at, end == text.npos ? end : end - at));
  }
  return names;
}

struct Session {
  weft_device_t *device = nullptr;
  weft_queue_t *queue = nullptr;
  weft_loaded_t *loaded = nullptr;
  void *memory = nullptr;
  weft_error_t err = WEFT_ERROR_INIT;

  Session() {
    const char *options = "sm=90a,instructions=3000,memory=10000000,seed=1";
    require(weft_emulated_open(options, 0, &device, &err) == WEFT_OK, "a device opens");
    device->calls->open_queue(device, nullptr, &queue, &err);
    device->calls->allocate(device, WEFT_MEMORY_DEVICE, 4096, 256, &memory, &err);
  }
  ~Session() {
    device->calls->release(device, WEFT_MEMORY_DEVICE, memory, 4096);
    device->calls->unload(device, loaded);
    device->calls->close_queue(queue);
    device->calls->close(device);
  }
  void run(const void *kernel) {
    for (uint32_t words = 0; words < 12; ++words) {
      std::vector<uint64_t> all(words + 1, uint64_t(memory));
      if (words > 2)
        all[words - 1] = 3;
      weft_launch_t launch = {sizeof launch, words, kernel, 2, 1, all.data(), 64, 64};
      if (device->calls->launch(queue, &launch, &err) == WEFT_OK)
        ++accepted;
      else
        requireLine(err);
    }
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  Session session;
  weft_device_code_t code = {sizeof code, WEFT_CODE_PTX, text.c_str(), text.size(), 0, 0};
  if (session.device->calls->load(session.device, &code, &session.loaded, &session.err)) {
    requireLine(session.err);
    return 0;
  }
  accepted += 1;
  for (const std::string &name : entries(text)) {
    const void *kernel;
    if (session.device->calls->find(session.device, session.loaded, 0, name.c_str(), &kernel,
                                    &session.err))
      requireLine(session.err);
    else
      session.run(kernel);
  }
  return 0;
}
