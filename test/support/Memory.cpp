#include "test/support/Memory.h"
#include "tools/weft/cli/Formula.h"

namespace weft::test {
namespace {

struct Counter {
  int64_t held = 0, most = 0, calls = 0;
};

void *allocate(void *user, size_t bytes, size_t alignment) {
  auto *counter = static_cast<Counter *>(user);
  counter->held += int64_t(bytes);
  counter->most = std::max(counter->most, counter->held);
  ++counter->calls;
  return aligned_alloc(std::max<size_t>(alignment, 64), (bytes + 4095) / 4096 * 4096);
}

void release(void *user, void *pointer, size_t bytes) {
  static_cast<Counter *>(user)->held -= int64_t(bytes);
  free(pointer);
}

/// Both calls through a context of their own; false with `error` set when one is refused.
bool callTwice(weft_context_t *context, const std::vector<Tensor> &inputs,
               const std::vector<Tensor> &likeOutputs, Counter &counter, MemoryOfCall &memory,
               weft_error_t &error) {
  std::vector<weft_tensor_t> in, out;
  std::vector<std::vector<char>> results;
  for (const Tensor &input : inputs)
    in.push_back(input.view());
  for (const Tensor &like : likeOutputs) {
    results.emplace_back(like.bytes.size());
    out.push_back(WEFT_TENSOR_EMPTY);
    out.back().data = results.back().data();
    out.back().capacity = int64_t(results.back().size());
  }
  int64_t before = counter.held;
  counter.most = before;
  if (weft_call(context, nullptr, in.data(), in.size(), out.data(), out.size(), &error))
    return false;
  memory.most = counter.most - before;
  int64_t calls = counter.calls;
  if (weft_call(context, nullptr, in.data(), in.size(), out.data(), out.size(), &error))
    return false;
  memory.allocationsOfSecondCall = counter.calls - calls;
  return true;
}

void evaluateFormulas(Program &program, const Sizes &sizes, MemoryOfCall &memory) {
  weft_function_info_t info = {sizeof(info)};
  weft_function_info(program.artifact, 0, &info);
  weft::cli::SymbolValues values(sizes.begin(), sizes.end());
  memory.arena = weft::cli::evaluateFormula(info.arena, values).value_or(-1);
  memory.scratch = weft::cli::evaluateFormula(info.scratch, values).value_or(-1);
  for (auto &[name, value] : sizes)
    memory.what += name + "=" + std::to_string(value) + " ";
  memory.what += std::string("arena=") + info.arena + " scratch=" + info.scratch;
}

} // namespace

MemoryOfCall memoryOfCall(Program &program, const Sizes &sizes, int threads) {
  MemoryOfCall memory;
  evaluateFormulas(program, sizes, memory);
  memory.what += " threads=" + std::to_string(threads);
  std::vector<Tensor> inputs = program.generate(sizes, 1), outputs = program.run(inputs);
  if (outputs.empty()) {
    memory.error = program.error();
    return memory;
  }
  Counter counter;
  weft_env_t env = {};
  env.struct_size = sizeof(env);
  env.user = &counter;
  env.allocate = allocate;
  env.release = release;
  weft_error_t error = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_context_t *context = nullptr;
  weft_context_options_t options = {sizeof(options), threads, -1, 0};
  if (weft_module_open(&env, program.path.c_str(), &module, &error) ||
      weft_context_create(module, &options, &context, &error) ||
      !callTwice(context, inputs, outputs, counter, memory, error))
    memory.error = error.message;
  weft_context_release(context);
  weft_module_release(module);
  memory.leaked = counter.held;
  return memory;
}

} // namespace weft::test
