//===- RankProgram.cpp --------------------------------------------------------------------------===//

#include "test/support/RankProgram.h"
#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "test/support/Program.h"
#include <atomic>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace weft::test {

RankProgram::RankProgram(const std::string &text, CompileOptions options) {
  Result<Module> imported = importText("test.mlir", text);
  failure = imported ? "" : imported.diagnostics()[0].text;
  if (!imported)
    return;
  model = *imported;
  char name[] = P_tmpdir "/weft-ranks-XXXXXX";
  close(mkstemp(name));
  options.outputPath = path = name;
  options.jobs = 1;
  options.kernelCode = kernelsOfAll();
  Result<Artifact> done = Compiler().compile(*model, options);
  failure = done ? "" : done.diagnostics()[0].text;
  weft_error_t error = WEFT_ERROR_INIT;
  if (done && weft_module_open(nullptr, path.c_str(), &module, &error))
    failure = error.message;
}

RankProgram::~RankProgram() {
  weft_module_release(module);
  unlink(path.c_str());
}

std::optional<Values> RankProgram::evaluate(const std::vector<int64_t> &dims, const Values &input,
                                            bool asPlan, std::vector<Traffic> *traffic) {
  Module program = *model;
  if (asPlan) {
    Result<std::string> plan = Compiler().programAfter("plan", *model, CompileOptions());
    Result<Module> read = plan ? importText("plan.mlir", *plan) : plan.diagnostics();
    failure = read ? "" : read.diagnostics()[0].text;
    if (!read)
      return std::nullopt;
    program = *read;
  }
  mlir::ModuleOp operations = *program.get().module;
  mlir::FunctionOpInterface function = *operations.getOps<mlir::FunctionOpInterface>().begin();
  RefTensor tensor(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(),
                   llvm::SmallVector<int64_t, 4>(dims.begin(), dims.end()));
  for (size_t i = 0; i < input.size(); ++i)
    tensor.set(i, Scalar::of(double(input[i])));
  EvaluateOptions options;
  options.traffic = traffic;
  auto results = evaluateFunction(function, {tensor}, options);
  failure = results ? "" : llvm::toString(results.takeError());
  if (!failure.empty())
    return std::nullopt;
  Values values;
  for (int64_t i = 0; i < results->front().size(); ++i)
    values.push_back(results->front().at(i).real);
  return values;
}

std::vector<Values> RankProgram::run(int32_t world, const std::vector<int64_t> &dims,
                                     const Values &input, const weft_transport_v1 *table) {
  std::vector<Values> results(world);
  std::vector<std::string> failures = onRanks(
      world,
      [&](weft_group_t *group, weft_error_t *error) {
        return callTwice(group, dims, input, results[weft_group_rank(group)], error);
      },
      table);
  failure.clear();
  for (const std::string &text : failures)
    failure = failure.empty() ? text : failure;
  return results;
}

weft_status_t RankProgram::callTwice(weft_group_t *group, const std::vector<int64_t> &dims,
                                     const Values &input, Values &result,
                                     weft_error_t *error) const {
  return test::callTwice(module, group, dims, input, result, error);
}

weft_status_t callTwice(weft_module_t *module, weft_group_t *group,
                        const std::vector<int64_t> &dims, const Values &input, Values &result,
                        weft_error_t *error) {
  weft_context_options_t options = {sizeof options, 1, -1, 0, group};
  weft_context_t *context = nullptr;
  weft_status_t status = weft_context_create(module, &options, &context, error);
  for (int call = 0; call < 2 && !status; ++call) {
    Values copy = input;
    copy.push_back(0); // never without memory
    weft_tensor_t in = weft_tensor_of(copy.data(), WEFT_F32, dims.size(), dims.data()),
                  out = WEFT_TENSOR_EMPTY;
    status = weft_call(context, nullptr, &in, 1, &out, 1, error);
    size_t count = 1;
    for (uint16_t d = 0; d < out.rank; ++d)
      count *= out.dim[d];
    const float *data = static_cast<const float *>(out.data);
    if (!status)
      result.assign(data, data + count);
    weft_tensor_release(context, &out);
  }
  weft_context_release(context);
  return status;
}

std::vector<std::string>
onRanks(int32_t world, const std::function<weft_status_t(weft_group_t *, weft_error_t *)> &body,
        const weft_transport_v1 *table) {
  static std::atomic<int> groups{0};
  std::string rendezvous = "ranks-" + std::to_string(getpid()) + "-" + std::to_string(++groups);
  std::vector<std::string> failures(world);
  std::vector<std::thread> ranks;
  for (int32_t rank = 0; rank < world; ++rank)
    ranks.emplace_back([&, rank] {
      weft_group_options_t options = {sizeof options,     rank, world, 20000, "threads",
                                      rendezvous.c_str(), table};
      weft_group_t *group = nullptr;
      weft_error_t error = WEFT_ERROR_INIT;
      if (weft_group_open(nullptr, &options, &group, &error) || body(group, &error))
        failures[rank] = std::string(error.code) + " " + error.message;
      weft_group_release(group);
    });
  for (std::thread &rank : ranks)
    rank.join();
  return failures;
}

Values numbers(size_t count) {
  Values values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(float(int(i * 37 % 101) - 50) / 8);
  return values;
}

} // namespace weft::test
