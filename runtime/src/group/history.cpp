#include "runtime/src/group/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/layout.h"

static const int32_t default_records = 64;
enum { WEFT_KNOWN_GROUPS = 32, WEFT_GROUP_NAME = 32, WEFT_RUN_NAME = 128, WEFT_NOTE_NODE = 96 };

namespace {
/// One collective.
struct note_t {
  uint64_t sequence, began_ns, ended_ns;
  weft_attention_t attention;
  int64_t outer, first, middle, second, inner, from, rows;
  uint16_t kind, element, combiner, is_reversed;
  int32_t peer, piece, pieces;
  uint32_t row, group;
  char node[WEFT_NOTE_NODE];
};

/// One group.
struct member_t {
  uint64_t begun, done; ///< collectives
  int32_t rank, world;
  char name[WEFT_GROUP_NAME], title[WEFT_GROUP_NAME];
};

/// Something that is read while it may be written over: in words, between two stamps that say what number it has.
template <class T> struct cell_t {
  std::atomic<uint64_t> stamp;
  std::atomic<uint64_t> words[sizeof(T) / 8];
};
} // namespace

struct weft_history_t {
  weft_env_t env;
  size_t bytes;
  std::atomic<uint32_t> users, groups;
  std::atomic<uint64_t> notes;
  int32_t rank, world, process;
  uint64_t capacity;
  char run[WEFT_RUN_NAME];
  cell_t<member_t> members[WEFT_KNOWN_GROUPS];

  cell_t<note_t> *note(uint64_t number) const {
    return (cell_t<note_t> *)(this + 1) + number % capacity;
  }
};

static void write_cell(std::atomic<uint64_t> *stamp, std::atomic<uint64_t> *words, uint64_t number,
                       const void *value, size_t bytes) {
  const uint64_t *from = (const uint64_t *)value;
  stamp->store(2 * number + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < bytes / 8; ++i)
    words[i].store(from[i], std::memory_order_relaxed);
  stamp->store(2 * number + 2, std::memory_order_release);
}

/// False for one that has another number by now.
static bool read_cell(const std::atomic<uint64_t> *stamp, const std::atomic<uint64_t> *words,
                      uint64_t number, void *value, size_t bytes) {
  uint64_t *to = (uint64_t *)value;
  if (stamp->load(std::memory_order_acquire) != 2 * number + 2)
    return false;
  for (size_t i = 0; i < bytes / 8; ++i)
    to[i] = words[i].load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return stamp->load(std::memory_order_relaxed) == 2 * number + 2;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

weft_history_t *weft_history_new(const weft_env_t *env, const weft_group_options_t *options) {
  size_t capacity = (size_t)(options->records ? options->records : default_records);
  size_t bytes = sizeof(weft_history_t) + capacity * sizeof(cell_t<note_t>);
  void *memory = weft_allocate(env, bytes, 64);
  if (!memory)
    return nullptr;
  memset(memory, 0, bytes);
  weft_history_t *history = new (memory) weft_history_t();
  history->env = *env;
  history->bytes = bytes;
  history->users.store(1);
  history->rank = options->rank;
  history->world = options->world;
  history->process = getpid();
  history->capacity = capacity;
  snprintf(history->run, sizeof history->run, "%s", options->rendezvous);
  return history;
}

void weft_history_hold(weft_history_t *history) { history->users.fetch_add(1); }

void weft_history_drop(weft_history_t *history) {
  if (!history || history->users.fetch_sub(1) != 1)
    return;
  weft_env_t env = history->env;
  weft_free(&env, history, history->bytes);
}

static cell_t<member_t> *cell_of(weft_history_t *history, uint32_t group) {
  return &history->members[group % WEFT_KNOWN_GROUPS];
}

uint32_t weft_history_join(weft_history_t *history, const char *name, int32_t rank, int32_t world) {
  uint32_t group = history->groups.fetch_add(1);
  member_t member = {};
  member.rank = rank;
  member.world = world;
  snprintf(member.name, sizeof member.name, "%s", name);
  cell_t<member_t> *cell = cell_of(history, group);
  write_cell(&cell->stamp, cell->words, group, &member, sizeof member);
  return group;
}

void weft_history_set_title(weft_history_t *history, uint32_t group, const char *title) {
  cell_t<member_t> *cell = cell_of(history, group);
  member_t member;
  if (!read_cell(&cell->stamp, cell->words, group, &member, sizeof member))
    return;
  snprintf(member.title, sizeof member.title, "%s", title);
  write_cell(&cell->stamp, cell->words, group, &member, sizeof member);
}

uint64_t weft_history_begin(weft_history_t *history, uint32_t group, uint64_t sequence,
                            const weft_collective_t &c) {
  note_t note = {sequence,      weft_now_ns(), 0,       {},       c.outer, c.first,   c.middle,
                 c.second,      c.inner,       c.from,  c.rows,   c.kind,  c.element, c.combiner,
                 c.is_reversed, c.peer,        c.piece, c.pieces, c.row,   group,     {}};
  if (c.node)
    strncpy(note.node, c.node, sizeof note.node - 1);
  uint64_t number = history->notes.fetch_add(1);
  cell_t<note_t> *cell = history->note(number);
  write_cell(&cell->stamp, cell->words, number, &note, sizeof note);
  cell_t<member_t> *member = cell_of(history, group);
  if (member->stamp.load(std::memory_order_relaxed) == 2 * (uint64_t)group + 2)
    member->words[0].store(sequence, std::memory_order_relaxed);
  return number;
}

void weft_history_end(weft_history_t *history, uint32_t group, uint64_t number, uint64_t sequence,
                      const weft_attention_t &attention) {
  cell_t<note_t> *cell = history->note(number);
  const uint64_t ends[] = {weft_now_ns(), attention.waits_from_ns, attention.spent_ns};
  static_assert(offsetof(note_t, attention) == offsetof(note_t, ended_ns) + 8,
                "one after the other");
  if (cell->stamp.load(std::memory_order_relaxed) == 2 * number + 2)
    for (size_t i = 0; i < sizeof ends / 8; ++i)
      cell->words[offsetof(note_t, ended_ns) / 8 + i].store(ends[i], std::memory_order_relaxed);
  cell_t<member_t> *member = cell_of(history, group);
  // Pieces may be seen to be done in another order; they are in theirs.
  if (member->stamp.load(std::memory_order_relaxed) == 2 * (uint64_t)group + 2 &&
      member->words[1].load(std::memory_order_relaxed) < sequence)
    member->words[1].store(sequence, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Text on its way into a file.
struct out_t {
  int file;
  bool has_failed;

  void add(char *line, int length, int size) {
    length = length < size ? length : size - 1; // cut off, but still a line
    for (int i = 0; i + 1 < length; ++i)
      line[i] = (unsigned char)line[i] < ' ' || line[i] == 127 ? '?' : line[i];
    line[length - 1] = '\n';
    for (int done = 0; done < length && !has_failed;) {
      ssize_t written = write(file, line + done, (size_t)(length - done));
      has_failed = written < 0 && errno != EINTR;
      done += written > 0 ? (int)written : 0;
    }
  }
};
} // namespace

static void dump_groups(const weft_history_t *history, char *line, int size, out_t *out) {
  uint32_t end = history->groups.load(),
           begin = end > WEFT_KNOWN_GROUPS ? end - WEFT_KNOWN_GROUPS : 0;
  for (uint32_t group = begin; group < end; ++group) {
    const cell_t<member_t> &cell = history->members[group % WEFT_KNOWN_GROUPS];
    member_t m;
    if (read_cell(&cell.stamp, cell.words, group, &m, sizeof m))
      out->add(line,
               snprintf(line, (size_t)size, "group %u %s %d %d %llu %llu %s\n", group, m.name,
                        m.rank, m.world, (unsigned long long)m.begun, (unsigned long long)m.done,
                        m.title),
               size);
  }
}

static void dump_notes(const weft_history_t *history, char *line, int size, out_t *out) {
  uint64_t end = history->notes.load(),
           begin = end > history->capacity ? end - history->capacity : 0;
  for (uint64_t number = begin; number < end; ++number) {
    const cell_t<note_t> *cell = history->note(number);
    note_t n;
    if (!read_cell(&cell->stamp, cell->words, number, &n, sizeof n))
      continue;
    out->add(line,
             snprintf(line, (size_t)size,
                      "call %u %llu %s %s %u %u %d %lld %lld %lld %lld %lld %u %llu %llu %llu %llu "
                      "%lld %lld %d %d %s\n",
                      n.group, (unsigned long long)n.sequence, weft_kind_name(n.kind),
                      weft_element_name(n.element), n.combiner, n.is_reversed, n.peer,
                      (long long)n.outer, (long long)n.first, (long long)n.middle,
                      (long long)n.second, (long long)n.inner, n.row,
                      (unsigned long long)n.began_ns, (unsigned long long)n.ended_ns,
                      (unsigned long long)n.attention.waits_from_ns,
                      (unsigned long long)n.attention.spent_ns, (long long)n.from,
                      (long long)n.rows, n.piece, n.pieces, n.node),
             size);
  }
}

weft_status_t weft_history_dump(const weft_history_t *history, int file, const char *reason,
                                weft_error_t *err) {
  char line[640], host[65] = "";
  gethostname(host, sizeof host - 1);
  out_t out = {file, false};
  out.add(line,
          snprintf(line, sizeof line, "weft-flight 2 %d %d %d %llu %s %s\n", history->rank,
                   history->world, history->process, (unsigned long long)weft_now_ns(),
                   *host ? host : "?", history->run),
          sizeof line);
  out.add(line, snprintf(line, sizeof line, "reason %s\n", reason ? reason : ""), sizeof line);
  dump_groups(history, line, sizeof line, &out);
  dump_notes(history, line, sizeof line, &out);
  out.add(line, snprintf(line, sizeof line, "end\n"), sizeof line);
  return out.has_failed
             ? weft_fail(err, WEFT_IO, "W0608", "a history cannot be written: %s", strerror(errno))
             : weft_succeed(err);
}
