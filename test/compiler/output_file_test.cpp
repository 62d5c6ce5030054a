// Files that are there whole or not at all.
#include "compiler/artifact/OutputFile.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    path = (fs::temp_directory_path() / "weft-output-XXXXXX").string();
    REQUIRE(mkdtemp(path.data()) != nullptr);
  }
  ~Folder() { fs::remove_all(path); }
  size_t files() const { return size_t(std::distance(fs::directory_iterator(path), {})); }
  std::string path;
};

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool works(llvm::Error error) {
  bool failed = bool(error);
  llvm::consumeError(std::move(error));
  return !failed;
}

bool systemHasUnnamedFiles(const std::string &folder) {
  int fd = open(folder.c_str(), O_WRONLY | O_TMPFILE, 0666);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

} // namespace

TEST_CASE("a file that is committed takes the place of another, and nothing stands beside it") {
  Folder folder;
  std::string path = folder.path + "/model.weft";
  std::ofstream(path) << "before";
  OutputFile file;
  REQUIRE(works(file.open(path)));
  REQUIRE(works(file.write("whole")));
  REQUIRE(works(file.overwrite(0, "W")));
  REQUIRE(works(file.complete()));
  CHECK(contentOf(path) == "before");
  REQUIRE(works(file.commit()));
  CHECK(contentOf(path) == "Whole");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that is not committed leaves nothing, also when it was complete") {
  Folder folder;
  for (bool isComplete : {false, true}) {
    OutputFile file;
    REQUIRE(works(file.open(folder.path + "/model.weft")));
    REQUIRE(works(file.write("part")));
    if (isComplete)
      REQUIRE(works(file.complete()));
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("a process that is killed while it writes leaves nothing") {
  Folder folder;
  if (!systemHasUnnamedFiles(folder.path)) {
    WARN("not tested: files without a name are not supported in " + folder.path);
    return;
  }
  pid_t child = fork();
  if (child == 0) {
    OutputFile file;
    if (works(file.open(folder.path + "/model.weft")) &&
        works(file.write(std::string(20 << 20, 'x'))) && works(file.complete()))
      raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(folder.files() == 0);
}

TEST_CASE("a folder that is missing, or what is no regular file, is refused at once") {
  Folder folder;
  OutputFile missing, directory;
  CHECK_FALSE(works(missing.open(folder.path + "/none/model.weft")));
  CHECK_FALSE(works(directory.open(folder.path)));
  CHECK(folder.files() == 0);
}
