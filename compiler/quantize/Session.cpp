//===- Session.cpp ----------------------------------------------------------------------------===//

#include "compiler/quantize/Session.h"
#include "passes/quant/Observation.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

namespace weft {

Diagnostic quantizeError(const char *code, const std::string &text, const std::string &where,
                         const std::string &hint) {
  return {Diagnostic::Error, code, where, text, hint};
}

static Diagnostic diagnosticOf(const weft_error_t &error, const std::string &where) {
  return quantizeError(error.status == WEFT_CANCELLED ? "W0399" : error.code, error.message, where,
                       error.hint);
}

template <typename T> static T emptyInfo() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}

const float *floatsAt(const weft_tensor_t &tensor) {
  return static_cast<const float *>(tensor.data);
}

int64_t elementsIn(const weft_tensor_t &tensor) {
  int64_t count = 1;
  for (unsigned d = 0; d < tensor.rank; ++d)
    count *= tensor.dim[d];
  return count;
}

weft_tensor_t listOf(const void *data, weft_element_t element, size_t size) {
  int64_t dim = int64_t(size);
  return weft_tensor_of(const_cast<void *>(data), element, 1, &dim);
}

Result<std::string> artifactPath(const QuantizeOptions &options, const std::string &name) {
  llvm::SmallString<128> path(options.folder + "/" + name + ".weft");
  if (options.folder.empty())
    if (std::error_code why = llvm::sys::fs::createTemporaryFile("weft-" + name, "weft", path))
      return quantizeError("W0311", "no temporary file can be made: " + why.message());
  return path.str().str();
}

Result<std::unique_ptr<Session>>
Session::compile(const Module &program, const QuantizeOptions &options, const std::string &name) {
  Result<std::string> path = artifactPath(options, name);
  if (!path)
    return path.diagnostics();
  CompileOptions compile = options.compile;
  compile.outputPath = *path;
  compile.cancelled = options.cancelled;
  compile.onPhase = nullptr;
  Result<Artifact> artifact = Compiler().compile(program, compile);
  if (!artifact)
    return artifact.diagnostics();
  std::unique_ptr<Session> session(new Session);
  weft_error_t error = WEFT_ERROR_INIT;
  auto wanted = emptyInfo<weft_context_options_t>();
  wanted.threads = int32_t(options.threads);
  wanted.spin_us = -1;
  bool failed = weft_module_open(nullptr, path->c_str(), &session->module, &error) != WEFT_OK ||
                weft_context_create(session->module, &wanted, &session->context, &error) != WEFT_OK;
  llvm::sys::fs::remove(*path); // it stays mapped
  if (failed && error.status == WEFT_UNSUPPORTED)
    return quantizeError(error.code,
                         "programs for '" + compile.target +
                             "' cannot be called on this machine, "
                             "so nothing can be timed or compared",
                         "", "'--machine NAME' searches for a machine by its data");
  if (failed)
    return diagnosticOf(error, "");
  session->function = weft_function_find(session->module, nullptr);
  auto info = emptyInfo<weft_function_info_t>();
  weft_function_info(session->module, session->function, &info);
  session->inputCount = info.inputs;
  session->results.assign(info.outputs, weft_tensor_t(WEFT_TENSOR_EMPTY));
  return session;
}

Session::~Session() {
  releaseResults();
  weft_context_release(context);
  weft_module_release(module);
}

void Session::releaseResults() {
  for (weft_tensor_t &result : results)
    weft_tensor_release(context, &result);
}

weft_argument_info_t Session::argument(uint32_t index) const {
  auto info = emptyInfo<weft_argument_info_t>();
  weft_argument_info(module, function, index, &info);
  return info;
}

std::string Session::outputName(size_t index) const {
  return argument(inputCount + uint32_t(index)).name;
}

uint32_t Session::outputElement(size_t index) const {
  return argument(inputCount + uint32_t(index)).element;
}

bool Session::isLike(const Session &other) const {
  if (inputCount != other.inputCount || results.size() != other.results.size())
    return false;
  for (uint32_t i = 0; i < inputCount + results.size(); ++i)
    if (std::string(argument(i).name) != other.argument(i).name ||
        argument(i).element != other.argument(i).element)
      return false;
  return true;
}

uint64_t Session::fileBytes() const {
  auto info = emptyInfo<weft_module_info_t>();
  weft_module_info(module, &info);
  return info.file_size;
}

uint64_t Session::codeAndWeights() const {
  auto info = emptyInfo<weft_module_info_t>();
  weft_module_info(module, &info);
  return info.image_size + info.weight_bytes;
}

/// Whether a tensor of floats has only finite elements.
static bool isFinite(const CallTensor &tensor, int64_t count) {
  auto all = [&](auto *elements) {
    return std::all_of(elements, elements + count, [](double v) { return std::isfinite(v); });
  };
  if (tensor.element == "f32")
    return all(static_cast<const float *>(tensor.data));
  if (tensor.element == "f64")
    return all(static_cast<const double *>(tensor.data));
  if (tensor.element != "f16" && tensor.element != "bf16")
    return true;
  uint16_t exponent = tensor.element == "f16" ? 0x7c00 : 0x7f80;
  auto *halves = static_cast<const uint16_t *>(tensor.data);
  return std::all_of(halves, halves + count,
                     [&](uint16_t bits) { return (bits & exponent) != exponent; });
}

Result<BoundCall> Session::bind(Call call) const {
  BoundCall bound;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < inputCount; ++i) {
    weft_argument_info_t input = argument(i);
    if (llvm::StringRef(input.name).starts_with(kOwnInputs))
      break;
    names.push_back(input.name);
    auto found = std::find_if(call.tensors.begin(), call.tensors.end(),
                              [&](const CallTensor &tensor) { return tensor.name == input.name; });
    if (found == call.tensors.end())
      return quantizeError("W0320", "input '" + names.back() + "' is missing", call.name);
    std::string element = weft_element_name(input.element);
    if (found->element != element)
      return quantizeError("W0320",
                           "input '" + names.back() + "' has elements " + found->element +
                               ", but the model takes " + element,
                           call.name);
    if (found->dims.size() > WEFT_MAX_RANK)
      return quantizeError("W0320",
                           "input '" + names.back() + "' has more dimensions than " +
                               std::to_string(WEFT_MAX_RANK),
                           call.name);
    bound.tensors.push_back(weft_tensor_of(const_cast<void *>(found->data),
                                           weft_element_t(input.element),
                                           uint16_t(found->dims.size()), found->dims.data()));
    if (!isFinite(*found, elementsIn(bound.tensors.back())))
      return quantizeError("W0320", "input '" + names.back() + "' holds nan or infinity",
                           call.name);
  }
  for (const CallTensor &tensor : call.tensors)
    if (std::find(names.begin(), names.end(), tensor.name) == names.end())
      return quantizeError("W0320", "the model has no input '" + tensor.name + "'", call.name);
  bound.call = std::move(call);
  return bound;
}

void Session::note(bool launches) {
  auto keep = [](void *user, const weft_trace_event_t *event) {
    static_cast<std::vector<weft_trace_event_t> *>(user)->push_back(*event);
  };
  weft_context_trace(context, launches ? weft_trace_fn(keep) : nullptr, &events, nullptr);
}

Launches Session::launches() const {
  Launches all;
  for (const weft_trace_event_t &event : events) {
    auto info = emptyInfo<weft_kernel_info_t>();
    weft_kernel_info(weft_context_module(context), event.kernel, &info);
    Launches::Times &times = all.times[{info.name, event.units, event.flops, event.bytes}];
    ++times.count;
    times.seconds += 1e-9 * double(event.end_ns - event.begin_ns);
  }
  return all;
}

Result<void> Session::call(const BoundCall &bound) {
  releaseResults();
  events.clear();
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_call_function(context, function, bound.tensors.data(), uint32_t(bound.tensors.size()),
                         results.data(), uint32_t(results.size()), &error))
    return diagnosticOf(error, bound.call.name);
  return {};
}

} // namespace weft
