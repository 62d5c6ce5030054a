#include "test/emulated_gpu/gpu.h"

#include <catch2/catch.hpp>

namespace weft_test {

gpu::gpu(const std::string &options, int32_t index) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_emulated_open(options.c_str(), index, &device, &err);
  INFO(err.message);
  REQUIRE(status == WEFT_OK);
  calls = device->calls;
}

gpu::~gpu() { calls->close(device); }

namespace {

/// What a run allocates, taken back at its end.
struct session {
  gpu &g;
  weft_queue_t *queue = nullptr;
  weft_loaded_t *loaded = nullptr;
  std::vector<void *> memory;
  std::vector<size_t> sizes;

  explicit session(gpu &g) : g(g) {}
  ~session() {
    for (size_t i = 0; i < memory.size(); ++i)
      g.calls->release(g.device, WEFT_MEMORY_DEVICE, memory[i], sizes[i]);
    g.calls->close_queue(queue);
    g.calls->unload(g.device, loaded);
  }
};

bool copy(session &s, void *device_memory, any_buffer &host, bool is_up, weft_error_t *err) {
  weft_copy_t c = {sizeof c, 0, nullptr, nullptr, nullptr, nullptr, int64_t(host.bytes)};
  c.to = is_up ? device_memory : host.host;
  c.from = is_up ? host.host : device_memory;
  (is_up ? c.to_device : c.from_device) = s.g.device;
  return s.g.calls->copy(s.queue, &c, err) == WEFT_OK;
}

/// The address of a map of the tensor at `base`.
uint64_t encode(session &s, void *base, weft_emulated_tensor_t tensor, weft_error_t *err) {
  weft_emulated_tensor_map_t map;
  tensor.base = base;
  REQUIRE(weft_emulated_encode_tiled(&map, &tensor) == WEFT_OK);
  void *memory;
  if (s.g.calls->allocate(s.g.device, WEFT_MEMORY_DEVICE, sizeof map, 256, &memory, err))
    return 0;
  s.memory.push_back(memory);
  s.sizes.push_back(sizeof map);
  any_buffer bytes = {&map, sizeof map};
  return copy(s, memory, bytes, true, err) ? uint64_t(memory) : 0;
}

} // namespace

std::string gpu::load(const std::string &ptx, const std::string &name) {
  weft_error_t err = WEFT_ERROR_INIT;
  session s(*this);
  weft_device_code_t code = {sizeof code, WEFT_CODE_PTX, ptx.c_str(), ptx.size(), 0, 0};
  const void *found;
  if (calls->load(device, &code, &s.loaded, &err) ||
      calls->find(device, s.loaded, 0, name.c_str(), &found, &err))
    return err.message;
  return "";
}

std::string gpu::run(const std::string &ptx, const std::vector<argument> &arguments,
                     const shape &grid, const std::string &name) {
  weft_error_t err = WEFT_ERROR_INIT;
  session s(*this);
  weft_device_code_t code = {sizeof code, WEFT_CODE_PTX, ptx.c_str(), ptx.size(), 0, 0};
  const void *found;
  if (calls->open_queue(device, nullptr, &s.queue, &err) ||
      calls->load(device, &code, &s.loaded, &err) ||
      calls->find(device, s.loaded, 0, name.c_str(), &found, &err))
    return err.message;
  std::vector<uint64_t> words;
  for (const argument &each : arguments) {
    words.push_back(each.word);
    if (!each.memory)
      continue;
    void *memory;
    if (calls->allocate(device, WEFT_MEMORY_DEVICE, each.memory->bytes, 256, &memory, &err))
      return err.message;
    s.memory.push_back(memory);
    s.sizes.push_back(each.memory->bytes);
    words.back() = uint64_t(memory);
    if (!copy(s, memory, *each.memory, true, &err))
      return err.message;
    if (each.tensor && !(words.back() = encode(s, memory, *each.tensor, &err)))
      return err.message;
  }
  weft_launch_t launch = {sizeof launch, uint32_t(words.size()), found,     grid.blocks, 1,
                          words.data(),  grid.threads,           grid.bytes};
  if (calls->launch(s.queue, &launch, &err) || calls->finish(s.queue, &err))
    return err.message;
  size_t at = 0;
  for (const argument &each : arguments) {
    if (each.memory && !copy(s, s.memory[at], *each.memory, false, &err))
      return err.message;
    at += each.tensor ? 2 : each.memory ? 1 : 0;
  }
  counters.struct_size = sizeof counters;
  REQUIRE(weft_emulated_counters(found, &counters) == WEFT_OK);
  return "";
}

std::string kernel(const std::string &body, int parameters, const std::string &before) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  text += ")\n{\n.reg .pred %p<40>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<40>; "
          ".reg .f64 %fd<40>; .reg .b16 %h<40>;\n";
  return text + body + "\nret;\n}\n";
}

std::string replaced(std::string text, const std::string &from, const std::string &to, int nth) {
  int seen = 0;
  bool is_there = false;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    if (nth && ++seen != nth) {
      at += from.size();
      continue;
    }
    text.replace(at, from.size(), to);
    at += to.size();
    is_there = true;
    if (nth)
      break;
  }
  INFO("'" << from << "' in " << text);
  REQUIRE(is_there);
  return text;
}

} // namespace weft_test
