// The ELF image at the start of an artifact: what the loader accepts of it, and its mapping.
//
//   if (!weft_elf_parse(page, page_bytes, file_size, &elf, reason, size)) refuse;
//   if (!weft_elf_map(&elf, fd, &image)) out of memory;      // readable only
//   … check everything …
//   … load its code on a device …
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "weft/artifact.h"

enum { WEFT_MAX_SEGMENTS = 16 };

struct weft_segment_t {
  uint64_t offset, address, size;
  bool executable;
};

/// What the first page of the file says.
struct weft_elf_t {
  weft_file_v1 file;
  uint64_t hash_offset; ///< file offset of file.hash
  uint64_t dynamic_offset, dynamic_size;
  uint16_t machine;
  uint32_t segment_count;
  weft_segment_t segments[WEFT_MAX_SEGMENTS];
};

/// A mapped image; `base` is where address 0 of the ELF file lies.
struct weft_image_t {
  uint8_t *base;
  size_t span;
};

/// Why a file was refused: the status, its code and the reason in words, without the file's name.
struct weft_refusal_t {
  weft_status_t status;
  char code[8];
  char text[320];
};

/// Reads the first page of a file of `file_size` bytes: ELF header, program headers and the note.
bool weft_elf_parse(const uint8_t *page, size_t page_bytes, uint64_t file_size, weft_elf_t *out_elf,
                    weft_refusal_t *refusal);

/// Whether its code is for this processor.
bool weft_elf_check_machine(const weft_elf_t *elf, weft_refusal_t *refusal);

/// Checks the dynamic section, if there is one. `image` is the start of the file.
bool weft_elf_check_dynamic(const weft_elf_t *elf, const uint8_t *image, weft_refusal_t *refusal);

/// Maps all segments, readable only: a device makes the code executable.
bool weft_elf_map(const weft_elf_t *elf, int fd, weft_image_t *out_image);
void weft_elf_unmap(weft_image_t *image);

/// Fills `refusal`; returns false so that checks can end with it.
bool weft_refuse(weft_refusal_t *refusal, weft_status_t status, const char *code,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
