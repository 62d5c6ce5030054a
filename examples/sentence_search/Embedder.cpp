#include "examples/sentence_search/Embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sentence_search {

// Enough rows to fill the processor, few enough that little of a batch is padding.
static constexpr size_t batchSize = 16;

static Failure failureOf(weft_status_t status, const weft_error_t &err) {
  const bool machine = status == WEFT_UNSUPPORTED || status == WEFT_OUT_OF_MEMORY;
  return {machine ? 4 : 1, err.message, err.hint};
}

float dot(const Vector &a, const Vector &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

static void scaleToLengthOne(Vector &vector) {
  const float length = std::sqrt(dot(vector, vector));
  if (length > 0)
    for (float &value : vector)
      value /= length;
}

std::optional<Embedder> Embedder::open(const std::string &path, int threads, Failure &failure) {
  Embedder result;
  result.path = path;
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  weft_status_t status = weft_module_open(nullptr, path.c_str(), &module, &err);
  result.module.reset(module);
  if (status != WEFT_OK) {
    failure = failureOf(status, err);
    return std::nullopt;
  }
  if (!result.findArguments(failure))
    return std::nullopt;

  weft_context_options_t options = {};
  options.struct_size = sizeof options;
  options.threads = threads;
  options.spin_us = -1;
  weft_context_t *context = nullptr;
  status = weft_context_create(module, &options, &context, &err);
  result.context.reset(context);
  if (status != WEFT_OK) {
    failure = failureOf(status, err);
    return std::nullopt;
  }
  return result;
}

bool Embedder::findArguments(Failure &failure) {
  weft_function_info_t info = {};
  info.struct_size = sizeof info;
  function = weft_function_find(module.get(), nullptr);
  if (function < 0 || weft_function_info(module.get(), function, &info) != WEFT_OK) {
    failure = {1, path + ": the artifact has several functions and none is called 'main'", ""};
    return false;
  }
  for (uint32_t i = 0; i < info.inputs; ++i) {
    weft_argument_info_t input = {};
    input.struct_size = sizeof input;
    weft_argument_info(module.get(), function, i, &input);
    if (!findInput(input, failure))
      return false;
  }
  for (auto [role, name] : {std::pair(Role::ids, "input_ids"), {Role::mask, "attention_mask"}})
    if (std::count(roles.begin(), roles.end(), role) == 0) {
      failure = {1, path + ": the model has no input '" + name + "'",
                 "sentence_search needs a BERT-like sentence embedding model"};
      return false;
    }
  findTokenLimit(info.symbols);
  return findOutput(info.inputs, info.outputs, failure);
}

bool Embedder::findInput(const weft_argument_info_t &input, Failure &failure) {
  const std::string name = input.name;
  if (name == "input_ids") {
    roles.push_back(Role::ids);
  } else if (name == "attention_mask") {
    roles.push_back(Role::mask);
  } else if (name == "token_type_ids") {
    roles.push_back(Role::zeros);
  } else {
    failure = {1, path + ": the model has an input '" + name + "', which is not known here",
               "the inputs may be 'input_ids', 'attention_mask' and 'token_type_ids'"};
    return false;
  }
  if (input.element == WEFT_I64 && input.rank == 2)
    return true;
  failure = {1,
             path + ": input '" + name + "' is " + weft_element_name(input.element) + " of rank " +
                 std::to_string(input.rank) + ", but i64 of rank 2 is needed",
             ""};
  return false;
}

bool Embedder::findOutput(uint32_t inputs, uint32_t outputs, Failure &failure) {
  outputCount = outputs;
  for (embedding = 0; embedding < outputs; ++embedding) {
    weft_argument_info_t output = {};
    output.struct_size = sizeof output;
    weft_argument_info(module.get(), function, inputs + embedding, &output);
    if (output.name != std::string("sentence_embedding"))
      continue;
    if (output.element == WEFT_F32 && output.rank == 2)
      return true;
    failure = {1,
               path + ": output 'sentence_embedding' is " + weft_element_name(output.element) +
                   " of rank " + std::to_string(output.rank) + ", but f32 of rank 2 is needed",
               ""};
    return false;
  }
  failure = {1, path + ": the model has no output 'sentence_embedding'",
             "the model must end in pooling, as all-MiniLM-L6-v2 does"};
  return false;
}

void Embedder::findTokenLimit(uint32_t symbols) {
  for (uint32_t i = 0; i < symbols; ++i) {
    weft_symbol_info_t symbol = {};
    symbol.struct_size = sizeof symbol;
    weft_symbol_info(module.get(), function, i, &symbol);
    // Dimension 1 of every input is the sentence's length.
    if (symbol.bound_by_input >= 0 && symbol.bound_by_dim == 1 && symbol.max > 0)
      longest = std::min(longest, symbol.max);
  }
}

size_t Embedder::tokenLimit(size_t wanted) const {
  return size_t(std::min<int64_t>(longest, int64_t(wanted)));
}

bool Embedder::embed(const std::vector<std::vector<int64_t>> &sentences, int64_t padId,
                     std::vector<Vector> &vectors, Failure &failure) {
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const size_t first = sentences[a].size(), second = sentences[b].size();
    return first != second ? first < second : a < b;
  });
  vectors.assign(sentences.size(), {});
  for (size_t first = 0; first < order.size(); first += batchSize) {
    const size_t last = std::min(first + batchSize, order.size());
    std::vector<const std::vector<int64_t> *> batch;
    for (size_t i = first; i < last; ++i)
      batch.push_back(&sentences[order[i]]);
    std::vector<Vector> rows;
    if (!embedBatch(batch, padId, rows, failure))
      return false;
    for (size_t i = first; i < last; ++i)
      vectors[order[i]] = std::move(rows[i - first]);
  }
  return true;
}

bool Embedder::embedBatch(const std::vector<const std::vector<int64_t> *> &batch, int64_t padId,
                          std::vector<Vector> &vectors, Failure &failure) {
  const size_t width = batch.back()->size(); // the batch is sorted by length
  std::vector<int64_t> ids(batch.size() * width, padId), mask(ids.size(), 0), zeros(ids.size(), 0);
  for (size_t row = 0; row < batch.size(); ++row) {
    std::copy(batch[row]->begin(), batch[row]->end(), ids.begin() + row * width);
    std::fill_n(mask.begin() + row * width, batch[row]->size(), 1);
  }
  const int64_t dims[] = {int64_t(batch.size()), int64_t(width)};
  std::vector<weft_tensor_t> inputs, outputs(outputCount, WEFT_TENSOR_EMPTY);
  for (Role role : roles) {
    std::vector<int64_t> &data = role == Role::ids ? ids : role == Role::mask ? mask : zeros;
    inputs.push_back(weft_tensor_of(data.data(), WEFT_I64, 2, dims));
  }
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status =
      weft_call_function(context.get(), function, inputs.data(), uint32_t(inputs.size()),
                         outputs.data(), outputCount, &err);
  bool done = status == WEFT_OK;
  if (done)
    done = copyRows(outputs[embedding], batch.size(), vectors, failure);
  else
    failure = failureOf(status, err);
  for (weft_tensor_t &output : outputs)
    weft_tensor_release(context.get(), &output);
  return done;
}

bool Embedder::copyRows(const weft_tensor_t &output, size_t rows, std::vector<Vector> &vectors,
                        Failure &failure) const {
  if (output.dim[0] != int64_t(rows)) {
    failure = {1,
               path + ": output 'sentence_embedding' has " + std::to_string(output.dim[0]) +
                   " rows for " + std::to_string(rows) + " sentences",
               ""};
    return false;
  }
  const float *data = static_cast<const float *>(output.data);
  const size_t width = size_t(output.dim[1]);
  for (size_t row = 0; row < rows; ++row) {
    Vector vector(data + row * width, data + (row + 1) * width);
    scaleToLengthOne(vector);
    vectors.push_back(std::move(vector));
  }
  return true;
}

} // namespace sentence_search
