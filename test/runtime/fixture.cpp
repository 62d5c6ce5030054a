#include "test/runtime/fixture.h"

#include <unistd.h>

#include <cstdlib>

namespace weft_test {

std::string text_of(const weft_error_t &err) {
  std::string text = std::string(err.code) + " " + err.message;
  return err.hint[0] ? text + " | " + err.hint : text;
}

opened::opened(const bytes &file, const weft_env_t *env) {
  int fd = open_bytes(file);
  status = weft_module_open_fd(env, fd, &module, &err);
  close(fd);
}

opened::~opened() { weft_module_release(module); }

running::running(const opened &o, int32_t threads, int32_t spin_us, int64_t memory_limit) {
  weft_context_options_t options = {sizeof options, threads, spin_us, memory_limit};
  weft_context_create(o.module, &options, &context, &err);
}

running::~running() { weft_context_release(context); }

main_call::main_call(int64_t b, int64_t s)
    : b(b), s(s), x(WEFT_F32, {b, s}), mask(WEFT_F32, {b, s}), y(WEFT_F32, {b, s}),
      total(WEFT_F32, {b}) {
  for (int64_t k = 0; k < b * s; ++k) {
    x.data[k] = float(k % 7);
    mask.data[k] = float(k % 3);
  }
  in[0] = x.tensor, in[1] = mask.tensor;
  out[0] = y.tensor, out[1] = total.tensor;
}

weft_status_t main_call::call(running &r) {
  return weft_call(r.context, "main", in, 2, out, 2, &r.err);
}

bool main_call::is_right() const {
  for (int64_t i = 0; i < b; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < s; ++j) {
      int64_t k = i * s + j;
      float expected = float(k % 7) * float(k % 3) + float(j);
      if (((const float *)out[0].data)[k] != expected)
        return false;
      sum += expected;
    }
    if (((const float *)out[1].data)[i] != sum)
      return false;
  }
  return out[0].rank == 2 && out[0].dim[0] == b && out[0].dim[1] == s && out[1].rank == 1 &&
         out[1].dim[0] == b && out[0].element == WEFT_F32;
}

static void *count_allocate(void *user, size_t bytes, size_t alignment) {
  counting_memory *memory = (counting_memory *)user;
  memory->last_bytes = bytes;
  memory->last_alignment = alignment;
  if (memory->calls++ == memory->fail_at)
    return nullptr;
  void *pointer = nullptr;
  if (bytes >= size_t(1) << 40 || posix_memalign(&pointer, alignment, bytes))
    return nullptr; // sanitizers end programs that ask for more than any machine has
  ++memory->live;
  memory->live_bytes += int64_t(bytes);
  return pointer;
}

static void count_release(void *user, void *pointer, size_t bytes) {
  counting_memory *memory = (counting_memory *)user;
  --memory->live;
  memory->live_bytes -= int64_t(bytes);
  free(pointer);
}

weft_env_t counting_memory::env() {
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.user = this;
  env.allocate = count_allocate;
  env.release = count_release;
  return env;
}

} // namespace weft_test
