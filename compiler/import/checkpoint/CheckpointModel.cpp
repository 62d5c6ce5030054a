//===- CheckpointModel.cpp - Configuration, weights and layers of a checkpoint ----------------===//

#include "compiler/import/checkpoint/CheckpointModel.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace weft {

static constexpr StringLiteral kCheckpointError = "W0203";

Diagnostic toDiagnostic(Error error, StringRef place) {
  std::string message = toString(std::move(error));
  auto [text, hint] = StringRef(message).split("; hint: ");
  Diagnostic diagnostic{Diagnostic::Error, kCheckpointError.str(), "", "", hint.str()};
  if (!place.empty() && text.consume_front(place) && text.consume_front(": "))
    diagnostic.where = place.str();
  diagnostic.text = text.str();
  return diagnostic;
}

/// The last folder of the path, to name the program.
static std::string nameOf(StringRef directory) {
  StringRef name = sys::path::filename(directory.rtrim("/"));
  return name.empty() || name == "." || name == ".." ? "model" : name.str();
}

CheckpointModel::CheckpointModel(const Checkpoint &checkpoint, const SentenceLayout *layout)
    : b(nameOf(checkpoint.directory)), layout(layout), checkpoint(checkpoint),
      config(checkpoint.config, checkpoint.configPath) {}

//===-- Configuration -------------------------------------------------------------------------===//

template <typename T> T CheckpointModel::take(Expected<T> value, T onError) {
  if (value)
    return *value;
  b.report(toDiagnostic(value.takeError(), checkpoint.configPath));
  return onError;
}

int64_t CheckpointModel::size(StringRef key, std::optional<int64_t> fallback) {
  return take<int64_t>(config.positiveInteger(key, fallback), 1);
}

double CheckpointModel::number(StringRef key, std::optional<double> fallback) {
  return take<double>(config.number(key, fallback), 0);
}

std::string CheckpointModel::text(StringRef key, std::optional<std::string> fallback) {
  return take<std::string>(config.string(key, fallback), "");
}

void CheckpointModel::requireText(StringRef key, StringRef value) {
  auto found = config.string(key, value.str());
  if (!found || *found != value) {
    consumeError(found.takeError());
    refuse(key, "\"" + value + "\"");
  }
}

void CheckpointModel::requireFalse(StringRef key) {
  auto found = config.boolean(key, false);
  if (!found || *found) {
    consumeError(found.takeError());
    refuse(key, "false");
  }
}

void CheckpointModel::refuse(StringRef key, const Twine &what) {
  b.report(toDiagnostic(config.mismatch(key, what.str()), checkpoint.configPath));
}

//===-- Weights -------------------------------------------------------------------------------===//

/// Null for types that are no floating-point weights.
static std::optional<Element> floatElement(SafetensorsType type) {
  switch (type) {
  case SafetensorsType::F64:
    return Element::F64;
  case SafetensorsType::F32:
    return Element::F32;
  case SafetensorsType::F16:
    return Element::F16;
  case SafetensorsType::BF16:
    return Element::BF16;
  default:
    return std::nullopt;
  }
}

void CheckpointModel::choosePrefix(ArrayRef<StringRef> prefixes, StringRef tensor) {
  for (StringRef candidate : prefixes)
    if (checkpoint.find((candidate + tensor).str())) {
      prefix = candidate.str();
      return;
    }
}

std::string CheckpointModel::fullName(StringRef name) const {
  const std::string &scope = b.scopeName();
  return prefix + scope + (scope.empty() ? "" : ".") + name.str();
}

bool CheckpointModel::has(StringRef name) const { return checkpoint.find(fullName(name)); }

/// Only the first: where one tensor is missing or has another shape, many do.
void CheckpointModel::tensorError(const CheckpointTensor *tensor, const Twine &text) {
  std::string where = tensor ? tensor->file->path().str() : checkpoint.directory;
  if (!tensorReported)
    b.report({Diagnostic::Error, kCheckpointError.str(), where, text.str(), ""});
  tensorReported = true;
}

const CheckpointTensor *CheckpointModel::findWeight(StringRef name, ArrayRef<int64_t> shape) {
  std::string full = fullName(name);
  const CheckpointTensor *tensor = checkpoint.find(full);
  if (!tensor) {
    tensorError(nullptr, "tensor " + quotedText(full) + " is missing");
    return nullptr;
  }
  if (ArrayRef<int64_t>(tensor->shape) != shape) {
    tensorError(tensor, "tensor " + quotedText(full) + " is " + shapeText(tensor->shape) +
                            ", but config.json asks for " + shapeText(shape));
    return nullptr;
  }
  if (!floatElement(tensor->type)) {
    tensorError(tensor, "tensor " + quotedText(full) + " has type " +
                            safetensorsTypeName(tensor->type) +
                            ", but a weight must be F64, F32, F16 or BF16");
    return nullptr;
  }
  return tensor;
}

Value CheckpointModel::storedWeight(StringRef name, const std::vector<int64_t> &shape) {
  const CheckpointTensor *tensor = findWeight(name, shape);
  if (!tensor)
    return b.failedValue();
  used.insert(tensor->name);
  WeightFile file(tensor->file, tensor->file->pathFrom(checkpoint.directory).str());
  return b.weight(tensor->name, *floatElement(tensor->type), shape, file, tensor->offset);
}

Value CheckpointModel::weight(StringRef name, const std::vector<int64_t> &shape) {
  return toF32(storedWeight(name, shape));
}

Value CheckpointModel::toF32(Value value) {
  return !value || b.element(value) == Element::F32 ? value : b.convert(value, Element::F32);
}

//===-- Layers --------------------------------------------------------------------------------===//

Value CheckpointModel::linear(Value x, StringRef name, int64_t in, int64_t out) {
  auto scope = b.scope(name.str());
  Value matrix = weight("weight", {out, in});
  return b.linear(x, matrix, weight("bias", {out}));
}

Value CheckpointModel::layerNorm(Value x, StringRef name, int64_t width, double epsilon) {
  auto scope = b.scope(name.str());
  bool old = !has("weight") && has("gamma");
  Value scale = weight(old ? "gamma" : "weight", {width});
  return b.normalize(x, scale, weight(old ? "beta" : "bias", {width}), epsilon);
}

Value CheckpointModel::embedding(Value indices, StringRef name, int64_t rows, int64_t width) {
  auto scope = b.scope(name.str());
  return toF32(b.gather(storedWeight("weight", {rows, width}), indices));
}

Value CheckpointModel::activation(Value x, StringRef key) {
  std::string name = text(key, "gelu");
  if (name == "tanh")
    return b.tanh(x);
  if (name == "quick_gelu")
    return b.mul(x, b.activation(Activation::Sigmoid, b.mul(x, b.scalar(Element::F32, 1.702))));
  static constexpr std::pair<const char *, Activation> kinds[] = {
      {"gelu", Activation::Gelu},          {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},  {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh}, {"relu", Activation::Relu},
      {"silu", Activation::Silu},          {"swish", Activation::Silu},
      {"sigmoid", Activation::Sigmoid}};
  for (auto [known, kind] : kinds)
    if (name == known)
      return b.activation(kind, x);
  refuse(key, "one of gelu, gelu_new, gelu_fast, gelu_python, gelu_pytorch_tanh, quick_gelu, relu, "
              "sigmoid, silu, swish, tanh");
  return b.failedValue();
}

//===-- The end -------------------------------------------------------------------------------===//

Result<Module> CheckpointModel::finish() {
  const CheckpointTensor *example = nullptr;
  size_t unused = 0;
  for (const CheckpointTensor &tensor : checkpoint.tensors) {
    auto expected = [&](const std::string &start) {
      return StringRef(tensor.name).starts_with(prefix + start);
    };
    if (used.contains(tensor.name) || any_of(ignored, expected))
      continue;
    example = example ? example : &tensor;
    ++unused;
  }
  if (unused > 0 && !b.failed())
    b.report(
        {Diagnostic::Warning, kCheckpointError.str(), checkpoint.directory,
         (Twine(unused) + (unused == 1 ? " tensor is" : " tensors are") + " left out, such as " +
          quotedText(example->name) + ": the outputs are those of the encoder without a head")
             .str(),
         ""});
  return b.finish();
}

} // namespace weft
