// The ONNX backend test suite, compiled: every case in a process of its own.
//
//   onnx_suite_test FOLDER [--shard I/N] [--only TEXT] [--not-yet FILE] [--results FILE]
//
// FOLDER is what tools/onnx-suite prints; TEXT is a part of a case's name. Prints a line per case that does not pass and a
// summary. With --not-yet it fails when a case that is not listed does not pass, or a listed one does; without, it only
// reports. Wrong numbers, crashes, time-outs and unclear refusals fail in any case. FILE gets NAME<TAB>STATUS<TAB>MESSAGE lines.
#include "test/onnx_suite/RunCase.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::suite;

constexpr int kSeconds = 60; ///< for one case

struct Options {
  std::string folder, only, notYet, results;
  unsigned shard = 0, shards = 1;
};

[[noreturn]] static void quit(const std::string &why) {
  fprintf(stderr, "error: %s\n", why.c_str());
  exit(2);
}

static Options readOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    std::string *text = word == "--only"      ? &options.only
                        : word == "--not-yet" ? &options.notYet
                        : word == "--results" ? &options.results
                                              : nullptr;
    if (word == "--shard" && i + 1 < argc) {
      if (sscanf(argv[++i], "%u/%u", &options.shard, &options.shards) != 2 ||
          options.shard >= options.shards)
        quit("'--shard' needs I/N with I < N");
    } else if (text && i + 1 < argc) {
      *text = argv[++i];
    } else if (word[0] != '-' && options.folder.empty()) {
      options.folder = word;
    } else {
      quit("'" + word + "' is not understood");
    }
  }
  if (options.folder.empty())
    quit("name the folder that tools/onnx-suite prints");
  return options;
}

/// All manifests below the folder, in the order of their names.
static std::vector<Case> readCases(const std::string &folder) {
  std::vector<std::string> versions;
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    quit(folder + ": " + strerror(errno));
  while (dirent *entry = readdir(directory))
    if (std::string path = folder + "/" + entry->d_name + "/manifest.txt";
        entry->d_name[0] != '.' && access(path.c_str(), R_OK) == 0)
      versions.push_back(path);
  closedir(directory);
  std::sort(versions.begin(), versions.end());
  std::vector<Case> cases;
  for (const std::string &path : versions)
    if (std::string why = readManifest(path, cases); !why.empty())
      quit(why);
  return cases;
}

/// The child's status and message through the pipe, until it closes or time is up.
static bool readAll(int pipe, std::string &text) {
  timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    long left = (kSeconds - (now.tv_sec - begin.tv_sec)) * 1000;
    pollfd wait = {pipe, POLLIN, 0};
    if (left <= 0 || poll(&wait, 1, int(left)) == 0)
      return false;
    char buffer[4096];
    ssize_t size = read(pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return true;
    text.append(buffer, size_t(size));
  }
}

static void writeAll(int pipe, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t size = write(pipe, text.data() + done, text.size() - done);
    if (size <= 0)
      return;
    done += size_t(size);
  }
}

/// Forks before anything of the compiler has run, so that no thread is lost.
static Outcome runApart(const Case &each, const std::string &scratch) {
  int pipes[2];
  if (pipe(pipes) != 0)
    quit(std::string("no pipe: ") + strerror(errno));
  fflush(stdout);
  pid_t child = fork();
  if (child < 0)
    quit(std::string("no process: ") + strerror(errno));
  if (child == 0) {
    close(pipes[0]);
    Outcome outcome = runCase(each, scratch);
    writeAll(pipes[1], outcome.status + "\t" + outcome.message);
    _exit(0);
  }
  close(pipes[1]);
  std::string text;
  bool inTime = readAll(pipes[0], text);
  close(pipes[0]);
  if (!inTime)
    kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  unlink(scratch.c_str());
  if (!inTime)
    return {"timeout", "more than " + std::to_string(kSeconds) + " s"};
  size_t tab = text.find('\t');
  if (WIFSIGNALED(status) || tab == std::string::npos)
    return {"crashed", WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                           : "exit code " + std::to_string(WEXITSTATUS(status))};
  return {text.substr(0, tab), text.substr(tab + 1)};
}

static bool passes(const Outcome &outcome) {
  return outcome.status == "pass" || outcome.status == "pass-constant";
}

/// Why the outcome fails the test, or nothing.
static std::string judge(const Outcome &outcome, bool listed, bool haveList) {
  if (passes(outcome))
    return listed ? "passes; remove it from not-yet.txt" : "";
  if (outcome.status != "refused")
    return outcome.status;
  return haveList && !listed ? "refused, and not listed in not-yet.txt" : "";
}

int main(int argc, char **argv) {
  Options options = readOptions(argc, argv);
  std::vector<Case> cases = readCases(options.folder);
  std::map<std::string, std::string> notYet;
  if (!options.notYet.empty())
    if (std::string why = readNotYet(options.notYet, notYet); !why.empty())
      quit(why);
  for (const auto &[name, reason] : notYet)
    if (std::none_of(cases.begin(), cases.end(),
                     [&, &name = name](const Case &each) { return each.name == name; }))
      quit(options.notYet + ": there is no case '" + name + "'");
  char scratch[] = "onnx-suite-XXXXXX";
  if (!mkdtemp(scratch))
    quit(std::string("no folder for artifacts: ") + strerror(errno));
  std::string results;
  std::map<std::string, unsigned> counts;
  unsigned position = 0, ran = 0, failed = 0;
  for (const Case &each : cases) {
    if (each.name.find(options.only) == std::string::npos ||
        position++ % options.shards != options.shard)
      continue;
    Outcome outcome = runApart(each, std::string(scratch) + "/model.weft");
    ++ran;
    ++counts[outcome.status];
    results += each.name + "\t" + outcome.status + "\t" + outcome.message + "\n";
    std::string why = judge(outcome, notYet.count(each.name), !options.notYet.empty());
    failed += !why.empty();
    if (!passes(outcome) || !why.empty())
      printf("%s%s: %s%s%s\n", why.empty() ? "" : "FAILED ", each.name.c_str(),
             why.empty() ? outcome.status.c_str() : why.c_str(),
             outcome.message.empty() ? "" : ": ", outcome.message.c_str());
  }
  rmdir(scratch);
  if (!options.results.empty() && !(std::ofstream(options.results) << results))
    quit(options.results + ": cannot be written");
  printf("%u cases:", ran);
  for (const auto &[status, count] : counts)
    printf(" %u %s", count, status.c_str());
  printf("; %u against expectations\n", failed);
  return ran == 0 || failed ? 1 : 0;
}
