//===- Disassembly.cpp - Objects that the compiler leaves behind, through LLVM's disassembler -----------===//

#include "test/support/Disassembly.h"
#include "test/support/Program.h"
#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/Object/ObjectFile.h"
#include <catch2/catch.hpp>
#include <filesystem>

namespace weft::test {
namespace {

/// Instructions of a section of code.
void disassemble(llvm::StringRef code, std::vector<std::string> &lines) {
  LLVMDisasmContextRef machine = LLVMCreateDisasmCPUFeatures(
      "x86_64-unknown-linux-gnu", "x86-64-v4",
      "+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", nullptr, 0, nullptr, nullptr);
  REQUIRE(machine);
  auto *bytes = reinterpret_cast<uint8_t *>(const_cast<char *>(code.data()));
  for (size_t at = 0; at < code.size();) {
    char line[128];
    size_t size =
        LLVMDisasmInstruction(machine, bytes + at, code.size() - at, at, line, sizeof line);
    REQUIRE(size > 0);
    lines.push_back(line);
    at += size;
  }
  LLVMDisasmDispose(machine);
}

void disassembleFile(const std::string &path, std::vector<std::string> &lines) {
  auto object = llvm::object::ObjectFile::createObjectFile(path);
  REQUIRE(bool(object));
  for (const llvm::object::SectionRef &section : object->getBinary()->sections())
    if (section.isText()) {
      llvm::Expected<llvm::StringRef> code = section.getContents();
      REQUIRE(bool(code));
      disassemble(*code, lines);
    }
}

} // namespace

std::vector<std::string> disassembleKernels(const std::string &text, CompileOptions options) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  char folder[] = P_tmpdir "/weft-disassembly-XXXXXX";
  REQUIRE(mkdtemp(folder));
  options.temporariesDirectory = folder;
  Program program(text, options); // which this machine may be unable to open
  std::vector<std::string> lines;
  for (auto &file : std::filesystem::directory_iterator(folder))
    if (std::string name = file.path().filename();
        name.rfind("weft_k_", 0) == 0 && file.path().extension() == ".o")
      disassembleFile(file.path(), lines);
  std::filesystem::remove_all(folder);
  REQUIRE(!lines.empty());
  return lines;
}

} // namespace weft::test
