// Code, streams, events, copies and launches. Work is done when somebody waits for it, in the order of its stream.
#include "test/cuda_driver/stand_in.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime/plugins/emulated/device/device.h"

using namespace weft_test;

#define BEGIN(...)                                                                                 \
  driver_call call(__VA_ARGS__);                                                                   \
  if (call.wrong)                                                                                  \
  return call.wrong

#define DRIVER extern "C" __attribute__((visibility("default"))) int

void cuda_stream::give(std::function<void()> piece) {
  work.push_back(std::move(piece));
  ++given;
}

void cuda_stream::run_until(uint64_t count) {
  while (done < count && !work.empty()) {
    std::function<void()> piece = std::move(work.front());
    work.pop_front();
    ++done;
    if (!context->lost)
      piece();
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Looks the kernel up; false with the reason in `err`.
static bool add_function(cuda_module &module, const std::string &name, weft_error_t *err) {
  const void *found;
  weft_device_t *device = module.context->device;
  if (device->calls->find(device, module.loaded, 0, name.c_str(), &found, err))
    return false;
  auto *kernel = static_cast<const weft_emulated::kernel *>(found);
  module.functions[name] = {module.context, found, kernel->code.parameters.size()};
  return true;
}

/// The real one assembles all kernels at once.
static bool add_functions(cuda_module &module, const std::string &text, weft_error_t *err) {
  const std::string mark = ".entry ";
  for (size_t at = 0; (at = text.find(mark, at)) != text.npos;) {
    at += mark.size();
    if (!add_function(module, text.substr(at, text.find_first_of("( \n", at) - at), err))
      return false;
  }
  return true;
}

DRIVER cuModuleLoadDataEx(cuda_module **out, const void *bytes, unsigned count, int *options,
                          void **values) {
  BEGIN("cuModuleLoadDataEx");
  std::string text = static_cast<const char *>(bytes);
  cuda_context *context = current_context();
  auto module = std::make_unique<cuda_module>(cuda_module{context, nullptr, {}});
  weft_device_code_t code = {sizeof code, WEFT_CODE_PTX, bytes, text.size(), 0, 0};
  weft_error_t err = WEFT_ERROR_INIT;
  bool is_good = !context->device->calls->load(context->device, &code, &module->loaded, &err) &&
                 add_functions(*module, text, &err);
  if (is_good) {
    *out = module.release();
    ++context->objects;
    return fine;
  }
  context->device->calls->unload(context->device, module->loaded);
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == CUDA_JIT_LOG && i + 1 < count)
      std::snprintf(static_cast<char *>(values[i]), size_t(values[i + 1]),
                    "ptxas application ptx input; error   : %s\nptxas fatal   : aborted",
                    err.message);
  return invalid_code;
}

DRIVER cuModuleUnload(cuda_module *module) {
  BEGIN("cuModuleUnload");
  if (module->context != current_context())
    return invalid_handle;
  module->context->device->calls->unload(module->context->device, module->loaded);
  --module->context->objects;
  delete module;
  return fine;
}

DRIVER cuModuleGetFunction(cuda_function **out, cuda_module *module, const char *name) {
  BEGIN("cuModuleGetFunction");
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return not_found;
  *out = &found->second;
  return fine;
}

DRIVER cuFuncSetAttribute(cuda_function *function, int attribute, int value) {
  BEGIN("cuFuncSetAttribute");
  int64_t most = 0;
  function->context->device->calls->property(function->context->device, "block_bytes", &most);
  if (attribute != CUDA_FUNCTION_SHARED || value < 0 || value > most)
    return invalid_value;
  function->most_shared = value;
  return fine;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

DRIVER cuStreamCreate(cuda_stream **out, unsigned) {
  BEGIN("cuStreamCreate");
  cuda_context *context = current_context();
  weft_queue_t *queue;
  if (context->device->calls->open_queue(context->device, nullptr, &queue, nullptr))
    return CUDA_OUT_OF_MEMORY;
  *out = new cuda_stream{context, queue};
  ++context->objects;
  return fine;
}

DRIVER cuStreamDestroy_v2(cuda_stream *stream) {
  BEGIN("cuStreamDestroy_v2");
  stream->run_until(stream->given);
  stream->context->device->calls->close_queue(stream->queue);
  --stream->context->objects;
  delete stream;
  return fine;
}

DRIVER cuStreamSynchronize(cuda_stream *stream) {
  BEGIN("cuStreamSynchronize");
  if (stream->context != current_context())
    return invalid_handle;
  stream->run_until(stream->given);
  return stream->context->lost;
}

DRIVER cuEventCreate(cuda_event **out, unsigned) {
  BEGIN("cuEventCreate");
  *out = new cuda_event{current_context()};
  ++current_context()->objects;
  return fine;
}

DRIVER cuEventDestroy_v2(cuda_event *event) {
  BEGIN("cuEventDestroy_v2");
  --event->context->objects;
  delete event;
  return fine;
}

DRIVER cuEventRecord(cuda_event *event, cuda_stream *stream) {
  BEGIN("cuEventRecord");
  if (event->context != stream->context)
    return invalid_handle;
  event->on = stream, event->at = stream->given;
  return fine;
}

/// Each question lets one piece of work be done.
DRIVER cuEventQuery(cuda_event *event) {
  BEGIN("cuEventQuery");
  if (!event->on || event->on->done >= event->at)
    return fine;
  event->on->run_until(event->on->done + 1);
  return event->context->lost ? event->context->lost : CUDA_NOT_READY;
}

DRIVER cuEventSynchronize(cuda_event *event) {
  BEGIN("cuEventSynchronize");
  if (event->on)
    event->on->run_until(event->at);
  return event->context->lost;
}

/// A millisecond for each piece of work between them.
DRIVER cuEventElapsedTime(float *milliseconds, cuda_event *begin, cuda_event *end) {
  BEGIN("cuEventElapsedTime");
  if (!begin->on || begin->on != end->on)
    return invalid_handle;
  for (cuda_event *each : {begin, end})
    if (each->on->done < each->at)
      return CUDA_NOT_READY;
  *milliseconds = float(end->at - begin->at);
  return begin->context->lost;
}

DRIVER cuStreamWaitEvent(cuda_stream *stream, cuda_event *event, unsigned) {
  BEGIN("cuStreamWaitEvent");
  cuda_stream *on = event->on;
  if (on && on != stream)
    stream->give([on, at = event->at] { on->run_until(at); });
  return fine;
}

//===----------------------------------------------------------------------===//
// Copies and launches
//===----------------------------------------------------------------------===//

static void give_copy(cuda_stream *stream, uint64_t to, uint64_t from, size_t bytes) {
  stream->give([=] { std::memcpy((void *)to, (const void *)from, bytes); });
}

static bool is_pinned(const cuda_stream *stream, const void *memory) {
  return stream->context->pinned.count(const_cast<void *>(memory)) != 0;
}

/// Memory that is not pinned was read when the call returns.
DRIVER cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, cuda_stream *stream) {
  BEGIN("cuMemcpyHtoDAsync_v2");
  if (is_pinned(stream, from)) {
    give_copy(stream, to, uint64_t(from), bytes);
    return fine;
  }
  auto *begin = static_cast<const char *>(from);
  stream->give([to, kept = std::vector<char>(begin, begin + bytes)] {
    std::memcpy((void *)to, kept.data(), kept.size());
  });
  return fine;
}

/// Memory that is not pinned was written when the call returns.
DRIVER cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, cuda_stream *stream) {
  BEGIN("cuMemcpyDtoHAsync_v2");
  give_copy(stream, uint64_t(to), from, bytes);
  if (!is_pinned(stream, to))
    stream->run_until(stream->given);
  return stream->context->lost;
}

DRIVER cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, cuda_stream *stream) {
  BEGIN("cuMemcpyDtoDAsync_v2");
  give_copy(stream, to, from, bytes);
  return fine;
}

DRIVER cuMemcpyPeerAsync(uint64_t to, cuda_context *, uint64_t from, cuda_context *, size_t bytes,
                         cuda_stream *stream) {
  BEGIN("cuMemcpyPeerAsync");
  give_copy(stream, to, from, bytes);
  return fine;
}

/// What a kernel did wrong is found when it runs.
static void run_kernel(cuda_stream *stream, weft_launch_t launch,
                       const std::vector<uint64_t> &all) {
  weft_error_t err = WEFT_ERROR_INIT;
  launch.words = all.data();
  if (!stream->context->device->calls->launch(stream->queue, &launch, &err))
    return;
  std::fprintf(stderr, "stand-in driver: %s\n", err.message);
  stream->context->lost = illegal_address;
}

DRIVER cuLaunchKernel(cuda_function *function, unsigned blocks, unsigned y, unsigned z,
                      unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                      cuda_stream *stream, void **parameters, void **) {
  BEGIN("cuLaunchKernel");
  if (function->context != current_context() || stream->context != function->context)
    return invalid_handle;
  if (!blocks || blocks > INT32_MAX || y != 1 || z != 1 || !threads || threads > 1024 ||
      threads_y != 1 || threads_z != 1 || int(shared) > function->most_shared)
    return invalid_value;
  std::vector<uint64_t> words(function->parameters);
  for (size_t i = 0; i < words.size(); ++i)
    std::memcpy(&words[i], parameters[i], sizeof words[i]);
  weft_launch_t launch = {
      sizeof launch, uint32_t(words.size()), function->kernel, blocks, 1, nullptr, threads, shared};
  stream->give([=] { run_kernel(stream, launch, words); });
  return fine;
}
