// The loader on damaged artifacts. The first byte of an input says what the rest is:
//   0      a whole file
//   other  edits of a good artifact, 4 bytes each: position (3 bytes), value; bit 1 writes the hash
//   again
//          so that what lies behind it is reached, bit 2 puts positions into the descriptor
// What opens is asked everything a query can ask; its code is not run.
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "test/runtime/artifact_builder.h"

using namespace weft_test;

static const bytes &good_file() {
  static const bytes file = [] {
    sample s = make_sample();
    s.weights.clear(); // keeps the file small; weights are not parsed
    s.description.weights.clear();
    s.others = {s.description}; // a second variant, which is checked and not chosen
    s.others[0].target = "x86:v0";
    return s.seal();
  }();
  return file;
}

/// Applies the edits, and writes the hash again when `mode` says so.
static void edit(bytes &file, const uint8_t *data, size_t size, uint8_t mode) {
  weft_file_v1 note = read_note(file);
  uint64_t base = 0, span = file.size();
  if (mode & 2) {
    base = make_sample().code.offset_of(note.descriptor);
    span = note.descriptor_size;
  }
  for (; size >= 4; data += 4, size -= 4) {
    uint64_t position = data[0] | data[1] << 8 | data[2] << 16;
    file[base + position % span] = data[3];
  }
  if (!(mode & 1))
    return;
  // Without weights the hash covers the whole file, whatever the note now claims.
  uint64_t position = note_position(good_file());
  if (std::memcmp(&file[position - 8], &good_file()[position - 8], 8) != 0)
    return;
  std::memcpy(&note, &file[position], sizeof note);
  note.weights_begin = note.weights_size = note.leaf_count = 0;
  std::memcpy(&file[position], &note, sizeof note);
  reseal(file);
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
  bytes file;
  if (data[0] == 0) {
    file.assign(data + 1, data + size);
  } else {
    file = good_file();
    edit(file, data + 1, size - 1, data[0]);
  }
  int fd = open_bytes(file);
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.verify = 1;
  weft_status_t status = weft_module_open_fd(&env, fd, &module, &err);
  close(fd);
  if (status ? module != nullptr || !err.message[0] : module == nullptr)
    std::abort();
  if (module)
    ask(module);
  weft_module_release(module);
  return 0;
}

extern "C" size_t weft_fuzz_seed(unsigned index, uint8_t *out, size_t size) {
  if (index == 0) { // the start of a good file, without its end
    size_t part = size < 16384 ? size : 16384;
    out[0] = 0;
    std::memcpy(out + 1, good_file().data(), part - 1);
    return part;
  }
  if (index > 12)
    return 0;
  out[0] = uint8_t(index % 3 + 1);
  for (unsigned i = 0; i < 4 * index; ++i)
    out[1 + i] = uint8_t(i * 37 + index);
  return 1 + 4 * index;
}
