#include "runtime/src/cpu/cpu_features.h"

#include <stdint.h>
#include <string.h>

namespace {
/// A target of the compiler, and what tells a processor that runs it from those that run the next one only.
struct target_row {
  const char *name, *feature;
};
} // namespace

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
enum cpuid_register : uint8_t { EAX, EBX, ECX, EDX };

/// What the operating system must save for a feature, as bits of XCR0.
enum : uint32_t {
  XCR0_NONE = 0,
  XCR0_AVX = 0x6,
  XCR0_AVX512 = 0xE6,
  XCR0_AMX = 0x60000,
};

/// Without pointers, which the loader would have to relocate.
struct feature_row {
  char name[16];
  uint32_t leaf;
  uint8_t subleaf;
  cpuid_register where;
  uint8_t bit;
  uint32_t xcr0;
};
} // namespace

static const feature_row features[] = {
    {"sse4.2", 1, 0, ECX, 20, XCR0_NONE},
    {"popcnt", 1, 0, ECX, 23, XCR0_NONE},
    {"movbe", 1, 0, ECX, 22, XCR0_NONE},
    {"avx", 1, 0, ECX, 28, XCR0_AVX},
    {"fma", 1, 0, ECX, 12, XCR0_AVX},
    {"f16c", 1, 0, ECX, 29, XCR0_AVX},
    {"avx2", 7, 0, EBX, 5, XCR0_AVX},
    {"bmi", 7, 0, EBX, 3, XCR0_NONE},
    {"bmi2", 7, 0, EBX, 8, XCR0_NONE},
    {"lzcnt", 0x80000001, 0, ECX, 5, XCR0_NONE},
    {"avxvnni", 7, 1, EAX, 4, XCR0_AVX},
    {"avx512f", 7, 0, EBX, 16, XCR0_AVX512},
    {"avx512dq", 7, 0, EBX, 17, XCR0_AVX512},
    {"avx512ifma", 7, 0, EBX, 21, XCR0_AVX512},
    {"avx512cd", 7, 0, EBX, 28, XCR0_AVX512},
    {"avx512bw", 7, 0, EBX, 30, XCR0_AVX512},
    {"avx512vl", 7, 0, EBX, 31, XCR0_AVX512},
    {"avx512vbmi", 7, 0, ECX, 1, XCR0_AVX512},
    {"avx512vbmi2", 7, 0, ECX, 6, XCR0_AVX512},
    {"avx512vnni", 7, 0, ECX, 11, XCR0_AVX512},
    {"avx512bitalg", 7, 0, ECX, 12, XCR0_AVX512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, XCR0_AVX512},
    {"avx512fp16", 7, 0, EDX, 23, XCR0_AVX512},
    {"avx512bf16", 7, 1, EAX, 5, XCR0_AVX512},
    {"amx-bf16", 7, 0, EDX, 22, XCR0_AMX},
    {"amx-tile", 7, 0, EDX, 24, XCR0_AMX},
    {"amx-int8", 7, 0, EDX, 25, XCR0_AMX},
};

/// The register sets the operating system saves; 0 when it does not say.
static uint64_t read_xcr0() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27))) // OSXSAVE
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

bool weft_cpu_has(const char *name) {
  for (const feature_row &row : features) {
    if (strcmp(row.name, name) != 0)
      continue;
    uint32_t r[4];
    if (!__get_cpuid_count(row.leaf, row.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
      return false;
    return (r[row.where] >> row.bit & 1) && (read_xcr0() & row.xcr0) == row.xcr0;
  }
  return false;
}

/// Of the Linux ABI: arch_prctl's request for registers that are given on demand, and the number of tiles.
static const long ask_for_registers = 0x1023, tile_registers = 18;

bool weft_cpu_permits(const char *name) {
  return strcmp(name, "amx-tile") != 0 ||
         syscall(SYS_arch_prctl, ask_for_registers, tile_registers) == 0;
}

const char *weft_cpu_target_without_asking() { return "x86:v4"; }

static const target_row targets[] = {
    {"x86:v4", "avx512vl"}, {"x86:v3", "avx2"}, {"x86:v2", nullptr}};

#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>

namespace {
struct feature_row {
  const char *name;
  unsigned long hwcap, hwcap2;
};

/// Code for registers of one length gives other numbers with others, longer ones too.
struct length_row {
  const char *name;
  int bits;
};
} // namespace

/// Bits of AT_HWCAP and AT_HWCAP2 as the Linux ABI fixes them.
static const feature_row features[] = {
    {"fp", 1ul << 0, 0},    {"neon", 1ul << 1, 0},     {"crc", 1ul << 7, 0},
    {"lse", 1ul << 8, 0},   {"fullfp16", 3ul << 9, 0}, {"dotprod", 1ul << 20, 0},
    {"sve", 1ul << 22, 0},  {"sve2", 0, 1ul << 1},     {"i8mm", 0, 1ul << 13},
    {"bf16", 0, 1ul << 14},
};

static const length_row lengths[] = {
    {"sve-128-bits", 128}, {"sve-256-bits", 256}, {"sve-512-bits", 512}};

/// Of the Linux ABI: prctl's question for the length of this thread's vectors, which new threads get, too; its answer has bytes in front.
static const int ask_for_length = 51, length_bytes = 0xffff;

static bool has_length(int bits) {
  int answer = prctl(ask_for_length);
  return answer > 0 && (answer & length_bytes) * 8 == bits;
}

bool weft_cpu_has(const char *name) {
  for (const length_row &row : lengths)
    if (strcmp(row.name, name) == 0)
      return has_length(row.bits);
  for (const feature_row &row : features)
    if (strcmp(row.name, name) == 0)
      return (getauxval(AT_HWCAP) & row.hwcap) == row.hwcap &&
             (getauxval(AT_HWCAP2) & row.hwcap2) == row.hwcap2;
  return false;
}

bool weft_cpu_permits(const char *) { return true; }

const char *weft_cpu_target_without_asking() { return "arm:v8"; }

// What has vectors of 256 bits has I8MM, too.
static const target_row targets[] = {
    {"arm:sve512", "sve-512-bits"}, {"arm:sve256", "sve-256-bits"}, {"arm:v9", "sve2"},
    {"arm:v8.6", "i8mm"},           {"arm:v8.2", "dotprod"},        {"arm:v8", nullptr}};

#else
#error "the runtime supports x86-64 and aarch64"
#endif

const char *weft_cpu_target() {
  const target_row *row = targets;
  while (row->feature && !weft_cpu_has(row->feature))
    ++row;
  return row->name;
}
