// Builds artifacts for tests, independently of the compiler: a descriptor from plain structs,
// written into an image made of sample_code.c, sealed with weights, manifest and hash.
//
//   sample s = make_sample();              // the module, its weights and its image
//   bytes file = s.seal();
//   int fd = open_bytes(file);             // for weft_module_open_fd
//
// Hostile variants change the module, or the sealed bytes followed by reseal().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/artifact.h"

namespace weft_test {

using bytes = std::vector<uint8_t>;

struct formula {
  bytes code;
  std::string text;
};
formula constant(int64_t value);
formula symbol(uint32_t index, const std::string &name);
formula operator+(const formula &a, const formula &b);
formula operator*(const formula &a, const formula &b);

struct argument {
  std::string name;
  uint16_t element;
  std::vector<formula> dims;
  uint32_t flags = 0;
};
struct symbol_row {
  std::string name;
  int64_t min, max, multiple;
  uint32_t input, dim;
};
struct check_row {
  uint32_t kind, input, dim, symbol;
  formula expected;
  std::string fact, node;
};
struct late_block {
  formula size;
  uint32_t flags;
};
struct function {
  std::string name;
  std::vector<argument> inputs, outputs;
  std::vector<symbol_row> symbols;
  std::vector<std::string> facts;
  std::vector<check_row> checks;
  std::string code; ///< prefix of its bind and run in sample_code.c
  formula arena, scratch, flops, bytes_moved;
  std::vector<late_block> late_blocks = {};
  std::vector<std::vector<uint32_t>> regions = {}; ///< rows of kernels
  std::vector<weft_in_place_v1> in_place = {};
  std::vector<uint32_t> rank_symbols =
      {}; ///< of each axis; a function that has them has the module's mesh
  std::vector<weft_exchange_v1> exchanges = {}; ///< without nodes
  std::vector<formula> traffic = {};            ///< bytes
  formula weights_read = {};
};
struct axis {
  std::string name;
  uint32_t size;
};
struct kernel {
  std::string name;
  std::vector<std::string> nodes;
  uint32_t calls, pointers = 0, symbols = 0;
  formula flops = {}, bytes_moved = {}; ///< over the words behind the pointers
  uint32_t block_threads = 0;           ///< on a device
};
struct weight {
  std::string name, layout;
  uint16_t element;
  std::vector<int64_t> dims;
  uint64_t offset, size;
};
struct module {
  std::string name, producer, target;
  std::vector<function> functions;
  std::vector<kernel> kernels;
  std::vector<weight> weights;
  std::vector<std::string> cpu_features;
  uint64_t host_table_size;
  std::vector<axis> mesh = {};
  std::vector<std::vector<uint32_t>> groups = {}; ///< axes
  std::string device_code = {};
};

/// grow(past f32[b, p, 2], rows f32[b, s, 2]) -> present f32[b, p + s, 2] in place, twice(f32[b]): not part of the sample.
function make_grow();

/// Makes the first function one for four ranks, which do one thing together.
void make_ranked(module &m);
/// The same for as many ranks as the two axes have.
void make_ranked(module &m, uint32_t dp, uint32_t tp);

/// The ELF image that the build made of sample_code.c.
struct image {
  bytes data;
  uint64_t address_of(const std::string &symbol) const;
  uint64_t offset_of(uint64_t address) const; ///< file offset of a mapped address
};
image load_sample_image();

/// The descriptor of these variants as it must lie at `weft_descriptor` of `code`.
bytes encode(const std::vector<module> &variants, const image &code);
inline bytes encode(const module &m, const image &code) {
  return encode(std::vector<module>{m}, code);
}

struct sample {
  module description;
  std::vector<module> others = {}; ///< variants behind it
  image code;
  bytes weights;
  std::string manifest;

  bytes seal() const;
};
/// All functions of sample_code.c, 512 floats of weights (w[j] = j), a short manifest.
sample make_sample();

/// File position of the note's content.
uint64_t note_position(const bytes &file);
weft_file_v1 read_note(const bytes &file);
void write_note(bytes &file, const weft_file_v1 &note);
/// Writes leaves and hash again, so that only what a test changed is wrong.
void reseal(bytes &file);

/// A file with these bytes that exists as long as it is open.
int open_bytes(const bytes &file);

} // namespace weft_test
