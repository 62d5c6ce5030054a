// OnnxTensorData yields the bytes of a tensor in raw_data's layout, wherever the file keeps them.
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

static std::string modelWith(const WireWriter &tensor) {
  return modelOf(WireWriter().message(5, tensor)).bytes;
}

/// The bytes of the only initializer of a model, or the error.
static std::string dataOf(const WireWriter &tensor) {
  std::string text = modelWith(tensor);
  OnnxModel model = valueOf(readOnnx(MappedFile::view("model.onnx", asBytes(text))));
  auto data = OnnxTensorData(model).read(model.graph.initializers[0]);
  return data ? asText(data->bytes) : llvm::toString(data.takeError());
}

template <typename T> static std::string elements(const std::vector<T> &values) {
  std::string out;
  for (T value : values)
    out += WireWriter::fixed(value);
  return out;
}

static WireWriter typed(int type, int64_t count) {
  return WireWriter().packed(1, {count}).integer(2, type).text(8, "w");
}

TEST_CASE("raw data is read in place") {
  std::string text = modelWith(rawTensor("w", 1, {2}, "abcdefgh"));
  auto file = MappedFile::view("model.onnx", asBytes(text));
  OnnxModel model = valueOf(readOnnx(file));
  TensorBytes data = valueOf(OnnxTensorData(model).read(model.graph.initializers[0]));
  CHECK(asText(data.bytes) == "abcdefgh");
  CHECK(data.file == file);
  CHECK(file->offsetOf(data.bytes) == text.find("abcdefgh"));
}

TEST_CASE("typed numbers become little-endian elements") {
  CHECK(dataOf(typed(6, 3).packed(5, {1, -2, INT32_MIN})) == elements<int32_t>({1, -2, INT32_MIN}));
  CHECK(dataOf(typed(3, 2).packed(5, {-128, 127})) == elements<int8_t>({-128, 127}));
  CHECK(dataOf(typed(2, 2).packed(5, {0, 255})) == elements<uint8_t>({0, 255}));
  CHECK(dataOf(typed(5, 1).packed(5, {-2})) == elements<int16_t>({-2}));
  CHECK(dataOf(typed(4, 1).packed(5, {65535})) == elements<uint16_t>({65535}));
  CHECK(dataOf(typed(9, 2).packed(5, {1, 0})) == elements<uint8_t>({1, 0}));
  CHECK(dataOf(typed(7, 2).packed(7, {INT64_MIN, 5})) == elements<int64_t>({INT64_MIN, 5}));
  CHECK(dataOf(typed(12, 1).packed(11, {0xffffffff})) == elements<uint32_t>({0xffffffff}));
  CHECK(dataOf(typed(13, 1).packed(11, {-1})) == elements<uint64_t>({UINT64_MAX}));
  CHECK(dataOf(typed(10, 1).packed(5, {0x3c00})) == elements<uint16_t>({0x3c00}));
  CHECK(dataOf(typed(16, 1).packed(5, {0xff80})) == elements<uint16_t>({0xff80}));
  CHECK(dataOf(typed(17, 2).packed(5, {0x7f, 0x80})) == elements<uint8_t>({0x7f, 0x80}));
  CHECK(dataOf(typed(14, 1).packedFixed<float>(4, {1, 2})) == elements<float>({1, 2}));
  CHECK(dataOf(typed(15, 1).packedFixed<double>(10, {1, 2})) == elements<double>({1, 2}));
}

TEST_CASE("elements narrower than a byte are packed from the low bits") {
  CHECK(dataOf(typed(22, 3).packed(5, {0x21, 0x0f})) == "\x21\x0f");
  CHECK(dataOf(typed(21, 2).packed(5, {0xba})) == "\xba");
  CHECK(dataOf(typed(26, 5).packed(5, {0xe4, 0x02})) == "\xe4\x02");
  // Four 6-bit values 1, 2, 3, 63 and one more take 24 + 6 bits.
  CHECK(dataOf(typed(27, 5).packed(5, {1, 2, 3, 63, 32})) == std::string("\x81\x30\xfc\x20", 4));
}

TEST_CASE("floats are read in place from one packed field, and joined from several") {
  WireWriter whole = typed(1, 3).packedFixed<float>(4, {1, 2, 3});
  std::string text = modelWith(whole);
  OnnxModel model = valueOf(readOnnx(MappedFile::view("model.onnx", asBytes(text))));
  TensorBytes data = valueOf(OnnxTensorData(model).read(model.graph.initializers[0]));
  CHECK(asText(data.bytes) == elements<float>({1, 2, 3}));
  CHECK(data.file == model.file);
  CHECK_FALSE(data.owned);

  WireWriter pieces = typed(1, 4).packedFixed<float>(4, {1}).number(4, 2.0f);
  CHECK(dataOf(pieces.packedFixed<float>(4, {3, 4})) == elements<float>({1, 2, 3, 4}));
  CHECK(dataOf(typed(11, 2).number(10, 1.0).number(10, 2.0)) == elements<double>({1, 2}));
  CHECK(dataOf(typed(7, 3).integer(7, 1).packed(7, {2}).integer(7, 3)) ==
        elements<int64_t>({1, 2, 3}));
}

TEST_CASE("a tensor without elements has no bytes") {
  CHECK(dataOf(typed(1, 0)) == "");
  CHECK(dataOf(rawTensor("w", 1, {0, INT64_MAX, INT64_MAX}, "")) == "");
}

TEST_CASE("numbers that do not fit the element type are refused") {
  CHECK(dataOf(typed(3, 1).packed(5, {300})) ==
        "model.onnx: tensor 'w': the value 300 does not fit the element type int8");
  CHECK(dataOf(typed(6, 1).packed(5, {int64_t(1) << 32})) ==
        "model.onnx: tensor 'w': the value 4294967296 does not fit the element type int32");
}

TEST_CASE("strings are read as strings only") {
  std::string text = modelWith(typed(8, 2).text(6, "ab").text(6, ""));
  OnnxModel model = valueOf(readOnnx(MappedFile::view("model.onnx", asBytes(text))));
  OnnxTensorData reader(model);
  CHECK(valueOf(reader.readStrings(model.graph.initializers[0])) ==
        std::vector<llvm::StringRef>{"ab", ""});
  CHECK(errorOf(reader.read(model.graph.initializers[0])) ==
        "model.onnx: tensor 'w': elements of type string of shape [2] cannot be read as bytes");
  std::string floats = modelWith(rawTensor("f", 1, {1}, "abcd"));
  OnnxModel other = valueOf(readOnnx(MappedFile::view("model.onnx", asBytes(floats))));
  CHECK(errorOf(OnnxTensorData(other).readStrings(other.graph.initializers[0])) ==
        "model.onnx: tensor 'f': is of type float, not string");
}

TEST_CASE("an element type of the future is kept, but its data is refused") {
  CHECK(dataOf(rawTensor("w", 77, {2}, "abc")) ==
        "model.onnx: tensor 'w': elements of type element type 77 of shape [2] cannot be read as "
        "bytes");
}

//===- External data --------------------------------------------------------------------------===//

static WireWriter external(const std::string &location, const std::string &offset,
                           const std::string &length) {
  WireWriter tensor = typed(1, 2).integer(14, 1);
  auto entry = [&](const char *key, const std::string &value) {
    if (!value.empty())
      tensor.message(13, WireWriter().text(1, key).text(2, value));
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  entry("checksum", "0123");
  return tensor;
}

/// Like dataOf, with a model file in `folder`.
static std::string dataIn(const TemporaryFolder &folder, const WireWriter &tensor) {
  OnnxModel model = valueOf(readOnnxFile(folder.write("m.onnx", modelWith(tensor))));
  auto data = OnnxTensorData(model).read(model.graph.initializers[0]);
  if (data)
    return asText(data->bytes);
  std::string error = llvm::toString(data.takeError());
  std::string prefix = folder.path + "/m.onnx: ";
  REQUIRE(error.substr(0, prefix.size()) == prefix);
  return error.substr(prefix.size());
}

TEST_CASE("external data is mapped from the model's directory") {
  TemporaryFolder folder;
  REQUIRE(::mkdir((folder.path + "/sub").c_str(), 0700) == 0);
  folder.write("sub/w.bin", "0123456789abcdef");
  CHECK(dataIn(folder, external("sub/w.bin", "4", "8")) == "456789ab");
  CHECK(dataIn(folder, external("sub/w.bin", "", "")) == "01234567");
  CHECK(dataIn(folder, external("sub/w.bin", "8", "")) == "89abcdef");
}

TEST_CASE("tensors of one external file share its mapping") {
  TemporaryFolder folder;
  folder.write("w.bin", "0123456789abcdef");
  WireWriter graph =
      WireWriter().message(5, external("w.bin", "0", "8")).message(5, external("w.bin", "8", "8"));
  OnnxModel model = valueOf(readOnnxFile(folder.write("m.onnx", modelOf(graph).bytes)));
  OnnxTensorData reader(model);
  TensorBytes first = valueOf(reader.read(model.graph.initializers[0]));
  TensorBytes second = valueOf(reader.read(model.graph.initializers[1]));
  CHECK(first.file == second.file);
  CHECK(second.file->offsetOf(second.bytes) == 8);
}

TEST_CASE("external data outside its file or of the wrong size is refused") {
  TemporaryFolder folder;
  folder.write("w.bin", "0123456789abcdef");
  CHECK(dataIn(folder, external("w.bin", "9", "8")) ==
        "tensor 'w': external data 'w.bin' has 16 bytes, but 8 at offset 9 are needed");
  CHECK(dataIn(folder, external("w.bin", "18446744073709551615", "8")) ==
        "tensor 'w': external data 'w.bin' has 16 bytes, but 8 at offset 18446744073709551615 are "
        "needed");
  CHECK(dataIn(folder, external("w.bin", "0", "4")) ==
        "tensor 'w': external data of 4 bytes, but float [2] needs 8");
}

TEST_CASE("external data outside the model's directory is refused") {
  TemporaryFolder outer;
  outer.write("secret", "0123456789abcdef");
  TemporaryFolder folder;
  CHECK(dataIn(folder, external("/etc/hostname", "", "")) ==
        "external data '/etc/hostname' is an absolute path, but must lie in the model's directory");
  CHECK(dataIn(folder, external("../x/secret", "", "")) ==
        "external data '../x/secret' contains '..', which could leave the model's directory");
  REQUIRE(::symlink((outer.path + "/secret").c_str(), (folder.path + "/link").c_str()) == 0);
  CHECK(dataIn(folder, external("link", "", "")) ==
        "external data 'link' is a symbolic link that leaves the model's directory; hint: copy the "
        "file itself there");
  CHECK(dataIn(folder, external("", "", "")) == "external data '' is not a file name");
  CHECK(dataIn(folder, external("none", "", "")) ==
        "external data 'none': cannot be opened: no such file or directory");
  CHECK(dataOf(external("w.bin", "", "")) ==
        "model.onnx: tensor 'w': its data is in another file, but this model was read from memory");
}
