// Code of kernels that earlier compilations left in a folder.
#include "compiler/driver/KernelFolder.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace weft;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    path = (fs::temp_directory_path() / "weft-kernels-XXXXXX").string();
    REQUIRE(mkdtemp(path.data()) != nullptr);
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> list;
    for (const fs::directory_entry &each : fs::recursive_directory_iterator(path))
      if (each.is_regular_file())
        list.push_back(each.path());
    return list;
  }
  std::string path;
};

KernelImage someImage() {
  KernelImage image;
  image.kind = KernelImage::Ptx;
  image.bytes = std::string("a\0b", 3);
  image.entry = "entry";
  image.unit = Unit::ByteTiles;
  image.threads = 128;
  image.blockBytes = 4096;
  image.isCounted = true;
  return image;
}

void writeTo(const fs::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

} // namespace

TEST_CASE("what is kept is found again, in all its parts") {
  Folder folder;
  KernelFolder kernels(folder.path + "/not/there/yet");
  CHECK(!kernels.find("key"));
  kernels.keep("key", someImage());
  std::optional<KernelImage> found = kernels.find("key");
  REQUIRE(found);
  CHECK(found->kind == KernelImage::Ptx);
  CHECK(found->bytes == std::string("a\0b", 3));
  CHECK(found->entry == "entry");
  CHECK(found->unit == Unit::ByteTiles);
  CHECK(found->threads == 128);
  CHECK(found->blockBytes == 4096);
  CHECK(found->isCounted);
  CHECK(found->isKept);
  CHECK(!kernels.find("another key"));
  CHECK(folder.files().size() == 1);
}

TEST_CASE(
    "a file that is cut off or changed anywhere is as if it were not there, and is replaced") {
  Folder folder;
  KernelFolder kernels(folder.path);
  kernels.keep("key", someImage());
  fs::path path = folder.files().at(0);
  std::ifstream stream(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  for (size_t size = 0; size < whole.size(); ++size) {
    writeTo(path, whole.substr(0, size));
    CHECK(!kernels.find("key"));
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = char(changed[i] ^ 1);
    writeTo(path, changed);
    CHECK(!kernels.find("key"));
  }
  writeTo(path, whole + "x");
  CHECK(!kernels.find("key"));
  kernels.keep("key", someImage());
  CHECK(kernels.find("key"));
  CHECK(folder.files().size() == 1);
}

TEST_CASE("a file under the name of another key is not taken") {
  Folder folder;
  KernelFolder kernels(folder.path);
  kernels.keep("one", someImage());
  fs::path one = folder.files().at(0);
  kernels.keep("two", someImage());
  for (const fs::path &path : folder.files())
    if (path != one)
      fs::copy_file(one, path, fs::copy_options::overwrite_existing);
  CHECK(kernels.find("one"));
  CHECK(!kernels.find("two"));
}

TEST_CASE("nothing is kept where no file can be made") {
  KernelFolder kernels("/dev/null/kernels");
  kernels.keep("key", someImage());
  CHECK(!kernels.find("key"));
}
