// What the compiler writes, damaged: a flipped byte outside the weights is always noticed, one inside them when asked. And calls with sizes
// that no machine has.
#include "test/support/Program.h"
#include "weft/artifact.h"
#include "llvm/ADT/StringExtras.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <limits>
#include <unistd.h>

using namespace weft::test;

namespace {

using Bytes = std::vector<char>;

/// A product with a constant matrix, which becomes a weight.
std::string product() {
  std::string bytes;
  for (int i = 0; i < 64 * 48; ++i) {
    float value = float(i % 61) / 61;
    bytes.append(reinterpret_cast<char *>(&value), 4);
  }
  return R"(func.func @main(%x: !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 48], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<"0x)" +
         llvm::toHex(bytes) + R"("> : tensor<64x48xf32> -> !weft.tensor<[64, 48], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 48], f32>) -> !weft.tensor<[m, 48], f32>
  return %y : !weft.tensor<[m, 48], f32>
})";
}

Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

weft_file_v1 noteOf(const Bytes &file) {
  static const char name[] = {'W', 'E', 'F', 'T', 0, 0, 0, 0};
  auto found = std::search(file.begin(), file.begin() + 4096, std::begin(name), std::end(name));
  REQUIRE(found != file.begin() + 4096);
  weft_file_v1 note;
  std::memcpy(&note, &*found + sizeof name, sizeof note);
  return note;
}

/// A copy of an artifact that can be damaged and opened.
struct Copy {
  explicit Copy(const Bytes &bytes) : bytes(bytes), file(std::tmpfile()) {
    REQUIRE(file);
    restore(0);
  }
  ~Copy() { std::fclose(file); }
  void restore(size_t from) {
    REQUIRE(pwrite(fileno(file), &bytes[from], bytes.size() - from, off_t(from)) ==
            ssize_t(bytes.size() - from));
  }
  void write(size_t at, char value) { REQUIRE(pwrite(fileno(file), &value, 1, off_t(at)) == 1); }
  void cut(size_t size) { REQUIRE(ftruncate(fileno(file), off_t(size)) == 0); }

  /// Why it does not open, or, with `verify`, is not whole then; empty when all is well.
  std::string problem(bool verify) {
    weft_error_t error = WEFT_ERROR_INIT;
    weft_module_t *module = nullptr;
    weft_status_t status = weft_module_open_fd(nullptr, fileno(file), &module, &error);
    if (!status && verify)
      status = weft_module_verify(module, &error);
    weft_module_release(module);
    return status ? error.message : "";
  }
  std::string problemWhileOpening() {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.verify = 1;
    weft_error_t error = WEFT_ERROR_INIT;
    weft_module_t *module = nullptr;
    weft_status_t status = weft_module_open_fd(&env, fileno(file), &module, &error);
    weft_module_release(module);
    return status ? error.message : "";
  }

  const Bytes &bytes;
  std::FILE *file;
};

/// The allocator of a caller who counts.
struct Counter {
  int calls = 0;
  weft_env_t env() {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.user = this;
    env.allocate = [](void *user, size_t bytes, size_t alignment) {
      ++static_cast<Counter *>(user)->calls;
      return aligned_alloc(std::max<size_t>(alignment, 64), (bytes + 4095) / 4096 * 4096);
    };
    env.release = [](void *, void *pointer, size_t) { free(pointer); };
    return env;
  }
};

} // namespace

TEST_CASE("few weights begin with the next page behind the code") {
  Program program(product());
  REQUIRE(program.error() == "");
  weft_file_v1 note = noteOf(readFile(program.path));
  CHECK(note.abi_minor == 4);
  CHECK(note.weights_begin % (64 << 10) == 0);
  CHECK(note.weights_begin < note.image_size + (64 << 10));
}

TEST_CASE("a flipped byte of an artifact is noticed wherever it is") {
  Program program(product());
  REQUIRE(program.error() == "");
  Bytes bytes = readFile(program.path);
  weft_file_v1 note = noteOf(bytes);
  REQUIRE(note.weights_size >= 64 * 48 * 4);
  Copy copy(bytes);
  REQUIRE(copy.problem(true) == "");
  std::mt19937_64 random(1);
  unsigned inside = 0;
  for (int round = 0; round < 2000; ++round) {
    // Code, descriptor and tail are small beside the gap in front of the weights.
    size_t at = round % 4 == 0   ? random() % bytes.size()
                : round % 4 == 1 ? random() % note.image_size
                : round % 4 == 2
                    ? note.weights_begin + random() % note.weights_size
                    : note.weights_begin + note.weights_size +
                          random() % (bytes.size() - note.weights_begin - note.weights_size);
    bool isWeight = at >= note.weights_begin && at < note.weights_begin + note.weights_size;
    inside += isWeight;
    copy.write(at, char(bytes[at] ^ char(1 + random() % 255)));
    INFO("byte " << at << (isWeight ? " of the weights" : ""));
    CHECK((copy.problem(false) == "") == isWeight);
    if (isWeight) {
      CHECK(copy.problem(true) != "");
      CHECK(copy.problemWhileOpening() != "");
    }
    copy.write(at, bytes[at]);
  }
  REQUIRE(inside >= 500);
  REQUIRE(copy.problem(true) == "");
}

TEST_CASE("an artifact that is cut off is refused") {
  Program program(product());
  Bytes bytes = readFile(program.path);
  Copy copy(bytes);
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    size_t size = round < 50    ? size_t(round) * 100
                  : round < 100 ? bytes.size() - size_t(round - 49)
                                : random() % bytes.size();
    copy.cut(size);
    INFO(size << " bytes");
    REQUIRE(copy.problem(false) != "");
    copy.restore(size);
  }
  REQUIRE(copy.problem(true) == "");
}

TEST_CASE("sizes that no machine has are refused before anything is allocated") {
  const char *text =
      R"(func.func @main(%x: !weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, s + 7], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %e = weft.exp %x : (!weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, 64], f32>
  %a = weft.contract "b s d, b t d -> b s t" %x, %e accumulate f32 : (!weft.tensor<[b, s, 64], f32>, !weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, s], f32>
  %p = weft.softmax %a : (!weft.tensor<[b, s, s], f32>) -> !weft.tensor<[b, s, s], f32>
  %z = weft.slice %x from [0, 0, 0] size [b, s, 7] step [1, 1, 1] : (!weft.tensor<[b, s, 64], f32>) -> !weft.tensor<[b, s, 7], f32>
  %y = weft.concat %p, %z dim 2 : (!weft.tensor<[b, s, s], f32>, !weft.tensor<[b, s, 7], f32>) -> !weft.tensor<[b, s, s + 7], f32>
  return %y : !weft.tensor<[b, s, s + 7], f32>
})";
  Program program(text);
  REQUIRE(program.error() == "");
  Counter counter;
  weft_env_t env = counter.env();
  weft_error_t error = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_context_t *context = nullptr;
  REQUIRE(weft_module_open(&env, program.path.c_str(), &module, &error) == WEFT_OK);
  weft_context_options_t options = {sizeof options, 1, -1, 1 << 30};
  REQUIRE(weft_context_create(module, &options, &context, &error) == WEFT_OK);
  int before = counter.calls;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t sizes[] = {100000,
                           (int64_t(1) << 31) - 1,
                           int64_t(1) << 31,
                           (int64_t(1) << 32) + 1,
                           int64_t(1) << 40,
                           int64_t(1) << 60,
                           (int64_t(1) << 62) + 1,
                           most / 64,
                           most - 1,
                           most,
                           -1,
                           std::numeric_limits<int64_t>::min()};
  float element = 0;
  for (int64_t b : sizes)
    for (int64_t s : sizes) {
      INFO("b = " << b << ", s = " << s);
      int64_t dims[] = {b, s, 64};
      weft_tensor_t in = weft_tensor_of(&element, WEFT_F32, 3, dims), out = WEFT_TENSOR_EMPTY;
      weft_status_t status = weft_call(context, nullptr, &in, 1, &out, 1, &error);
      CHECK((status == WEFT_INVALID || status == WEFT_OVER_LIMIT));
      CHECK(error.message[0] != '\0');
      CHECK(out.data == nullptr);
      int64_t symbols[] = {b, s};
      status = weft_reserve(context, 0, symbols, &error);
      CHECK((status == WEFT_INVALID || status == WEFT_OVER_LIMIT));
      weft_cost_t cost = {};
      cost.struct_size = sizeof cost;
      if (weft_query_cost(module, 0, symbols, &cost, &error) == WEFT_OK) {
        CHECK(cost.arena >= 0);
        CHECK(cost.outputs >= 0);
      }
      in.data = nullptr;
      out = WEFT_TENSOR_EMPTY;
      if (weft_query_outputs(module, 0, &in, 1, &out, 1, &error) == WEFT_OK)
        CHECK(out.dim[2] == s + 7);
    }
  CHECK(counter.calls == before);
  weft_context_release(context);
  weft_module_release(module);
}
