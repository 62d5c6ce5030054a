#include <catch2/catch.hpp>

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <functional>

#include "test/runtime/fixture.h"

using namespace weft_test;

namespace {
/// Changes one program header of a sealed file.
void change_segment(bytes &file, uint32_t type, uint32_t with_flags,
                    const std::function<void(Elf64_Phdr &)> &change) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, &file[at], sizeof segment);
    if (segment.p_type != type || (segment.p_flags & with_flags) != with_flags)
      continue;
    change(segment);
    std::memcpy(&file[at], &segment, sizeof segment);
    return;
  }
  FAIL("no such segment");
}

void change_header(bytes &file, const std::function<void(Elf64_Ehdr &)> &change) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  change(header);
  std::memcpy(file.data(), &header, sizeof header);
}

void change_note(bytes &file, const std::function<void(weft_file_v1 &)> &change) {
  weft_file_v1 note = read_note(file);
  change(note);
  write_note(file, note);
}

const bytes &good_file() {
  static const bytes file = make_sample().seal();
  return file;
}

/// The error after `change`, with the hash made right again when that is still possible.
std::string refusal(const std::function<void(bytes &)> &change, bool seal_again = true) {
  bytes file = good_file();
  change(file);
  if (seal_again)
    reseal(file);
  opened o(file);
  REQUIRE(o.module == nullptr);
  REQUIRE(o.status != WEFT_OK);
  return std::string(o.err.code) + " " + o.err.message;
}
} // namespace

TEST_CASE("the sample itself is good") { REQUIRE(opened(good_file()).status == WEFT_OK); }

TEST_CASE("files that are something else are refused") {
  REQUIRE(refusal([](bytes &f) { f.clear(); }, false) ==
          "W0501 artifact: is too short for a Weft artifact");
  REQUIRE(refusal([](bytes &f) { f.resize(63); }, false) ==
          "W0501 artifact: is too short for a Weft artifact");
  REQUIRE(refusal([](bytes &f) { f[0] = 'P'; }) == "W0501 artifact: is not a Weft artifact");
  auto elf_only = "W0501 artifact: is an ELF file, but not a Weft artifact";
  REQUIRE(refusal([](bytes &f) { f[EI_CLASS] = ELFCLASS32; }) == elf_only);
  REQUIRE(refusal([](bytes &f) { f[EI_DATA] = ELFDATA2MSB; }) == elf_only);
  REQUIRE(refusal([](bytes &f) { change_header(f, [](Elf64_Ehdr &h) { h.e_type = ET_EXEC; }); }) ==
          elf_only);
  REQUIRE(refusal([](bytes &f) { f[note_position(f) - 8] = 'X'; }, false) == elf_only);
  REQUIRE(refusal([](bytes &f) {
            change_segment(f, PT_NOTE, 0, [](Elf64_Phdr &s) { s.p_type = PT_NULL; });
          }) == elf_only);
}

void change_processor(bytes &file) {
  change_header(
      file, [](Elf64_Ehdr &h) { h.e_machine = h.e_machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64; });
}

TEST_CASE("another processor is refused in words") {
  REQUIRE(refusal(change_processor).find("is compiled for ") != std::string::npos);
}

TEST_CASE("code for another processor can be described") {
  bytes file = good_file();
  change_processor(file);
  reseal(file);
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.describe = 1;
  opened o(file, &env);
  REQUIRE(o.status == WEFT_OK);
  CHECK(weft_function_find(o.module, "main") >= 0);
}

TEST_CASE("program headers must be few and in the first page") {
  REQUIRE(refusal([](bytes &f) { change_header(f, [](Elf64_Ehdr &h) { h.e_phnum = 17; }); }) ==
          "W0504 artifact: has a damaged ELF header");
  REQUIRE(refusal([](bytes &f) { change_header(f, [](Elf64_Ehdr &h) { h.e_phentsize = 32; }); }) ==
          "W0504 artifact: has a damaged ELF header");
  for (uint64_t offset : {uint64_t(4000), UINT64_MAX - 50})
    REQUIRE(refusal([&](bytes &f) {
              change_header(f, [&](Elf64_Ehdr &h) { h.e_phoff = offset; });
            }) == "W0504 artifact: has program headers outside its first 4096 bytes");
}

TEST_CASE("segments that could do harm are refused") {
  auto change_load = [](uint32_t flags, std::function<void(Elf64_Phdr &)> change) {
    return refusal([&](bytes &f) { change_segment(f, PT_LOAD, flags, change); });
  };
  REQUIRE(change_load(0, [](Elf64_Phdr &s) { s.p_flags |= PF_W; }) ==
          "W0504 artifact: has a writable segment");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_flags |= PF_W; }) ==
          "W0504 artifact: has a writable segment");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_flags = PF_X; }) ==
          "W0504 artifact: has a segment that cannot be read");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_memsz += 4096; }) ==
          "W0504 artifact: has a segment with memory that is not in the file");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_vaddr = s.p_offset = 0; }) ==
          "W0504 artifact: has overlapping segments");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_vaddr += 8; }) ==
          "W0504 artifact: has a segment in an impossible place");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_vaddr = 1ull << 40; }) ==
          "W0504 artifact: has a segment in an impossible place");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_filesz = s.p_memsz = 1 << 30; }) ==
          "W0504 artifact: has a segment outside its image");
  REQUIRE(change_load(PF_X, [](Elf64_Phdr &s) { s.p_flags = PF_R; }) ==
          "W0504 artifact: has 0 executable segments instead of 1");
  REQUIRE(change_load(0, [](Elf64_Phdr &s) { s.p_flags |= PF_X; }) ==
          "W0504 artifact: has no descriptor in a read-only segment");
  auto change_type = [](uint32_t type) {
    return refusal([&](bytes &f) {
      change_segment(f, PT_GNU_STACK, 0, [&](Elf64_Phdr &s) { s.p_type = type; });
    });
  };
  REQUIRE(change_type(PT_INTERP) == "W0504 artifact: asks for an ELF interpreter");
  REQUIRE(change_type(PT_TLS) == "W0504 artifact: has thread-local storage");
}

TEST_CASE("an image that needs a dynamic linker is refused") {
  for (int64_t tag : {DT_NEEDED, DT_RELA, DT_REL, DT_JMPREL, DT_INIT, DT_FINI, DT_INIT_ARRAY,
                      DT_FINI_ARRAY, DT_PREINIT_ARRAY, DT_TEXTREL, 36}) {
    INFO(tag);
    REQUIRE(refusal([&](bytes &f) {
              uint64_t at = 0;
              change_segment(f, PT_DYNAMIC, 0, [&](Elf64_Phdr &s) { at = s.p_offset; });
              std::memcpy(&f[at], &tag, sizeof tag);
            }) == "W0504 artifact: needs relocations, libraries or constructors");
  }
  REQUIRE(refusal([](bytes &f) {
            change_segment(f, PT_DYNAMIC, 0, [](Elf64_Phdr &s) { s.p_flags |= PF_W; });
          }) == "W0504 artifact: has a writable dynamic section");
  REQUIRE(refusal([](bytes &f) {
            change_segment(f, PT_DYNAMIC, 0, [](Elf64_Phdr &s) { s.p_offset = 1ull << 50; });
          }) == "W0504 artifact: has a dynamic section outside its image");
}

TEST_CASE("other formats are refused with what is there and what is needed") {
  REQUIRE(refusal([](bytes &f) { change_note(f, [](weft_file_v1 &n) { n.abi_major = 2; }); }) ==
          "W0505 artifact: has format 2.4, but this runtime reads 1.0 to 1.4");
  REQUIRE(refusal([](bytes &f) { change_note(f, [](weft_file_v1 &n) { n.abi_minor = 7; }); }) ==
          "W0505 artifact: has format 1.7, but this runtime reads 1.0 to 1.4");
  REQUIRE(refusal([](bytes &f) { change_note(f, [](weft_file_v1 &n) { n.flags = 4; }); }) ==
          "W0505 artifact: has flags 0x4, which this runtime does not know");
  for (uint32_t size : {0u, 127u, 4096u})
    REQUIRE(refusal([&](bytes &f) {
              change_note(f, [&](weft_file_v1 &n) { n.struct_size = size; });
            }) == "W0504 artifact: has a note of the wrong size");
}

TEST_CASE("a wrong file size is told with both numbers") {
  uint64_t size = good_file().size();
  std::string should = "but should have " + std::to_string(size);
  REQUIRE(refusal([](bytes &f) { f.pop_back(); }, false) ==
          "W0503 artifact: is truncated: it has " + std::to_string(size - 1) + " bytes, " + should);
  REQUIRE(refusal([](bytes &f) { f.push_back(0); }, false) ==
          "W0503 artifact: has " + std::to_string(size + 1) + " bytes, " + should);
}

TEST_CASE("parts that do not fit together are refused") {
  std::vector<std::function<void(weft_file_v1 &)>> changes = {
      [](weft_file_v1 &n) { n.image_size = n.file_size + 1; },
      [](weft_file_v1 &n) { n.image_size = n.weights_begin + 1; },
      [](weft_file_v1 &n) { n.weights_begin += 4096; },
      [](weft_file_v1 &n) { n.weights_begin = 0; },
      [](weft_file_v1 &n) { n.weights_size = n.file_size; },
      [](weft_file_v1 &n) { n.weights_size = UINT64_MAX - n.weights_begin + 10; },
      [](weft_file_v1 &n) { n.weights_size = 0; },
      [](weft_file_v1 &n) { n.leaf_count = 2; },
      [](weft_file_v1 &n) { n.leaf_count = 0; },
      [](weft_file_v1 &n) { n.leaves_begin = n.file_size - 31; },
      [](weft_file_v1 &n) { n.leaves_begin = n.weights_begin; },
      [](weft_file_v1 &n) { n.leaves_begin = UINT64_MAX; },
      [](weft_file_v1 &n) { n.manifest_begin = n.leaves_begin + 31; },
      [](weft_file_v1 &n) { n.manifest_size += 1; },
      [](weft_file_v1 &n) { n.manifest_begin = 0; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    CHECK(refusal([&](bytes &f) { change_note(f, changes[i]); }, false) ==
          "W0504 artifact: has a damaged header: its parts do not fit together");
  }
}

TEST_CASE("the descriptor lies in a readable segment, the note in the image") {
  std::vector<std::function<void(weft_file_v1 &)>> changes = {
      [](weft_file_v1 &n) { n.descriptor = 1ull << 40; },
      [](weft_file_v1 &n) { n.descriptor_size = 1 << 20; },
      [](weft_file_v1 &n) { n.descriptor_size = UINT64_MAX; },
      [](weft_file_v1 &n) { n.descriptor = 0x10000; }};
  for (auto &change : changes)
    CHECK(refusal([&](bytes &f) { change_note(f, change); }) ==
          "W0504 artifact: has no descriptor in a read-only segment");
  REQUIRE(refusal([](bytes &f) { change_note(f, [](weft_file_v1 &n) { n.image_size = 200; }); }) ==
          "W0504 artifact: has a note outside its image");
}
