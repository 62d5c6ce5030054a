#include "test/support/Program.h"
#include "compiler/artifact/Descriptor.h"
#include "compiler/eval/Evaluate.h"
#include "compiler/import/text/ImportText.h"
#include "dialects/weft/Mesh.h"
#include "test/support/RankProgram.h"
#include "test/support/RankTensors.h"
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::test {

static CompileOptions optionsFor(const std::string &target) {
  CompileOptions options;
  options.target = target;
  return options;
}

static std::string textOf(const std::vector<Diagnostic> &diagnostics) {
  std::string text;
  for (const Diagnostic &each : diagnostics)
    text += (text.empty() ? "" : "; ") + each.text;
  return text.empty() ? "failed without a reason" : text;
}

CompileOptions exactly(const std::string &target) {
  CompileOptions options = optionsFor(target);
  options.numerics.exact = true;
  return options;
}

Program::Program(const std::string &text, const std::string &target, int threads) {
  if (import(text))
    compile(optionsFor(target), threads);
}

Program::Program(const std::string &text, const CompileOptions &options) {
  if (import(text))
    compile(options, 1);
}

Program::Program(Module given, const std::string &target, int threads) : module(given) {
  compile(optionsFor(target), threads);
}

Program::Program(Module given, const CompileOptions &options, int threads) : module(given) {
  compile(options, threads);
}

Program::~Program() {
  weft_context_release(context);
  weft_module_release(artifact);
  if (!path.empty())
    unlink(path.c_str());
}

bool Program::import(const std::string &text) {
  Result<Module> imported = importText("test.mlir", text);
  source = text;
  if (imported)
    module = *imported;
  else
    failure = textOf(imported.diagnostics());
  return bool(imported);
}

std::shared_ptr<KernelCode> kernelsOfAll() {
  static const auto known = std::make_shared<KernelCode>();
  return known;
}

void Program::compile(CompileOptions options, int threads) {
  char name[] = P_tmpdir "/weft-test-XXXXXX";
  int fd = mkstemp(name);
  if (fd < 0) {
    failure = "cannot make a file";
    return;
  }
  close(fd);
  path = name;
  options.outputPath = path;
  options.jobs = 1;
  if (!options.kernelCode)
    options.kernelCode = kernelsOfAll();
  Compiler compiler;
  Result<Artifact> done = compiler.compile(*module, options);
  if (!done) {
    failure = textOf(done.diagnostics());
    return;
  }
  weft_error_t error = WEFT_ERROR_INIT;
  threadsOfRank = threads;
  emulated = isEmulated(options.target);
  device = deviceFor(options.target);
  if (emulated)
    return;
  bool isAlone = !meshOf(function());
  if (weft_module_open(nullptr, path.c_str(), &artifact, &error) ||
      (isAlone && openContext(nullptr, &context, &error)))
    failure = error.message;
}

weft_status_t Program::openContext(weft_group_t *group, weft_context_t **out,
                                   weft_error_t *error) const {
  weft_context_options_t options = {sizeof options, threadsOfRank, -1, 0, group, device};
  return weft_context_create(artifact, &options, out, error);
}

bool Program::openEmulated(const std::string &options) {
  static const char *const given = getenv("WEFT_EMULATED");
  static const std::string first = given ? std::string(given) + "," : "";
  setenv("WEFT_EMULATED", (first + options).c_str(), 1);
  weft_context_release(context);
  context = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  failure = openContext(nullptr, &context, &error) ? error.message : "";
  return failure.empty();
}

mlir::func::FuncOp Program::function() {
  return module->get().module->lookupSymbol<mlir::func::FuncOp>("main");
}

std::vector<Tensor> Program::generate(const Sizes &sizes, unsigned seed, int64_t limit) {
  SymValues values;
  for (auto &[name, value] : sizes)
    values[mlir::StringAttr::get(module->get().context.get(), name)] = value;
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (mlir::Type type : function().getArgumentTypes()) {
    auto tensor = mlir::cast<SymTensorType>(type);
    Tensor input;
    input.element = tensor.getElementType();
    for (SymExpr dim : tensor.getDims())
      input.dims.push_back(*dim.evaluate(values));
    RefTensor reference(input.element, input.dims);
    for (int64_t i = 0; i < reference.size(); ++i)
      reference.set(i, reference.kind == Scalar::Real
                           ? Scalar::of(double(random() % 4096) / 1024 - 2)
                           : Scalar::of(int64_t(random() % limit)));
    input.bytes.resize(elementBytes(input.element, reference.size()));
    toBytes(reference, input.bytes.data());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

/// A copy behind which a page begins that nobody may touch; in front of it, too, but for the rest of its first page.
class GuardedMemory {
public:
  explicit GuardedMemory(const std::vector<char> &bytes)
      : room((bytes.size() / kPage + 3) * kPage) {
    memory =
        static_cast<char *>(mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + kPage, room - 2 * kPage, PROT_READ | PROT_WRITE);
    data = memory + room - kPage - bytes.size();
    std::copy(bytes.begin(), bytes.end(), data);
  }
  GuardedMemory(GuardedMemory &&) = delete;
  ~GuardedMemory() { munmap(memory, room); }
  char *begin() const { return data; }

private:
  static constexpr size_t kPage = 4096;
  size_t room;
  char *memory, *data;
};

} // namespace

std::vector<Tensor> Program::run(const std::vector<Tensor> &inputs) {
  std::vector<weft_tensor_t> in;
  std::deque<GuardedMemory> walls;
  for (const Tensor &input : inputs) {
    in.push_back(input.view());
    if (guarded)
      in.back().data = walls.emplace_back(input.bytes).begin();
  }
  failure.clear();
  if (emulated)
    return callElsewhere(in);
  return meshOf(function()) ? callOnRanks(in) : callAlone(in);
}

std::vector<Tensor> Program::run(const std::vector<Tensor> &inputs, int threads) {
  std::swap(threadsOfRank, threads);
  std::vector<Tensor> results = run(inputs);
  std::swap(threadsOfRank, threads);
  return results;
}

std::vector<Tensor> Program::callElsewhere(const std::vector<weft_tensor_t> &inputs) {
  std::vector<EmulatedTensor> made;
  std::vector<Tensor> results;
  failure = callEmulated(path, inputs, made, threadsOfRank);
  if (failure.empty())
    for (auto [type, tensor] : llvm::zip_equal(function().getResultTypes(), made))
      results.push_back({mlir::cast<SymTensorType>(type).getElementType(), std::move(tensor.dims),
                         std::move(tensor.bytes)});
  return results;
}

std::vector<Tensor> Program::callAlone(const std::vector<weft_tensor_t> &inputs) {
  std::vector<Tensor> results;
  weft_error_t error = WEFT_ERROR_INIT;
  if (call(context, inputs, results, &error))
    failure = error.message;
  return results;
}

std::vector<Tensor> Program::callOnRanks(const std::vector<weft_tensor_t> &inputs) {
  int64_t world = meshOf(function()).getRanks();
  std::vector<std::vector<Tensor>> results(world);
  RankTensors tensors(function(), inputs);
  std::vector<std::string> failures =
      onRanks(int32_t(world), [&](weft_group_t *group, weft_error_t *error) {
        weft_context_t *own = nullptr;
        weft_status_t status = openContext(group, &own, error);
        int32_t rank = weft_group_rank(group);
        if (!status)
          status = call(own, tensors.inputs(rank), results[rank], error);
        weft_context_release(own);
        return status;
      });
  for (int64_t rank = 0; rank < world && failure.empty(); ++rank)
    failure = failures[rank];
  return failure.empty() ? tensors.together(std::move(results), failure) : std::vector<Tensor>();
}

weft_status_t Program::call(weft_context_t *own, const std::vector<weft_tensor_t> &inputs,
                            std::vector<Tensor> &results, weft_error_t *error) {
  llvm::ArrayRef<mlir::Type> types = function().getResultTypes();
  std::vector<weft_tensor_t> out(types.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
  if (weft_status_t status =
          weft_call(own, nullptr, inputs.data(), inputs.size(), out.data(), out.size(), error))
    return status;
  for (auto [type, tensor] : llvm::zip_equal(types, out)) {
    Tensor result;
    result.element = mlir::cast<SymTensorType>(type).getElementType();
    result.dims.assign(tensor.dim, tensor.dim + tensor.rank);
    int64_t count = 1;
    for (int64_t dim : result.dims)
      count *= dim;
    const char *data = static_cast<const char *>(tensor.data);
    result.bytes.assign(data, data + elementBytes(result.element, count));
    results.push_back(std::move(result));
    weft_tensor_release(own, &tensor);
  }
  return WEFT_OK;
}

weft_tensor_t Tensor::view() const {
  return weft_tensor_of(const_cast<char *>(bytes.data()), weft_element_t(elementCode(element)),
                        dims.size(), dims.data());
}

/// What the evaluator said of one text. Tests compile a program for many targets; its meaning is the same for all.
struct Evaluated {
  std::string text;
  std::map<std::vector<std::vector<char>>, std::vector<RefTensor>> results; ///< by the inputs
};

/// Shapes in front of the bytes: of inputs without elements the shapes are all that differs.
static std::vector<std::vector<char>> keyOf(const std::vector<Tensor> &inputs) {
  std::vector<std::vector<char>> key;
  for (const Tensor &input : inputs) {
    const char *dims = reinterpret_cast<const char *>(input.dims.data());
    key.emplace_back(dims, dims + input.dims.size() * sizeof input.dims[0]);
    key.push_back(input.bytes);
  }
  return key;
}

std::vector<RefTensor> Program::evaluate(const std::vector<Tensor> &inputs) {
  if (source.empty())
    return evaluateAgain(inputs);
  static Evaluated last;
  if (last.text != source)
    last = {source, {}};
  auto [found, isNew] = last.results.try_emplace(keyOf(inputs));
  if (isNew)
    found->second = evaluateAgain(inputs);
  if (found->second.empty()) // it failed; every caller is told why
    return evaluateAgain(inputs);
  return found->second;
}

std::vector<RefTensor> Program::evaluateAgain(const std::vector<Tensor> &inputs) {
  std::vector<RefTensor> tensors;
  for (const Tensor &input : inputs)
    tensors.push_back(input.reference());
  EvaluateOptions options;
  options.weight = [&](llvm::StringRef name) { return module->get().weightBytes(name); };
  llvm::Expected<std::vector<RefTensor>> results = evaluateFunction(function(), tensors, options);
  if (!results) {
    failure = llvm::toString(results.takeError());
    return {};
  }
  return std::move(*results);
}

double Program::difference(const Sizes &sizes, unsigned seed, int64_t limit) {
  std::vector<Tensor> inputs = generate(sizes, seed, limit);
  return difference(inputs, evaluate(inputs));
}

double Program::difference(const std::vector<Tensor> &inputs,
                           const std::vector<RefTensor> &expected) {
  std::vector<Tensor> got = run(inputs);
  if (expected.empty() || got.size() != expected.size())
    return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    RefTensor actual = got[i].reference();
    if (actual.dims != expected[i].dims)
      return INFINITY;
    for (int64_t k = 0; k < actual.size(); ++k) {
      double a = actual.at(k).asReal(), e = expected[i].at(k).asReal();
      if (std::isnan(a) != std::isnan(e) || std::isinf(a) != std::isinf(e))
        return INFINITY;
      if (!std::isnan(a) && a != e)
        worst = std::max(worst, std::fabs(a - e) / std::max(1.0, std::fabs(e)));
    }
  }
  return worst;
}

bool uses(const Program &program, const std::string &schedule) {
  std::ifstream file(program.path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str().find("weft_k_" + schedule + "_") != std::string::npos;
}

bool isSupported(const std::string &target) {
  if (!isTried(target))
    return false;
  static std::map<std::string, bool> known;
  auto [found, isNew] = known.try_emplace(target);
  if (!isNew)
    return found->second;
  Program program("func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> "
                  "attributes {weft.symbols = #weft.symbols<n>} {\n"
                  "  %y = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>\n  "
                  "return %y : !weft.tensor<[n], f32>\n}\n",
                  target);
  return found->second = program.error().empty();
}

std::string bytesText(const std::vector<int64_t> &dims, const std::string &element) {
  int64_t count = 1;
  std::string shape, hex;
  for (int64_t dim : dims) {
    count *= dim;
    shape += std::to_string(dim) + "x";
  }
  std::mt19937 random{unsigned(count)};
  for (int64_t i = 0; i < count; ++i) {
    unsigned byte = i < 4 ? (i % 2 ? 0x7f : 0x80) : random() & 255;
    hex += "0123456789ABCDEF"[byte >> 4];
    hex += "0123456789ABCDEF"[byte & 15];
  }
  return "dense<\"0x" + hex + "\"> : tensor<" + shape + element + ">";
}

} // namespace weft::test
