#include "test/runtime/device_conformance.h"

#include <catch2/catch.hpp>

#include <setjmp.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>

#include "test/runtime/fixture.h"

namespace weft_test {

namespace {

/// A call failed where it must not.
struct stopped {
  weft_error_t err;
};

/// Ends what a call began, also when a step is stopped.
template <class T> using ended = std::unique_ptr<T, std::function<void(T *)>>;

/// The functions of a device as a step calls them: a failure stops it.
class user {
public:
  explicit user(const device_kit &kit) : kit(kit), device(kit.device), calls(device->calls) {}

  void must(weft_status_t status) {
    if (status) {
      REQUIRE(err.status == status);
      REQUIRE(err.message[0] != 0);
      throw stopped{err};
    }
  }
  /// It fails with this status and a text; failures of another kind stop the step.
  void must_fail(weft_status_t expected, weft_status_t status) {
    REQUIRE(status != WEFT_OK);
    if (status != expected)
      must(status);
    REQUIRE(err.message[0] != 0);
  }

  ended<void> allocate(size_t bytes, uint32_t space = WEFT_MEMORY_DEVICE, size_t alignment = 64) {
    void *memory;
    must(calls->allocate(device, space, bytes, alignment, &memory, &err));
    REQUIRE(uintptr_t(memory) % alignment == 0);
    return ended<void>(memory, [=](void *m) { calls->release(device, space, m, bytes); });
  }
  ended<weft_queue_t> open_queue(const weft_queue_options_t *options = nullptr) {
    weft_queue_t *queue;
    must(calls->open_queue(device, options, &queue, &err));
    return ended<weft_queue_t>(queue, calls->close_queue);
  }
  ended<weft_event_t> open_event() {
    weft_event_t *event;
    must(calls->open_event(device, &event, &err));
    return ended<weft_event_t>(event, [=](weft_event_t *e) { calls->close_event(device, e); });
  }
  ended<weft_loaded_t> load() {
    weft_loaded_t *loaded;
    must(calls->load(device, &kit.code, &loaded, &err));
    return ended<weft_loaded_t>(loaded, [=](weft_loaded_t *l) { calls->unload(device, l); });
  }
  const void *find(weft_loaded_t *loaded) {
    const void *kernel;
    must(calls->find(device, loaded, kit.position, kit.name, &kernel, &err));
    REQUIRE(kernel != nullptr);
    return kernel;
  }
  void upload(weft_queue_t *queue, void *to, const std::vector<int64_t> &from) {
    weft_copy_t copy = {sizeof copy, 0, device, nullptr, to, from.data(), int64_t(from.size() * 8)};
    must(calls->copy(queue, &copy, &err));
  }
  void download(weft_queue_t *queue, std::vector<int64_t> &to, const void *from) {
    weft_copy_t copy = {sizeof copy, 0, nullptr, device, to.data(), from, int64_t(to.size() * 8)};
    must(calls->copy(queue, &copy, &err));
  }
  /// Devices that compute in blocks take one at a time.
  int64_t grain() const { return kit.block_threads ? 1 : 5; }
  /// out[i] = a[i] + b[i] for `count` numbers.
  void add(weft_queue_t *queue, const void *kernel, void *out, void *a, void *b, int64_t count) {
    uint64_t words[3] = {uint64_t(out), uint64_t(a), uint64_t(b)};
    weft_launch_t launch = {sizeof launch, 3, kernel, count, grain(), words, kit.block_threads, 0};
    must(calls->launch(queue, &launch, &err));
    words[0] = words[1] = words[2] = 0; // they were copied
  }

  const device_kit &kit;
  weft_device_t *device;
  const weft_device_v1 *calls;
  weft_error_t err = WEFT_ERROR_INIT;
};

std::vector<int64_t> numbers(int64_t count, int64_t first) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(first + i * i);
  return all;
}

void check_properties(const device_kit &kit) {
  user u(kit);
  int64_t processors = 0, alignment = 0, nothing;
  u.must(u.calls->property(u.device, "processors", &processors));
  u.must(u.calls->property(u.device, "alignment", &alignment));
  REQUIRE(processors >= 1);
  REQUIRE(alignment >= 16);
  REQUIRE((alignment & (alignment - 1)) == 0);
  REQUIRE(u.calls->property(u.device, "no such property", &nothing) == WEFT_NOT_FOUND);
  REQUIRE(u.calls->kind[0] != 0);
  REQUIRE(u.calls->struct_size >= sizeof(weft_device_v1));
}

void check_memory(const device_kit &kit) {
  user u(kit);
  std::vector<ended<void>> blocks;
  for (uint32_t space : {WEFT_MEMORY_DEVICE, WEFT_MEMORY_PINNED, WEFT_MEMORY_SHARED})
    for (size_t bytes : {size_t(1), size_t(100), size_t(3) << 20})
      blocks.push_back(u.allocate(bytes, space, bytes > 100 ? 4096 : 64));
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      REQUIRE(blocks[i].get() != blocks[k].get());
  u.calls->release(u.device, WEFT_MEMORY_DEVICE, nullptr, 64);
  void *memory = &u;
  u.must_fail(WEFT_INVALID, u.calls->allocate(u.device, 99, 64, 64, &memory, &u.err));
  REQUIRE(memory == nullptr);
  u.must_fail(WEFT_OUT_OF_MEMORY, u.calls->allocate(u.device, WEFT_MEMORY_DEVICE, size_t(1) << 60,
                                                    64, &memory, &u.err));
  REQUIRE(memory == nullptr);
}

void check_copies(const device_kit &kit) {
  user u(kit);
  ended<void> a = u.allocate(800), b = u.allocate(800, WEFT_MEMORY_SHARED);
  ended<weft_queue_t> queue = u.open_queue();
  std::vector<int64_t> sent = numbers(100, 7), received(100);
  u.upload(queue.get(), a.get(), sent);
  weft_copy_t inside = {sizeof inside, 0, u.device, u.device, b.get(), a.get(), 800};
  u.must(u.calls->copy(queue.get(), &inside, &u.err));
  u.download(queue.get(), received, b.get());
  inside.bytes = 0;
  u.must(u.calls->copy(queue.get(), &inside, &u.err));
  u.must(u.calls->finish(queue.get(), &u.err));
  REQUIRE(received == sent);
  inside.bytes = -1;
  u.must_fail(WEFT_INVALID, u.calls->copy(queue.get(), &inside, &u.err));
  u.must(u.calls->reach(u.device, u.device, &u.err));
}

void check_code(const device_kit &kit) {
  user u(kit);
  ended<weft_loaded_t> first = u.load(), second = u.load();
  u.find(first.get());
  first.reset();
  u.find(second.get());
  u.calls->unload(u.device, nullptr);
  const void *kernel = &u;
  weft_loaded_t *loaded;
  u.must_fail(WEFT_NOT_FOUND, u.calls->find(u.device, second.get(), uint64_t(1) << 40,
                                            "no such kernel", &kernel, &u.err));
  REQUIRE(kernel == nullptr);
  weft_device_code_t unknown = kit.code;
  unknown.kind = 999;
  u.must_fail(WEFT_UNSUPPORTED, u.calls->load(u.device, &unknown, &loaded, &u.err));
  REQUIRE(loaded == nullptr);
}

void check_launches(const device_kit &kit) {
  user u(kit);
  ended<weft_loaded_t> loaded = u.load();
  const void *kernel = u.find(loaded.get());
  ended<void> a = u.allocate(8000), b = u.allocate(8000);
  ended<weft_queue_t> queue = u.open_queue();
  for (int64_t count : {0, 1, 4, 5, 6, 1000}) {
    std::vector<int64_t> left = numbers(1000, 1), right = numbers(1000, -3), sum(1000);
    u.upload(queue.get(), a.get(), left);
    u.upload(queue.get(), b.get(), right);
    u.add(queue.get(), kernel, a.get(), a.get(), b.get(), count);
    u.download(queue.get(), sum, a.get());
    u.must(u.calls->finish(queue.get(), &u.err));
    for (int64_t i = 0; i < 1000; ++i)
      REQUIRE(sum[size_t(i)] == left[size_t(i)] + (i < count ? right[size_t(i)] : 0));
  }
  weft_launch_t launch = {sizeof launch, 0, nullptr, 1, 1, nullptr, 0, 0};
  u.must_fail(WEFT_INVALID, u.calls->launch(queue.get(), &launch, &u.err));
  launch.kernel = kernel;
  launch.grain = 0;
  u.must_fail(WEFT_INVALID, u.calls->launch(queue.get(), &launch, &u.err));
}

void check_events(const device_kit &kit) {
  user u(kit);
  ended<void> a = u.allocate(800);
  ended<weft_queue_t> queue = u.open_queue();
  ended<weft_event_t> event = u.open_event();
  u.calls->close_event(u.device, nullptr);
  REQUIRE(u.calls->is_done(u.device, event.get()) == 1);
  u.must(u.calls->wait(u.device, event.get(), &u.err));
  for (int64_t round = 0; round < 3; ++round) {
    std::vector<int64_t> sent = numbers(100, round), received(100);
    u.upload(queue.get(), a.get(), sent);
    u.download(queue.get(), received, a.get());
    u.must(u.calls->record(queue.get(), event.get(), &u.err));
    u.must(u.calls->wait(u.device, event.get(), &u.err));
    REQUIRE(u.calls->is_done(u.device, event.get()) == 1);
    REQUIRE(received == sent);
  }
}

/// A number goes round through all queues, each of which adds 1 when the one before it has.
void check_queues(const device_kit &kit) {
  user u(kit);
  const size_t count = 5, rounds = 4;
  ended<weft_loaded_t> loaded = u.load();
  const void *kernel = u.find(loaded.get());
  ended<void> total = u.allocate(8), one = u.allocate(8);
  std::vector<ended<weft_queue_t>> queues;
  std::vector<ended<weft_event_t>> events;
  for (size_t i = 0; i < count; ++i) {
    queues.push_back(u.open_queue());
    events.push_back(u.open_event());
  }
  u.upload(queues[0].get(), total.get(), {0});
  u.upload(queues[0].get(), one.get(), {1});
  u.must(u.calls->record(queues[0].get(), events[0].get(), &u.err));
  for (size_t i = 1; i < count * rounds; ++i) {
    weft_queue_t *queue = queues[i % count].get();
    u.must(u.calls->follow(queue, events[(i - 1) % count].get(), &u.err));
    u.add(queue, kernel, total.get(), total.get(), one.get(), 1);
    u.must(u.calls->record(queue, events[i % count].get(), &u.err));
  }
  std::vector<int64_t> result(1);
  weft_queue_t *last = queues[(count * rounds - 1) % count].get();
  u.download(last, result, total.get());
  u.must(u.calls->finish(last, &u.err));
  REQUIRE(result[0] == int64_t(count * rounds) - 1);
}

void check_stop(const device_kit &kit) {
  user u(kit);
  ended<weft_loaded_t> loaded = u.load();
  const void *kernel = u.find(loaded.get());
  ended<void> a = u.allocate(8);
  uint32_t stop = 3;
  weft_queue_options_t options = {sizeof options, 2, 0, 0, &stop};
  ended<weft_queue_t> queue = u.open_queue(&options);
  uint64_t words[3] = {uint64_t(a.get()), uint64_t(a.get()), uint64_t(a.get())};
  weft_launch_t launch = {sizeof launch, 3, kernel, 1, 1, words, kit.block_threads, 0};
  u.upload(queue.get(), a.get(), {21});
  u.must_fail(WEFT_CANCELLED, u.calls->launch(queue.get(), &launch, &u.err));
  stop = 2; // bit 0 alone counts
  u.must(u.calls->launch(queue.get(), &launch, &u.err));
  std::vector<int64_t> result(1);
  u.download(queue.get(), result, a.get());
  u.must(u.calls->finish(queue.get(), &u.err));
  REQUIRE(result[0] == 42);
  options.workers = -1;
  weft_queue_t *wrong = queue.get();
  u.must_fail(WEFT_INVALID, u.calls->open_queue(u.device, &options, &wrong, &u.err));
  REQUIRE(wrong == nullptr);
}

/// What a frame of a call in this file has for its context.
struct call_state {
  jmp_buf place;
  weft_error_t err = WEFT_ERROR_INIT;
  int launched = 0;
};

void leave(weft_frame_v1 *frame, weft_status_t status, const char *code, const char *message) {
  call_state *state = (call_state *)frame->context;
  state->err.status = status;
  snprintf(state->err.code, sizeof state->err.code, "%s", code);
  snprintf(state->err.message, sizeof state->err.message, "%s", message);
  longjmp(state->place, 1);
}

void count_launch(void *user, const weft_part_v1 *part, uint64_t begin, uint64_t end) {
  if (part->units > 0 && begin <= end)
    ++((call_state *)user)->launched;
}

/// One call as compiled code makes it: a launch, then two together. False when it was left.
__attribute__((noinline)) bool run_call(const weft_host_queue_v1 *host, weft_frame_v1 *frame,
                                        weft_part_v1 *parts) {
  if (_setjmp(((call_state *)frame->context)->place))
    return false;
  host->parallel(frame, parts->kernel, parts->words, parts->units, parts->grain, 0);
  host->together(frame, parts, 2);
  return true;
}

void check_host_code(const device_kit &kit) {
  user u(kit);
  const weft_host_queue_v1 *host = u.calls->host;
  if (!host)
    return;
  ended<weft_loaded_t> loaded = u.load();
  const void *kernel = u.find(loaded.get());
  uint32_t stop = 0;
  weft_queue_options_t options = {sizeof options, 3, 0, 0, &stop};
  ended<weft_queue_t> queue = u.open_queue(&options);
  int32_t count = 0;
  weft_worker_t *workers = host->workers(queue.get(), &count);
  REQUIRE(count >= 1);
  for (int32_t i = 0; i < count; ++i)
    REQUIRE(workers[i].index == i);
  std::vector<int64_t> a(100, 1), b(100, 1);
  uint64_t words[2][3] = {{uint64_t(a.data()), uint64_t(a.data()), uint64_t(a.data())},
                          {uint64_t(b.data()), uint64_t(b.data()), uint64_t(b.data())}};
  weft_kernel_fn function = (weft_kernel_fn)(uintptr_t)kernel;
  weft_part_v1 parts[2] = {{function, words[0], 100, 7, 1e6, 0, 0},
                           {function, words[1], 100, 7, 1e6, 1, 0}};
  call_state state;
  weft_frame_v1 frame = {};
  frame.context = &state;
  frame.queue = queue.get();
  frame.leave = leave;
  host->trace(queue.get(), count_launch, &state);
  host->begin(queue.get());
  bool is_run = run_call(host, &frame, parts);
  host->end(queue.get());
  if (!is_run)
    throw stopped{state.err};
  REQUIRE(a == std::vector<int64_t>(100, 4));
  REQUIRE(b == std::vector<int64_t>(100, 2));
  REQUIRE(state.launched == 3);
  stop = 1;
  host->trace(queue.get(), nullptr, nullptr);
  host->begin(queue.get());
  is_run = run_call(host, &frame, parts);
  host->end(queue.get());
  REQUIRE_FALSE(is_run);
  if (state.err.status != WEFT_CANCELLED)
    throw stopped{state.err};
  REQUIRE(a == std::vector<int64_t>(100, 4));
  REQUIRE(state.launched == 3);
}

} // namespace

void check_places(const device_kit &kit) {
  user u(kit);
  ended<void> block = u.allocate(800);
  if (!u.calls->bytes_at)
    return;
  std::vector<char> here(800);
  const char *there = static_cast<const char *>(block.get());
  REQUIRE(u.calls->bytes_at(u.device, there) >= 800);
  REQUIRE(u.calls->bytes_at(u.device, there + 300) == u.calls->bytes_at(u.device, there) - 300);
  REQUIRE(u.calls->bytes_at(u.device, here.data()) == 0);
}

void check_clock(const device_kit &kit) {
  user u(kit);
  if (!u.calls->elapsed)
    return;
  std::vector<char> here(800);
  ended<void> block = u.allocate(here.size());
  ended<weft_queue_t> queue = u.open_queue();
  ended<weft_event_t> events[] = {u.open_event(), u.open_event(), u.open_event()};
  for (size_t i = 0; i < 3; ++i) {
    weft_copy_t copy = {sizeof copy,         0, u.device, nullptr, block.get(), here.data(),
                        int64_t(here.size())};
    u.must(u.calls->copy(queue.get(), &copy, &u.err));
    u.must(u.calls->record(queue.get(), events[i].get(), &u.err));
  }
  u.must(u.calls->wait(u.device, events[2].get(), &u.err));
  uint64_t whole = 0, first = 0, second = 0;
  u.must(u.calls->elapsed(u.device, events[0].get(), events[2].get(), &whole, &u.err));
  u.must(u.calls->elapsed(u.device, events[0].get(), events[1].get(), &first, &u.err));
  u.must(u.calls->elapsed(u.device, events[1].get(), events[2].get(), &second, &u.err));
  constexpr uint64_t rounding = 2000;
  REQUIRE(first + second <= whole + rounding);
  REQUIRE(whole <= first + second + rounding);
}

const std::vector<device_step> &device_steps() {
  static const std::vector<device_step> steps = {
      {"a device says what it is", check_properties},
      {"memory of every kind is given, apart and aligned", check_memory},
      {"a device knows what memory is its own", check_places},
      {"what is copied there, within and back is the same", check_copies},
      {"code is loaded, more than once, and its kernels are found", check_code},
      {"a launch computes its units and no others", check_launches},
      {"an event is done when what was given before it is", check_events},
      {"queues follow each other's events", check_queues},
      {"a device with a clock says how long was worked between events", check_clock},
      {"a queue that is stopped launches nothing", check_stop},
      {"compiled host code launches on a queue and is left when that fails", check_host_code}};
  return steps;
}

std::string run_step(const device_step &step, const device_kit &kit) {
  try {
    step.run(kit);
  } catch (const stopped &failure) {
    return text_of(failure.err);
  }
  return "";
}

host_code::host_code() {
  image code = load_sample_image();
  size = (code.data.size() + 4095) & ~size_t(4095);
  pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  std::memcpy(pages, code.data.data(), code.data.size());
  REQUIRE(mprotect(pages, size, PROT_READ) == 0);
  position = code.offset_of(code.address_of("add_numbers"));
}

host_code::~host_code() { munmap(pages, size); }

device_kit host_code::kit_for(weft_device_t *device) const {
  return {device,
          {sizeof(weft_device_code_t), WEFT_CODE_HOST, pages, size, 0, size},
          position,
          nullptr};
}

} // namespace weft_test
