#include "test/runtime/artifact_builder.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "weft/device.h"
#include "weft/sha256.h"

namespace weft_test {

[[noreturn]] static void give_up(const char *reason) {
  std::fprintf(stderr, "artifact_builder: %s\n", reason);
  std::abort();
}

static void add_number(bytes &code, uint64_t value) {
  for (; value > 0x7F; value >>= 7)
    code.push_back(uint8_t(value) | 0x80);
  code.push_back(uint8_t(value));
}

formula constant(int64_t value) {
  formula f{{WEFT_CODE_CONST}, std::to_string(value)};
  add_number(f.code, uint64_t(value) << 1 ^ uint64_t(value >> 63));
  return f;
}

formula symbol(uint32_t index, const std::string &name) {
  formula f{{WEFT_CODE_SYMBOL}, name};
  add_number(f.code, index);
  return f;
}

static formula combine(const formula &a, const formula &b, uint8_t operation, const char *sign) {
  formula f{a.code, a.text + sign + b.text};
  f.code.insert(f.code.end(), b.code.begin(), b.code.end());
  f.code.push_back(operation);
  return f;
}

formula operator+(const formula &a, const formula &b) {
  return combine(a, b, WEFT_CODE_ADD, " + ");
}

formula operator*(const formula &a, const formula &b) { return combine(a, b, WEFT_CODE_MUL, "*"); }

uint64_t image::address_of(const std::string &name) const {
  Elf64_Ehdr header;
  std::memcpy(&header, data.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    std::memcpy(&table, &data[header.e_shoff + i * sizeof table], sizeof table);
    if (table.sh_type != SHT_DYNSYM)
      continue;
    std::memcpy(&strings, &data[header.e_shoff + table.sh_link * sizeof strings], sizeof strings);
    for (uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym entry;
      std::memcpy(&entry, &data[table.sh_offset + at], sizeof entry);
      if (name == (const char *)&data[strings.sh_offset + entry.st_name])
        return entry.st_value;
    }
  }
  give_up(("no symbol " + name).c_str());
}

uint64_t image::offset_of(uint64_t address) const {
  Elf64_Ehdr header;
  std::memcpy(&header, data.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, &data[header.e_phoff + i * sizeof segment], sizeof segment);
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address < segment.p_vaddr + segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  }
  give_up("address outside the image");
}

image load_sample_image() {
  std::FILE *file = std::fopen(WEFT_SAMPLE_IMAGE, "rb");
  if (!file)
    give_up("cannot open " WEFT_SAMPLE_IMAGE);
  image result;
  uint8_t buffer[65536];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, file))
    result.data.insert(result.data.end(), buffer, buffer + got);
  std::fclose(file);
  return result;
}

namespace {
/// Appends pieces to a descriptor; the roots come first and are written last.
struct encoder {
  explicit encoder(size_t variants) : out(variants * sizeof(weft_module_v1)) {}
  bytes out;
  weft_list_t mesh = {}, groups = {}; ///< of the variant

  void set_mesh(const module &m) {
    std::vector<weft_axis_v1> axes;
    for (const axis &a : m.mesh)
      axes.push_back({text(a.name), a.size});
    mesh = list(axes);
    std::vector<weft_axes_v1> rows;
    for (const std::vector<uint32_t> &along : m.groups)
      rows.push_back({list(along)});
    groups = list(rows);
  }

  template <class T> weft_list_t list(const std::vector<T> &items) {
    while (out.size() % 8)
      out.push_back(0);
    weft_list_t result = {uint32_t(out.size()), uint32_t(items.size()), uint32_t(sizeof(T))};
    const uint8_t *data = reinterpret_cast<const uint8_t *>(items.data());
    out.insert(out.end(), data, data + items.size() * sizeof(T));
    return result;
  }
  weft_list_t text(const std::string &value) {
    weft_list_t result = {uint32_t(out.size()), uint32_t(value.size()), 1};
    out.insert(out.end(), value.begin(), value.end());
    out.push_back(0);
    return result;
  }
  weft_list_t texts(const std::vector<std::string> &values) {
    std::vector<weft_list_t> rows;
    for (const std::string &value : values)
      rows.push_back(text(value));
    return list(rows);
  }
  weft_formula_v1 code(const formula &f) { return {list(f.code), text(f.text)}; }

  weft_list_t arguments(const std::vector<argument> &items) {
    std::vector<weft_argument_v1> rows;
    for (const argument &a : items) {
      std::vector<weft_formula_v1> dims;
      for (const formula &dim : a.dims)
        dims.push_back(code(dim));
      weft_list_t name = text(a.name);
      rows.push_back({name, a.element, uint16_t(a.dims.size()), a.flags, list(dims)});
    }
    return list(rows);
  }
  weft_list_t symbols(const std::vector<symbol_row> &items) {
    std::vector<weft_symbol_v1> rows;
    for (const symbol_row &s : items) {
      weft_symbol_v1 row = {};
      row.name = text(s.name);
      row.min = s.min, row.max = s.max, row.multiple = s.multiple;
      row.bound_by_input = s.input, row.bound_by_dim = s.dim;
      rows.push_back(row);
    }
    return list(rows);
  }
  weft_list_t checks(const std::vector<check_row> &items) {
    std::vector<weft_check_v1> rows;
    for (const check_row &c : items) {
      weft_formula_v1 expected = code(c.expected);
      weft_list_t fact = text(c.fact), node = text(c.node);
      rows.push_back({c.kind, c.input, c.dim, c.symbol, expected, fact, node});
    }
    return list(rows);
  }
  weft_function_v1 encode_function(const function &f, const image &code_image, uint64_t base) {
    weft_function_v1 row = {};
    row.name = text(f.name);
    row.inputs = arguments(f.inputs);
    row.outputs = arguments(f.outputs);
    row.symbols = symbols(f.symbols);
    row.facts = texts(f.facts);
    row.checks = checks(f.checks);
    row.bind = int32_t(code_image.address_of(f.code + "_bind") - base);
    row.run = int32_t(code_image.address_of(f.code + "_run") - base);
    row.arena = code(f.arena);
    row.scratch_per_worker = code(f.scratch);
    row.flops = code(f.flops);
    row.bytes_moved = code(f.bytes_moved);
    std::vector<weft_late_block_v1> blocks;
    for (const late_block &block : f.late_blocks)
      blocks.push_back({code(block.size), block.flags});
    row.late_blocks = list(blocks);
    std::vector<weft_region_v1> regions;
    for (const std::vector<uint32_t> &region : f.regions)
      regions.push_back({list(region)});
    row.regions = list(regions);
    row.in_place = list(f.in_place);
    if (!f.rank_symbols.empty()) {
      row.mesh = mesh;
      row.groups = groups;
    }
    row.rank_symbols = list(f.rank_symbols);
    row.exchanges = list(f.exchanges);
    std::vector<weft_traffic_v1> traffic;
    for (const formula &sent : f.traffic)
      traffic.push_back({text("tp"), code(sent), code(sent)});
    row.traffic = list(traffic);
    row.weights_read = code(f.weights_read);
    return row;
  }
  weft_list_t weights(const std::vector<weight> &items) {
    std::vector<weft_weight_v1> rows;
    for (const weight &w : items) {
      weft_weight_v1 row = {};
      row.name = text(w.name);
      row.layout = text(w.layout);
      row.element = w.element;
      row.rank = uint16_t(w.dims.size());
      row.dims = list(w.dims);
      row.offset = w.offset, row.bytes = w.size;
      rows.push_back(row);
    }
    return list(rows);
  }
};
} // namespace

static void encode_variant(encoder &e, const module &m, const image &code, size_t index) {
  uint64_t base = code.address_of("weft_descriptor");
  weft_module_v1 root = {};
  root.name = e.text(m.name);
  root.producer = e.text(m.producer);
  root.target = e.text(m.target);
  e.set_mesh(m);
  std::vector<weft_function_v1> functions;
  for (const function &f : m.functions)
    functions.push_back(e.encode_function(f, code, base));
  root.functions = e.list(functions);
  std::vector<weft_kernel_v1> kernels;
  for (const kernel &k : m.kernels) {
    weft_list_t name = e.text(k.name);
    weft_list_t nodes = e.texts(k.nodes);
    weft_formula_v1 flops = e.code(k.flops);
    weft_formula_v1 moved = e.code(k.bytes_moved);
    kernels.push_back(
        {name, nodes, {0}, k.calls, k.pointers, k.symbols, 0, flops, moved, k.block_threads, 0});
  }
  root.kernels = e.list(kernels);
  root.weights = e.weights(m.weights);
  root.cpu_features = e.texts(m.cpu_features);
  root.host_table_size = m.host_table_size;
  root.device_code = e.text(m.device_code);
  root.device_code_kind = m.device_code.empty() ? 0 : WEFT_CODE_PTX;
  std::memcpy(&e.out[index * sizeof root], &root, sizeof root);
}

bytes encode(const std::vector<module> &variants, const image &code) {
  encoder e(variants.size());
  for (size_t i = 0; i < variants.size(); ++i)
    encode_variant(e, variants[i], code, i);
  return e.out;
}

uint64_t note_position(const bytes &file) {
  static const uint8_t name[] = {'W', 'E', 'F', 'T', 0, 0, 0, 0};
  for (uint64_t at = 0; at + 8 + sizeof(weft_file_v1) <= file.size() && at < 4096; at += 4)
    if (std::memcmp(&file[at], name, sizeof name) == 0)
      return at + 8;
  give_up("no note");
}

weft_file_v1 read_note(const bytes &file) {
  weft_file_v1 note;
  std::memcpy(&note, &file[note_position(file)], sizeof note);
  return note;
}

void write_note(bytes &file, const weft_file_v1 &note) {
  std::memcpy(&file[note_position(file)], &note, sizeof note);
}

void reseal(bytes &file) {
  weft_file_v1 note = read_note(file);
  for (uint64_t i = 0; i < note.leaf_count; ++i) {
    uint64_t begin = i << WEFT_LEAF_LOG2, left = note.weights_size - begin;
    uint64_t size = left < (1u << WEFT_LEAF_LOG2) ? left : (1u << WEFT_LEAF_LOG2);
    weft_sha256(&file[note.weights_begin + begin], size, &file[note.leaves_begin + 32 * i]);
  }
  std::memset(note.hash, 0, sizeof note.hash);
  write_note(file, note);
  weft_sha256_t hash;
  weft_sha256_init(&hash);
  uint64_t weights_end = note.weights_begin + note.weights_size;
  weft_sha256_update(&hash, file.data(), note.weights_begin);
  weft_sha256_update(&hash, file.data() + weights_end, file.size() - weights_end);
  weft_sha256_final(&hash, note.hash);
  write_note(file, note);
}

bytes sample::seal() const {
  std::vector<module> variants = {description};
  variants.insert(variants.end(), others.begin(), others.end());
  bytes descriptor = encode(variants, code);
  if (descriptor.size() > 32768)
    give_up("the descriptor is larger than its place in sample_code.c");
  bytes file = code.data;
  uint64_t base = code.address_of("weft_descriptor");
  std::memcpy(&file[code.offset_of(base)], descriptor.data(), descriptor.size());

  weft_file_v1 note = {};
  note.abi_major = WEFT_ABI_MAJOR;
  note.abi_minor = WEFT_ABI_MINOR;
  note.struct_size = sizeof note;
  note.image_size = file.size();
  note.descriptor = base;
  note.descriptor_size = descriptor.size();
  note.variants = uint32_t(variants.size());
  note.variant_step = sizeof(weft_module_v1);
  if (!weights.empty()) {
    const uint64_t huge = 2 << 20;
    note.weights_begin = (file.size() + huge - 1) / huge * huge;
    note.weights_size = weights.size();
    file.resize(note.weights_begin);
    file.insert(file.end(), weights.begin(), weights.end());
    note.leaves_begin = file.size();
    note.leaf_count = (weights.size() + (1u << WEFT_LEAF_LOG2) - 1) >> WEFT_LEAF_LOG2;
    file.resize(file.size() + 32 * note.leaf_count);
  }
  note.manifest_begin = file.size();
  note.manifest_size = manifest.size();
  file.insert(file.end(), manifest.begin(), manifest.end());
  note.file_size = file.size();
  write_note(file, note);
  reseal(file);
  return file;
}

function make_grow() {
  formula b = symbol(0, "b"), p = symbol(1, "p"), s = symbol(2, "s"), two = constant(2);
  function f;
  f.name = f.code = "grow";
  f.inputs = {{"past", WEFT_F32, {b, p, two}, WEFT_ARGUMENT_IN_PLACE},
              {"rows", WEFT_F32, {b, s, two}}};
  f.outputs = {{"present", WEFT_F32, {b, p + s, two}, WEFT_ARGUMENT_IN_PLACE},
               {"twice", WEFT_F32, {b}}};
  f.symbols = {{"b", 0, INT32_MAX, 1, 0, 0},
               {"p", 0, INT32_MAX, 1, 0, 1},
               {"s", 0, INT32_MAX, 1, 1, 1},
               {"room", 0, INT32_MAX, 1, UINT32_MAX, UINT32_MAX}};
  f.checks = {{WEFT_CHECK_DIM, 1, 0, 0, b, "", ""}, {WEFT_CHECK_ROOM, 0, 1, 3, p + s, "", ""}};
  f.arena = f.scratch = f.flops = f.bytes_moved = constant(0);
  f.in_place = {{0, 0, 1, 3}};
  return f;
}

void make_ranked(module &m) { make_ranked(m, 2, 2); }

void make_ranked(module &m, uint32_t dp, uint32_t tp) {
  m.mesh = {{"dp", dp}, {"tp", tp}};
  m.groups = {{1}, {1, 0}};
  m.functions[0].rank_symbols = {UINT32_MAX, 1};
  m.functions[0].exchanges = {{{}, WEFT_ALL_REDUCE, WEFT_F32, WEFT_SUM, 0, 0, 1}};
  m.functions[0].traffic = {symbol(0, "b")};
  m.functions[0].weights_read = constant(4096);
}

static function make_main() {
  formula b = symbol(0, "b"), s = symbol(1, "seq"), four = constant(4);
  function f;
  f.name = f.code = "main";
  f.inputs = {{"ids", WEFT_F32, {b, s}}, {"mask", WEFT_F32, {b, s}}};
  f.outputs = {{"y", WEFT_F32, {b, s}}, {"total", WEFT_F32, {b}}};
  f.symbols = {{"b", 0, 100000, 1, 0, 0}, {"seq", 1, 512, 1, 0, 1}};
  f.facts = {"0 <= b <= 100000", "1 <= seq <= 512"};
  f.checks = {{WEFT_CHECK_MAX, 0, 0, 0, {}, "", ""},
              {WEFT_CHECK_MIN, 0, 0, 1, {}, "", ""},
              {WEFT_CHECK_MAX, 0, 0, 1, {}, "", "/embeddings/position"},
              {WEFT_CHECK_DIM, 1, 0, 0, b, "", ""},
              {WEFT_CHECK_DIM, 1, 1, 1, s, "", ""}};
  f.arena = four * b * s;
  f.scratch = four * s;
  f.flops = constant(3) * b * s;
  f.bytes_moved = constant(12) * b * s;
  return f;
}

static function make_halve() {
  formula n = symbol(0, "n"), m = symbol(1, "m"), two = constant(2);
  function f;
  f.name = f.code = "halve";
  f.inputs = {{"x", WEFT_I32, {two * n}},
              {"z", WEFT_I32, {n + m}},
              {"c", WEFT_I32, {constant(4)}},
              {"long", WEFT_I32, {n + two * m}}};
  f.outputs = {{"y", WEFT_I32, {n}}};
  f.symbols = {{"n", 0, 1000, 2, 0, 0}, {"m", 0, 1000, 1, 1, 0}};
  f.facts = {"n + m <= 100"};
  f.checks = {{WEFT_CHECK_SOLVE, 0, 0, 0, two * n, "", ""},
              {WEFT_CHECK_MULTIPLE, 0, 0, 0, {}, "", ""},
              {WEFT_CHECK_MAX, 0, 0, 0, {}, "", ""},
              {WEFT_CHECK_MIN, 0, 0, 1, {}, "", ""},
              {WEFT_CHECK_DIM, 2, 0, 0, constant(4), "", ""},
              {WEFT_CHECK_FACT, 0, 0, 0, {}, "n + m <= 100", "/attention"},
              {WEFT_CHECK_SIZE, 0, 0, 0, {}, "", ""},
              {WEFT_CHECK_DIM, 3, 0, 0, n + two * m, "", ""}};
  return f;
}

static function make_spin() {
  function f;
  f.name = f.code = "spin";
  f.inputs = {{"steps", WEFT_I64, {}}};
  f.outputs = {{"ran", WEFT_I64, {}}};
  f.arena = constant(64);
  return f;
}

static function make_who() {
  formula n = symbol(0, "n");
  function f;
  f.name = f.code = "who";
  f.inputs = {{"seed", WEFT_I64, {n}}};
  f.outputs = {{"worker", WEFT_I64, {n}}};
  f.symbols = {{"n", 0, 1 << 30, 1, 0, 0}};
  return f;
}

static function make_unpaired() {
  function f;
  f.name = f.code = "unpaired";
  f.inputs = {{"way", WEFT_I64, {}}};
  f.outputs = {{"done", WEFT_I64, {}}};
  return f;
}

static function make_beside() {
  formula k = symbol(0, "k");
  function f;
  f.name = f.code = "beside";
  f.inputs = {{"units", WEFT_I64, {k}}, {"grain", WEFT_I64, {k}}, {"work", WEFT_I64, {k}}};
  f.outputs = {{"worker", WEFT_I64, {k, constant(64)}}};
  f.symbols = {{"k", 1, 8, 1, 0, 0}};
  f.regions = {{4, 4}, {4, 3, 4}, {4, 4}};
  return f;
}

sample make_sample() {
  sample s;
  s.code = load_sample_image();
  s.description = {
      "sample",
      "weft test",
      "x86:v1",
      {make_main(), make_halve(), make_spin(), make_who(), make_beside(), make_unpaired()},
      {{"multiply", {"/mul", "/mask"}, 1, 3, 1, symbol(0, "s") * constant(3)},
       {"add_and_sum", {"/add"}, 1},
       {"burn", {}, 1},
       {"note_worker", {}, 1},
       {"note_part", {}, 3, 1}},
      {{"w", "rows", WEFT_F32, {512}, 0, 2048}},
      {},
      sizeof(weft_host_v1)};
  std::vector<float> w(512);
  for (int j = 0; j < 512; ++j)
    w[j] = float(j);
  s.weights.resize(2048);
  std::memcpy(s.weights.data(), w.data(), 2048);
  s.manifest = "{\"producer\": \"weft test\"}";
  return s;
}

int open_bytes(const bytes &file) {
  int fd = memfd_create("artifact", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < file.size()) {
    ssize_t wrote = write(fd, file.data() + done, file.size() - done);
    if (wrote <= 0)
      give_up("cannot write");
    done += size_t(wrote);
  }
  if (fd < 0)
    give_up("no memfd");
  return fd;
}

} // namespace weft_test
