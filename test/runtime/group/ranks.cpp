#include "test/runtime/group/ranks.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace weft_test {

namespace {
/// A verdict that a child can write.
struct written_verdict {
  weft_status_t status;
  char text[512];
  double seconds;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run_rank(const weft_group_options_t &options, const rank_body &body, written_verdict *out) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_group_t *group = nullptr;
  double begin = now();
  weft_status_t status = weft_group_open(nullptr, &options, &group, &err);
  if (status == WEFT_OK)
    status = body(group, &err);
  out->seconds = now() - begin;
  out->status = status;
  if (status != WEFT_OK)
    snprintf(out->text, sizeof out->text, "%s %s", err.code, err.message);
  weft_group_release(group);
}

weft_group_options_t options_of(const std::string &transport, int32_t world, int32_t rank,
                                const std::string &rendezvous, const rank_settings &settings) {
  weft_group_options_t options = {
      sizeof options,     rank,   world, settings.timeout_ms, transport.c_str(),
      rendezvous.c_str(), nullptr};
  if (settings.change)
    settings.change(options);
  return options;
}
} // namespace

std::string fresh_name() {
  static std::atomic<int> count{0};
  return "weft-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

size_t open_descriptors() {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

std::vector<verdict> run_ranks(const std::string &transport, int32_t world, const rank_body &body,
                               const rank_settings &settings) {
  std::string rendezvous = settings.rendezvous.empty() ? fresh_name() : settings.rendezvous;
  shared_array<written_verdict> written(static_cast<size_t>(world));
  std::vector<std::thread> threads;
  std::vector<pid_t> children(static_cast<size_t>(world), 0);
  for (int32_t rank = 0; rank < world; ++rank) {
    const std::vector<int32_t> &absent = settings.absent;
    if (std::find(absent.begin(), absent.end(), rank) != absent.end())
      continue;
    weft_group_options_t options = options_of(transport, world, rank, rendezvous, settings);
    written_verdict *out = &written[static_cast<size_t>(rank)];
    if (transport == "threads") {
      threads.emplace_back([options, &body, out] { run_rank(options, body, out); });
      continue;
    }
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      run_rank(options, body, out);
      _exit(0);
    }
    children[static_cast<size_t>(rank)] = child;
  }
  std::vector<int> signals(static_cast<size_t>(world), 0);
  for (std::thread &thread : threads)
    thread.join();
  for (size_t rank = 0; rank < children.size(); ++rank) {
    int status = 0;
    if (children[rank] && waitpid(children[rank], &status, 0) == children[rank])
      signals[rank] = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  std::vector<verdict> all;
  for (size_t rank = 0; rank < children.size(); ++rank)
    all.push_back({written[rank].status, written[rank].text, written[rank].seconds, signals[rank]});
  return all;
}

weft_collective_t collective_of(weft_collective_kind_t kind, weft_element_t element, int64_t first,
                                const void *send, void *receive) {
  weft_collective_t c = {};
  c.struct_size = sizeof c;
  c.kind = kind;
  c.element = element;
  c.combiner = WEFT_SUM;
  c.send = send;
  c.receive = receive;
  c.outer = c.middle = c.second = c.inner = 1;
  c.first = first;
  return c;
}

} // namespace weft_test
