#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>

#include "runtime/src/cpu/cpu_features.h"
#include "runtime/src/open/module.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

static const bytes &good_file() {
  static const bytes file = make_sample().seal();
  return file;
}

static weft_env_t verifying() {
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.verify = 1;
  return env;
}

static std::string open_error(const char *path, weft_status_t expected) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = (weft_module_t *)1;
  REQUIRE(weft_module_open(nullptr, path, &module, &err) == expected);
  REQUIRE(module == nullptr);
  REQUIRE(err.status == expected);
  return std::string(err.code) + " " + err.message;
}

TEST_CASE("a module opens from a path, and its weights are where the file says") {
  const char *path = "module_test_sample.weft";
  std::ofstream(path, std::ios::binary)
      .write((const char *)good_file().data(), std::streamsize(good_file().size()));
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  REQUIRE(weft_module_open(nullptr, path, &module, &err) == WEFT_OK);
  REQUIRE(std::remove(path) == 0); // the mapping outlives the name
  REQUIRE(((const float *)module->weights.data)[511] == 511.0f);
  REQUIRE(uintptr_t(module->weights.data) % (2 << 20) == 0);
  REQUIRE(weft_module_verify(module, &err) == WEFT_OK);
  weft_module_release(module);
}

TEST_CASE("what is not an artifact is refused with its name") {
  REQUIRE(open_error("no/such/file.weft", WEFT_NOT_FOUND) ==
          "W0508 no/such/file.weft: cannot be opened: No such file or directory");
  REQUIRE(open_error(".", WEFT_BAD_ARTIFACT) == "W0501 .: is not a regular file");
  const char *pipe = "module_test_pipe";
  std::remove(pipe);
  REQUIRE(mkfifo(pipe, 0600) == 0);
  REQUIRE(open_error(pipe, WEFT_BAD_ARTIFACT) == "W0501 module_test_pipe: is not a regular file");
  std::remove(pipe);
  REQUIRE(open_error("/proc/self/exe", WEFT_BAD_ARTIFACT) ==
          "W0501 /proc/self/exe: is an ELF file, but not a Weft artifact");
}

TEST_CASE("arguments are checked") {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module;
  REQUIRE(weft_module_open(nullptr, nullptr, &module, &err) == WEFT_INVALID);
  REQUIRE(weft_module_open(nullptr, "x", nullptr, &err) == WEFT_INVALID);
  REQUIRE(weft_module_open_fd(nullptr, -1, &module, &err) == WEFT_IO);
  REQUIRE(weft_module_verify(nullptr, &err) == WEFT_INVALID);
  weft_module_release(nullptr);
  weft_env_t env = {};
  REQUIRE(opened(good_file(), &env).status == WEFT_INVALID); // struct_size
  env.struct_size = sizeof env;
  REQUIRE(opened(good_file(), &env).status == WEFT_OK);
  env.verify = 2;
  REQUIRE(opened(good_file(), &env).status == WEFT_INVALID);
  env.verify = 0;
  env.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  opened half(good_file(), &env);
  REQUIRE(text_of(half.err) == "W0401 env.allocate and env.release must be given together");
  env.release = [](void *, void *, size_t) {};
  REQUIRE(opened(good_file(), &env).status == WEFT_OUT_OF_MEMORY);
}

TEST_CASE("no flipped byte outside the weights goes unnoticed") {
  const bytes &file = good_file();
  weft_file_v1 note = read_note(file);
  uint64_t tail = note.weights_begin + note.weights_size;
  std::mt19937 random(1);
  int fd = open_bytes(file);
  for (int round = 0; round < 2000; ++round) {
    uint64_t at; // the header, the image and the tail more often than the padding
    switch (round % 4) {
    case 0:
      at = random() % 4096;
      break;
    case 1:
      at = random() % note.image_size;
      break;
    case 2:
      at = tail + random() % (file.size() - tail);
      break;
    default:
      at = random() % note.weights_begin;
    }
    uint8_t flipped = file[at] ^ uint8_t(1u << random() % 8);
    REQUIRE(pwrite(fd, &flipped, 1, off_t(at)) == 1);
    weft_error_t err = WEFT_ERROR_INIT;
    weft_module_t *module = nullptr;
    INFO("byte " << at);
    REQUIRE(weft_module_open_fd(nullptr, fd, &module, &err) != WEFT_OK);
    REQUIRE(std::string(err.message).find("artifact: ") == 0);
    REQUIRE(pwrite(fd, &file[at], 1, off_t(at)) == 1);
  }
  close(fd);
  REQUIRE(opened(file).status == WEFT_OK);
}

TEST_CASE("no truncation goes unnoticed") {
  const bytes &file = good_file();
  std::mt19937 random(2);
  int fd = open_bytes(file);
  for (int round = 0; round < 500; ++round) {
    size_t size = round < 100 ? size_t(round) * 50 : random() % file.size();
    REQUIRE(ftruncate(fd, off_t(size)) == 0);
    weft_error_t err = WEFT_ERROR_INIT;
    weft_module_t *module = nullptr;
    REQUIRE(weft_module_open_fd(nullptr, fd, &module, &err) == WEFT_BAD_ARTIFACT);
    size_t lost = file.size() - size;
    REQUIRE(pwrite(fd, file.data() + size, lost, off_t(size)) == ssize_t(lost));
  }
  close(fd);
}

TEST_CASE("damaged weights are found when asked") {
  sample s = make_sample();
  s.weights.resize((4 << 20) * 2 + 100); // three leaves
  bytes file = s.seal();
  weft_file_v1 note = read_note(file);
  REQUIRE(note.leaf_count == 3);
  weft_env_t verify = verifying();
  REQUIRE(opened(file, &verify).status == WEFT_OK);
  std::mt19937 random(3);
  for (uint64_t at : {uint64_t(0), uint64_t(2047), uint64_t(4 << 20), note.weights_size - 1,
                      uint64_t(random() % note.weights_size)}) {
    file[note.weights_begin + at] ^= 1;
    opened trusting(file), verified(file, &verify);
    REQUIRE(trusting.status == WEFT_OK);
    REQUIRE(weft_module_verify(trusting.module, &trusting.err) == WEFT_BAD_ARTIFACT);
    REQUIRE(verified.status == WEFT_BAD_ARTIFACT);
    if (at < 2048)
      REQUIRE(std::string(verified.err.message) ==
              "artifact: has damaged weights: piece 1 of 3 (around 'w') has another SHA-256 than "
              "was written into it");
    file[note.weights_begin + at] ^= 1;
  }
}

TEST_CASE("a machine without a feature is told which") {
  sample s = make_sample();
  s.description.cpu_features = {"avx1024"};
  opened o(s.seal());
  REQUIRE(o.status == WEFT_UNSUPPORTED);
  REQUIRE(text_of(o.err) ==
          "W0502 artifact: is compiled for 'x86:v1' and needs the CPU feature 'avx1024', which "
          "this machine does not have | compile the model for this machine: weft compile … "
          "--target " +
              std::string(weft_cpu_target()));
}

TEST_CASE("what cannot run here can be described, and does not run") {
  sample s = make_sample();
  s.description.cpu_features = {"avx1024"};
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.describe = 1;
  opened o(s.seal(), &env);
  INFO(text_of(o.err));
  REQUIRE(o.status == WEFT_OK);
  weft_variant_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(weft_variant_info(o.module, 0, &info) == WEFT_OK);
  CHECK(std::string(info.missing) == "avx1024");
  CHECK(info.is_chosen);
  weft_context_t *context = nullptr;
  CHECK(weft_context_create(o.module, nullptr, &context, &o.err) == WEFT_INVALID);
  CHECK(std::string(o.err.message) == "the module was opened with env.describe, so it cannot run");
  CHECK(!context);
  env.describe = 2;
  opened wrong(s.seal(), &env);
  CHECK(wrong.status == WEFT_INVALID);
  CHECK(std::string(wrong.err.message) == "env.describe is 2, but 0 and 1 are possible");
}

/// A sample for three targets, of which this machine can run the last two.
static sample three_targets() {
  sample s = make_sample();
  s.description.target = "x86:v9";
  s.description.cpu_features = {"avx1024"};
  for (const char *target : {"x86:v2", "x86:v1"}) {
    module other = s.description;
    other.target = target;
    other.cpu_features.clear();
    s.others.push_back(other);
  }
  s.others[1].functions.resize(1);
  return s;
}

TEST_CASE("the first variant that the machine can run is chosen") {
  opened o(three_targets().seal());
  REQUIRE(o.status == WEFT_OK);
  REQUIRE(weft_variant_count(o.module) == 3);
  weft_module_info_t module = {};
  module.struct_size = sizeof module;
  REQUIRE(weft_module_info(o.module, &module) == WEFT_OK);
  REQUIRE(std::string(module.target) == "x86:v2");
  REQUIRE(module.functions == 6);
  weft_variant_info_t info = {};
  REQUIRE(weft_variant_info(o.module, 0, &info) == WEFT_INVALID); // struct_size
  info.struct_size = sizeof info;
  REQUIRE(weft_variant_info(o.module, 3, &info) == WEFT_INVALID);
  REQUIRE(weft_variant_info(o.module, 0, &info) == WEFT_OK);
  REQUIRE(std::string(info.target) == "x86:v9");
  REQUIRE(std::string(info.missing) == "avx1024");
  REQUIRE(info.features == 1);
  REQUIRE(!info.is_chosen);
  REQUIRE(std::string(weft_variant_feature(o.module, 0, 0)) == "avx1024");
  REQUIRE(weft_variant_feature(o.module, 0, 1) == nullptr);
  REQUIRE(weft_variant_feature(o.module, 3, 0) == nullptr);
  REQUIRE(weft_variant_info(o.module, 1, &info) == WEFT_OK);
  REQUIRE(info.missing == nullptr);
  REQUIRE(info.is_chosen);
  running r(o);
  main_call call(2, 5);
  REQUIRE(call.call(r) == WEFT_OK);
  REQUIRE(call.is_right());
}

TEST_CASE("a variant can be asked for by its target") {
  bytes file = three_targets().seal();
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.target = "x86:v1";
  opened last(file, &env);
  REQUIRE(last.status == WEFT_OK);
  REQUIRE(weft_function_find(last.module, "who") == -1); // it has one function only
  env.target = "x86:v9";
  opened lacking(file, &env);
  REQUIRE(text_of(lacking.err)
              .find("W0502 artifact: is compiled for 'x86:v9' and needs the CPU "
                    "feature 'avx1024', which this machine does not have") == 0);
  env.target = "x86:v3";
  opened none(file, &env);
  REQUIRE(none.status == WEFT_INVALID);
  REQUIRE(text_of(none.err) == "W0511 artifact: is not compiled for 'x86:v3', but for 'x86:v9', "
                               "'x86:v2', 'x86:v1'");
  env.struct_size = offsetof(weft_env_t, target); // a caller of the first version
  REQUIRE(opened(file, &env).status == WEFT_OK);
}

TEST_CASE("a machine that can run no variant is told what each needs") {
  sample s = three_targets();
  s.others[0].cpu_features = {"avx512000"};
  s.others[1].cpu_features = {"sse9"};
  opened o(s.seal());
  REQUIRE(o.status == WEFT_UNSUPPORTED);
  REQUIRE(text_of(o.err).find("W0502 artifact: is compiled for 'x86:v9' (needs 'avx1024'), "
                              "'x86:v2' (needs 'avx512000'), 'x86:v1' (needs 'sse9'); this "
                              "process can use none of these features | ") == 0);
}

namespace {
/// The CPU of a machine that may have tiles, and whose system may refuse them.
struct tile_device {
  weft_device_t *cpu = nullptr;
  const weft_device_v1 *calls;
  weft_device_v1 answering;
  static inline const weft_device_v1 *all;
  static inline bool has, permits;
  static inline int wishes;

  tile_device(bool has_tiles, bool permits_tiles) {
    REQUIRE(weft_cpu_open(nullptr, &cpu, nullptr) == WEFT_OK);
    all = calls = cpu->calls, answering = *calls;
    answering.property = answer;
    cpu->calls = &answering;
    has = has_tiles, permits = permits_tiles, wishes = 0;
  }
  ~tile_device() {
    cpu->calls = calls;
    calls->close(cpu);
  }
  weft_env_t env() const {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.device = cpu;
    return env;
  }
  static weft_status_t answer(weft_device_t *device, const char *name, int64_t *out_value) {
    std::string asked = name;
    if (asked == "feature.amx-tile" || asked == "feature.amx-bf16")
      return *out_value = has, WEFT_OK;
    if (asked == "permission.amx-tile")
      return ++wishes, *out_value = permits, WEFT_OK;
    return all->property(device, name, out_value);
  }
};
} // namespace

/// A sample for a level with tiles and, when it is to run everywhere, for one without.
static sample with_tiles(bool everywhere) {
  sample s = make_sample();
  s.description.target = "x86:v9+tiles";
  s.description.cpu_features = {"amx-bf16", "amx-tile"};
  if (everywhere) {
    module other = s.description;
    other.target = "x86:v1";
    other.cpu_features.clear();
    s.others.push_back(other);
  }
  return s;
}

/// The variant that a machine chooses, as its row says.
static weft_variant_info_t chosen(const opened &o, uint32_t index) {
  weft_variant_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(weft_variant_info(o.module, index, &info) == WEFT_OK);
  REQUIRE(info.is_chosen);
  return info;
}

TEST_CASE(
    "a variant with tiles is chosen where the machine has them and the system lets them be used") {
  tile_device device(true, true);
  weft_env_t env = device.env();
  opened o(with_tiles(true).seal(), &env);
  REQUIRE(o.status == WEFT_OK);
  REQUIRE(tile_device::wishes == 1);
  weft_variant_info_t info = chosen(o, 0);
  REQUIRE(info.missing == nullptr);
  REQUIRE(!info.is_refused);
}

TEST_CASE(
    "where the system refuses tiles the next variant is chosen, and the row of the first says so") {
  tile_device device(true, false);
  weft_env_t env = device.env();
  opened o(with_tiles(true).seal(), &env);
  REQUIRE(o.status == WEFT_OK);
  chosen(o, 1);
  weft_variant_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(weft_variant_info(o.module, 0, &info) == WEFT_OK);
  REQUIRE(std::string(info.missing) == "amx-tile");
  REQUIRE(info.is_refused);
  info.struct_size = offsetof(weft_variant_info_t, is_refused); // a caller of the first version
  info.is_refused = 7;
  REQUIRE(weft_variant_info(o.module, 0, &info) == WEFT_OK);
  REQUIRE(info.is_refused == 7);
}

TEST_CASE("where the machine has no tiles, or another variant is wanted, the system is not asked") {
  tile_device without(false, true);
  weft_env_t env = without.env();
  opened o(with_tiles(true).seal(), &env);
  REQUIRE(o.status == WEFT_OK);
  chosen(o, 1);
  REQUIRE(tile_device::wishes == 0);
  tile_device with(true, true);
  env = with.env();
  env.target = "x86:v1";
  REQUIRE(opened(with_tiles(true).seal(), &env).status == WEFT_OK);
  REQUIRE(tile_device::wishes == 0);
}

TEST_CASE("an artifact that cannot do without tiles says who lacks them, and what to compile for") {
  tile_device refusing(true, false);
  weft_env_t env = refusing.env();
  opened refused(with_tiles(false).seal(), &env);
  REQUIRE(refused.status == WEFT_UNSUPPORTED);
  REQUIRE(text_of(refused.err) ==
          "W0512 artifact: is compiled for 'x86:v9+tiles' and needs the CPU feature 'amx-tile', "
          "which the system does not let this process use | compile the model without it: weft "
          "compile … --target " +
              std::string(weft_cpu_target_without_asking()));
  tile_device without(false, false);
  env = without.env();
  opened lacking(with_tiles(false).seal(), &env);
  REQUIRE(text_of(lacking.err) ==
          "W0502 artifact: is compiled for 'x86:v9+tiles' and needs the CPU feature 'amx-bf16', "
          "which this machine does not have | compile the model for this machine: weft compile … "
          "--target " +
              std::string(weft_cpu_target()));
}

TEST_CASE("the number of variants is checked") {
  for (uint32_t count : {0u, 17u, UINT32_MAX}) {
    bytes file = good_file();
    weft_file_v1 note = read_note(file);
    note.variants = count;
    write_note(file, note);
    reseal(file);
    opened o(file);
    REQUIRE(text_of(o.err).find("W0504 artifact: has " + std::to_string(count) +
                                " variants instead of 1 to 16") == 0);
  }
}

TEST_CASE("a file of format 1.0 has one variant, whatever follows its note") {
  bytes file = good_file();
  weft_file_v1 note = read_note(file);
  note.abi_minor = 0;
  note.struct_size = offsetof(weft_file_v1, variants);
  note.variants = 77;
  write_note(file, note);
  reseal(file);
  opened o(file);
  INFO(text_of(o.err));
  REQUIRE(o.status == WEFT_OK);
  REQUIRE(weft_variant_count(o.module) == 1);
}

TEST_CASE("code that needs a longer host table is refused") {
  sample s = make_sample();
  s.description.host_table_size += 8;
  opened o(s.seal());
  REQUIRE(o.status == WEFT_UNSUPPORTED);
  REQUIRE(std::string(o.err.message) ==
          "artifact: needs 120 bytes of host table, but this runtime has 112");
}

TEST_CASE("a damaged descriptor is refused with its place") {
  sample s = make_sample();
  s.description.functions[0].inputs[0].element = 99;
  opened o(s.seal());
  REQUIRE(o.status == WEFT_BAD_ARTIFACT);
  REQUIRE(text_of(o.err) == "W0507 artifact: has a damaged descriptor: function 'main': inputs: "
                            "element type 99 is not known | copy the file again or compile the "
                            "model again");
}

TEST_CASE("artifacts without weights or without a manifest are fine") {
  sample s = make_sample();
  s.weights.clear();
  s.description.weights.clear();
  REQUIRE(opened(s.seal()).status == WEFT_OK);
  s.manifest.clear();
  opened o(s.seal());
  REQUIRE(o.status == WEFT_OK);
  REQUIRE(weft_module_verify(o.module, &o.err) == WEFT_OK);
}

/// The permissions of the mapping that holds `address`.
static std::string permissions(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin, end;
    char rights[5];
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) == 3 &&
        uintptr_t(address) >= begin && uintptr_t(address) < end)
      return rights;
  }
  return "";
}

TEST_CASE("nothing of an artifact is writable, only code is executable") {
  opened o(good_file());
  weft_function_v1 f = {};
  REQUIRE(weft_module_function(o.module, 0, &f));
  REQUIRE(permissions(o.module->descriptor.base + f.run) == "r-xp");
  REQUIRE(permissions(o.module->descriptor.base) == "r--p");
  REQUIRE(permissions(o.module->weights.data) == "r--p");
}

TEST_CASE("releasing a module unmaps all of it") {
  auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    int count = 0;
    while (std::getline(maps, line))
      count += line.find("memfd:artifact") != std::string::npos;
    return count;
  };
  {
    opened o(good_file());
    REQUIRE(mappings() > 0);
  }
  REQUIRE(mappings() == 0);
  bytes damaged = good_file();
  damaged[damaged.size() - 1] ^= 1;
  REQUIRE(opened(damaged).status == WEFT_BAD_ARTIFACT);
  REQUIRE(mappings() == 0);
}

TEST_CASE("opening 90 MB takes milliseconds") {
  sample s = make_sample();
  s.weights.resize(88 << 20);
  int fd = open_bytes(s.seal());
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    auto begin = std::chrono::steady_clock::now();
    weft_module_t *module = nullptr;
    REQUIRE(weft_module_open_fd(nullptr, fd, &module, nullptr) == WEFT_OK);
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    weft_module_release(module);
    best = std::min(best, time.count());
  }
  close(fd);
  WARN("opened in " << best << " ms");
#if !defined(__SANITIZE_ADDRESS__)
  REQUIRE(best < 20);
#endif
}
