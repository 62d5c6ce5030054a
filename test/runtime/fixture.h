// What most tests of the runtime need: an opened sample, a context, tensors, and an embedder's
// memory that counts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/runtime/artifact_builder.h"

namespace weft_test {

/// The error of the last operation, compared as "W0411 message | hint".
std::string text_of(const weft_error_t &err);

/// Opens sealed bytes; the status is kept, not required.
struct opened {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_status_t status;

  explicit opened(const bytes &file, const weft_env_t *env = nullptr);
  ~opened();
  opened(const opened &) = delete;
  int32_t function(const char *name) const { return weft_function_find(module, name); }
};

/// A context over an opened module.
struct running {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_context_t *context = nullptr;

  explicit running(const opened &o, int32_t threads = 1, int32_t spin_us = -1,
                   int64_t memory_limit = 0);
  ~running();
  running(const running &) = delete;
};

/// A tensor that owns its elements.
template <class T> struct array {
  std::vector<T> data;
  weft_tensor_t tensor;

  array(weft_element_t element, std::vector<int64_t> dim, T value = T()) {
    int64_t count = 1;
    for (int64_t d : dim)
      count *= d;
    data.assign(size_t(count) + 1, value);
    tensor = weft_tensor_of(data.data(), element, uint16_t(dim.size()), dim.data());
    tensor.capacity = count * int64_t(sizeof(T));
  }
  array(const array &) = delete;
};

/// x, mask, y and total of the function 'main' for b and s; x[k] = k % 7, mask[k] = k % 3.
struct main_call {
  int64_t b, s;
  array<float> x, mask, y, total;
  weft_tensor_t in[2], out[2];

  main_call(int64_t b, int64_t s);
  weft_status_t call(running &r);
  bool is_right() const; ///< what the last call computed
};

/// An env that counts what is allocated and can be told to fail.
struct counting_memory {
  std::atomic<int> calls{0}, live{0};
  std::atomic<int> fail_at{-1}; ///< the call with this number fails
  std::atomic<int64_t> live_bytes{0};
  size_t last_bytes = 0, last_alignment = 0;

  weft_env_t env();
};

} // namespace weft_test
