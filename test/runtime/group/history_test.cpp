// What a rank did last can be written at any time: while it waits, after a failure, and by another process that sees its memory.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "test/runtime/group/ranks.h"

using namespace weft_test;
using Catch::Contains;

static weft_status_t sum(weft_group_t *group, int64_t count, const char *node, weft_error_t *err,
                         int32_t piece = 0) {
  std::vector<float> data(size_t(count), 1);
  weft_collective_t c = collective_of(WEFT_ALL_REDUCE, WEFT_F32, count, data.data(), data.data());
  c.node = node;
  c.piece = piece;
  c.pieces = piece ? 3 : 0;
  return weft_group_collective(group, &c, err);
}

/// Lines of a dump.
static std::vector<std::string> dump(const weft_group_t *group, const char *reason = "asked") {
  FILE *file = tmpfile();
  weft_error_t err = WEFT_ERROR_INIT;
  CHECK(weft_group_dump(group, fileno(file), reason, &err) == WEFT_OK);
  rewind(file);
  std::vector<std::string> lines;
  for (char line[1024]; fgets(line, sizeof line, file);)
    lines.push_back(std::string(line).substr(0, strlen(line) - 1));
  fclose(file);
  return lines;
}

/// Without its times, of which the second one says whether it has ended.
static std::string without_times(const std::string &line, bool *out_has_ended) {
  std::istringstream words(line);
  std::string word, rest;
  for (int i = 0; words >> word; ++i) {
    if (i == 15)
      *out_has_ended = word != "0";
    if (i < 14 || i > 17)
      rest += (i ? " " : "") + word;
  }
  return rest;
}

TEST_CASE("a history names groups and the last collectives, with what goes on") {
  for (const std::string transport : {"threads", "shm"}) {
    rank_settings settings;
    settings.timeout_ms = 300;
    settings.change = [](auto &options) { options.records = 3; };
    std::vector<verdict> all = run_ranks(
        transport, 2,
        [&](weft_group_t *group, weft_error_t *err) -> weft_status_t {
          weft_group_t *part = nullptr;
          int32_t rank = weft_group_rank(group);
          for (int i = 0; i < 3; ++i)
            if (weft_status_t status = sum(group, 5, "first", err))
              return status;
          if (weft_status_t status = weft_group_split(group, 7, -rank, &part, err))
            return status;
          weft_group_set_name(part, "tp, dp");
          weft_status_t status = sum(part, 6, "second part", err, 2);
          if (!status && rank == 0)
            status = sum(part, 7, "third\n", err); // which rank 1 never comes to
          weft_group_release(part);
          if (rank == 1)
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
          std::vector<std::string> lines = dump(group, status ? err->message : nullptr);
          auto fail = [&](const std::string &text) {
            std::string said = text + ":";
            for (const std::string &line : lines)
              said += "\n" + line;
            snprintf(err->message, sizeof err->message, "%s", said.c_str());
            return WEFT_INVALID;
          };
          std::vector<std::string> wanted = {
              "group 0 all " + std::to_string(rank) + " 2 3 3 ",
              "group 1 all/1.7 " + std::to_string(1 - rank) + (rank ? " 2 1 1 " : " 2 2 1 ") +
                  "tp, dp",
              "call 0 3 all_reduce f32 1 0 0 1 5 1 1 1 0 0 0 0 0 first",
              "call 1 1 all_reduce f32 1 0 0 1 6 1 1 1 0 0 0 2 3 second part"};
          if (rank == 0)
            wanted.push_back("call 1 2 all_reduce f32 1 0 0 1 7 1 1 1 0 0 0 0 0 third?");
          else
            wanted.insert(wanted.begin() + 2,
                          "call 0 2 all_reduce f32 1 0 0 1 5 1 1 1 0 0 0 0 0 first");
          if (lines.size() != wanted.size() + 3 || lines.back() != "end" ||
              lines[0].rfind("weft-flight 2 " + std::to_string(rank) + " 2 ", 0) != 0 ||
              lines[1] != std::string("reason ") + (status ? err->message : ""))
            return fail("the frame");
          for (size_t i = 0; i < wanted.size(); ++i) {
            bool has_ended = true;
            std::string line = lines[i + 2];
            if (line.rfind("call", 0) == 0)
              line = without_times(line, &has_ended);
            if (line != wanted[i] || has_ended != (wanted[i].find("third") == std::string::npos))
              return fail(wanted[i]);
          }
          return WEFT_OK;
        },
        settings);
    for (const verdict &each : all)
      CHECK(each.text == "");
  }
}

TEST_CASE("a history is read while collectives run") {
  std::vector<verdict> all = run_ranks("threads", 2, [&](weft_group_t *group, weft_error_t *err) {
    std::atomic<bool> is_over{false}, is_torn{false};
    std::thread reader([&] {
      while (!is_over)
        for (const std::string &line : dump(group)) {
          bool has_ended;
          std::string call = line.rfind("call", 0) == 0 ? without_times(line, &has_ended) : "";
          const std::string what = " all_reduce f32 1 0 0 1 9 1 1 1 0 0 0 0 0 ";
          size_t at = call.find(what), end = at + what.size();
          bool is_whole = at != std::string::npos &&
                          (call.substr(end) == "a" || call.substr(end) == "a long name");
          is_torn = is_torn || (!call.empty() && !is_whole);
        }
    });
    weft_status_t status = WEFT_OK;
    for (int i = 0; i < 3000 && !status; ++i)
      status = sum(group, 9, i % 2 ? "a" : "a long name", err);
    is_over = true;
    reader.join();
    return is_torn ? WEFT_INVALID : status;
  });
  for (const verdict &each : all)
    CHECK(each.status == WEFT_OK);
}

namespace {
/// Memory that a fork shares, which is never given back.
struct shared_memory {
  shared_array<uint8_t> bytes{1 << 20};
  std::atomic<size_t> used{0};

  static void *allocate(void *user, size_t size, size_t alignment) {
    auto *self = (shared_memory *)user;
    size_t at = self->used.fetch_add(size + alignment);
    return at + size + alignment > self->bytes.size
               ? nullptr
               : (void *)(((uintptr_t)&self->bytes[at] + alignment - 1) / alignment * alignment);
  }
  static void release(void *, void *, size_t) {}
};
} // namespace

TEST_CASE("the history of a rank that was killed is read by the process that gave its memory") {
  shared_memory memory;
  shared_array<weft_group_t *> group(1);
  pid_t child = fork();
  if (child == 0) {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.user = &memory;
    env.allocate = shared_memory::allocate;
    env.release = shared_memory::release;
    weft_group_options_t options = {sizeof options, 0, 1, 0, "shm", "alone", nullptr, 0, 0};
    weft_group_open(&env, &options, &group[0], nullptr);
    sum(group[0], 4, "its last", nullptr);
    raise(SIGKILL);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  std::vector<std::string> lines = dump(group[0]);
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], Contains(" " + std::to_string(child) + " "));
  CHECK_THAT(lines[0], Contains(" alone"));
  CHECK_THAT(lines[3], Contains(" its last"));
}

TEST_CASE("what cannot be written or kept is refused") {
  weft_group_options_t options = {sizeof options, 0, 1, 0, "threads", "alone", nullptr, -1, 0};
  weft_group_t *group = nullptr;
  weft_error_t err = WEFT_ERROR_INIT;
  CHECK(weft_group_open(nullptr, &options, &group, &err) == WEFT_INVALID);
  CHECK(err.message == std::string("options.records is -1"));
  options.records = 0;
  options.struct_size = offsetof(weft_group_options_t, records); // of an older program
  REQUIRE(weft_group_open(nullptr, &options, &group, &err) == WEFT_OK);
  int full = open("/dev/full", O_WRONLY);
  CHECK(weft_group_dump(group, full, nullptr, &err) == WEFT_IO);
  CHECK(err.message == std::string("a history cannot be written: No space left on device"));
  close(full);
  CHECK(weft_group_dump(nullptr, 1, nullptr, &err) == WEFT_INVALID);
  weft_group_release(group);
}
