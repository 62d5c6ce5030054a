//===- Artifact.cpp ---------------------------------------------------------------------------===//
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Manifest.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>

namespace weft::cli {

namespace {

int exitCodeOf(int32_t status) {
  switch (status) {
  case WEFT_UNSUPPORTED:
  case WEFT_OUT_OF_MEMORY:
  case WEFT_DEVICE:
    return ExitMachineLacks;
  case WEFT_CANCELLED:
    return ExitInterrupted;
  case WEFT_LOST_PEER:
  case WEFT_TIMEOUT:
  case WEFT_MISMATCH:
    return ExitRanksFailed;
  case WEFT_BUSY:
    return ExitInternalError;
  default:
    return ExitInputRefused;
  }
}

/// A query struct, ready to be filled.
template <typename T> T emptyInfo() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}

std::string text(const char *value) { return value ? value : ""; }

InputSpec argument(const weft_module_t *module, int32_t function, uint32_t index,
                   const char *unnamed, uint32_t position) {
  auto info = emptyInfo<weft_argument_info_t>();
  weft_argument_info(module, function, index, &info);
  InputSpec spec{text(info.name), info.element, {}};
  if (spec.name.empty())
    spec.name = unnamed + std::to_string(position);
  for (unsigned d = 0; d < info.rank && d < WEFT_MAX_RANK; ++d)
    spec.dims.push_back(text(info.dim_text[d]));
  return spec;
}

/// Something that 'weft compile' takes.
bool looksLikeModel(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return false;
  if (S_ISDIR(info.st_mode))
    return true;
  size_t dot = path.rfind('.');
  std::string ending = dot == std::string::npos ? "" : path.substr(dot);
  return ending == ".onnx" || ending == ".mlir" || ending == ".safetensors";
}

} // namespace

Failure failureOf(const weft_error_t &error) {
  return {exitCodeOf(error.status), error.message, error.hint, error.code};
}

Result<Artifact> Artifact::open(const std::string &path, bool verify, const std::string &target,
                                int64_t ranks) {
  auto environment = emptyInfo<weft_env_t>();
  environment.verify = verify;
  return open(path, environment, target, ranks);
}

Result<Artifact> Artifact::describe(const std::string &path, const std::string &target,
                                    int64_t ranks) {
  auto environment = emptyInfo<weft_env_t>();
  environment.describe = 1;
  return open(path, environment, target, ranks);
}

Result<Artifact> Artifact::open(const std::string &path, weft_env_t environment,
                                const std::string &target, int64_t ranks) {
  environment.ranks = static_cast<uint32_t>(std::min<int64_t>(ranks, UINT32_MAX));
  environment.target = target.empty() ? nullptr : target.c_str();
  weft_error_t error = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  if (weft_module_open(&environment, path.c_str(), &module, &error)) {
    Failure failure = failureOf(error);
    if (failure.hint.empty() && looksLikeModel(path))
      failure.hint = "compile it first: weft compile " + path;
    return failure;
  }
  Artifact artifact;
  artifact.handle.reset(module, weft_module_release);
  std::vector<int64_t> all = artifact.ranks();
  if (!ranks || all.size() < 2 || std::count(all.begin(), all.end(), ranks))
    return artifact;
  std::string list;
  for (int64_t each : all)
    list += (list.empty() ? "" : ", ") + std::to_string(each);
  return Failure{ExitWrongUsage,
                 path + " is for " + list + " ranks, not for " + std::to_string(ranks),
                 "name one of these with --ranks",
                 {}};
}

weft_module_info_t Artifact::info() const {
  auto info = emptyInfo<weft_module_info_t>();
  weft_module_info(module(), &info);
  return info;
}

FunctionView Artifact::view(int32_t index) const {
  auto info = emptyInfo<weft_function_info_t>();
  weft_function_info(module(), index, &info);
  FunctionView view;
  view.index = index;
  view.signature.function = text(info.name);
  for (uint32_t i = 0; i < info.inputs; ++i)
    view.signature.inputs.push_back(argument(module(), index, i, "input", i));
  for (uint32_t i = 0; i < info.outputs; ++i)
    view.outputs.push_back(argument(module(), index, info.inputs + i, "output", i));
  std::set<uint32_t> rooms;
  auto pair = emptyInfo<weft_in_place_info_t>();
  for (uint32_t i = 0; weft_in_place_info(module(), index, i, &pair) == WEFT_OK; ++i) {
    view.inPlace.push_back({pair.input, pair.output, pair.dim});
    rooms.insert(pair.symbol);
  }
  auto positions = emptyInfo<weft_positions_info_t>();
  for (uint32_t i = 0; weft_positions_info(module(), index, i, &positions) == WEFT_OK; ++i)
    view.signature.inputs[positions.input].below.push_back(text(positions.below));
  std::set<int32_t> places;
  auto axis = emptyInfo<weft_axis_info_t>();
  for (uint32_t i = 0; weft_axis_info(module(), index, i, &axis) == WEFT_OK; ++i) {
    view.mesh.push_back({text(axis.name), axis.size});
    places.insert(axis.symbol);
  }
  auto traffic = emptyInfo<weft_traffic_info_t>();
  for (uint32_t i = 0; weft_traffic_info(module(), index, i, &traffic) == WEFT_OK; ++i)
    view.traffic.push_back({text(traffic.axes), text(traffic.bytes), text(traffic.messages)});
  for (uint32_t i = 0; i < info.symbols; ++i) {
    auto symbol = emptyInfo<weft_symbol_info_t>();
    weft_symbol_info(module(), index, i, &symbol);
    (rooms.count(i)              ? view.rooms
     : places.count(int32_t(i))  ? view.places
     : symbol.bound_by_input < 0 ? view.bound
                                 : view.signature.symbols)
        .push_back({text(symbol.name), symbol.min, symbol.max, symbol.multiple,
                    symbol.bound_by_input, symbol.bound_by_dim});
  }
  for (uint32_t i = 0; i < info.facts; ++i)
    view.facts.push_back(text(weft_fact_text(module(), index, i)));
  for (uint32_t i = 0; i < info.checks; ++i) {
    char check[512] = "";
    weft_check_text(module(), index, i, check, sizeof check);
    view.checks.push_back(check);
  }
  auto block = emptyInfo<weft_late_block_info_t>();
  for (uint32_t i = 0; weft_late_block_info(module(), index, i, &block) == WEFT_OK; ++i)
    (block.per_worker ? view.lateScratch : view.late).push_back(text(block.bytes));
  for (uint32_t kernel, region = 0;
       weft_region_kernel(module(), index, region, 0, &kernel) == WEFT_OK; ++region) {
    std::vector<uint32_t> &rows = view.regions.emplace_back();
    while (weft_region_kernel(module(), index, region, uint32_t(rows.size()), &kernel) == WEFT_OK)
      rows.push_back(kernel);
  }
  view.arena = text(info.arena);
  view.scratch = text(info.scratch);
  view.flops = text(info.flops);
  view.bytesMoved = text(info.bytes_moved);
  view.weightsRead = text(info.weights_read);
  readParts(listed("local"), view);
  return view;
}

std::vector<FunctionView> Artifact::functions() const {
  std::vector<FunctionView> all;
  uint32_t count = info().functions;
  for (uint32_t i = 0; i < count; ++i)
    all.push_back(view(static_cast<int32_t>(i)));
  return all;
}

Result<FunctionView> Artifact::function(const std::string &name) const {
  int32_t index = weft_function_find(module(), name.empty() ? nullptr : name.c_str());
  if (index >= 0)
    return view(index);
  std::string names;
  for (const FunctionView &function : functions())
    names += (names.empty() ? "" : ", ") + function.signature.function;
  if (name.empty())
    return Failure{ExitWrongUsage,
                   "this artifact has several functions and none is called 'main'",
                   "choose one with --function: " + names,
                   {}};
  return Failure{
      ExitWrongUsage, "there is no function '" + name + "'", "the functions are " + names, {}};
}

std::vector<KernelView> Artifact::kernels(const weft_module_t *module) {
  std::vector<KernelView> all;
  auto kernel = emptyInfo<weft_kernel_info_t>();
  for (uint32_t i = 0; !weft_kernel_info(module, i, &kernel); ++i) {
    KernelView view{text(kernel.name), kernel.calls, {}};
    for (uint32_t node = 0; node < kernel.nodes; ++node)
      view.nodes.push_back(text(weft_kernel_node(module, i, node)));
    all.push_back(std::move(view));
  }
  return all;
}

std::vector<VariantView> Artifact::variants() const {
  std::vector<VariantView> all;
  for (uint32_t i = 0; i < weft_variant_count(module()); ++i) {
    auto variant = emptyInfo<weft_variant_info_t>();
    weft_variant_info(module(), i, &variant);
    VariantView view{text(variant.target),   text(variant.missing),   {},
                     variant.is_chosen != 0, variant.is_refused != 0, variant.ranks};
    for (uint32_t f = 0; f < variant.features; ++f)
      view.features.push_back(text(weft_variant_feature(module(), i, f)));
    all.push_back(std::move(view));
  }
  return all;
}

std::vector<int64_t> Artifact::ranks() const {
  std::vector<int64_t> all;
  std::string target = text(info().target);
  for (const VariantView &variant : variants())
    if (variant.target == target)
      all.push_back(variant.ranks);
  return all;
}

std::vector<std::string> Artifact::listed(const std::string &name) const {
  const char *data = nullptr;
  size_t size = 0;
  if (weft_module_text(module(), "manifest", &data, &size))
    return {};
  return manifestTexts({data, size}, name);
}

NumericsView Artifact::numerics() const {
  auto texts = [&](const char *name) { return listed(name); };
  return {texts("accuracy"), texts("activations"), texts("weights"), texts("compute"),
          texts("keep_f32")};
}

Result<Context> Artifact::createContext(const weft_context_options_t &options) const {
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_t *context = nullptr;
  if (weft_context_create(module(), &options, &context, &error))
    return failureOf(error);
  return Context(context, weft_context_release);
}

Result<weft_cost_t> Artifact::cost(const FunctionView &function,
                                   const SymbolValues &symbols) const {
  std::vector<int64_t> values;
  for (const SymbolSpec &symbol : function.signature.symbols) {
    auto found = symbols.find(symbol.name);
    if (found == symbols.end())
      return Failure{ExitWrongUsage, "symbol '" + symbol.name + "' has no value", {}, {}};
    values.push_back(found->second);
  }
  for (const std::vector<SymbolSpec> *others : {&function.rooms, &function.bound})
    for (const SymbolSpec &symbol : *others) // formulas of costs do not speak of them
      values.push_back(symbol.min);
  for (const SymbolSpec &symbol : function.places) {
    auto found = symbols.find(symbol.name);
    values.push_back(found == symbols.end() ? symbol.min : found->second);
  }
  values.push_back(0); // never an empty array
  auto cost = emptyInfo<weft_cost_t>();
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_query_cost(module(), function.index, values.data(), &cost, &error))
    return failureOf(error);
  return cost;
}

Result<weft_context_options_t> contextOptions(const ParsedOptions &options, int32_t threads) {
  auto context = emptyInfo<weft_context_options_t>();
  context.threads = threads;
  context.spin_us = -1;
  if (options.has("spin-us"))
    context.spin_us =
        static_cast<int32_t>(std::min<int64_t>(options.number("spin-us", 0), 1000000));
  if (options.has("max-memory"))
    context.memory_limit = parseSize(options.value("max-memory")).value_or(0);
  if (options.has("max-memory") && context.memory_limit == 0)
    return Failure{ExitWrongUsage, "'--max-memory' must be more than 0", {}, {}};
  if (options.has("device"))
    context.device = options.values("device").back().c_str();
  return context;
}

int64_t ranksOf(const FunctionView &function) {
  int64_t ranks = 1;
  for (const AxisSpec &axis : function.mesh)
    ranks *= axis.size;
  return ranks;
}

std::string printMesh(const FunctionView &function) {
  std::string out;
  for (const AxisSpec &axis : function.mesh)
    out += (out.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.size);
  return out;
}

std::string printShape(const InputSpec &argument, bool unicode) {
  std::string out = weft_element_name(argument.element);
  out += "[";
  for (size_t d = 0; d < argument.dims.size(); ++d)
    out += (d ? ", " : "") + beautifyFormula(argument.dims[d], unicode);
  return out + "]";
}

} // namespace weft::cli
