//===- Link.cpp - lld as a library ---------------------------------------------------------------------------------===//

#include "compiler/artifact/Link.h"
#include "lld/Common/Driver.h"
#include "weft/artifact.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace weft {
namespace {

llvm::Error fail(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// A folder that goes away with everything in it.
struct ScratchFolder {
  llvm::SmallString<128> path;
  std::error_code create() { return llvm::sys::fs::createUniqueDirectory("weft-link", path); }
  ~ScratchFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(const llvm::Twine &name) const { return (path + "/" + name).str(); }
};

llvm::Error writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return fail("cannot write '" + path + "': " + error.message());
  stream << bytes;
  stream.close();
  if (stream.has_error()) {
    stream.clear_error();
    return fail("cannot write '" + path + "': no space left?");
  }
  return llvm::Error::success();
}

/// How signals are taken while lld works. Those of the keyboard wait: one that interrupts its system calls would be an
/// error to it. Its fatal errors return instead of ending the process. In the end the caller's handlers are back: lld
/// puts its own in their place, which would end a process at its second Ctrl-C.
class SignalsOfLld {
public:
  SignalsOfLld() {
    sigset_t later;
    sigemptyset(&later);
    sigaddset(&later, SIGINT);
    sigaddset(&later, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &later, &before);
    llvm::CrashRecoveryContext::Enable();
  }
  ~SignalsOfLld() {
    llvm::sys::unregisterHandlers(); // put in after those of the recovery
    llvm::CrashRecoveryContext::Disable();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t before;
};

llvm::Error readSymbols(Image &image) {
  auto object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(image.bytes, "image"));
  if (!object)
    return object.takeError();
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    llvm::Expected<uint64_t> address = symbol.getAddress();
    if (!name || !address)
      return llvm::joinErrors(name.takeError(), address.takeError());
    image.symbols[*name] = *address;
  }
  auto it = image.symbols.find("weft_note");
  if (it == image.symbols.end())
    return fail("the linked image has no note");
  llvm::Expected<uint64_t> offset = image.fileOffset(it->second);
  if (!offset)
    return offset.takeError();
  image.noteOffset = *offset + 12 + 8; // note header, then the name padded to 4
  return llvm::Error::success();
}

/// What lld makes of objects, one link at a time.
llvm::Expected<std::string> link(std::vector<std::string> options,
                                 const std::vector<std::string> &objects) {
  ScratchFolder folder;
  if (std::error_code error = folder.create())
    return fail("cannot create a temporary folder: " + error.message());
  std::string out = folder.file("linked");
  std::vector<std::string> arguments = {"ld.lld", "-o", out, "--build-id=none", "--threads=1"};
  llvm::append_range(arguments, options);
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string path = folder.file(std::to_string(i) + ".o");
    if (llvm::Error error = writeFile(path, objects[i]))
      return std::move(error);
    arguments.push_back(path);
  }
  std::vector<const char *> raw;
  for (const std::string &argument : arguments)
    raw.push_back(argument.c_str());
  std::string messages;
  {
    static std::mutex oneLinkAtATime; // lld keeps global state
    std::lock_guard<std::mutex> lock(oneLinkAtATime);
    SignalsOfLld signals;
    llvm::raw_string_ostream stream(messages);
    const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
    if (lld::lldMain(raw, stream, stream, drivers).retCode != 0)
      return fail("linking failed: " + llvm::StringRef(messages).split('\n').first);
  }
  auto buffer = llvm::MemoryBuffer::getFile(out);
  if (!buffer)
    return fail("linking wrote nothing");
  return (*buffer)->getBuffer().str();
}

} // namespace

llvm::Expected<uint64_t> Image::fileOffset(uint64_t address) const {
  auto file = llvm::object::ELF64LEFile::create(bytes);
  if (!file)
    return file.takeError();
  auto headers = file->program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers)
    if (header.p_type == llvm::ELF::PT_LOAD && address >= header.p_vaddr &&
        address < header.p_vaddr + header.p_filesz)
      return header.p_offset + (address - header.p_vaddr);
  return fail("an address lies outside the linked image");
}

llvm::Expected<Image> linkImage(const std::vector<std::string> &objects) {
  llvm::Expected<std::string> linked =
      link({"-shared", "-z", "text", "-z", "rodynamic", "-z", "separate-code", "-z",
            "max-page-size=65536", "-z", "noexecstack", "--hash-style=gnu", "--no-undefined",
            "--discard-all"},
           objects);
  if (!linked)
    return linked.takeError();
  Image image;
  image.bytes = std::move(*linked);
  if (llvm::Error error = readSymbols(image))
    return std::move(error);
  return image;
}

llvm::Expected<std::string> linkRelocatable(const std::vector<std::string> &objects) {
  return link({"-r"}, objects);
}

} // namespace weft
