//===- Relocatable.cpp ------------------------------------------------------------------------===//

#include "compiler/embed/Relocatable.h"
#include "compiler/artifact/Link.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace weft {

using namespace llvm::ELF;

namespace {

/// The file: header, bytes, symbols, names of symbols, names of sections, headers of sections.
class ByteObject {
public:
  explicit ByteObject(const Elf64_Ehdr &like) : header(like) {}

  std::string write(llvm::StringRef bytes, llvm::StringRef section, llvm::StringRef symbol) {
    out.assign(kAlign, '\0'); // room for the header
    std::string sectionNames(1, '\0'), symbolNames(1, '\0');
    auto name = [](std::string &names, llvm::StringRef text) {
      size_t at = names.size();
      (names += text.str()) += '\0';
      return uint32_t(at);
    };
    Elf64_Sym symbols[2] = {};
    symbols[1].st_name = name(symbolNames, symbol);
    symbols[1].setBindingAndType(STB_GLOBAL, STT_OBJECT);
    symbols[1].st_other = STV_HIDDEN;
    symbols[1].st_shndx = 1;
    symbols[1].st_size = bytes.size();
    uint32_t own = name(sectionNames, section), symtab = name(sectionNames, ".symtab"),
             strtab = name(sectionNames, ".strtab"), shstrtab = name(sectionNames, ".shstrtab"),
             stack = name(sectionNames, ".note.GNU-stack");
    sections.emplace_back(Elf64_Shdr{});
    add(own, SHT_PROGBITS, bytes, kAlign).sh_flags = SHF_ALLOC;
    Elf64_Shdr &table =
        add(symtab, SHT_SYMTAB, {reinterpret_cast<const char *>(symbols), sizeof symbols}, 8);
    table.sh_link = 3;
    table.sh_info = 1; // the first that is not local
    table.sh_entsize = sizeof(Elf64_Sym);
    add(strtab, SHT_STRTAB, symbolNames, 1);
    add(shstrtab, SHT_STRTAB, sectionNames, 1);
    add(stack, SHT_PROGBITS, {}, 1); // which need not be executable
    finish();
    return std::move(out);
  }

private:
  static constexpr size_t kAlign = 64;

  Elf64_Shdr &add(uint32_t name, uint32_t type, llvm::StringRef bytes, uint64_t align) {
    out.resize(llvm::alignTo(out.size(), align));
    Elf64_Shdr section = {};
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = out.size();
    section.sh_size = bytes.size();
    section.sh_addralign = align;
    out += bytes;
    return sections.emplace_back(section);
  }

  void finish() {
    out.resize(llvm::alignTo(out.size(), 8));
    header.e_type = ET_REL;
    header.e_entry = header.e_phoff = 0;
    header.e_phnum = header.e_phentsize = 0;
    header.e_shoff = out.size();
    header.e_shnum = sections.size();
    header.e_shstrndx = 4;
    memcpy(out.data(), &header, sizeof header);
    out.append(reinterpret_cast<const char *>(sections.data()),
               sections.size() * sizeof(Elf64_Shdr));
  }

  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
  std::string out;
};

} // namespace

llvm::Expected<std::string> objectOfBytes(llvm::StringRef like, llvm::StringRef bytes,
                                          llvm::StringRef section, llvm::StringRef symbol) {
  Elf64_Ehdr header;
  if (like.size() < sizeof header || !like.starts_with(ElfMagic))
    return llvm::createStringError("the code is no ELF object");
  memcpy(&header, like.data(), sizeof header);
  return ByteObject(header).write(bytes, section, symbol);
}

llvm::Expected<std::string> joinObjects(const std::vector<std::string> &objects,
                                        const std::vector<std::string> &visible) {
  llvm::Expected<std::string> joined = linkRelocatable(objects);
  if (!joined)
    return joined.takeError();
  auto object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(*joined, "object"));
  if (!object)
    return object.takeError();
  llvm::objcopy::ConfigManager config;
  auto add = [](llvm::objcopy::NameMatcher &list, llvm::StringRef name,
                llvm::objcopy::MatchStyle style) {
    return list.addMatcher(
        llvm::objcopy::NameOrPattern::create(name, style, [](llvm::Error error) { return error; }));
  };
  for (const std::string &name : visible)
    if (llvm::Error error =
            add(config.Common.SymbolsToKeepGlobal, name, llvm::objcopy::MatchStyle::Literal))
      return std::move(error);
  // Instructions that code generation knows as functions, of which names are left.
  if (llvm::Error error =
          add(config.Common.UnneededSymbolsToRemove, "llvm.*", llvm::objcopy::MatchStyle::Wildcard))
    return std::move(error);
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **object, stream))
    return std::move(error);
  stream.flush();
  return result;
}

} // namespace weft
