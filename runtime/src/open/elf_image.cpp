#include "runtime/src/open/elf_image.h"

#include "runtime/src/open/descriptor.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
static const uint16_t own_machine = EM_X86_64;
#else
static const uint16_t own_machine = EM_AARCH64;
#endif

#ifdef DT_RELR
enum { DT_RELR_TAG = DT_RELR };
#else
enum { DT_RELR_TAG = 36 }; // glibc before 2.36
#endif

/// The start of the weights in the file: whole pages, of any processor's size, and before 1.4 huge ones.
static uint64_t weights_alignment(const weft_file_v1 &file) {
  return file.abi_minor < 4 ? 2 << 20 : 64 << 10;
}

/// The image is a few MiB; the bound keeps hostile files from occupying the address space.
static const uint64_t max_image = 1ull << 31;

bool weft_refuse(weft_refusal_t *refusal, weft_status_t status, const char *code,
                 const char *format, ...) {
  refusal->status = status;
  snprintf(refusal->code, sizeof refusal->code, "%s", code);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
  va_end(arguments);
  return false;
}

static bool bad(weft_refusal_t *refusal, const char *code, const char *text) {
  return weft_refuse(refusal, WEFT_BAD_ARTIFACT, code, "%s", text);
}

static const char *machine_name(uint16_t machine) {
  return machine == EM_X86_64 ? "x86-64" : machine == EM_AARCH64 ? "aarch64" : "another processor";
}

static bool check_header(const Elf64_Ehdr &header, size_t page_bytes, weft_refusal_t *refusal) {
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return bad(refusal, "W0501", "is not a Weft artifact");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_VERSION] != EV_CURRENT || header.e_type != ET_DYN)
    return bad(refusal, "W0501", "is an ELF file, but not a Weft artifact");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phnum > WEFT_MAX_SEGMENTS)
    return bad(refusal, "W0504", "has a damaged ELF header");
  uint64_t bytes = header.e_phnum * sizeof(Elf64_Phdr);
  if (header.e_phoff > page_bytes || bytes > page_bytes - header.e_phoff)
    return bad(refusal, "W0504", "has program headers outside its first 4096 bytes");
  return true;
}

/// Finds the note named WEFT among the notes of one PT_NOTE segment.
static bool find_note(const uint8_t *page, uint64_t begin, uint64_t end, uint64_t *out_content,
                      uint64_t *out_size) {
  while (end - begin >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, page + begin, sizeof note);
    uint64_t name = begin + sizeof note;
    uint64_t content = name + (((uint64_t)note.n_namesz + 3) & ~3ull);
    uint64_t next = content + (((uint64_t)note.n_descsz + 3) & ~3ull);
    if (next > end && content + note.n_descsz != end)
      return false;
    if (note.n_type == WEFT_NOTE_TYPE && note.n_namesz == sizeof WEFT_NOTE_NAME &&
        memcmp(page + name, WEFT_NOTE_NAME, sizeof WEFT_NOTE_NAME) == 0) {
      *out_content = content;
      *out_size = note.n_descsz;
      return true;
    }
    if (next > end)
      return false;
    begin = next;
  }
  return false;
}

static bool add_segment(const Elf64_Phdr &header, weft_elf_t *elf, weft_refusal_t *refusal) {
  if (header.p_flags & PF_W)
    return bad(refusal, "W0504", "has a writable segment");
  if (!(header.p_flags & PF_R))
    return bad(refusal, "W0504", "has a segment that cannot be read");
  if (header.p_memsz != header.p_filesz)
    return bad(refusal, "W0504", "has a segment with memory that is not in the file");
  if (header.p_filesz == 0)
    return true;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if (header.p_offset > max_image || header.p_filesz > max_image || header.p_vaddr > max_image ||
      (header.p_offset - header.p_vaddr) % page != 0)
    return bad(refusal, "W0504", "has a segment in an impossible place");
  if (elf->segment_count) {
    const weft_segment_t &before = elf->segments[elf->segment_count - 1];
    uint64_t end = (before.address + before.size + page - 1) / page * page;
    if (header.p_vaddr / page * page < end)
      return bad(refusal, "W0504", "has overlapping segments");
  }
  elf->segments[elf->segment_count++] = {header.p_offset, header.p_vaddr, header.p_filesz,
                                         (header.p_flags & PF_X) != 0};
  return true;
}

static bool check_versions(const weft_file_v1 &file, weft_refusal_t *refusal) {
  if (file.abi_major != WEFT_ABI_MAJOR || file.abi_minor > WEFT_ABI_MINOR)
    return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0505",
                       "has format %u.%u, but this runtime reads %u.0 to %u.%u", file.abi_major,
                       file.abi_minor, (unsigned)WEFT_ABI_MAJOR, (unsigned)WEFT_ABI_MAJOR,
                       (unsigned)WEFT_ABI_MINOR);
  if (file.flags)
    return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0505",
                       "has flags %#x, which this runtime does not know", file.flags);
  return true;
}

/// Reads program header `index`, which lies in the page.
static Elf64_Phdr program_header(const uint8_t *page, const Elf64_Ehdr &header, uint32_t index) {
  Elf64_Phdr result;
  memcpy(&result, page + header.e_phoff + index * sizeof result, sizeof result);
  return result;
}

/// What 1.1 added to the note. Whether the structs lie inside is known when the descriptor is.
static bool read_variants(const uint8_t *note, weft_file_v1 *file, weft_refusal_t *refusal) {
  file->variants = 1;
  file->variant_step = WEFT_VARIANT_BYTES;
  if (file->abi_minor)
    memcpy(file, note, sizeof *file);
  if (file->variants < 1 || file->variants > WEFT_MAX_VARIANTS)
    return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0504", "has %u variants instead of 1 to %d",
                       file->variants, WEFT_MAX_VARIANTS);
  return true;
}

/// Finds weft_file_v1. A file without it is somebody else's, whatever else may be wrong with it.
static bool read_note(const uint8_t *page, size_t page_bytes, const Elf64_Ehdr &header,
                      weft_elf_t *elf, weft_refusal_t *refusal) {
  uint64_t note = 0, size = 0;
  for (uint32_t i = 0; i < header.e_phnum && !size; ++i) {
    Elf64_Phdr segment = program_header(page, header, i);
    if (segment.p_type != PT_NOTE || segment.p_offset > page_bytes)
      continue;
    uint64_t room = page_bytes - segment.p_offset;
    uint64_t bytes = segment.p_filesz < room ? segment.p_filesz : room;
    find_note(page, segment.p_offset, segment.p_offset + bytes, &note, &size);
  }
  if (!size)
    return bad(refusal, "W0501", "is an ELF file, but not a Weft artifact");
  const uint64_t first_version = offsetof(weft_file_v1, variants);
  if (size < first_version)
    return bad(refusal, "W0504", "has a note that is too short");
  memcpy(&elf->file, page + note, first_version);
  elf->hash_offset = note + offsetof(weft_file_v1, hash);
  if (!check_versions(elf->file, refusal))
    return false;
  uint64_t least = elf->file.abi_minor ? sizeof elf->file : first_version;
  if (elf->file.struct_size < least || elf->file.struct_size > size)
    return bad(refusal, "W0504", "has a note of the wrong size");
  return read_variants(page + note, &elf->file, refusal);
}

static bool read_segment(const Elf64_Phdr &header, weft_elf_t *elf, weft_refusal_t *refusal) {
  switch (header.p_type) {
  case PT_LOAD:
    return add_segment(header, elf, refusal);
  case PT_INTERP:
    return bad(refusal, "W0504", "asks for an ELF interpreter");
  case PT_TLS:
    return bad(refusal, "W0504", "has thread-local storage");
  case PT_DYNAMIC:
    if (header.p_flags & PF_W)
      return bad(refusal, "W0504", "has a writable dynamic section");
    elf->dynamic_offset = header.p_offset;
    elf->dynamic_size = header.p_filesz;
    return true;
  default:
    return true;
  }
}

/// [begin, begin + size) lies in [low, high).
static bool is_within(uint64_t begin, uint64_t size, uint64_t low, uint64_t high) {
  return begin >= low && begin <= high && size <= high - begin;
}

/// Image, weights, leaves and manifest follow each other without overlap.
static bool check_ranges(const weft_file_v1 &file, uint64_t file_size, weft_refusal_t *refusal) {
  if (file.file_size != file_size)
    return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0503",
                       file.file_size > file_size
                           ? "is truncated: it has %llu bytes, but should have %llu"
                           : "has %llu bytes, but should have %llu",
                       (unsigned long long)file_size, (unsigned long long)file.file_size);
  const char *damaged = "has a damaged header: its parts do not fit together";
  if (file.image_size > file_size || file.image_size > max_image)
    return bad(refusal, "W0504", damaged);
  uint64_t tail = file.image_size;
  if (file.weights_size) {
    if (file.weights_begin % weights_alignment(file) || file.weights_begin > max_image ||
        !is_within(file.weights_begin, file.weights_size, file.image_size, file_size))
      return bad(refusal, "W0504", damaged);
    tail = file.weights_begin + file.weights_size;
  } else if (file.weights_begin) {
    return bad(refusal, "W0504", damaged);
  }
  uint64_t leaf = 1ull << WEFT_LEAF_LOG2, leaves = file.weights_size / leaf;
  leaves += file.weights_size % leaf != 0;
  if (file.leaf_count != leaves || file_size - tail > max_image)
    return bad(refusal, "W0504", damaged);
  if (leaves && !is_within(file.leaves_begin, leaves * 32, tail, file_size))
    return bad(refusal, "W0504", damaged);
  if (file.manifest_size && !is_within(file.manifest_begin, file.manifest_size, tail, file_size))
    return bad(refusal, "W0504", damaged);
  bool overlap = leaves && file.manifest_size &&
                 file.manifest_begin < file.leaves_begin + leaves * 32 &&
                 file.leaves_begin < file.manifest_begin + file.manifest_size;
  return overlap ? bad(refusal, "W0504", damaged) : true;
}

/// Segments, dynamic section and descriptor lie in the image; the descriptor in a read-only
/// segment.
static bool check_image(const weft_elf_t &elf, weft_refusal_t *refusal) {
  const weft_file_v1 &file = elf.file;
  if (!is_within(elf.hash_offset, sizeof file.hash, 0, file.image_size))
    return bad(refusal, "W0504", "has a note outside its image");
  bool found = false;
  for (uint32_t i = 0; i < elf.segment_count; ++i) {
    const weft_segment_t &segment = elf.segments[i];
    if (!is_within(segment.offset, segment.size, 0, file.image_size))
      return bad(refusal, "W0504", "has a segment outside its image");
    if (!segment.executable && is_within(file.descriptor, file.descriptor_size, segment.address,
                                         segment.address + segment.size))
      found = true;
  }
  if (!is_within(elf.dynamic_offset, elf.dynamic_size, 0, file.image_size))
    return bad(refusal, "W0504", "has a dynamic section outside its image");
  if (!found)
    return bad(refusal, "W0504", "has no descriptor in a read-only segment");
  return true;
}

bool weft_elf_parse(const uint8_t *page, size_t page_bytes, uint64_t file_size, weft_elf_t *out_elf,
                    weft_refusal_t *refusal) {
  memset(out_elf, 0, sizeof *out_elf);
  Elf64_Ehdr header;
  if (page_bytes < sizeof header)
    return bad(refusal, "W0501", "is too short for a Weft artifact");
  memcpy(&header, page, sizeof header);
  if (!check_header(header, page_bytes, refusal) ||
      !read_note(page, page_bytes, header, out_elf, refusal))
    return false;
  for (uint32_t i = 0; i < header.e_phnum; ++i)
    if (!read_segment(program_header(page, header, i), out_elf, refusal))
      return false;
  out_elf->machine = header.e_machine;
  return check_ranges(out_elf->file, file_size, refusal) && check_image(*out_elf, refusal);
}

bool weft_elf_check_machine(const weft_elf_t *elf, weft_refusal_t *refusal) {
  if (elf->machine == own_machine)
    return true;
  return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0502",
                     "is compiled for %s, but this machine is %s", machine_name(elf->machine),
                     machine_name(own_machine));
}

bool weft_elf_check_dynamic(const weft_elf_t *elf, const uint8_t *image, weft_refusal_t *refusal) {
  static const int64_t refused[] = {DT_NEEDED,        DT_RELA,    DT_REL,       DT_JMPREL,
                                    DT_RELR_TAG,      DT_INIT,    DT_FINI,      DT_INIT_ARRAY,
                                    DT_PREINIT_ARRAY, DT_TEXTREL, DT_FINI_ARRAY};
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= elf->dynamic_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    memcpy(&entry, image + elf->dynamic_offset + at, sizeof entry);
    if (entry.d_tag == DT_NULL)
      return true;
    for (int64_t tag : refused)
      if (entry.d_tag == tag)
        return bad(refusal, "W0504", "needs relocations, libraries or constructors");
  }
  return true;
}

bool weft_elf_map(const weft_elf_t *elf, int fd, weft_image_t *out_image) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), span = 0;
  for (uint32_t i = 0; i < elf->segment_count; ++i)
    span = elf->segments[i].address + elf->segments[i].size;
  span = (span + page - 1) / page * page;
  void *base = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return false;
  *out_image = {(uint8_t *)base, span};
  for (uint32_t i = 0; i < elf->segment_count; ++i) {
    const weft_segment_t &segment = elf->segments[i];
    uint64_t head = segment.address % page;
    void *at = mmap(out_image->base + (segment.address - head), segment.size + head, PROT_READ,
                    MAP_PRIVATE | MAP_FIXED, fd, (off_t)(segment.offset - head));
    if (at == MAP_FAILED) {
      weft_elf_unmap(out_image);
      return false;
    }
  }
  return true;
}

void weft_elf_unmap(weft_image_t *image) {
  if (image->base)
    munmap(image->base, image->span);
  *image = {nullptr, 0};
}
