#include <catch2/catch.hpp>

#if defined(__x86_64__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/src/cpu/cpu_features.h"

TEST_CASE("a name nobody knows is missing") {
  REQUIRE_FALSE(weft_cpu_has(""));
  REQUIRE_FALSE(weft_cpu_has("avx1024"));
  REQUIRE_FALSE(weft_cpu_has("AVX2"));
}

TEST_CASE("hints name a target of this machine's family") {
#if defined(__x86_64__)
  CHECK(std::string(weft_cpu_target()).find("x86:v") == 0);
  CHECK((std::string(weft_cpu_target()) == "x86:v4") == weft_cpu_has("avx512vl"));
#else
  std::string target = weft_cpu_target();
  CHECK(target.find("arm:") == 0);
  CHECK((target == "arm:v8") == (!weft_cpu_has("dotprod") && !weft_cpu_has("sve-512-bits")));
  CHECK((target == "arm:sve256") == weft_cpu_has("sve-256-bits"));
#endif
}

#if defined(__aarch64__)
TEST_CASE("vectors have one length at most, and none without SVE") {
  int lengths = 0;
  for (const char *length : {"sve-128-bits", "sve-256-bits", "sve-512-bits"})
    lengths += weft_cpu_has(length);
  CHECK(lengths <= (weft_cpu_has("sve") ? 1 : 0));
  CHECK_FALSE(weft_cpu_has("sve-384-bits"));
}
#endif

#if defined(__x86_64__)
/// What the kernel found, which includes what it enabled.
static std::set<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 5, "flags") != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;)
      flags.insert(word);
    break;
  }
  return flags;
}

TEST_CASE("features agree with the kernel") {
  std::set<std::string> flags = kernel_flags();
  if (flags.empty())
    return;
  static const std::pair<const char *, const char *> names[] = {
      {"sse4.2", "sse4_2"},
      {"popcnt", "popcnt"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"f16c", "f16c"},
      {"bmi", "bmi1"},
      {"bmi2", "bmi2"},
      {"lzcnt", "abm"},
      {"movbe", "movbe"},
      {"avx512f", "avx512f"},
      {"avx512bw", "avx512bw"},
      {"avx512cd", "avx512cd"},
      {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512vbmi", "avx512vbmi"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512ifma", "avx512ifma"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avxvnni", "avx_vnni"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"amx-tile", "amx_tile"},
      {"amx-int8", "amx_int8"},
      {"amx-bf16", "amx_bf16"}};
  for (auto [own, kernel] : names) {
    INFO(own);
    CHECK(weft_cpu_has(own) == (flags.count(kernel) == 1));
  }
}

/// From here on the kernel answers a wish for registers with `error`, or with success when it is 0, without looking at it.
static bool answer_wishes(int error) {
  const uint32_t ask_for_registers = 0x1023;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ask_for_registers, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | uint32_t(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// What a process says in which the kernel answers so: 0 or 1, or more when it cannot be tested.
static int permits(const char *name, int error) {
  pid_t child = fork();
  if (child == 0)
    _exit(answer_wishes(error) ? weft_cpu_permits(name) : 2);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("the kernel is asked for registers of tiles, and what it answers holds") {
  if (permits("avx2", EPERM) == 2)
    return; // no filters here
  CHECK(permits("amx-tile", 0) == 1);
  for (int error : {EPERM, EINVAL, ENOSPC})
    CHECK(permits("amx-tile", error) == 0);
  for (const char *free : {"avx2", "avx512f", "amx-int8", "avx1024"}) // nobody is asked for these
    CHECK(permits(free, EPERM) == 1);
}
#endif
