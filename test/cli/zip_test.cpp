// .npy and .npz files: round trips, refusals, damage.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Zip.h"

using namespace weft::cli;

namespace {

/// A folder that disappears with the test.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/weft-cli-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() {
    std::string command = "rm -rf " + path;
    if (std::system(command.c_str()) != 0)
      std::perror("rm");
  }
};

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

HostTensor counting(uint32_t element, std::vector<int64_t> dims) {
  HostTensor tensor = *HostTensor::allocate(element, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.set(i, static_cast<double>(i % 7));
  return tensor;
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

/// The archive of three tensors that damage is done to.
std::string sampleArchive(const Folder &folder) {
  OutputFiles files;
  REQUIRE(files.addNpz(folder.path + "/a.npz", {{"x", counting(WEFT_F32, {2, 3})},
                                                {"y", counting(WEFT_I64, {})},
                                                {"z", counting(WEFT_U8, {300})}}));
  REQUIRE(files.commit());
  return read(folder.path + "/a.npz");
}

Result<std::vector<NamedTensor>> readString(std::string &bytes) {
  return readTensorBytes(reinterpret_cast<uint8_t *>(bytes.data()), bytes.size(), nullptr);
}

} // namespace

TEST_CASE("all element types survive .npy and .npz, as numpy can hold them") {
  Folder folder;
  for (uint32_t element = WEFT_BOOL; element <= WEFT_F8E8M0; ++element) {
    INFO(weft_element_name(element));
    for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {0}, {5}, {2, 0, 3}, {3, 1, 5}}) {
      HostTensor tensor = counting(element, dims);
      OutputFiles files;
      REQUIRE(files.addNpy(folder.path + "/t.npy", tensor));
      REQUIRE(files.addNpz(folder.path + "/t.npz", {{"t", tensor}}));
      REQUIRE(files.commit());
      for (const char *name : {"/t.npy", "/t.npz"}) {
        Result<std::vector<NamedTensor>> back = readTensorFile(folder.path + name);
        REQUIRE(back);
        const HostTensor &got = (*back)[0].tensor;
        REQUIRE(got.element() == npyElement(element));
        REQUIRE(got.dims() == dims);
        HostTensor expected = weft_element_bits(element) < 8
                                  ? *unpackParts(tensor)
                                  : tensor.reinterpreted(npyElement(element));
        for (int64_t i = 0; i < got.count(); ++i)
          REQUIRE(got.get(i) == expected.get(i));
      }
    }
  }
}

TEST_CASE("equal tensors give equal bytes") {
  Folder a, b;
  CHECK(sampleArchive(a) == sampleArchive(b));
}

TEST_CASE("files appear together or not at all") {
  Folder folder;
  {
    OutputFiles files;
    REQUIRE(files.makeFolder(folder.path + "/new/deep"));
    REQUIRE(files.addNpy(folder.path + "/new/deep/a.npy", counting(WEFT_F32, {2})));
    CHECK_FALSE(exists(folder.path + "/new/deep/a.npy"));
    CHECK_FALSE(files.addNpy(folder.path + "/missing/b.npy", counting(WEFT_F32, {2})));
  }
  CHECK_FALSE(exists(folder.path + "/new"));
  {
    OutputFiles files;
    REQUIRE(files.makeFolder(folder.path + "/new"));
    REQUIRE(files.addNpy(folder.path + "/new/a.npy", counting(WEFT_F32, {2})));
    REQUIRE(files.commit());
  }
  CHECK(exists(folder.path + "/new/a.npy"));
}

TEST_CASE("names become harmless file names") {
  CHECK(fileName("logits") == "logits");
  CHECK(fileName("/layer.0/out:0") == "_layer.0_out_0");
  CHECK(fileName("../../etc/passwd") == "_.._.._etc_passwd");
  CHECK(fileName("") == "_");
  CHECK(fileName(std::string(1000, 'x')).size() == 200);
}

TEST_CASE("a truncated archive is refused at every length") {
  Folder folder;
  std::string whole = sampleArchive(folder);
  REQUIRE(readString(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string cut = whole.substr(0, size);
    REQUIRE_FALSE(readString(cut));
  }
}

TEST_CASE("a damaged archive is refused or read, never more") {
  Folder folder;
  std::string whole = sampleArchive(folder);
  uint64_t random = 7;
  int refused = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i <= round % 3; ++i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      bytes[(random >> 20) % bytes.size()] = static_cast<char>(random >> 56);
    }
    refused += !readString(bytes);
  }
  CHECK(refused > 20000);
}

TEST_CASE("what is wrong with an archive is said") {
  Folder folder;
  std::string whole = sampleArchive(folder), bytes = whole;
  // The content of x begins behind its 128-byte .npy header.
  bytes[bytes.find("NUMPY") + 127] ^= 1;
  CHECK(readString(bytes).failure().message == "member 'x.npy' is damaged: its checksum differs");
  bytes = whole;
  size_t row = bytes.find("PK\x01\x02");
  bytes[row + 10] = 8;
  CHECK(readString(bytes).failure().message ==
        "member 'x.npy' is compressed, which is not supported");
  bytes = whole;
  bytes[row + 8] = 1;
  CHECK(readString(bytes).failure().message == "member 'x.npy' is encrypted");
  bytes = "\x93NUMPX";
  CHECK(readString(bytes).failure().message == "is neither a .npy nor a .npz file");
}
