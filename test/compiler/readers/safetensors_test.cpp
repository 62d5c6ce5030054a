// Checkpoints are mapped, and a header that disagrees with its data is refused.
#include "compiler/import/readers/Safetensors.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

static std::string refusal(const std::string &text, const SafetensorsLimits &limits = {}) {
  return errorOf(readSafetensors(MappedFile::view("m.safetensors", asBytes(text)), limits));
}

/// The refusal of a file that holds one tensor 'w' with these fields and so many bytes of data.
static std::string ofTensor(const std::string &fields, size_t bytes = 4) {
  std::string prefix = "m.safetensors: tensor 'w': ";
  std::string error = refusal(safetensorsFile("{\"w\":" + fields + "}", std::string(bytes, 'x')));
  if (error.rfind(prefix, 0) == 0)
    return error.substr(prefix.size());
  prefix = "m.safetensors: tensor 'w' ";
  return error.rfind(prefix, 0) == 0 ? error.substr(prefix.size()) : error;
}

TEST_CASE("tensors come with type, shape and bytes in the order of the file") {
  std::string text = sampleSafetensors();
  auto file = MappedFile::view("m.safetensors", asBytes(text));
  auto tensors = valueOf(readSafetensors(file));
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].type == SafetensorsType::BF16);
  CHECK(asText(tensors[0].bytes) == "aaaa");
  CHECK(tensors[1].name == "none");
  CHECK(tensors[1].shape == std::vector<int64_t>{0, 7});
  CHECK(tensors[2].shape == std::vector<int64_t>{2, 2});
  CHECK(asText(tensors[2].bytes) == std::string(16, 'b'));
  CHECK(tensors[2].offset == text.find("bbbbbbbb"));
  CHECK(tensors[2].file == file);
  CHECK(tensors[3].shape.empty());
}

TEST_CASE("all element types of the format are known") {
  const std::pair<const char *, unsigned> types[] = {
      {"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
      {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (auto [name, bytes] : types) {
    std::string end = std::to_string(3 * bytes);
    std::string text = safetensorsFile(std::string("{\"w\":{\"dtype\":\"") + name +
                                           "\",\"shape\":[3],\"data_offsets\":[0," + end + "]}}",
                                       std::string(3 * bytes, 'x'));
    auto tensors = valueOf(readSafetensors(MappedFile::view("m", asBytes(text))));
    CHECK(safetensorsTypeName(tensors.at(0).type) == name);
    CHECK(safetensorsTypeBytes(tensors.at(0).type) == bytes);
  }
}

TEST_CASE("every truncation of a file is refused") {
  std::string text = sampleSafetensors();
  for (size_t length = 0; length < text.size(); ++length) {
    std::string error = refusal(text.substr(0, length));
    CAPTURE(length);
    CHECK(error != "");
    CHECK(error.find('\n') == std::string::npos);
  }
  CHECK(refusal(text + "x") == "m.safetensors: 1 bytes at the end belong to no tensor");
}

TEST_CASE("headers that are none are refused") {
  CHECK(refusal("") == "m.safetensors: has 0 bytes, too few for a safetensors file");
  CHECK(
      refusal(std::string(100, '\xff')) ==
      "m.safetensors: the header would have 18446744073709551615 bytes, but the reader's limit is "
      "67108864; is it a safetensors file?");
  CHECK(refusal(WireWriter::fixed<uint64_t>(100) + "{}") ==
        "m.safetensors: the header has 100 bytes, but the file only 10; is it truncated?");
  CHECK(refusal(safetensorsFile("[1]", "")) ==
        "m.safetensors: byte 8: the header does not start with '{'");
  CHECK(refusal(safetensorsFile("{\"w\":", ""))
            .rfind("m.safetensors: header: is not valid JSON", 0) == 0);
  CHECK(refusal(safetensorsFile("{\"w\":" + std::string(100000, '['), "")) ==
        "m.safetensors: header: is nested more than 4 levels deep, the reader's limit");
  CHECK(refusal(safetensorsFile("{}", "")) == "");
}

TEST_CASE("a tensor whose fields are wrong is refused by name") {
  std::string rest = R"("shape":[1],"data_offsets":[0,4]})";
  CHECK(ofTensor("{\"dtype\":\"F32\"," + rest) == "");
  CHECK(ofTensor("{\"dtype\":\"F4\"," + rest) ==
        R"('dtype' must be a known type such as F32, but is "F4")");
  CHECK(ofTensor("{\"dtype\":3," + rest) == "'dtype' must be a string, but is 3");
  CHECK(ofTensor("{" + rest) == "'dtype' is missing, but must be a string");
  CHECK(ofTensor("7") == "must be an object, but is 7");
  auto shaped = [](const std::string &shape) {
    return ofTensor(R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]})");
  };
  CHECK(shaped("[-1]") == "'shape' must be a list of sizes, but is [-1]");
  CHECK(shaped("[1.5]") == "'shape' must be a list of sizes, but is [1.5]");
  CHECK(shaped("3") == "'shape' must be a list of sizes, but is 3");
  CHECK(shaped("[9223372036854775808]") ==
        "'shape' must be a list of sizes below 2^63, but is [9223372036854775808]");
  CHECK(shaped("[2]") == "data_offsets hold 4 bytes, but F32 [2] needs 8");
  CHECK(shaped("[4611686018427387904,4,4]") ==
        "data_offsets hold 4 bytes, but F32 [4611686018427387904, 4, 4] needs more than can be "
        "counted");
  CHECK(shaped("[0,4611686018427387904,4]").find("data_offsets hold 4 bytes") == 0);
}

TEST_CASE("data offsets must lie in the file") {
  auto at = [](const std::string &offsets, size_t bytes) {
    return ofTensor(R"({"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}", bytes);
  };
  CHECK(at("[0,4]", 3) ==
        "its data ends at offset 4, but the file holds 3 bytes of data; is it truncated?");
  CHECK(at("[4,0]", 4) == "'data_offsets' must be two offsets, begin and end, but is [4,0]");
  CHECK(at("[0]", 4) == "'data_offsets' must be two offsets, begin and end, but is [0]");
  CHECK(at("[18446744073709551612,18446744073709551615]", 4)
            .find("its data ends at offset 18446744073709551615") == 0);
  CHECK(at("[4,8]", 8) == "starts at byte 66, but the data before it ends at byte 62");
}

TEST_CASE("overlaps, gaps and duplicate names are refused") {
  auto pair = [](const std::string &second, const char *name) {
    return refusal(
        safetensorsFile(std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},")") +
                            name + R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}",
                        "01234567"));
  };
  CHECK(pair("[4,8]", "b") == "");
  CHECK(pair("[2,6]", "b").find("tensor 'b' starts at byte") != std::string::npos);
  CHECK(pair("[0,4]", "b").find("tensor 'b' starts at byte") != std::string::npos);
  CHECK(pair("[4,8]", "a") == "m.safetensors: header: the key 'a' occurs twice in one object");
}

TEST_CASE("the number of tensors is limited") {
  SafetensorsLimits limits;
  limits.tensors = 3;
  CHECK(refusal(sampleSafetensors(), limits) ==
        "m.safetensors: has 5 tensors, but the reader's limit is 3");
}

//===- Directories ----------------------------------------------------------------------------===//

static std::string oneTensor(const std::string &name, const std::string &data) {
  return safetensorsFile("{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" +
                             std::to_string(data.size()) + "],\"data_offsets\":[0," +
                             std::to_string(data.size()) + "]}}",
                         data);
}

static std::string refusalOf(const TemporaryFolder &folder) {
  std::string error = errorOf(openCheckpoint(folder.path));
  std::string prefix = folder.path;
  REQUIRE(error.rfind(prefix, 0) == 0);
  return error.substr(prefix.size());
}

TEST_CASE("a checkpoint is a directory with a configuration and weights") {
  TemporaryFolder folder;
  CHECK(refusalOf(folder) == "/config.json: cannot be opened: no such file or directory");
  folder.write("config.json", R"({"model_type": "bert"})");
  CHECK(refusalOf(folder) ==
        ": holds neither model.safetensors nor model.safetensors.index.json; hint: other formats "
        "such as pytorch_model.bin must be converted first");
  folder.write("model.safetensors", sampleSafetensors());
  Checkpoint checkpoint = valueOf(openCheckpoint(folder.path));
  CHECK(checkpoint.config["model_type"] == "bert");
  CHECK(checkpoint.configPath == folder.path + "/config.json");
  REQUIRE(checkpoint.tensors.size() == 4);
  CHECK(asText(checkpoint.find("b")->bytes) == std::string(16, 'b'));
  CHECK(checkpoint.find("b")->file->path() == folder.path + "/model.safetensors");
  CHECK(checkpoint.find("c") == nullptr);
  CHECK(checkpoint.find("") == nullptr);
  folder.write("config.json", "[]");
  CHECK(refusalOf(folder) == "/config.json: must be a JSON object, but is []");
  CHECK(errorOf(openCheckpoint(folder.path + "/config.json")) ==
        folder.path + "/config.json: is not a directory");
}

TEST_CASE("shards are read as the index says") {
  TemporaryFolder folder;
  folder.write("config.json", "{}");
  folder.write("m-1.safetensors", oneTensor("x", "12"));
  folder.write("m-2.safetensors", oneTensor("y", "345"));
  auto index = [&](const std::string &map) {
    folder.write("model.safetensors.index.json",
                 R"({"metadata":{"total_size":5},"weight_map":)" + map + "}");
  };
  index(R"({"y":"m-2.safetensors","x":"m-1.safetensors"})");
  Checkpoint checkpoint = valueOf(openCheckpoint(folder.path));
  REQUIRE(checkpoint.tensors.size() == 2);
  CHECK(asText(checkpoint.find("x")->bytes) == "12");
  CHECK(asText(checkpoint.find("y")->bytes) == "345");

  std::string place = "/model.safetensors.index.json: ";
  index(R"({"x":"m-2.safetensors"})");
  CHECK(refusalOf(folder) == place + "tensor 'x' is not in the file 'm-2.safetensors'");
  index(R"({"x":"../m.safetensors"})");
  CHECK(refusalOf(folder) == place +
                                 "shard '../m.safetensors' contains '..', which could leave the "
                                 "model's directory");
  index(R"({"x":"/m.safetensors"})");
  CHECK(refusalOf(folder) == place +
                                 "shard '/m.safetensors' is an absolute path, but must lie in the "
                                 "model's directory");
  TemporaryFolder elsewhere;
  std::string target = elsewhere.write("m-1.safetensors", oneTensor("x", "12"));
  REQUIRE(::symlink(target.c_str(), (folder.path + "/link").c_str()) == 0);
  index(R"({"x":"./link"})"); // a path, not the name of an entry
  CHECK(refusalOf(folder) == place + "shard './link' is a symbolic link that leaves the model's "
                                     "directory; hint: copy the file itself there");
  index(R"({"x":"absent"})");
  CHECK(refusalOf(folder) == place + "shard 'absent': cannot be opened: no such file or directory");
  index(R"({"x":5})");
  CHECK(refusalOf(folder) == place + "'x' must be the name of a file, but is 5");
  index("[]");
  CHECK(refusalOf(folder) ==
        place + "'weight_map' must be an object that maps tensors to files, but is []");
}

TEST_CASE("the cache of huggingface_hub is read, whose files are links to blobs outside") {
  TemporaryFolder cache;
  for (const char *folder : {"/blobs", "/snapshots", "/snapshots/0123"})
    REQUIRE(::mkdir((cache.path + folder).c_str(), 0700) == 0);
  std::string snapshot = cache.path + "/snapshots/0123/";
  auto add = [&](const std::string &name, const std::string &content) {
    cache.write("blobs/" + name + "-hash", content);
    REQUIRE(::symlink(("../../blobs/" + name + "-hash").c_str(), (snapshot + name).c_str()) == 0);
  };
  add("config.json", "{}");
  add("m-1.safetensors", oneTensor("x", "12"));
  add("m-2.safetensors", oneTensor("y", "345"));
  add("model.safetensors.index.json",
      R"({"weight_map":{"y":"m-2.safetensors","x":"m-1.safetensors"}})");
  Checkpoint shards = valueOf(openCheckpoint(snapshot));
  CHECK(asText(shards.find("x")->bytes) == "12");
  CHECK(asText(shards.find("y")->bytes) == "345");

  add("model.safetensors", oneTensor("z", "6"));
  CHECK(asText(valueOf(openCheckpoint(snapshot)).find("z")->bytes) == "6");
}
