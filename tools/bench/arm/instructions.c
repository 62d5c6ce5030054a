/* A plug-in of qemu-user that counts what a program for 64-bit ARM executes, by kind.
 *
 *   cc -O2 -shared -fPIC -o instructions.so instructions.c
 *   qemu-aarch64 -plugin ./instructions.so,out=counts.json PROGRAM
 *
 * Counters are added to once per block of translated code, without locks: for programs of one
 * thread. Debian's emulator has the interface of plug-ins (version 1), but its header is in no
 * package: what is used of it is declared here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *),
                                    void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* The first row whose bits are those of the instruction is its kind. The last five take what has no
 * name, by its group of encodings. */
struct kind {
  const char *name;
  uint32_t mask, bits;
  uint64_t count;
};
static struct kind kinds[] = {
    {"multiply-add by vector", 0xBFA0FC00, 0x0E20CC00, 0},
    {"multiply-add by lane", 0xBF80F400, 0x0F801000, 0},
    {"multiply-add of scalars", 0xFF208000, 0x1F000000, 0},
    {"multiply", 0xBFA0FC00, 0x2E20DC00, 0},
    {"add", 0xBFA0FC00, 0x0E20D400, 0},
    {"dot product by vector", 0x9F20FC00, 0x0E009400, 0},
    {"dot product by vector", 0x9F20FC00, 0x2E009400, 0},
    {"dot product by vector", 0xBFE0FC00, 0x0E809C00, 0},
    {"dot product by lane", 0x9F00F400, 0x0F00E000, 0},
    {"dot product by lane", 0x9F00F400, 0x2F00E000, 0},
    {"dot product by lane", 0xBF40F400, 0x0F00F000, 0},
    {"matrix product", 0xDFE0FC00, 0x4E80A400, 0},
    {"matrix product", 0xFFE0FC00, 0x4E80AC00, 0},
    {"matrix product", 0xFFE0FC00, 0x6E40EC00, 0},
    {"widening multiply", 0x9F20FC00, 0x0E20C000, 0},
    {"widening multiply", 0xBF00F400, 0x0F00A000, 0},
    {"widening multiply-add", 0x9F20FC00, 0x0E208000, 0},
    {"widening multiply-add", 0xBF00F400, 0x0F002000, 0},
    {"load vector", 0x3FC00000, 0x3DC00000, 0},
    {"load two vectors", 0xFE400000, 0xAC400000, 0},
    {"load vectors", 0xBF400000, 0x0C400000, 0},
    {"load into all lanes", 0xBF40F000, 0x0D40C000, 0},
    {"store vector", 0x3FC00000, 0x3D800000, 0},
    {"store two vectors", 0xFE400000, 0xAC000000, 0},
    {"other of vectors", 0x0E000000, 0x0E000000, 0},
    {"scalable vectors", 0x1E000000, 0x04000000, 0},
    {"other load or store", 0x0A000000, 0x08000000, 0},
    {"branch", 0x1C000000, 0x14000000, 0},
    {"integer", 0, 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static char out_path[512];

static int kind_of(uint32_t instruction) {
  int kind = 0;
  while ((instruction & kinds[kind].mask) != kinds[kind].bits)
    ++kind;
  return kind;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  uint64_t of_block[KINDS] = {0};
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    uint32_t instruction;
    memcpy(&instruction, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)),
           sizeof instruction);
    ++of_block[kind_of(instruction)];
  }
  for (int kind = 0; kind < KINDS; ++kind)
    if (of_block[kind])
      qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_INLINE, &kinds[kind].count,
                                               of_block[kind]);
}

/* Rows of one name follow each other. */
static void ended(qemu_plugin_id_t id, void *data) {
  FILE *file = out_path[0] ? fopen(out_path, "w") : stderr;
  if (!file)
    return;
  for (int kind = 0; kind < KINDS;) {
    uint64_t sum = 0;
    const char *name = kinds[kind].name;
    fprintf(file, "%s\"%s\": ", kind ? ", " : "{", name);
    for (; kind < KINDS && strcmp(kinds[kind].name, name) == 0; ++kind)
      sum += kinds[kind].count;
    fprintf(file, "%llu", (unsigned long long)sum);
  }
  fprintf(file, "}\n");
  if (file != stderr)
    fclose(file);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv) {
  for (int i = 0; i < argc; ++i)
    if (strncmp(argv[i], "out=", 4) == 0)
      snprintf(out_path, sizeof out_path, "%s", argv[i] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
