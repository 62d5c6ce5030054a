//===- FlightRecorder.cpp ---------------------------------------------------------------------===//
#include "tools/weft/cli/FlightRecorder.h"
#include "tools/weft/cli/History.h"
#include "tools/weft/cli/Options.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::cli {

namespace {

/// Room for a group and its link, and for a collective of its history.
constexpr size_t kGroupRoom = size_t(256) << 10, kRecordRoom = 256;

std::string refused(const std::string &path) { return path + ": " + strerror(errno); }

} // namespace

/// What a rank's process and rank 0's share.
struct FlightRecorder::Rank {
  std::atomic<weft_group_t *> group;
  std::atomic<bool> hasEnded, isOver;
  size_t size;              ///< of the room behind this
  std::atomic<size_t> used; ///< of these bytes

  unsigned char *room() { return reinterpret_cast<unsigned char *>(this + 1); }

  /// From the room, which is never given back: a group that is being released can still be read.
  /// What does not fit, groups that were made from it, comes from the process's own memory.
  static void *allocate(void *user, size_t bytes, size_t alignment) {
    Rank *rank = static_cast<Rank *>(user);
    size_t whole = bytes + alignment, at = rank->used.load();
    while (at + whole <= rank->size && !rank->used.compare_exchange_weak(at, at + whole)) {
    }
    if (at + whole > rank->size)
      return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    uintptr_t begin = reinterpret_cast<uintptr_t>(rank->room() + at);
    return reinterpret_cast<void *>((begin + alignment - 1) / alignment * alignment);
  }
  static void release(void *user, void *pointer, size_t) {
    Rank *rank = static_cast<Rank *>(user);
    if (pointer < rank->room() || pointer >= rank->room() + rank->size)
      free(pointer);
  }
};

FlightRecorder::FlightRecorder(std::string folder, int32_t world, int32_t records)
    : folder(std::move(folder)), world(world), room(kGroupRoom + size_t(records) * kRecordRoom) {}

FlightRecorder::Rank &FlightRecorder::of(int32_t rank) const {
  return *reinterpret_cast<Rank *>(memory + size_t(rank) * (sizeof(Rank) + room));
}

FlightRecorder::~FlightRecorder() {
  if (watcher.joinable()) {
    of(0).isOver = true;
    pthread_kill(watcher.native_handle(), SIGUSR1);
    watcher.join();
    pthread_sigmask(SIG_SETMASK, &maskBefore, nullptr);
  }
  for (int file : ended)
    close(file);
  // The memory stays: rank 0's context, whose groups lie there, outlives the ranks.
}

Result<Done> FlightRecorder::prepare(int32_t own) {
  if (folder.empty())
    return Done{};
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return Failure{ExitInputRefused, refused(folder), {}, {}};
  struct stat info;
  if (stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
    errno = ENOTDIR;
  else
    errno = access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (errno)
    return Failure{ExitInputRefused, refused(folder), {}, {}};
  // Those that an earlier run left would be taken for this one's.
  if (Result<std::vector<int>> old = ranksWithHistories(folder))
    for (int rank : *old)
      if (own < 0 || rank == own)
        unlink(historyPath(folder, rank).c_str());
  void *mapped = mmap(nullptr, size_t(world) * (sizeof(Rank) + room), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Failure{ExitMachineLacks, refused("no memory for --flight"), {}, {}};
  memory = static_cast<unsigned char *>(mapped);
  for (int32_t rank = 0; rank < world; ++rank) {
    of(rank).size = room;
    ended.push_back(memfd_create("weft-flight", MFD_CLOEXEC));
    if (ended.back() < 0)
      return Failure{ExitMachineLacks, refused("no memory for --flight"), {}, {}};
    envs.push_back(std::make_unique<weft_env_t>());
    weft_env_t &env = *envs.back();
    env = {};
    env.struct_size = sizeof env;
    env.user = &of(rank);
    env.allocate = Rank::allocate;
    env.release = Rank::release;
  }
  return Done{};
}

const weft_env_t *FlightRecorder::env(int32_t rank) const {
  return memory ? envs[size_t(rank)].get() : nullptr;
}

void FlightRecorder::opened(int32_t rank, weft_group_t *group) {
  if (memory)
    of(rank).group = group;
}

void FlightRecorder::closing(int32_t rank, const weft_error_t *error) {
  if (!memory || !of(rank).group)
    return;
  weft_group_dump(of(rank).group, ended[size_t(rank)], error ? error->message : "it ended",
                  nullptr);
  of(rank).hasEnded = true;
}

Result<bool> FlightRecorder::writeRank(int32_t rank, const char *reason) {
  std::string path = historyPath(folder, rank), partial = path + ".partial";
  int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return Failure{ExitInputRefused, refused(partial), {}, {}};
  bool isGood = true;
  if (of(rank).hasEnded) {
    char text[4096];
    off_t at = 0;
    for (ssize_t count; (count = pread(ended[size_t(rank)], text, sizeof text, at)) > 0;
         at += count)
      isGood = isGood && ::write(file, text, size_t(count)) == count;
  } else if (weft_group_t *group = of(rank).group) {
    isGood = weft_group_dump(group, file, reason, nullptr) == WEFT_OK;
  } else { // it has not come so far
    close(file);
    unlink(partial.c_str());
    return false;
  }
  isGood = close(file) == 0 && isGood;
  if (isGood && rename(partial.c_str(), path.c_str()) == 0)
    return true;
  Failure failure{ExitInputRefused, refused(path), {}, {}};
  unlink(partial.c_str());
  return failure;
}

Result<int> FlightRecorder::write(const char *reason) {
  int count = 0;
  for (int32_t rank = 0; memory && rank < world; ++rank) {
    Result<bool> written = writeRank(rank, reason);
    if (!written)
      return written.failure();
    count += *written;
  }
  return count;
}

void FlightRecorder::watchSignal() {
  if (!memory)
    return;
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, &maskBefore);
  watcher = std::thread([this, mask] {
    for (int number; sigwait(&mask, &number) == 0 && !of(0).isOver;)
      write("SIGUSR1");
  });
}

} // namespace weft::cli
