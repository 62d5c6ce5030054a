//===- own_pages.cpp - How many pages of the weights each rank reads -------------------------------------===//
//
//   own_pages FILE RANKS SIZE...
//
// Opens the artifact for so many ranks, which are threads with a mapping of the file each, whose weights nobody may read. A page that a rank reads all
// the same is given to it and counted; all others stay unreadable. Inputs are 64-bit integers, all with these sizes: positions, and ones behind the
// first of them. Prints a line for every rank, beginning with the one that is alone:
//
//   PAGES MILLISECONDS DIFFERENCE
//
// pages that were read, how long opening took, and how far its results are from those of one rank, of their scale.
//===------------------------------------------------------------------------------------------===//

#include "weft/group.h"
#include "weft/runtime.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace {

constexpr size_t kPage = 4096, kMostRanks = 16;

[[noreturn]] void fail(const std::string &why) {
  fprintf(stderr, "%s\n", why.c_str());
  exit(1);
}

void check(weft_status_t status, const weft_error_t &error) {
  if (status)
    fail(std::string(error.code) + " " + error.message);
}

/// The weights of one rank; what the handler below looks through.
struct Mapping {
  char *begin = nullptr;
  size_t bytes = 0;
  std::atomic<size_t> pages{0};
};
Mapping mappings[kMostRanks + 1];

/// Gives the page to who wanted to read it. Two threads of a rank may come for the same page: one of them counts.
void give(int, siginfo_t *info, void *) {
  char *at = static_cast<char *>(info->si_addr);
  for (Mapping &mapping : mappings)
    if (mapping.begin && at >= mapping.begin && at < mapping.begin + mapping.bytes) {
      ++mapping.pages;
      mprotect(mapping.begin + (at - mapping.begin) / kPage * kPage, kPage, PROT_READ);
      return;
    }
  signal(SIGSEGV, SIG_DFL);
}

/// A module of its own for a rank, whose weights nobody may read.
class OwnModule {
public:
  OwnModule(const char *path, uint32_t ranks, Mapping &mapping) {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.ranks = ranks;
    weft_error_t error = WEFT_ERROR_INIT;
    auto begin = std::chrono::steady_clock::now();
    check(weft_module_open(&env, path, &module, &error), error);
    milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    weft_module_info_t info = {};
    info.struct_size = sizeof info;
    check(weft_module_info(module, &info), error);
    mapping.bytes = (info.weight_bytes + kPage - 1) / kPage * kPage;
    mapping.begin = newestOf(path, mapping.bytes);
    if (!mapping.begin || mprotect(mapping.begin, mapping.bytes, PROT_NONE))
      fail("the mapping of the weights was not found");
  }
  ~OwnModule() { weft_module_release(module); }

  weft_module_t *module = nullptr;
  double milliseconds = 0; ///< that opening took

private:
  /// The file's mapping of weights that no rank has so far.
  static char *newestOf(const std::string &path, size_t bytes) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin, end;
      char rights[8];
      if (line.find(path) == std::string::npos ||
          sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3)
        continue;
      auto *found = reinterpret_cast<char *>(begin);
      bool isKnown = std::any_of(std::begin(mappings), std::end(mappings),
                                 [&](const Mapping &each) { return each.begin == found; });
      if (end - begin >= bytes && rights[0] == 'r' && rights[2] == '-' && !isKnown)
        return found;
    }
    return nullptr;
  }
};

using Values = std::vector<float>;

/// What a call through a context of its own gives, one output behind the other.
Values call(weft_module_t *module, weft_group_t *group, const std::vector<int64_t> &sizes) {
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.threads = 1, options.spin_us = -1, options.group = group;
  weft_context_t *context = nullptr;
  check(weft_context_create(module, &options, &context, &error), error);
  weft_function_info_t info = {};
  info.struct_size = sizeof info;
  check(weft_function_info(module, 0, &info), error);
  size_t count = 1;
  for (int64_t size : sizes)
    count *= size_t(size);
  std::vector<int64_t> positions(count), ones(count, 1);
  for (size_t i = 0; i < count; ++i)
    positions[i] = int64_t(i * 37 % 101) + 1;
  std::vector<weft_tensor_t> in, out(info.outputs, WEFT_TENSOR_EMPTY);
  for (uint32_t i = 0; i < info.inputs; ++i)
    in.push_back(
        weft_tensor_of((i ? ones : positions).data(), WEFT_I64, sizes.size(), sizes.data()));
  check(weft_call(context, nullptr, in.data(), in.size(), out.data(), out.size(), &error), error);
  Values values;
  for (weft_tensor_t &tensor : out) {
    size_t elements = 1;
    for (uint16_t d = 0; d < tensor.rank; ++d)
      elements *= size_t(tensor.dim[d]);
    const float *data = static_cast<const float *>(tensor.data);
    values.insert(values.end(), data, data + elements);
    weft_tensor_release(context, &tensor);
  }
  weft_context_release(context);
  return values;
}

Values callAsRank(weft_module_t *module, int32_t rank, int32_t ranks,
                  const std::vector<int64_t> &sizes) {
  weft_group_options_t options = {sizeof options, rank,        ranks,  20000,
                                  "threads",      "own-pages", nullptr};
  weft_group_t *group = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  check(weft_group_open(nullptr, &options, &group, &error), error);
  Values values = call(module, group, sizes);
  weft_group_release(group);
  return values;
}

double difference(const Values &got, const Values &expected) {
  double worst = got.size() == expected.size() ? 0 : INFINITY, scale = 0;
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    worst = std::max(worst, std::fabs(double(got[i]) - double(expected[i])));
    scale = std::max(scale, std::fabs(double(expected[i])));
  }
  return worst / scale;
}

} // namespace

int main(int count, char **arguments) {
  if (count < 4)
    fail("usage: own_pages FILE RANKS SIZE...");
  const char *path = arguments[1];
  int32_t ranks = std::min(atoi(arguments[2]), int(kMostRanks));
  std::vector<int64_t> sizes;
  for (int i = 3; i < count; ++i)
    sizes.push_back(atoll(arguments[i]));
  struct sigaction action = {};
  action.sa_sigaction = give;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);

  OwnModule alone(path, 1, mappings[ranks]);
  Values expected = call(alone.module, nullptr, sizes);
  std::vector<std::unique_ptr<OwnModule>> modules;
  for (int32_t rank = 0; rank < ranks; ++rank)
    modules.push_back(std::make_unique<OwnModule>(path, uint32_t(ranks), mappings[rank]));
  std::vector<Values> results(ranks);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back(
        [&, rank] { results[rank] = callAsRank(modules[rank]->module, rank, ranks, sizes); });
  for (std::thread &thread : threads)
    thread.join();

  printf("%zu %.3f 0\n", mappings[ranks].pages.load(), alone.milliseconds);
  for (int32_t rank = 0; rank < ranks; ++rank)
    printf("%zu %.3f %.3g\n", mappings[rank].pages.load(), modules[rank]->milliseconds,
           difference(results[rank], expected));
  return 0;
}
