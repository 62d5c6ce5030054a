// What a plug-in answers while a context is opened on its device, tensors are put there and brought back, and counters are asked for: each byte of
// the input decides one answer. Whatever it fails, the runtime says why, and gives back what it got.
#include <cstring>
#include <map>

#include <unistd.h>

#include "test/fuzz/Target.h"
#include "test/runtime/artifact_builder.h"
#include "weft/device.h"
#include "weft/dlpack.h"

using namespace weft_test;
using namespace weft::fuzz;

namespace {

/// What is left of the input; 0 behind its end, which is "fine".
struct Answers {
  const uint8_t *at = nullptr, *end = nullptr;
  uint8_t next() { return at == end ? 0 : *at++; }
  uint64_t number() {
    uint64_t all = 0;
    for (int i = 0; i < 8; ++i)
      all = all << 8 | next();
    return all;
  }
} answers;

int live = 0; ///< queues, events and code that were not ended
std::map<void *, size_t> memory;

/// Fine, or some failure with some text, or none.
weft_status_t reply(weft_error_t *err) {
  uint8_t answer = answers.next();
  if (answer < 224)
    return WEFT_OK;
  auto status = weft_status_t(1 + (answer - 224) % WEFT_DEVICE);
  if (err) {
    err->status = status;
    std::memset(err->message, 'm', answers.next() % sizeof err->message);
    std::memset(err->code, 'W', answers.next() % sizeof err->code);
  }
  return status;
}

template <class T> weft_status_t begin(T **out, weft_error_t *err) {
  weft_status_t status = reply(err);
  *out = status ? nullptr : reinterpret_cast<T *>(new char);
  live += !status;
  return status;
}

template <class T> void end(T *thing) {
  live -= thing != nullptr;
  delete reinterpret_cast<char *>(thing);
}

/// Copies stay inside of what was allocated.
bool isInside(const void *place, int64_t bytes) {
  auto block = memory.upper_bound(const_cast<void *>(place));
  if (block == memory.begin())
    return false;
  --block;
  return static_cast<const char *>(place) + bytes <=
         static_cast<const char *>(block->first) + block->second;
}

weft_status_t property(weft_device_t *, const char *name, int64_t *out) {
  bool isFeature = std::strncmp(name, "feature.", 8) == 0;
  if (answers.next() >= 250)
    return WEFT_NOT_FOUND;
  *out = isFeature ? 1 : int64_t(answers.number());
  return WEFT_OK;
}

weft_status_t allocate(weft_device_t *, uint32_t, size_t bytes, size_t alignment, void **out,
                       weft_error_t *err) {
  weft_status_t status = bytes > 1 << 22 ? WEFT_OUT_OF_MEMORY : reply(err);
  *out = status ? nullptr
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (*out)
    memory[*out] = bytes;
  return status;
}

void release(weft_device_t *, uint32_t, void *given, size_t bytes) {
  if (!given)
    return;
  auto found = memory.find(given);
  require(found != memory.end() && found->second == bytes, "what is released was allocated");
  memory.erase(found);
  std::free(given);
}

weft_status_t find(weft_device_t *, weft_loaded_t *, uint64_t, const char *, const void **out,
                   weft_error_t *err) {
  weft_status_t status = reply(err);
  *out = status ? nullptr : &live;
  return status;
}

weft_status_t copy(weft_queue_t *, const weft_copy_t *copy, weft_error_t *err) {
  require(!copy->to_device || isInside(copy->to, copy->bytes), "copies write what was allocated");
  require(!copy->from_device || isInside(copy->from, copy->bytes),
          "copies read what was allocated");
  weft_status_t status = reply(err);
  if (!status)
    std::memcpy(copy->to, copy->from, size_t(copy->bytes));
  return status;
}

weft_status_t counter(weft_device_t *, const void *, uint32_t, weft_counter_t *out) {
  if (answers.next() >= 192)
    return WEFT_NOT_FOUND;
  *out = {sizeof *out, 0, "counted", answers.number()};
  return WEFT_OK;
}

weft_device_v1 calls = {
    sizeof calls,
    0,
    "answering",
    nullptr,
    [](weft_device_t *) {},
    property,
    [](weft_device_t *, weft_device_t *, weft_error_t *err) { return reply(err); },
    allocate,
    release,
    [](weft_device_t *, const weft_device_code_t *, weft_loaded_t **out, weft_error_t *err) {
      return begin(out, err);
    },
    [](weft_device_t *, weft_loaded_t *loaded) { end(loaded); },
    find,
    [](weft_device_t *, const weft_queue_options_t *, weft_queue_t **out, weft_error_t *err) {
      return begin(out, err);
    },
    [](weft_queue_t *queue) { end(queue); },
    copy,
    [](weft_queue_t *, const weft_launch_t *, weft_error_t *err) { return reply(err); },
    [](weft_queue_t *, weft_error_t *err) { return reply(err); },
    [](weft_device_t *, weft_event_t **out, weft_error_t *err) { return begin(out, err); },
    [](weft_device_t *, weft_event_t *event) { end(event); },
    [](weft_queue_t *, weft_event_t *, weft_error_t *err) { return reply(err); },
    [](weft_queue_t *, weft_event_t *, weft_error_t *err) { return reply(err); },
    [](weft_device_t *, weft_event_t *) { return int32_t(answers.next()); },
    [](weft_device_t *, weft_event_t *, weft_error_t *err) { return reply(err); },
    counter,
    [](weft_device_t *, const void *) { return answers.number(); },
    [](weft_device_t *, weft_event_t *, weft_event_t *, uint64_t *out, weft_error_t *err) {
      *out = answers.number();
      return reply(err);
    }};

weft_device_t device = {&calls};

weft_status_t count(int32_t *out, weft_error_t *err) {
  *out = int32_t(answers.number());
  return reply(err);
}

/// Tables of older plug-ins end earlier, and what is behind them is not theirs.
weft_status_t open(int32_t, weft_device_t **out, weft_error_t *err) {
  static const weft_device_v1 whole = calls;
  calls = whole;
  uint8_t age = answers.next() % 4;
  calls.struct_size = uint32_t(age == 0   ? sizeof calls
                               : age == 3 ? offsetof(weft_device_v1, elapsed)
                               : age == 1 ? offsetof(weft_device_v1, bytes_at)
                                          : offsetof(weft_device_v1, counter));
  std::memset(reinterpret_cast<char *>(&calls) + calls.struct_size, 0xaa,
              sizeof calls - calls.struct_size);
  weft_status_t status = reply(err);
  *out = status ? nullptr : &device;
  return status;
}

weft_device_kind_v1 kind = {sizeof kind, 0, "answering", count, open};

weft_module_t *openSample() {
  sample s = make_sample();
  module gpu = s.description;
  gpu.target = "answering:new";
  gpu.cpu_features = {"new"};
  gpu.device_code = ".version 8.0";
  for (kernel &each : gpu.kernels)
    each.block_threads = 256;
  s.others = {gpu};
  int fd = open_bytes(s.seal());
  weft_module_t *opened = nullptr;
  weft_error_t err = WEFT_ERROR_INIT;
  require(weft_module_open_fd(nullptr, fd, &opened, &err) == WEFT_OK, err.message);
  close(fd);
  return opened;
}

void requireText(weft_status_t status, const weft_error_t &err) {
  require(!status || std::memchr(err.message, 0, sizeof err.message), "a text ends");
}

/// Numbers to the device and back are the same, where nothing failed on the way.
void useTensors(weft_context_t *context) {
  float numbers[12], back[12] = {};
  for (float &each : numbers)
    each = float(answers.next());
  const int64_t dims[] = {3, 4};
  weft_tensor_t from = weft_tensor_of(numbers, WEFT_F32, 2, dims),
                to = weft_tensor_of(back, WEFT_F32, 2, dims), there = from;
  there.data = nullptr;
  there.device = 0;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_tensor_allocate(context, &there, &err);
  requireText(status, err);
  if (!status && !weft_tensor_copy(context, &from, &there, &err) &&
      !weft_tensor_copy(context, &there, &to, &err))
    require(std::memcmp(numbers, back, sizeof back) == 0, "numbers come back");
  weft_tensor_release(context, &there);
}

void useContext(weft_context_t *context) {
  require(std::strncmp(weft_context_device(context), "answering", 9) == 0, "a device has its name");
  weft_counter_t counter = {sizeof counter, 0, nullptr, 0};
  for (uint32_t i = 0; i < 9 && !weft_context_counter(context, 0, i, &counter); ++i)
    require(counter.name != nullptr, "a counter has a name");
  useTensors(context);
}

} // namespace

/// What libweft_answering.so asks for.
extern "C" __attribute__((visibility("default"))) const weft_device_kind_v1 *weft_fuzz_answers() {
  uint8_t answer = answers.next();
  kind.struct_size = answer == 255 ? 16 : sizeof kind;
  return answer == 254 ? nullptr : &kind;
}

const Format &weft::fuzz::targetFormat() {
  static const TokenFormat format(/*lines=*/true);
  return format;
}

std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setenv("WEFT_PLUGIN_DIR", WEFT_ANSWERING_FOLDER, 0);
  static weft_module_t *opened = openSample();
  answers = {data, data + size};
  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  options.threads = 1;
  options.device = answers.next() % 2 ? "answering" : "answering:1";
  weft_error_t err = WEFT_ERROR_INIT;
  weft_context_t *context = nullptr;
  weft_status_t status = weft_context_create(opened, &options, &context, &err);
  requireText(status, err);
  require(bool(context) == !status, "a context is there, or an error");
  if (context) {
    ++accepted;
    useContext(context);
  }
  weft_context_release(context);
  require(!live && memory.empty(), "all is given back");
  return 0;
}
