// Files are mapped read-only, and names that a model gives never lead out of the model's directory.
#include "test/compiler/readers/ReaderTest.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

static std::string inside(const TemporaryFolder &folder, const std::string &name) {
  return errorOf(MappedFile::openInside(folder.path, name));
}

TEST_CASE("a mapping shows the bytes of its file, and lives as long as it is shared") {
  TemporaryFolder folder;
  std::string content(10000, 'x');
  content[9999] = 'y';
  auto file = valueOf(MappedFile::open(folder.write("a.bin", content)));
  REQUIRE(::unlink((folder.path + "/a.bin").c_str()) == 0);
  auto second = file;
  file.reset();
  CHECK(second->size() == 10000);
  CHECK(asText(second->bytes()) == content);
  CHECK_FALSE(second->isView());

  llvm::ArrayRef<char> part = second->bytes().slice(100, 50);
  CHECK(second->contains(part));
  CHECK(second->offsetOf(part) == 100);
  CHECK_FALSE(second->contains(asBytes("elsewhere")));
}

TEST_CASE("a file is called as it is from the folder that it was opened in") {
  TemporaryFolder folder;
  folder.write("a.bin", "content");
  CHECK(valueOf(MappedFile::openInside(folder.path, "a.bin"))->pathFrom(folder.path) == "a.bin");
  CHECK(valueOf(MappedFile::openInside(folder.path, "./a.bin"))->pathFrom(folder.path) ==
        "./a.bin");
  CHECK(MappedFile::view("a.bin", {})->pathFrom("") == "a.bin");
}

TEST_CASE("a view keeps the owner of its bytes") {
  auto owner = std::make_shared<std::string>("content");
  std::weak_ptr<std::string> watched = owner;
  auto view = MappedFile::view("a", asBytes(*owner), owner);
  owner.reset();
  CHECK(asText(view->bytes()) == "content");
  CHECK(view->isView());
  view.reset();
  CHECK(watched.expired());
}

TEST_CASE("released pages are read again") {
  TemporaryFolder folder;
  std::string content(50000, 'q');
  auto file = valueOf(MappedFile::open(folder.write("a.bin", content)));
  CHECK(asText(file->bytes()) == content);
  file->releasePages(file->bytes().slice(5000, 30000));
  file->releasePages(file->bytes());
  file->releasePages(file->bytes().slice(10, 20));
  file->releasePages(asBytes("not in the file"));
  CHECK(asText(file->bytes()) == content);
}

TEST_CASE("an empty file has no bytes") {
  TemporaryFolder folder;
  auto file = valueOf(MappedFile::open(folder.write("empty", "")));
  CHECK(file->size() == 0);
  CHECK(file->bytes().empty());
}

TEST_CASE("what is no regular file is refused, and a pipe does not block") {
  TemporaryFolder folder;
  CHECK(errorOf(MappedFile::open(folder.path + "/none")) ==
        folder.path + "/none: cannot be opened: no such file or directory");
  CHECK(errorOf(MappedFile::open(folder.path)) == folder.path + ": is not a regular file");
  REQUIRE(::mkfifo((folder.path + "/pipe").c_str(), 0600) == 0);
  CHECK(errorOf(MappedFile::open(folder.path + "/pipe")) ==
        folder.path + "/pipe: is not a regular file");
  CHECK(inside(folder, "pipe") == folder.path + "/pipe: is not a regular file");
}

TEST_CASE("a file inside the directory opens, also through links and folders that stay inside") {
  TemporaryFolder folder;
  REQUIRE(::mkdir((folder.path + "/sub").c_str(), 0700) == 0);
  folder.write("sub/w.bin", "data");
  REQUIRE(::symlink("sub/w.bin", (folder.path + "/link").c_str()) == 0);
  for (const char *name : {"sub/w.bin", "./sub//w.bin", "link"}) {
    auto file = valueOf(MappedFile::openInside(folder.path, name));
    CHECK(asText(file->bytes()) == "data");
  }
  auto file = valueOf(MappedFile::openInside(folder.path, "sub/w.bin"));
  CHECK(file->path() == folder.path + "/sub/w.bin");
}

TEST_CASE("names that lead out of the directory are refused") {
  TemporaryFolder outer;
  std::string secret = outer.write("secret", "secret");
  REQUIRE(::mkdir((outer.path + "/model").c_str(), 0700) == 0);
  std::string root = outer.path + "/model";
  auto refusal = [&](llvm::StringRef name) { return errorOf(MappedFile::openInside(root, name)); };
  CHECK(refusal("../secret") ==
        "'../secret' contains '..', which could leave the model's directory");
  CHECK(refusal("a/../../secret") ==
        "'a/../../secret' contains '..', which could leave the model's directory");
  CHECK(refusal("/etc/passwd") ==
        "'/etc/passwd' is an absolute path, but must lie in the model's directory");
  CHECK(refusal("") == "'' is not a file name");
  CHECK(refusal(llvm::StringRef("w\0/x", 4)) == "'w\\x00/x' is not a file name");
  CHECK(refusal("missing") == "'missing': cannot be opened: no such file or directory");

  std::string linkError = "'link' is a symbolic link that leaves the model's directory; hint: copy "
                          "the file itself there";
  REQUIRE(::symlink("../secret", (root + "/link").c_str()) == 0);
  CHECK(refusal("link") == linkError);
  REQUIRE(::unlink((root + "/link").c_str()) == 0);
  REQUIRE(::symlink(secret.c_str(), (root + "/link").c_str()) == 0);
  CHECK(refusal("link") == linkError);
  REQUIRE(::symlink("..", (root + "/up").c_str()) == 0);
  CHECK(refusal("up/secret").find("leaves the model's directory") != std::string::npos);
  REQUIRE(::symlink("loop", (root + "/loop").c_str()) == 0);
  CHECK(refusal("loop") == "'loop': cannot be opened: too many levels of symbolic links");
}
