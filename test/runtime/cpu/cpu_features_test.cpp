#include <catch2/catch.hpp>

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
#endif
