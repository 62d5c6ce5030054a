/* A plug-in of qemu-user that counts what a program for 64-bit ARM executes: by kind, and by block
 * of one artifact's code.
 *
 *   cc -O2 -shared -fPIC -o instructions.so instructions.c
 *   qemu-aarch64 -plugin ./instructions.so,out=c.json[,artifact=model.weft][,vector=16] PROGRAM
 *
 * writes {"kinds": {"integer": 12, …}, "loaded": bytes, "stored": bytes,
 *         "blocks": [[place in the file, instructions, bytes loaded, bytes stored], …]}.
 *
 * `vector` is the length of scalable vectors in bytes. What they load and store is counted as if no
 * lane were masked.
 *
 * A program that asks for the group of process 0x77656674 ("weft"), which there is not, marks a
 * place in time: what lies between the last two marks is written then, else all of it.
 *
 * Counters are added to once per block of translated code, without locks: for programs of one
 * thread. Debian's emulator has the interface of plug-ins (version 1), but its header is in no
 * package: what is used of it is declared here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { ADD_INLINE = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id,
                                                              struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation,
                                              void *counter, uint64_t by);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
/* The emulator gives seven more arguments, which a C function may leave where they are. */
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
                                          void (*called)(qemu_plugin_id_t id, unsigned processor,
                                                         int64_t number, uint64_t first));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *),
                                    void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* What was counted until now, and until the last mark but one and the last. */
struct counter {
  uint64_t count, before, marked;
};

/* The first row whose bits are those of the instruction is its kind. The last five take what has no
 * name, by its group of encodings. */
struct kind {
  const char *name;
  uint32_t mask, bits;
  struct counter executed;
};
static struct kind kinds[] = {
    {"multiply-add by vector", 0xBFA0FC00, 0x0E20CC00},
    {"multiply-add by lane", 0xBF80F400, 0x0F801000},
    {"multiply-add of scalars", 0xFF208000, 0x1F000000},
    {"multiply", 0xBFA0FC00, 0x2E20DC00},
    {"add", 0xBFA0FC00, 0x0E20D400},
    {"dot product by vector", 0x9F20FC00, 0x0E009400},
    {"dot product by vector", 0x9F20FC00, 0x2E009400},
    {"dot product by vector", 0xBFE0FC00, 0x0E809C00},
    {"dot product by lane", 0x9F00F400, 0x0F00E000},
    {"dot product by lane", 0x9F00F400, 0x2F00E000},
    {"dot product by lane", 0xBF40F400, 0x0F00F000},
    {"matrix product", 0xDFE0FC00, 0x4E80A400},
    {"matrix product", 0xFFE0FC00, 0x4E80AC00},
    {"matrix product", 0xFFE0FC00, 0x6E40EC00},
    {"pair product", 0xFFE0FC00, 0x6E40FC00},
    {"pair product", 0xFFC0F400, 0x4F40F000},
    {"widening multiply", 0x9F20FC00, 0x0E20C000},
    {"widening multiply", 0xBF00F400, 0x0F00A000},
    {"widening multiply-add", 0x9F20FC00, 0x0E208000},
    {"widening multiply-add", 0xBF00F400, 0x0F002000},
    {"load vector", 0x3FC00000, 0x3DC00000},
    {"load two vectors", 0xFE400000, 0xAC400000},
    {"load vectors", 0xBF400000, 0x0C400000},
    {"load into all lanes", 0xBF40F000, 0x0D40C000},
    {"store vector", 0x3FC00000, 0x3D800000},
    {"store two vectors", 0xFE400000, 0xAC000000},
    {"multiply-add of scalable vectors by lane", 0xFFA0FC00, 0x64A00000},
    {"multiply-add of scalable vectors", 0xFF206000, 0x65200000},
    {"dot product of scalable vectors", 0xFFE0F800, 0x44A00000},
    {"dot product of scalable vectors", 0xFFE0F800, 0x44A01800},
    {"dot product of scalable vectors", 0xFFE0F800, 0x44800000},
    {"dot product of scalable vectors", 0xFFE0FC00, 0x44807800},
    {"matrix product of scalable vectors", 0xFF20FC00, 0x45009800},
    {"pair product of scalable vectors", 0xFFE0FC00, 0x64604000},
    {"store scalable vector", 0xFE000000, 0xE4000000},
    {"load scalable vector", 0x9E000000, 0x84000000},
    {"other of vectors", 0x0E000000, 0x0E000000},
    {"other of scalable vectors", 0x1E000000, 0x04000000},
    {"other load or store", 0x0A000000, 0x08000000},
    {"branch", 0x1C000000, 0x14000000},
    {"integer", 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static char out_path[512], artifact_path[512];
static struct counter loaded, stored;
static bool is_marked;
static uint64_t vector_bytes = 16;

/* Code of the artifact: where it lies in the file, how often it was executed, and of how many
 * instructions it is and what it stores and loads each time. */
enum { MOST_BLOCKS = 1 << 17 };
static struct block {
  uint64_t place, instructions, moved[2];
  struct counter executed;
} blocks[MOST_BLOCKS];
static size_t block_count;

static int kind_of(uint32_t instruction) {
  int kind = 0;
  while ((instruction & kinds[kind].mask) != kinds[kind].bits)
    ++kind;
  return kind;
}

/* Of ld1 to ld4 and their stores: whole registers, or one lane of each. */
static uint64_t bytes_of_structure(uint32_t instruction) {
  static const unsigned char registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
  unsigned size = instruction >> 10 & 3, quad = instruction >> 30 & 1;
  if (!(instruction >> 24 & 1))
    return registers[instruction >> 12 & 15] * (quad ? 16u : 8u);
  unsigned scale = instruction >> 14 & 3, pair = instruction >> 13 & 1;
  unsigned count = (pair << 1 | (instruction >> 21 & 1)) + 1;
  return count << (scale == 3 ? size : scale == 2 && size & 1 ? 3 : scale);
}

/* By the type in bits 24 to 21 of SVE's loads into lanes: log2 of an element's bytes in memory, and
 * how often as long its lane is. */
static const unsigned char element_bits[16] = {0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 2, 2, 0, 0, 0, 3},
                           lane_bits[16] = {0, 1, 2, 3, 1, 0, 1, 2, 2, 1, 0, 1, 3, 2, 1, 0};

/* `form` is what bits 15 to 13 say, `size` log2 of an element's bytes, `how` bits 22 and 21. */
static uint64_t bytes_gathered(unsigned form, unsigned size, unsigned how) {
  bool fetches_ahead =
      form & 4 ? how == 0 && form >= 6 : (how & 2 && size == 3) || (how & 1 && size == 0);
  if (form & 4 && how & 2) /* one element into all lanes */
    return 1u << element_bits[size << 2 | (form & 3)];
  return fetches_ahead ? 0 : vector_bytes / 4 << size;
}

static uint64_t bytes_of_scalable_store(unsigned form, unsigned size, unsigned how,
                                        bool is_structure) {
  if (form == 3 || (form == 7 && is_structure))
    return vector_bytes * (how + 1);
  if (form == 2 || form == 7)
    return vector_bytes << size >> how;
  bool has_words = form == 5 ? how == 3 : how & 2; /* else lanes of 8 bytes */
  return vector_bytes / (has_words ? 4 : 8) << size;
}

static uint64_t bytes_of_scalable(uint32_t instruction, bool *loads) {
  unsigned group = instruction >> 29, form = instruction >> 13 & 7;
  unsigned size = instruction >> 23 & 3, how = instruction >> 21 & 3;
  *loads = group != 7;
  bool is_whole = instruction >> 22 == 0x216 || instruction >> 22 == 0x396;
  if (is_whole && (form == 2 || form == 0))
    return form == 2 ? vector_bytes : vector_bytes / 8; /* a mask */
  switch (group) {
  case 4:
    return bytes_gathered(form, size, how);
  case 5:
    if (form < 2)
      return how & 1 ? 32 : 16; /* repeated through the vector */
    return form < 6 ? vector_bytes >> lane_bits[size << 2 | how] : vector_bytes * (how + 1);
  case 6: /* lanes of 8 bytes by their own addresses */
    return vector_bytes / 8 << size;
  default:
    return bytes_of_scalable_store(form, size, how, instruction & 0x100000);
  }
}

/* Bytes that a load or store moves, 0 for all else: what computes with vectors has the same bits
 * but one. */
static uint64_t bytes_of(uint32_t instruction, bool *loads) {
  if ((instruction & 0x9E000000) == 0x84000000)
    return bytes_of_scalable(instruction, loads);
  if ((instruction & 0x0A000000) != 0x08000000)
    return 0;
  unsigned size = instruction >> 30, isVector = instruction >> 26 & 1, opc = instruction >> 22 & 3;
  *loads = opc & 1;
  if ((instruction & 0xBE000000) == 0x0C000000)
    return bytes_of_structure(instruction);
  switch (instruction >> 27 & 7) {
  case 1: /* exclusive, acquire and release */
    return 1u << size;
  case 3: /* from near the program counter */
    *loads = true;
    return instruction >> 24 & 1 ? 0 : isVector ? 4u << size : size == 1 ? 8 : 4;
  case 5: /* pairs */
    return 2 * (isVector ? 4u << size : size == 2 ? 8u : 4u);
  case 7:
    if (isVector)
      return 1u << ((opc & 2) << 1 | size);
    *loads = opc != 0;
    return size == 3 && opc == 2 ? 0 : 1u << size; /* none where it only fetches ahead */
  }
  return 0;
}

/* Where the memory at `address` of this process lies in the artifact's file; -1 when in none of it.
 */
static uint64_t place_in_artifact(uint64_t address) {
  static uint64_t from, to, base;
  if (address >= from && address < to)
    return address - base;
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1024];
  uint64_t place = UINT64_MAX;
  while (maps && place == UINT64_MAX && fgets(line, sizeof line, maps)) {
    unsigned long begin, end, offset;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) != 3 || address < begin ||
        address >= end || !strstr(line, artifact_path))
      continue;
    from = begin, to = end, base = begin - offset;
    place = address - base;
  }
  if (maps)
    fclose(maps);
  return place;
}

static void count_block(struct qemu_plugin_tb *block, const uint64_t moved[2]) {
  if (!artifact_path[0] || block_count == MOST_BLOCKS)
    return;
  uint64_t place =
      place_in_artifact((uint64_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(block, 0)));
  if (place == UINT64_MAX)
    return;
  blocks[block_count] =
      (struct block){place, qemu_plugin_tb_n_insns(block), {moved[0], moved[1]}, {0, 0, 0}};
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_INLINE, &blocks[block_count++].executed.count,
                                           1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  uint64_t of_block[KINDS] = {0}, moved[2] = {0};
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    uint32_t instruction;
    memcpy(&instruction, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)),
           sizeof instruction);
    ++of_block[kind_of(instruction)];
    bool loads = false;
    uint64_t bytes = bytes_of(instruction, &loads);
    moved[loads] += bytes;
  }
  for (int kind = 0; kind < KINDS; ++kind)
    if (of_block[kind])
      qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_INLINE, &kinds[kind].executed.count,
                                               of_block[kind]);
  if (moved[0])
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_INLINE, &stored.count, moved[0]);
  if (moved[1])
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_INLINE, &loaded.count, moved[1]);
  count_block(block, moved);
}

static void mark(struct counter *counter) {
  counter->before = counter->marked;
  counter->marked = counter->count;
}

static void called(qemu_plugin_id_t id, unsigned processor, int64_t number, uint64_t process) {
  enum { GETPGID = 155, NOBODY = 0x77656674 };
  if (number != GETPGID || process != NOBODY)
    return;
  is_marked = true;
  mark(&loaded);
  mark(&stored);
  for (int kind = 0; kind < KINDS; ++kind)
    mark(&kinds[kind].executed);
  for (size_t i = 0; i < block_count; ++i)
    mark(&blocks[i].executed);
}

static unsigned long long counted(const struct counter *counter) {
  return is_marked ? counter->marked - counter->before : counter->count;
}

/* Rows of one name follow each other. */
static void write_kinds(FILE *file) {
  for (int kind = 0; kind < KINDS;) {
    uint64_t sum = 0;
    const char *name = kinds[kind].name;
    fprintf(file, "%s\"%s\": ", kind ? ", " : "{", name);
    for (; kind < KINDS && strcmp(kinds[kind].name, name) == 0; ++kind)
      sum += counted(&kinds[kind].executed);
    fprintf(file, "%llu", (unsigned long long)sum);
  }
  fprintf(file, "}");
}

static void ended(qemu_plugin_id_t id, void *data) {
  FILE *file = out_path[0] ? fopen(out_path, "w") : stderr;
  if (!file)
    return;
  fprintf(file, "{\"kinds\": ");
  write_kinds(file);
  fprintf(file, ", \"loaded\": %llu, \"stored\": %llu, \"blocks\": [", counted(&loaded),
          counted(&stored));
  for (size_t i = 0; i < block_count; ++i) {
    const struct block *block = &blocks[i];
    unsigned long long times = counted(&block->executed);
    fprintf(file, "%s[%llu, %llu, %llu, %llu]", i ? ", " : "", (unsigned long long)block->place,
            times * block->instructions, times * block->moved[1], times * block->moved[0]);
  }
  fprintf(file, "]}\n");
  if (file != stderr)
    fclose(file);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv) {
  for (int i = 0; i < argc; ++i)
    if (strncmp(argv[i], "out=", 4) == 0)
      snprintf(out_path, sizeof out_path, "%s", argv[i] + 4);
    else if (strncmp(argv[i], "artifact=", 9) == 0)
      snprintf(artifact_path, sizeof artifact_path, "%s", argv[i] + 9);
    else if (strncmp(argv[i], "vector=", 7) == 0)
      vector_bytes = strtoul(argv[i] + 7, NULL, 10);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
