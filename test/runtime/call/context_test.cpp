#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <unistd.h>

#include "runtime/src/call/context.h"
#include "runtime/src/cpu/queue.h"
#include "test/runtime/fixture.h"
#include "weft/group.h"

using namespace weft_test;

static const bytes &good_file() {
  static const bytes file = make_sample().seal();
  return file;
}

static const opened &sample_module() {
  static const opened o(good_file());
  return o;
}

/// The threads behind a context's queue on the CPU.
static const weft_pool_t &pool_of(const running &r) {
  return weft_cpu_queue(r.context->queue)->pool;
}

TEST_CASE("a call computes what the code says, for every size and number of threads") {
  for (int32_t threads : {0, 1, 2, 3, 8}) {
    running r(sample_module(), threads);
    for (auto [b, s] : {std::pair<int64_t, int64_t>{1, 1},
                        {0, 7},
                        {2, 41},
                        {13, 512},
                        {1000, 37},
                        {4, 1},
                        {1, 512}}) {
      INFO(threads << " threads, " << b << " x " << s);
      main_call c(b, s);
      REQUIRE(c.call(r) == WEFT_OK);
      REQUIRE(c.is_right());
    }
  }
}

TEST_CASE("options are checked") {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_context_t *context;
  auto create = [&](uint32_t size, int32_t threads, int32_t spin_us, int64_t limit) {
    struct {
      weft_context_options_t known;
      uint64_t unknown;
    } options = {{size, threads, spin_us, limit}, 0};
    weft_status_t status =
        weft_context_create(sample_module().module, &options.known, &context, &err);
    REQUIRE((context == nullptr) == (status != WEFT_OK));
    weft_context_release(context);
    return status;
  };
  const uint32_t size = sizeof(weft_context_options_t);
  REQUIRE(create(size, 0, -1, 0) == WEFT_OK);
  REQUIRE(create(size + 8, 1024, 1000000, INT64_MAX) == WEFT_OK);
  REQUIRE(create(4, 0, -1, 0) == WEFT_INVALID);
  REQUIRE(create(size, -1, -1, 0) == WEFT_INVALID);
  REQUIRE(create(size, 1025, -1, 0) == WEFT_INVALID);
  REQUIRE(create(size, 0, -2, 0) == WEFT_INVALID);
  REQUIRE(create(size, 0, -1, -1) == WEFT_INVALID);
  for (int32_t apart : {-1, 1, 2}) {
    weft_context_options_t options = {size, 0, -1, 0, nullptr, nullptr, apart, 0};
    REQUIRE((weft_context_create(sample_module().module, &options, &context, &err) == WEFT_OK) ==
            (apart == 1));
    weft_context_release(context);
  }
  REQUIRE(weft_context_create(nullptr, nullptr, &context, &err) == WEFT_INVALID);
  REQUIRE(weft_context_create(sample_module().module, nullptr, nullptr, &err) == WEFT_INVALID);
  REQUIRE(weft_call(nullptr, nullptr, nullptr, 0, nullptr, 0, &err) == WEFT_INVALID);
  REQUIRE(weft_reserve(nullptr, 0, nullptr, &err) == WEFT_INVALID);
  weft_context_release(nullptr);
  weft_cancel(nullptr);
}

TEST_CASE("by default workers do not spin when there are more of them than CPUs") {
  int32_t cpus = weft_cpus_allowed();
  REQUIRE(pool_of(running(sample_module(), cpus)).spin_us == WEFT_SPIN_US);
  REQUIRE(pool_of(running(sample_module(), cpus + 1)).spin_us == 0);
  REQUIRE(pool_of(running(sample_module(), cpus + 1, 7)).spin_us == 7);
  REQUIRE(running(sample_module(), 0).context->worker_count == cpus);
}

TEST_CASE("after the first call of a size nothing is allocated") {
  counting_memory memory;
  weft_env_t env = memory.env();
  {
    opened o(good_file(), &env);
    running r(o, 2);
    main_call small(3, 5), large(100, 512);
    int before = memory.calls;
    REQUIRE(small.call(r) == WEFT_OK);
    REQUIRE(memory.calls == before + 1);
    // One block: the arena and two workers' scratch, each a multiple of 64.
    REQUIRE(memory.last_bytes == 64 + 2 * 64);
    REQUIRE(memory.last_alignment == 64);
    REQUIRE(large.call(r) == WEFT_OK);
    REQUIRE(memory.calls == before + 2);
    REQUIRE(memory.last_bytes == 4 * 100 * 512 + 2 * 4 * 512);
    for (int round = 0; round < 10; ++round) {
      REQUIRE(large.call(r) == WEFT_OK);
      REQUIRE(small.call(r) == WEFT_OK);
      REQUIRE(large.is_right());
      REQUIRE(small.is_right());
    }
    REQUIRE(memory.calls == before + 2);
  }
  REQUIRE(memory.live == 0);
  REQUIRE(memory.live_bytes == 0);
}

TEST_CASE("reserve makes the first call free of allocation") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(good_file(), &env);
  running r(o, 2);
  int64_t symbols[2] = {1024, 512};
  REQUIRE(weft_reserve(r.context, 0, symbols, &r.err) == WEFT_OK);
  REQUIRE(memory.last_bytes == 4 * 1024 * 512 + 2 * 4 * 512);
  REQUIRE(memory.last_alignment == 2 << 20);
  int before = memory.calls;
  main_call c(1024, 512);
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(memory.calls == before);
  symbols[1] = 513;
  REQUIRE(weft_reserve(r.context, 0, symbols, &r.err) == WEFT_INVALID);
  REQUIRE(weft_reserve(r.context, 9, symbols, &r.err) == WEFT_INVALID);
}

TEST_CASE("the memory limit is checked before anything is allocated") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(good_file(), &env);
  running r(o, 1, -1, 32 << 20);
  main_call fits(16000, 512), large(30000, 512);
  int before = memory.calls;
  large.out[0] = large.out[1] = WEFT_TENSOR_EMPTY;
  REQUIRE(large.call(r) == WEFT_OVER_LIMIT);
  REQUIRE(text_of(r.err) ==
          "W0421 this call needs 58.6 MiB (b = 30000, seq = 512) but the limit is 32 MiB");
  int64_t symbols[2] = {30000, 512};
  REQUIRE(weft_reserve(r.context, 0, symbols, &r.err) == WEFT_OVER_LIMIT);
  REQUIRE(memory.calls == before);
  REQUIRE(fits.call(r) == WEFT_OK);
  REQUIRE(fits.is_right());
}

TEST_CASE("memory that is not there is an error, and the context stays usable") {
  counting_memory memory;
  weft_env_t env = memory.env();
  opened o(good_file(), &env);
  running r(o);
  main_call c(3, 5);
  c.out[0] = c.out[1] = WEFT_TENSOR_EMPTY;
  int live = memory.live;
  for (int failing = 0; failing < 3; ++failing) { // the block, output 0, output 1
    memory.fail_at = memory.calls + (failing ? failing - 1 : 0);
    REQUIRE(c.call(r) == WEFT_OUT_OF_MEMORY);
    REQUIRE(std::string(r.err.code) == "W0424");
    REQUIRE(c.out[0].data == nullptr);
    REQUIRE(c.out[1].data == nullptr);
    if (failing == 0) { // get the block now, so that the outputs are next
      memory.fail_at = -1;
      main_call given(3, 5);
      REQUIRE(given.call(r) == WEFT_OK);
      ++live;
    }
    REQUIRE(memory.live == live);
  }
  memory.fail_at = -1;
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  weft_tensor_release(r.context, &c.out[0]);
  weft_tensor_release(r.context, &c.out[1]);
  memory.fail_at = memory.calls.load();
  weft_context_t *none;
  REQUIRE(weft_context_create(o.module, nullptr, &none, nullptr) == WEFT_OUT_OF_MEMORY);
}

TEST_CASE("eight threads share a module") {
  opened o(good_file());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      running r(o, 1 + t % 2);
      for (int round = 0; round < 50; ++round) {
        main_call c(1 + (t * 7 + round) % 20, 1 + (t * 31 + round * 13) % 512);
        wrong += c.call(r) != WEFT_OK || !c.is_right();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("a context keeps its module alive") {
  auto o = std::make_unique<opened>(good_file());
  running r(*o);
  o.reset();
  main_call c(3, 5);
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
}

TEST_CASE("results do not depend on the number of threads") {
  std::vector<float> first;
  for (int32_t threads : {1, 2, 3, 5, 16}) {
    running r(sample_module(), threads, 0);
    main_call c(97, 333);
    for (size_t k = 0; k < c.x.data.size(); ++k)
      c.x.data[k] = float(k) * 0.37f;
    REQUIRE(c.call(r) == WEFT_OK);
    if (first.empty())
      first = c.total.data;
    REQUIRE(first == c.total.data);
  }
}

/// Which worker computed each unit of 'who', whose grain is 4; pieces start where 1000 is added.
static std::vector<int64_t> who(running &r, int64_t units) {
  array<int64_t> seed(WEFT_I64, {units}), out(WEFT_I64, {units}, -1);
  REQUIRE(weft_call(r.context, "who", &seed.tensor, 1, &out.tensor, 1, &r.err) == WEFT_OK);
  out.data.resize(size_t(units));
  return out.data;
}

TEST_CASE("a region of at most one grain runs on the calling thread alone") {
  running r(sample_module(), 4);
  REQUIRE(who(r, 4) == std::vector<int64_t>{1000, 0, 0, 0});
  REQUIRE(pool_of(r).started == 0);
  std::vector<int64_t> workers = who(r, 9);
  REQUIRE(workers == std::vector<int64_t>{1000, 0, 0, 0, 1001, 1, 1, 1, 1002});
  REQUIRE(who(r, 0).empty());
}

namespace {
/// An embedder's thread pool that runs everything on the calling thread, in the order it likes.
struct own_parallel {
  int64_t calls = 0, units = 0;
  enum { GOOD, MISSES_ONE, TWICE, WRONG_WORKER, NOTHING } behaviour = GOOD;

  static void run(void *user, void (*body)(void *, int64_t, int64_t, int32_t), void *argument,
                  int64_t units, int64_t grain) {
    own_parallel *self = (own_parallel *)user;
    ++self->calls;
    self->units += units;
    if (self->behaviour == NOTHING)
      return;
    for (int64_t i = units - 1; i >= (self->behaviour == MISSES_ONE); --i)
      body(argument, i, i + 1, self->behaviour == WRONG_WORKER ? 3 : int32_t(i % 3));
    if (self->behaviour == TWICE)
      body(argument, 0, 1, 0);
  }
  weft_env_t env() {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.user = this;
    env.parallel = run;
    env.workers = 3;
    return env;
  }
};
} // namespace

TEST_CASE("an embedder's parallel is used instead of the pool") {
  own_parallel own;
  weft_env_t env = own.env();
  opened o(good_file(), &env);
  running r(o);
  main_call c(20, 33); // 7 grains of 3 rows
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(own.calls == 2);
  REQUIRE(own.units == 14);
  REQUIRE(pool_of(r).started == 0);
  main_call small(3, 33); // one grain: nobody is asked
  REQUIRE(small.call(r) == WEFT_OK);
  REQUIRE(own.calls == 2);
}

TEST_CASE("an embedder's parallel that forgets units or invents workers is told so") {
  for (auto behaviour : {own_parallel::MISSES_ONE, own_parallel::TWICE, own_parallel::WRONG_WORKER,
                         own_parallel::NOTHING}) {
    own_parallel own;
    weft_env_t env = own.env();
    opened o(good_file(), &env);
    running r(o);
    own.behaviour = behaviour;
    main_call c(20, 33);
    REQUIRE(c.call(r) == WEFT_INVALID);
    REQUIRE(text_of(r.err) == "W0401 env.parallel did not run every piece once, or named a worker "
                              "that is not there");
    own.behaviour = own_parallel::GOOD;
    REQUIRE(c.call(r) == WEFT_OK);
    REQUIRE(c.is_right());
  }
  own_parallel own;
  weft_env_t env = own.env();
  env.workers = 0;
  REQUIRE(opened(good_file(), &env).status == WEFT_INVALID);
}

namespace {
/// A call of 'beside': kernels of these units, and who computed each.
struct beside_call {
  array<int64_t> units, grain, work, worker;
  weft_tensor_t in[3], out[1];

  explicit beside_call(std::vector<std::array<int64_t, 3>> parts)
      : units(WEFT_I64, {int64_t(parts.size())}), grain(WEFT_I64, {int64_t(parts.size())}),
        work(WEFT_I64, {int64_t(parts.size())}), worker(WEFT_I64, {int64_t(parts.size()), 64}) {
    for (size_t i = 0; i < parts.size(); ++i) {
      units.data[i] = parts[i][0];
      grain.data[i] = parts[i][1];
      work.data[i] = parts[i][2];
    }
  }
  weft_status_t call(running &r) {
    in[0] = units.tensor;
    in[1] = grain.tensor;
    in[2] = work.tensor;
    out[0] = worker.tensor;
    return weft_call(r.context, "beside", in, 3, out, 1, &r.err);
  }
  /// The worker of each unit of a part; -1 for what was not computed once.
  std::vector<int64_t> who(size_t part) const {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < units.data[part]; ++i) {
      int64_t value = worker.data[64 * part + size_t(i)];
      all.push_back(value % 1000 >= 1 && value / 1000 <= 1 ? value % 1000 - 1 : -1);
    }
    return all;
  }
};
} // namespace

TEST_CASE(
    "kernels that run together are computed once each, and no worker idles while others wait") {
  std::mt19937_64 random(5);
  for (int32_t threads : {1, 2, 3, 8})
    for (int32_t spin_us : {0, 50}) {
      running r(sample_module(), threads, spin_us);
      for (int round = 0; round < 200; ++round) {
        std::vector<std::array<int64_t, 3>> parts(1 + random() % 8);
        for (auto &[units, grain, work] : parts) {
          units = int64_t(random() % 65);
          grain = 1 + int64_t(random() % 5);
          work = int64_t(random() % 1000000);
        }
        beside_call c(parts);
        REQUIRE(c.call(r) == WEFT_OK);
        for (size_t i = 0; i < parts.size(); ++i)
          for (int64_t who : c.who(i))
            REQUIRE((who >= 0 && who < threads));
      }
    }
  running r(sample_module(), 2);
  beside_call c({{1, 1, 100000}, {1, 1, 100000}});
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.who(0)[0] + c.who(1)[0] == 1); // one each
  beside_call small({{1, 1, 10}, {1, 1, 10}});
  REQUIRE(small.call(r) == WEFT_OK);
  REQUIRE(small.who(0)[0] + small.who(1)[0] == 0); // the caller computes both
}

TEST_CASE("an embedder's parallel gets the pieces of kernels that run together") {
  own_parallel own;
  weft_env_t env = own.env();
  opened o(good_file(), &env);
  running r(o);
  beside_call c({{5, 1, 500000}, {1, 1, 100000}, {64, 3, 900000}, {0, 1, 1}});
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(own.calls == 1);
  REQUIRE(own.units == 3); // one piece for each of its workers
  for (size_t i = 0; i < 4; ++i)
    for (int64_t who : c.who(i))
      REQUIRE((who >= 0 && who < 3));
  for (auto behaviour : {own_parallel::MISSES_ONE, own_parallel::TWICE, own_parallel::WRONG_WORKER,
                         own_parallel::NOTHING}) {
    own.behaviour = behaviour;
    REQUIRE(c.call(r) == WEFT_INVALID);
  }
}

TEST_CASE("code that ends what it did not begin, or begins what there is not, is refused") {
  running r(sample_module(), 1);
  const char *const said[] = {"its code began or ended collective 0 out of turn",
                              "its code asked for collective 0 of 0"};
  for (int64_t way : {0, 1, 0}) {
    array<int64_t> in(WEFT_I64, {}, way), out(WEFT_I64, {});
    REQUIRE(weft_call(r.context, "unpaired", &in.tensor, 1, &out.tensor, 1, &r.err) ==
            WEFT_BAD_ARTIFACT);
    REQUIRE(text_of(r.err).find(said[way]) != std::string::npos);
  }
  REQUIRE(who(r, 4) == std::vector<int64_t>{1000, 0, 0, 0}); // the context goes on
}

namespace {
/// A function for two ranks, whose one exchange is an all_reduce of nothing.
bytes unpaired_file() {
  sample s = make_sample();
  auto &all = s.description.functions;
  auto found =
      std::find_if(all.begin(), all.end(), [](const function &f) { return f.name == "unpaired"; });
  s.description.functions = {*found};
  make_ranked(s.description, 1, 2);
  s.description.functions[0].rank_symbols = {UINT32_MAX, UINT32_MAX};
  s.description.functions[0].traffic = {constant(0)};
  return s.seal();
}

/// What a call says on each of two ranks that are threads.
std::vector<std::string> said_by_ranks(const opened &o, int64_t way) {
  std::string rendezvous = "weft-context-test-" + std::to_string(getpid());
  std::vector<std::string> said(2);
  std::vector<std::thread> ranks;
  for (int32_t rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      weft_error_t err = WEFT_ERROR_INIT;
      weft_group_options_t options = {sizeof options,     rank,   2, 0, "threads",
                                      rendezvous.c_str(), nullptr};
      weft_group_t *group = nullptr;
      weft_context_t *context = nullptr;
      weft_status_t status = weft_group_open(nullptr, &options, &group, &err);
      weft_context_options_t own = {sizeof own, 1, -1, 0};
      own.group = group;
      status = status ? status : weft_context_create(o.module, &own, &context, &err);
      array<int64_t> in(WEFT_I64, {}, way), out(WEFT_I64, {});
      if (!status)
        weft_call(context, "unpaired", &in.tensor, 1, &out.tensor, 1, &err);
      said[size_t(rank)] = text_of(err);
      weft_context_release(context);
      weft_group_release(group);
    });
  for (std::thread &rank : ranks)
    rank.join();
  return said;
}
} // namespace

TEST_CASE("code that begins an exchange which goes on already, or ends what it did not begin, is "
          "refused on every rank") {
  opened o(unpaired_file());
  REQUIRE(o.status == WEFT_OK);
  for (int64_t way : {2, 0, 2})
    for (const std::string &said : said_by_ranks(o, way)) {
      INFO(way << ": " << said);
      CHECK(said.find("W0511") != std::string::npos);
      CHECK(said.find("its code began or ended collective 0 out of turn") != std::string::npos);
    }
}

TEST_CASE("a running call can be cancelled, and a second caller is told that it runs") {
  for (int32_t threads : {1, 2}) {
    running r(sample_module(), threads);
    int64_t steps = int64_t(1) << 40, none = 0; // weeks
    weft_tensor_t in = weft_tensor_of(&steps, WEFT_I64, 0, &none), out = WEFT_TENSOR_EMPTY;
    weft_status_t status = WEFT_OK;
    std::thread caller([&] { status = weft_call(r.context, "spin", &in, 1, &out, 1, &r.err); });
    while (r.context->state.load() != WEFT_RUNNING)
      std::this_thread::yield();
    weft_error_t err = WEFT_ERROR_INIT;
    main_call c(1, 1);
    REQUIRE(weft_call(r.context, "main", c.in, 2, c.out, 2, &err) == WEFT_BUSY);
    REQUIRE(text_of(err) == "W0431 the context is already in a call | create one context per "
                            "thread; contexts share the module");
    int64_t symbols[2] = {1, 1};
    REQUIRE(weft_reserve(r.context, 0, symbols, &err) == WEFT_BUSY);
    weft_cancel(r.context);
    weft_cancel(r.context);
    caller.join();
    REQUIRE(status == WEFT_CANCELLED);
    REQUIRE(text_of(r.err) == "W0432 the call was cancelled");
    REQUIRE(out.data == nullptr);
    // The cancel is over: the next call runs, and cancelling an idle context means nothing.
    weft_cancel(r.context);
    steps = 3;
    REQUIRE(weft_call(r.context, "spin", &in, 1, &out, 1, &r.err) == WEFT_OK);
    REQUIRE(*(int64_t *)out.data == 3);
    weft_tensor_release(r.context, &out);
  }
}

TEST_CASE("a trace sees every kernel of a call, with its work") {
  running r(sample_module(), 2);
  std::vector<weft_trace_event_t> events;
  auto note = [](void *user, const weft_trace_event_t *event) {
    static_cast<std::vector<weft_trace_event_t> *>(user)->push_back(*event);
  };
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(weft_context_trace(r.context, note, &events, &err) == WEFT_OK);
  main_call c(5, 41);
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(events.size() == 2);
  for (uint32_t i : {0u, 1u}) {
    REQUIRE(events[i].struct_size == sizeof(weft_trace_event_t));
    REQUIRE(events[i].kernel == i);
    REQUIRE(events[i].units == 5);
    REQUIRE(events[i].begin_ns > 0);
    REQUIRE(events[i].end_ns >= events[i].begin_ns);
    REQUIRE(events[i].bytes == -1);
  }
  REQUIRE(events[1].begin_ns >= events[0].end_ns);
  REQUIRE(events[0].flops == 3 * 41);
  REQUIRE(events[1].flops == -1);
  REQUIRE(weft_context_trace(r.context, nullptr, nullptr, &err) == WEFT_OK);
  REQUIRE(c.call(r) == WEFT_OK);
  REQUIRE(events.size() == 2);
  REQUIRE(weft_context_trace(nullptr, note, &events, &err) == WEFT_INVALID);
}

TEST_CASE("kernels that run together share the time they took in the trace") {
  running r(sample_module(), 2);
  std::vector<weft_trace_event_t> events;
  auto note = [](void *user, const weft_trace_event_t *event) {
    static_cast<std::vector<weft_trace_event_t> *>(user)->push_back(*event);
  };
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(weft_context_trace(r.context, note, &events, &err) == WEFT_OK);
  for (int64_t work : {10, 100000}) { // one after the other, and at the same time
    events.clear();
    beside_call c({{1, 1, work}, {0, 1, work}, {7, 2, work}});
    uint64_t begin = weft_now_ns();
    REQUIRE(c.call(r) == WEFT_OK);
    uint64_t end = weft_now_ns();
    REQUIRE(events.size() == 2); // a kernel without units did not run
    REQUIRE(events[0].units == 1);
    REQUIRE(events[1].units == 7);
    REQUIRE(begin <= events[0].begin_ns);
    REQUIRE(events[0].begin_ns <= events[0].end_ns);
    REQUIRE(events[0].end_ns <= events[1].begin_ns);
    REQUIRE(events[1].begin_ns <= events[1].end_ns);
    REQUIRE(events[1].end_ns <= end);
  }
}

TEST_CASE("the caller's float mode does not change results, and comes back") {
#if defined(__x86_64__)
  running r(sample_module(), 2);
  main_call c(8, 1);
  for (float &x : c.x.data)
    x = 1e-38f;
  for (float &mask : c.mask.data)
    mask = 0.25f;
  uint64_t mine = weft_float_mode_enter();
  const uint64_t flush = 0x1F80 | 0x8040;
  weft_float_mode_leave(flush);
  weft_status_t status = c.call(r);
  uint64_t after = weft_float_mode_enter();
  weft_float_mode_leave(mine);
  REQUIRE(status == WEFT_OK);
  REQUIRE((after & ~0x3Full) == flush);
  for (int64_t i = 0; i < 8; ++i)
    REQUIRE(c.y.data[i] == 1e-38f * 0.25f);
#endif
}

TEST_CASE("needs that are no number of bytes are refused") {
  sample s = make_sample();
  s.description.functions[0].scratch = constant(INT64_MAX - 1) * symbol(0, "b");
  opened o(s.seal());
  running r(o);
  for (int64_t b : {1, 2}) {
    main_call c(b, 3);
    REQUIRE(c.call(r) == WEFT_OVER_LIMIT);
    REQUIRE(std::string(r.err.code) == "W0422");
  }
}

TEST_CASE("a context of the host has no stream, and what is submitted is computed at once") {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  options.stream = &err;
  weft_context_t *context = nullptr;
  REQUIRE(weft_context_create(sample_module().module, &options, &context, &err) == WEFT_INVALID);
  REQUIRE(text_of(err) == "W0401 options.stream is set, but the context computes on the host");
  running r(sample_module());
  main_call c(3, 5);
  REQUIRE(weft_submit(r.context, sample_module().function("main"), c.in, 2, c.out, 2, &r.err) ==
          WEFT_OK);
  REQUIRE(c.is_right());
  REQUIRE(weft_wait(r.context, &r.err) == WEFT_OK);
  REQUIRE(weft_wait(nullptr, &r.err) == WEFT_INVALID);
}
