// Writes tokens with a decoder whose cache stays where it computes: on a GPU nothing but a token
// goes there, and logits come back.
//
//   weft compile decoder.onnx -t x86:v3,cuda:sm_80 --in-place -o decoder.weft
//   decode decoder.weft STEPS [DEVICE]                        decode decoder.weft 64 cuda
//
// The model has one i64 input [batch, sequence], caches that grow in place, and f32 logits [batch,
// sequence, tokens] as its first output. Prints the likeliest token of each step, beginning with
// token 1. Exit codes: 0 success, 1 refused, 2 wrong usage.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "weft/runtime.h"

namespace {

struct Session {
  weft_module_t *module = nullptr;
  weft_context_t *context = nullptr;
  int32_t function = -1, device = -1; ///< -1: the cache is the host's, too
  std::vector<weft_tensor_t> in, out;
  std::vector<weft_in_place_info_t> caches;
  std::vector<weft_tensor_t> buffers; ///< whole caches, whose parts are in use
  weft_error_t error = WEFT_ERROR_INIT;

  ~Session() {
    for (weft_tensor_t &buffer : buffers)
      weft_tensor_release(context, &buffer);
    weft_context_release(context);
    weft_module_release(module);
  }

  bool open(const char *path, const char *device_name);
  bool makeCaches(int64_t room);
  bool step(int64_t token, std::vector<float> &logits);
  bool refuse(const char *reason) {
    snprintf(error.message, sizeof error.message, "%s", reason);
    return false;
  }
};

bool Session::open(const char *path, const char *device_name) {
  if (weft_module_open(nullptr, path, &module, &error))
    return false;
  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  options.device = device_name;
  if (weft_context_create(module, &options, &context, &error))
    return false;
  // A device is named "KIND" or "KIND:INDEX"; its tensors name the index.
  const char *colon = strchr(weft_context_device(context), ':');
  bool is_host = strcmp(weft_context_device(context), "cpu") == 0;
  device = is_host ? -1 : colon ? atoi(colon + 1) : 0;
  function = weft_function_find(module, nullptr);
  weft_function_info_t info = {};
  info.struct_size = sizeof info;
  if (weft_function_info(module, function, &info))
    return refuse("the model has no function 'main'");
  in.assign(info.inputs, WEFT_TENSOR_EMPTY);
  out.assign(info.outputs, WEFT_TENSOR_EMPTY);
  weft_in_place_info_t pair = {};
  pair.struct_size = sizeof pair;
  for (uint32_t i = 0; !weft_in_place_info(module, function, i, &pair); ++i)
    caches.push_back(pair);
  if (caches.empty() || caches.size() + 1 != in.size() || caches.front().input == 0)
    return refuse("the model is no decoder with tokens first and caches that grow in place: "
                  "weft compile MODEL --in-place");
  return true;
}

/// Room for so many steps, on the device; nothing of it is in use.
bool Session::makeCaches(int64_t room) {
  for (const weft_in_place_info_t &cache : caches) {
    weft_argument_info_t argument = {};
    argument.struct_size = sizeof argument;
    weft_argument_info(module, function, cache.input, &argument);
    weft_tensor_t buffer = WEFT_TENSOR_EMPTY;
    buffer.element = argument.element;
    buffer.rank = argument.rank;
    buffer.device = device;
    for (uint32_t d = 0; d < argument.rank; ++d) {
      int64_t number = strtoll(argument.dim_text[d], nullptr, 10); // 0 of a symbol
      buffer.dim[d] = d == cache.dim ? room : number ? number : 1;
    }
    if (weft_tensor_allocate(context, &buffer, &error))
      return false;
    buffers.push_back(buffer);
    weft_tensor_t &view = in[cache.input];
    view = buffer;
    view.flags = 0; // the buffer is what is released
    view.dim[cache.dim] = 0;
    int64_t stride = 1;
    for (uint32_t d = buffer.rank; d-- > 0; stride *= buffer.dim[d])
      view.stride[d] = stride;
  }
  return true;
}

bool Session::step(int64_t token, std::vector<float> &logits) {
  const int64_t one[] = {1, 1};
  in[0] = weft_tensor_of(&token, WEFT_I64, 2, one);
  out[0].data = logits.data(); // on the host, as they are looked at there
  out[0].capacity = int64_t(logits.size() * sizeof(float));
  for (const weft_in_place_info_t &cache : caches)
    out[cache.output] = WEFT_TENSOR_EMPTY;
  if (weft_call_function(context, function, in.data(), uint32_t(in.size()), out.data(),
                         uint32_t(out.size()), &error))
    return false;
  for (const weft_in_place_info_t &cache : caches)
    in[cache.input] = out[cache.output]; // longer by one, in the same memory
  return true;
}

/// How many tokens there are; 0 when the first output is no f32 logits.
int64_t countTokens(const Session &session) {
  weft_argument_info_t logits = {};
  logits.struct_size = sizeof logits;
  weft_argument_info(session.module, session.function, uint32_t(session.in.size()), &logits);
  bool fits = logits.element == WEFT_F32 && logits.rank == 3;
  return fits ? strtoll(logits.dim_text[2], nullptr, 10) : 0;
}

int fail(const Session &session) {
  fprintf(stderr, "error: %s\n", session.error.message);
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  int64_t steps = argc > 2 ? strtoll(argv[2], nullptr, 10) : 0;
  if (argc < 3 || argc > 4 || steps < 1 || steps > 1 << 20) {
    fprintf(stderr, "error: usage: decode MODEL.weft STEPS [DEVICE]\n");
    return 2;
  }
  Session session;
  if (!session.open(argv[1], argc > 3 ? argv[3] : nullptr) || !session.makeCaches(steps))
    return fail(session);
  int64_t tokens = countTokens(session), token = 1;
  if (tokens < 1 && !session.refuse("the model's first output is no f32 logits"))
    return fail(session);
  std::vector<float> logits(static_cast<size_t>(tokens));
  for (int64_t step = 0; step < steps; ++step) {
    if (!session.step(token, logits))
      return fail(session);
    token = 0;
    for (int64_t i = 1; i < tokens; ++i)
      if (logits[size_t(i)] > logits[size_t(token)])
        token = i;
    printf("%s%" PRId64, step ? " " : "", token);
  }
  weft_copied_t copied = {sizeof copied, 0, 0, 0};
  weft_context_copied(session.context, &copied);
  printf("\n%" PRId64 " steps on %s: %" PRIu64 " bytes went to the device, %" PRIu64 " came back\n",
         steps, weft_context_device(session.context), copied.to_device, copied.from_device);
  return 0;
}
