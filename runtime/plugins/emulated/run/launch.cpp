// Runs a grid of blocks: as many at a time as a real device would hold, in turns.
#include "runtime/plugins/emulated/run/launch.h"

#include <exception>
#include <fstream>
#include <list>
#include <numeric>
#include <thread>

namespace weft_emulated {

namespace {

/// Instructions of warps that all blocks may execute without anything that others could wait for: then they wait for each other.
constexpr uint64_t patience = uint64_t(1) << 24;
constexpr uint64_t slice = uint64_t(1) << 16, random_slice = 400;

/// Launches of this process, which may run at the same time and use each other's memory.
struct all_launches {
  std::mutex lock;
  uint32_t next = 1;
  std::list<std::pair<uint32_t, uint32_t>> live;
  sync_points points;

  static all_launches &get() {
    static all_launches all;
    return all;
  }
};

/// A launch among the others.
class registered {
public:
  explicit registered(launch_state &launch) {
    all_launches &all = all_launches::get();
    std::lock_guard<std::mutex> held(all.lock);
    launch.live.assign(all.live.begin(), all.live.end());
    launch.first_block = launch.oldest_block = all.next;
    for (const auto &[first, end] : launch.live)
      launch.oldest_block = std::min(launch.oldest_block, first);
    launch.points = &all.points;
    if (all.next + uint64_t(launch.blocks) > std::numeric_limits<uint32_t>::max())
      throw finding("more blocks were launched in this process than the emulator can number");
    all.next += launch.blocks;
    all.live.emplace_back(launch.first_block, all.next);
    place = std::prev(all.live.end());
  }
  ~registered() {
    all_launches &all = all_launches::get();
    std::lock_guard<std::mutex> held(all.lock);
    all.live.erase(place);
    if (all.live.empty())
      all.points.clear();
  }

private:
  std::list<std::pair<uint32_t, uint32_t>>::iterator place;
};

/// Blocks that a thread of the host runs, one after the other and in turns.
class runner {
public:
  runner(launch_state &launch, const std::vector<uint32_t> &blocks, std::atomic<size_t> &next,
         size_t residents, uint64_t seed)
      : launch(launch), blocks(blocks), next(next), residents(residents), random(seed) {}

  void run() {
    while (!launch.must_stop && turn()) {
    }
  }
  counters count;

private:
  /// Takes up the next block, unless as many run as may.
  void admit() {
    if (running.size() >= residents)
      return;
    size_t place = next++;
    if (place >= blocks.size())
      return;
    if (idle.empty()) {
      running.push_back(std::make_unique<block>());
    } else {
      running.push_back(std::move(idle.back()));
      idle.pop_back();
    }
    running.back()->begin(launch, blocks[place], count);
  }
  /// False when there is nothing left.
  bool turn() {
    bool is_random = launch.options->seed != 0;
    do
      admit();
    while (is_random && running.size() < residents && next < blocks.size() && random() % 4);
    if (running.empty())
      return false;
    size_t chosen = is_random ? random() % running.size() : at++ % running.size();
    run_block(chosen);
    return true;
  }
  void run_block(size_t chosen) {
    block &b = *running[chosen];
    uint64_t before = b.progress, instructions = b.count.instructions;
    bool is_random = launch.options->seed != 0;
    // A block goes on as long as something happens in it: others begin when it waits for them.
    uint64_t turns = 0;
    bool has_ended;
    do {
      uint64_t last = b.progress;
      has_ended = b.run(std::min(is_random ? random_slice : slice, most()), random);
      if (b.progress == last)
        break;
    } while (!has_ended && ++turns < 64 && b.count.instructions < most());
    spent += b.count.instructions - instructions;
    if (b.count.instructions >= most())
      throw finding("kernel '" + launch.code->name + "', block " + std::to_string(b.index) +
                    ": more than " + std::to_string(most()) + " instructions of warps");
    if (b.progress != before || has_ended) {
      ++launch.progress;
      spent = 0, silent_turns = 0;
    }
    if (has_ended) {
      count.add(b.count);
      idle.push_back(std::move(running[chosen]));
      running.erase(running.begin() + long(chosen));
      return;
    }
    check_progress(b, b.count.instructions == instructions);
  }
  uint64_t most() const { return launch.options->most_instructions; }
  void check_progress(const block &b, bool is_silent) {
    if (launch.progress != seen_progress) {
      seen_progress = launch.progress;
      spent = 0, silent_turns = 0;
      return;
    }
    // Warps that all wait at barriers execute nothing, and never will unless another block does something.
    bool is_full = running.size() >= residents || next >= blocks.size();
    silent_turns = is_silent ? silent_turns + 1 : 0;
    if (is_full &&
        (spent > patience * running.size() || silent_turns > 4 * running.size() * idle_weight()))
      throw finding("kernel '" + launch.code->name + "': a deadlock: " + b.waiting());
  }
  uint64_t idle_weight() {
    if (!launch.options->has_peers)
      return 1;
    std::this_thread::yield();
    return 64;
  }

  launch_state &launch;
  const std::vector<uint32_t> &blocks;
  std::atomic<size_t> &next;
  const size_t residents;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<block>> running, idle;
  size_t at = 0;
  uint64_t spent = 0, silent_turns = 0, seen_progress = 0;
};

std::vector<uint32_t> order_of_blocks(const launch_state &launch) {
  std::vector<uint32_t> all(launch.blocks);
  std::iota(all.begin(), all.end(), 0u);
  if (launch.options->shuffles_blocks) {
    std::mt19937_64 random(launch.options->seed + 77);
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[random() % i]);
  }
  return all;
}

/// Blocks that the imitated device holds at a time.
size_t residents_of(const launch_request &request, const launch_state &launch) {
  uint64_t by_threads = request.processor_threads / std::max(32u, (launch.threads + 31) & ~31u);
  uint64_t by_bytes = request.processor_bytes / (launch.shared_bytes + 1024);
  uint64_t each = std::min<uint64_t>({by_threads, by_bytes, 32});
  return size_t(std::max<uint64_t>(each, 1) * launch.options->processors);
}

void fill_parameters(launch_state &launch, const launch_request &request) {
  const program &code = *request.code;
  launch.words = request.words;
  launch.parameters.assign(code.parameter_bytes + 16, 0);
  for (size_t i = 0; i < code.parameters.size(); ++i)
    std::memcpy(launch.parameters.data() + code.parameters[i].offset, &request.words[i],
                std::min(8u, code.parameters[i].bytes));
}

void run_on_threads(launch_state &launch, std::vector<std::unique_ptr<runner>> &runners) {
  std::exception_ptr failure;
  std::mutex lock;
  auto work = [&](runner &r) {
    try {
      r.run();
    } catch (...) {
      std::lock_guard<std::mutex> held(lock);
      if (!failure)
        failure = std::current_exception();
      launch.must_stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < runners.size(); ++i)
    threads.emplace_back(work, std::ref(*runners[i]));
  work(*runners[0]);
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

/// Lines of instructions that a warp came to, behind those of earlier launches.
void note_lines(const launch_state &launch) {
  std::ofstream file(launch.options->lines + "/" + launch.code->name + ".lines", std::ios::app);
  for (size_t i = 0; i < launch.code->code.size(); ++i)
    if (launch.reached[i])
      file << launch.code->code[i].line << "\n";
}

} // namespace

counters run_grid(const launch_request &request, const memory_map &memory,
                  const run_options &options) {
  launch_state launch;
  launch.code = request.code;
  launch.memory = &memory;
  launch.options = &options;
  launch.blocks = request.blocks;
  launch.threads = request.threads;
  launch.dynamic_bytes = request.dynamic_bytes;
  launch.shared_bytes = request.code->dynamic_base - shared_base + request.dynamic_bytes;
  launch.device = request.device;
  fill_parameters(launch, request);
  if (!options.lines.empty())
    launch.reached = std::make_unique<std::atomic<bool>[]>(request.code->code.size());
  registered here(launch);
  std::vector<uint32_t> blocks = order_of_blocks(launch);
  std::atomic<size_t> next{0};
  size_t threads = std::min<size_t>(size_t(std::max(1, options.threads)), launch.blocks);
  size_t residents = std::max<size_t>(1, residents_of(request, launch) / threads);
  std::vector<std::unique_ptr<runner>> runners;
  for (size_t i = 0; i < threads; ++i)
    runners.push_back(std::make_unique<runner>(launch, blocks, next, residents, options.seed + i));
  run_on_threads(launch, runners);
  if (launch.reached)
    note_lines(launch);
  counters count;
  for (const auto &each : runners)
    count.add(each->count);
  return count;
}

} // namespace weft_emulated
