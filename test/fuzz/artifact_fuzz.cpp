// The loader on damaged artifacts; ArtifactInput.h says what the bytes of an input mean. What opens is asked everything a query can ask;
// its code is not run.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "test/fuzz/ArtifactInput.h"
#include "test/fuzz/Target.h"
#include "test/runtime/artifact_builder.h"

using namespace weft_test;
using namespace weft::fuzz;

static const bytes &good_file() {
  static const bytes file = [] {
    sample s = make_sample();
    s.weights.clear(); // keeps the file small; weights are not parsed
    s.description.weights.clear();
    s.others = {s.description, s.description}; // more variants, which are checked and not chosen
    s.others[0].target = "x86:v0";
    s.others[1].target = "cuda:sm_80";
    s.others[1].cpu_features = {"sm_80"};
    s.others[1].device_code = ".version 8.0";
    for (kernel &each : s.others[1].kernels)
      each.block_threads = 256;
    return s.seal();
  }();
  return file;
}

/// Whether the note still is one, and no edit has written its name in front of it.
static bool has_note(const bytes &file) {
  static const char name[] = {'W', 'E', 'F', 'T', 0, 0, 0, 0};
  auto at = std::search(file.begin(), file.end(), name, name + sizeof name);
  return file.size() == good_file().size() &&
         size_t(at - file.begin()) + sizeof name == note_position(good_file());
}

/// Writes the hash again. Without weights it covers the whole file, whatever the note claims.
static void hash(bytes &file) {
  if (!has_note(file))
    return;
  uint64_t position = note_position(good_file());
  weft_file_v1 note;
  std::memcpy(&note, &file[position], sizeof note);
  note.weights_begin = note.weights_size = note.leaf_count = 0;
  std::memcpy(&file[position], &note, sizeof note);
  reseal(file);
}

/// A good file with another descriptor.
static bytes with_descriptor(const uint8_t *data, size_t size) {
  static const uint64_t place = make_sample().code.offset_of(read_note(good_file()).descriptor);
  bytes file = good_file();
  weft_file_v1 note = read_note(file);
  note.variants = data[0];
  note.descriptor_size = std::min<size_t>(size - 1, 32768);
  write_note(file, note);
  std::memcpy(&file[place], data + 1, note.descriptor_size);
  hash(file);
  return file;
}

static void edit(bytes &file, const uint8_t *data, size_t size) {
  for (; size >= kEditBytes; data += kEditBytes, size -= kEditBytes) {
    uint64_t position = (data[0] | data[1] << 8 | data[2] << 16) % file.size();
    size_t width = std::min<size_t>({size_t(data[3]), 8, file.size() - position});
    std::memcpy(&file[position], data + 4, width);
  }
}

static bytes file_of(const uint8_t *data, size_t size) {
  if (data[0] == WholeFile)
    return bytes(data + 1, data + size);
  if (data[0] == Descriptor && size > 1)
    return with_descriptor(data + 1, size - 1);
  bytes file = good_file();
  edit(file, data + 1, size - 1);
  if (data[0] == HashedEdits)
    hash(file);
  return file;
}

static void ask_function(const weft_module_t *module, int32_t f) {
  weft_function_info_t info = {};
  info.struct_size = sizeof info;
  if (weft_function_info(module, f, &info))
    std::abort();
  char text[256];
  for (uint32_t i = 0; i < info.checks; ++i)
    weft_check_text(module, f, i, text, sizeof text);
  for (uint32_t i = 0; i < info.facts; ++i)
    if (!weft_fact_text(module, f, i))
      std::abort();
  weft_argument_info_t argument = {};
  argument.struct_size = sizeof argument;
  for (uint32_t i = 0; i < info.inputs + info.outputs; ++i)
    if (weft_argument_info(module, f, i, &argument))
      std::abort();
  weft_positions_info_t positions = {};
  positions.struct_size = sizeof positions;
  for (uint32_t i = 0; weft_positions_info(module, f, i, &positions) == WEFT_OK; ++i)
    if (positions.input >= info.inputs || !positions.below)
      std::abort();
  weft_in_place_info_t pair = {};
  pair.struct_size = sizeof pair;
  for (uint32_t i = 0; weft_in_place_info(module, f, i, &pair) == WEFT_OK; ++i)
    if (pair.input >= info.inputs || pair.output >= info.outputs || pair.symbol >= info.symbols)
      std::abort();
  std::vector<int64_t> symbols;
  weft_symbol_info_t symbol = {};
  symbol.struct_size = sizeof symbol;
  for (uint32_t i = 0; i < info.symbols; ++i) {
    weft_symbol_info(module, f, i, &symbol);
    symbols.push_back(symbol.min);
  }
  weft_cost_t cost = {};
  cost.struct_size = sizeof cost;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_query_cost(module, f, symbols.data(), &cost, &err);
}

static void ask_variants(const weft_module_t *module) {
  weft_variant_info_t variant = {};
  variant.struct_size = sizeof variant;
  unsigned chosen = 0;
  for (uint32_t i = 0; i < weft_variant_count(module); ++i) {
    if (weft_variant_info(module, i, &variant))
      std::abort();
    chosen += variant.is_chosen;
    if (!variant.ranks)
      std::abort();
    for (uint32_t f = 0; f < variant.features; ++f)
      if (!weft_variant_feature(module, i, f))
        std::abort();
  }
  if (chosen != 1)
    std::abort();
}

static void ask(weft_module_t *module) {
  weft_module_info_t info = {};
  info.struct_size = sizeof info;
  weft_module_info(module, &info);
  ask_variants(module);
  for (uint32_t f = 0; f < info.functions; ++f)
    ask_function(module, int32_t(f));
  weft_kernel_info_t kernel = {};
  kernel.struct_size = sizeof kernel;
  for (uint32_t k = 0; k < info.kernels; ++k) {
    weft_kernel_info(module, k, &kernel);
    for (uint32_t n = 0; n < kernel.nodes; ++n)
      if (!weft_kernel_node(module, k, n))
        std::abort();
  }
  const char *text;
  size_t size;
  weft_module_text(module, "manifest", &text, &size);
  weft_context_t *context;
  if (weft_context_create(module, nullptr, &context, nullptr) == WEFT_OK)
    weft_context_release(context);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  bytes file = file_of(data, size);
  int fd = open_bytes(file);
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.verify = 1;
  env.ranks = uint32_t(size % 5); // 0 and what seeds are for
  weft_status_t status = weft_module_open_fd(&env, fd, &module, &err);
  close(fd);
  if (status ? module != nullptr || !err.message[0] : module == nullptr)
    std::abort();
  if (module) {
    ++accepted;
    ask(module);
  }
  weft_module_release(module);
  return 0;
}

const Format &weft::fuzz::targetFormat() { return artifactFormat(); }

/// Writes what is there already, at every number of the file's headers and of the note.
static std::string edits_of_headers(uint8_t mode) {
  const bytes &file = good_file();
  std::string seed(1, char(mode));
  auto keep = [&](uint64_t position, unsigned width) {
    std::string value(file.begin() + long(position), file.begin() + long(position + width));
    seed += fixedBytes(position, 3) + fixedBytes(width, 1) + value + std::string(8 - width, '\0');
  };
  for (uint64_t at : {16, 18, 52, 54, 56, 58, 60, 62}) // Elf64_Ehdr
    keep(at, 2);
  for (uint64_t at : {20, 24, 32, 40, 48})
    keep(at, at == 20 || at == 48 ? 4 : 8);
  for (uint64_t header = 64; header + 56 <= 64 + 56 * fixedNumber({(const char *)&file[56], 2});
       header += 56)
    for (uint64_t at : {0, 4, 8, 16, 24, 32, 40, 48}) // Elf64_Phdr
      keep(header + at, at < 8 ? 4 : 8);
  uint64_t note = note_position(file);
  for (uint64_t at = 0; at < sizeof(weft_file_v1); at += 4)
    keep(note + at, at >= 16 && at % 8 == 0 ? 8 : 4);
  return seed;
}

static std::string descriptor_of(const sample &s) {
  std::vector<module> variants = {s.description};
  variants.insert(variants.end(), s.others.begin(), s.others.end());
  bytes descriptor = encode(variants, s.code);
  return std::string(1, char(Descriptor)) + char(variants.size()) +
         std::string(descriptor.begin(), descriptor.end());
}

/// The corpus has inputs of any kind.
std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  std::vector<std::string> seeds = corpus;
  seeds.push_back(edits_of_headers(HashedEdits));
  seeds.push_back(edits_of_headers(Edits));
  sample s = make_sample();
  s.description.weights.clear();
  s.description.functions.push_back(make_grow());
  seeds.push_back(descriptor_of(s));
  for (const function &f : s.description.functions) {
    sample one = s;
    one.description.functions = {f};
    seeds.push_back(descriptor_of(one));
  }
  s.others = {s.description};
  s.others[0].target = "x86:v0";
  seeds.push_back(descriptor_of(s));
  make_ranked(s.description);
  seeds.push_back(descriptor_of(s));
  s.others[0].target = s.description.target; // for one rank, or four or two
  seeds.push_back(descriptor_of(s));
  make_ranked(s.others[0], 1, 2);
  seeds.push_back(descriptor_of(s));
  const bytes &file = good_file(); // its start, which is refused
  seeds.push_back(
      std::string(1, char(WholeFile)) +
      std::string(file.begin(), file.begin() + std::min<long>(16384, long(file.size()))));
  return seeds;
}
