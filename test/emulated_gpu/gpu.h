// Runs snippets of PTX on an emulated GPU.
//
//   gpu device("seed=7");
//   buffer<float> y(32);
//   REQUIRE(device.run(kernel("ld.param.u64 %rd1, [p0]; … st.global.f32 [%rd1], %f1;", 1), {y}) == "");
//   REQUIRE(y.data[3] == 4);
#ifndef WEFT_TEST_EMULATED_GPU_GPU_H
#define WEFT_TEST_EMULATED_GPU_GPU_H

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plugins/emulated/emulated.h"

namespace weft_test {

/// Numbers that a kernel reads and writes: copied there and back.
struct any_buffer {
  void *host = nullptr;
  size_t bytes = 0;
};

template <class T> struct buffer : any_buffer {
  std::vector<T> data;
  explicit buffer(size_t count, T value = T()) : data(count, value) { fix(); }
  explicit buffer(std::vector<T> values) : data(std::move(values)) { fix(); }
  void fix() { host = data.data(), bytes = data.size() * sizeof(T); }
};

/// A parameter: a buffer, a number, or the address of a tensor map of a buffer.
struct argument {
  any_buffer *memory = nullptr;
  uint64_t word = 0;
  const weft_emulated_tensor_t *tensor = nullptr; ///< its base is filled in
  argument(any_buffer &memory, const weft_emulated_tensor_t &tensor)
      : memory(&memory), tensor(&tensor) {}
  argument(any_buffer &memory) : memory(&memory) {}
  argument(int64_t number) : word(uint64_t(number)) {}
};

struct shape {
  uint32_t blocks = 1, threads = 32, bytes = 0;
};

class gpu {
public:
  explicit gpu(const std::string &options = "", int32_t index = 0);
  ~gpu();
  gpu(const gpu &) = delete;

  /// Runs a kernel, the only one or the one with this name. The error, or nothing.
  std::string run(const std::string &ptx, const std::vector<argument> &arguments,
                  const shape &grid = {}, const std::string &name = "k");
  /// The error that the text is refused with.
  std::string load(const std::string &ptx, const std::string &name = "k");

  weft_device_t *device = nullptr;
  const weft_device_v1 *calls = nullptr;
  weft_emulated_counters_t counters = {}; ///< of the last run
};

/// A module with the kernel k of `parameters` words p0, p1, …; registers of every type are declared: %p %r %rd %f %fd %h, 0 to 39.
/// `before` stands in front of the kernel.
std::string kernel(const std::string &body, int parameters, const std::string &before = "");

/// `text` with the occurrence `nth`, counted from 1, of `from` replaced; all of them for 0. It must be there.
std::string replaced(std::string text, const std::string &from, const std::string &to, int nth = 1);

} // namespace weft_test

#endif
