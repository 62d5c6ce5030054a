//===- SentenceLayout.cpp - modules.json, pooling and normalisation ---------------------------===//

#include "compiler/import/checkpoint/SentenceLayout.h"
#include "compiler/import/checkpoint/CheckpointModel.h"
#include "compiler/import/readers/Json.h"
#include "compiler/import/readers/MappedFile.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using nlohmann::json;

namespace weft {

//===-- Reading -------------------------------------------------------------------------------===//

static std::string joined(StringRef directory, const Twine &name) {
  SmallString<128> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

static Expected<json> readJsonFile(StringRef path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return parseJson({(*file)->bytes().data(), (*file)->bytes().size()}, path);
}

/// Folders of modules are plain names, so that they cannot lead out of the directory.
static bool isPlainFolder(StringRef name) {
  return !name.starts_with(".") &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_' || c == '-' || c == '.'; });
}

/// The one way of pooling that 1_Pooling/config.json switches on.
static Expected<SentenceLayout::Pooling> readPooling(const std::string &path) {
  auto config = readJsonFile(path);
  if (!config)
    return config.takeError();
  if (!config->is_object())
    return readError(path + ": must be a JSON object, but is " + jsonText(*config));
  JsonObject fields(*config, path);
  std::vector<std::string> modes;
  if (fields.find("pooling_mode")) { // newer files
    auto mode = fields.string("pooling_mode");
    if (!mode)
      return mode.takeError();
    modes.push_back(*mode);
  }
  for (auto &[key, value] : config->items()) {
    StringRef mode(key);
    if (mode.consume_front("pooling_mode_") && value.is_boolean() && value.get<bool>()) {
      mode.consume_back("_tokens") || mode.consume_back("_token");
      modes.push_back(mode.str());
    }
  }
  if (modes == std::vector<std::string>{"mean"})
    return SentenceLayout::Pooling::Mean;
  if (modes == std::vector<std::string>{"cls"})
    return SentenceLayout::Pooling::FirstToken;
  if (modes.empty())
    return readError(path + ": switches no pooling mode on");
  return readError(path + ": pooling by " + quotedText(join(modes, " and ")) +
                   " is not supported (supported: 'mean', 'cls')");
}

/// Adds one entry of modules.json, which must come in the order model, pooling, normalisation.
static Error addModule(StringRef directory, const std::string &path, size_t position,
                       const json &entry, SentenceLayout &layout) {
  std::string place = path + ": module " + std::to_string(position);
  JsonObject fields(entry, place);
  auto type = fields.string("type");
  if (!type)
    return type.takeError();
  auto folder = fields.string("path", "");
  if (!folder)
    return folder.takeError();
  if (!isPlainFolder(*folder))
    return fields.mismatch("path", "the name of a folder beside modules.json");
  static constexpr const char *kinds[] = {"Transformer", "Pooling", "Normalize"};
  StringRef kind = StringRef(*type).rsplit('.').second;
  kind = kind.empty() ? StringRef(*type) : kind;
  if (position >= std::size(kinds) || kind != kinds[position])
    return readError(place + ": has type " + quotedText(*type) +
                     ", but supported is only Transformer, Pooling, Normalize in this order");
  if (position == 0)
    layout.modelFolder = *folder;
  if (position == 1) {
    auto pooling = readPooling(joined(joined(directory, *folder), "config.json"));
    if (!pooling)
      return pooling.takeError();
    layout.pooling = *pooling;
  }
  layout.normalize |= position == 2;
  return Error::success();
}

Expected<std::optional<SentenceLayout>> readSentenceLayout(StringRef directory) {
  SentenceLayout layout;
  std::string modules = joined(directory, "modules.json");
  std::string pooling = joined(joined(directory, "1_Pooling"), "config.json");
  if (!sys::fs::exists(modules)) {
    if (!sys::fs::exists(pooling))
      return std::nullopt;
    auto mode = readPooling(pooling);
    if (!mode)
      return mode.takeError();
    layout.pooling = *mode;
    return layout;
  }
  auto list = readJsonFile(modules);
  if (!list)
    return list.takeError();
  if (!list->is_array() || list->empty())
    return readError(modules + ": must be a list of modules, but is " + jsonText(*list));
  if (list->size() == 1)
    return readError(modules + ": lists a model, but no pooling");
  for (auto [position, entry] : enumerate(*list))
    if (Error error = addModule(directory, modules, position, entry, layout))
      return Expected<std::optional<SentenceLayout>>(std::move(error));
  return layout;
}

//===-- Building ------------------------------------------------------------------------------===//

/// The mean over the tokens that the mask keeps; 0 for a sentence without any.
static Value meanOfTokens(Builder &b, Value hidden, Value mask) {
  auto scope = b.scope("pooling");
  Value weights = b.convert(mask, Element::F32);
  Value sum = b.contract("b s h, b s -> b h", hidden, weights);
  Value count = b.reduce(Reduction::Sum, weights, {1}, /*keepDims=*/true);
  return b.div(sum, b.maximum(count, b.scalar(Element::F32, 1e-9)));
}

static Value firstToken(Builder &b, Value hidden) {
  auto scope = b.scope("pooling");
  Dims dims = b.dims(hidden);
  if (dims.size() != 3)
    return hidden; // failed before
  return b.reshape(b.slice(hidden, {0, 0, 0}, {dims[0], 1, dims[2]}), {dims[0], dims[2]});
}

Value sentenceEmbedding(CheckpointModel &model, const SentenceLayout &layout, Value hidden,
                        Value mask) {
  Builder &b = model.b;
  bool mean = layout.pooling == SentenceLayout::Pooling::Mean;
  Value pooled = mean ? meanOfTokens(b, hidden, mask) : firstToken(b, hidden);
  if (!layout.normalize)
    return pooled;
  auto scope = b.scope("normalize");
  Value length = b.sqrt(b.reduce(Reduction::Sum, b.mul(pooled, pooled), {1}, /*keepDims=*/true));
  return b.div(pooled, b.maximum(length, b.scalar(Element::F32, 1e-12)));
}

} // namespace weft
