//===- Safetensors.cpp - Checkpoints as Hugging Face writes them ------------------------------===//

#include "compiler/import/readers/Safetensors.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <map>

using namespace llvm;
using nlohmann::json;

namespace weft {

using Tensors = std::vector<CheckpointTensor>;
using ShardIndex = std::vector<std::pair<std::string, std::string>>;

namespace {
struct TypeFacts {
  const char *name;
  unsigned bytes;
};
} // namespace

/// Indexed by SafetensorsType.
static const TypeFacts typeTable[] = {{"F64", 8},  {"F32", 4},     {"F16", 2},    {"BF16", 2},
                                      {"I64", 8},  {"I32", 4},     {"I16", 2},    {"I8", 1},
                                      {"U64", 8},  {"U32", 4},     {"U16", 2},    {"U8", 1},
                                      {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

StringRef safetensorsTypeName(SafetensorsType type) {
  return typeTable[static_cast<unsigned>(type)].name;
}

unsigned safetensorsTypeBytes(SafetensorsType type) {
  return typeTable[static_cast<unsigned>(type)].bytes;
}

//===- One file -------------------------------------------------------------------------------===//

/// The unsigned integers of a JSON list; nothing when it holds anything else. Bounded by the
/// caller's check of its size.
static std::optional<std::vector<uint64_t>> unsignedList(const json *value) {
  if (!value || !value->is_array())
    return std::nullopt;
  std::vector<uint64_t> result;
  for (const json &item : *value) {
    if (!item.is_number_unsigned())
      return std::nullopt;
    result.push_back(item.get<uint64_t>());
  }
  return result;
}

static Error readType(const JsonObject &fields, SafetensorsType &type) {
  auto name = fields.string("dtype");
  if (!name)
    return name.takeError();
  for (unsigned i = 0; i < std::size(typeTable); ++i)
    if (*name == typeTable[i].name) {
      type = static_cast<SafetensorsType>(i);
      return Error::success();
    }
  return fields.mismatch("dtype", "a known type such as F32");
}

static Error readShape(const JsonObject &fields, unsigned maxRank, std::vector<int64_t> &shape) {
  const json *value = fields.find("shape");
  if (value && value->is_array() && value->size() > maxRank)
    return fields.mismatch("shape", "a list of at most " + std::to_string(maxRank) + " sizes");
  auto sizes = unsignedList(value);
  if (!sizes)
    return fields.mismatch("shape", "a list of sizes");
  for (uint64_t size : *sizes) {
    if (size > uint64_t(INT64_MAX))
      return fields.mismatch("shape", "a list of sizes below 2^63");
    shape.push_back(static_cast<int64_t>(size));
  }
  return Error::success();
}

/// Bytes of a tensor; nothing on overflow.
static std::optional<uint64_t> byteCount(SafetensorsType type, ArrayRef<int64_t> shape) {
  uint64_t count = safetensorsTypeBytes(type);
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(size), &count))
      return std::nullopt;
  return count;
}

/// Fills type, shape, bytes and offset. `dataBegin` is where data_offsets count from.
static Error readTensor(const JsonObject &fields, const std::string &place, uint64_t dataBegin,
                        unsigned maxRank, CheckpointTensor &tensor) {
  if (Error error = readType(fields, tensor.type))
    return error;
  if (Error error = readShape(fields, maxRank, tensor.shape))
    return error;
  const json *offsets = fields.find("data_offsets");
  std::optional<std::vector<uint64_t>> range;
  if (offsets && offsets->is_array() && offsets->size() == 2)
    range = unsignedList(offsets);
  if (!range || range->front() > range->back())
    return fields.mismatch("data_offsets", "two offsets, begin and end");
  uint64_t dataSize = tensor.file->size() - dataBegin;
  if (range->back() > dataSize)
    return readError(place + ": its data ends at offset " + Twine(range->back()) +
                     ", but the file holds " + Twine(dataSize) +
                     " bytes of data; is it truncated?");
  uint64_t stored = range->back() - range->front();
  std::optional<uint64_t> needed = byteCount(tensor.type, tensor.shape);
  if (needed != stored)
    return readError(place + ": data_offsets hold " + Twine(stored) + " bytes, but " +
                     safetensorsTypeName(tensor.type) + " " + shapeText(tensor.shape) + " needs " +
                     (needed ? std::to_string(*needed) : "more than can be counted"));
  tensor.offset = dataBegin + range->front();
  tensor.bytes = tensor.file->bytes().slice(tensor.offset, stored);
  return Error::success();
}

/// The header's JSON text.
static Expected<StringRef> headerText(const MappedFile &file, uint64_t maxBytes) {
  if (file.size() < 8)
    return readError(file.path() + ": has " + Twine(file.size()) +
                     " bytes, too few for a safetensors file");
  uint64_t length = support::endian::read64le(file.bytes().data());
  if (length > maxBytes)
    return readError(file.path() + ": the header would have " + Twine(length) +
                     " bytes, but the reader's limit is " + Twine(maxBytes) +
                     "; is it a safetensors file?");
  if (length > file.size() - 8)
    return readError(file.path() + ": the header has " + Twine(length) +
                     " bytes, but the file only " + Twine(file.size()) + "; is it truncated?");
  StringRef text(file.bytes().data() + 8, length);
  if (!text.starts_with("{"))
    return readError(file.path() + ": byte 8: the header does not start with '{'");
  return text;
}

/// Sorts by position and refuses overlaps and bytes that belong to no tensor.
static Error checkCover(const MappedFile &file, uint64_t dataBegin, Tensors &tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto &a, const auto &b) {
    return std::make_tuple(a.offset, a.bytes.size(), StringRef(a.name)) <
           std::make_tuple(b.offset, b.bytes.size(), StringRef(b.name));
  });
  uint64_t covered = dataBegin;
  for (const CheckpointTensor &tensor : tensors) {
    if (tensor.offset != covered)
      return readError(file.path() + ": tensor " + quotedText(tensor.name) + " starts at byte " +
                       Twine(tensor.offset) + ", but the data before it ends at byte " +
                       Twine(covered));
    covered += tensor.bytes.size();
  }
  if (covered != file.size())
    return readError(file.path() + ": " + Twine(file.size() - covered) +
                     " bytes at the end belong to no tensor");
  return Error::success();
}

Expected<Tensors> readSafetensors(std::shared_ptr<MappedFile> file,
                                  const SafetensorsLimits &limits) {
  Expected<StringRef> text = headerText(*file, limits.headerBytes);
  if (!text)
    return text.takeError();
  JsonLimits jsonLimits;
  jsonLimits.bytes = limits.headerBytes;
  jsonLimits.values = 20 * limits.tensors; // A usual tensor has about 12.
  jsonLimits.depth = 4;
  auto header = parseJson(*text, (file->path() + ": header").str(), jsonLimits);
  if (!header)
    return header.takeError();
  if (header->size() > limits.tensors)
    return readError(file->path() + ": has " + Twine(header->size()) +
                     " tensors, but the reader's limit is " + Twine(limits.tensors));
  uint64_t dataBegin = 8 + text->size();
  Tensors tensors;
  for (const auto &[name, value] : header->items()) {
    if (name == "__metadata__")
      continue;
    CheckpointTensor tensor = {name, SafetensorsType::F32, {}, {}, file, 0};
    std::string place = (file->path() + ": tensor " + quotedText(name)).str();
    if (Error error = readTensor(JsonObject(value, place), place, dataBegin, limits.rank, tensor))
      return Expected<Tensors>(std::move(error));
    tensors.push_back(std::move(tensor));
  }
  if (Error error = checkCover(*file, dataBegin, tensors))
    return Expected<Tensors>(std::move(error));
  return tensors;
}

//===- Directories ----------------------------------------------------------------------------===//

const CheckpointTensor *Checkpoint::find(StringRef name) const {
  auto position = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const CheckpointTensor &tensor, StringRef wanted) { return tensor.name < wanted; });
  return position != tensors.end() && position->name == name ? &*position : nullptr;
}

Expected<ShardIndex> readShardIndex(StringRef text, StringRef place,
                                    const SafetensorsLimits &limits) {
  JsonLimits jsonLimits;
  jsonLimits.bytes = limits.headerBytes;
  jsonLimits.values = 3 * limits.tensors;
  auto index = parseJson(text, place, jsonLimits);
  if (!index)
    return index.takeError();
  JsonObject fields(*index, place);
  const json *map = fields.find("weight_map");
  if (!map || !map->is_object())
    return fields.mismatch("weight_map", "an object that maps tensors to files");
  ShardIndex result;
  for (const auto &[name, shard] : map->items()) {
    if (!shard.is_string())
      return JsonObject(*map, place).mismatch(name, "the name of a file");
    result.emplace_back(name, shard.get<std::string>());
  }
  std::sort(result.begin(), result.end());
  return result;
}

static StringRef textOf(const MappedFile &file) {
  return StringRef(file.bytes().data(), file.bytes().size());
}

/// Reads every shard once and picks the tensors that the index assigns to it.
static Expected<Tensors> readShards(StringRef directory, const MappedFile &indexFile,
                                    const SafetensorsLimits &limits) {
  auto index = readShardIndex(textOf(indexFile), indexFile.path(), limits);
  if (!index)
    return index.takeError();
  std::map<std::string, StringMap<CheckpointTensor>> shards;
  for (const auto &[name, shard] : *index)
    shards.try_emplace(shard);
  if (shards.size() > limits.shards)
    return readError(indexFile.path() + ": names " + Twine(shards.size()) +
                     " files, but the reader's limit is " + Twine(limits.shards));
  uint64_t total = 0;
  for (auto &[shard, byName] : shards) {
    auto file = MappedFile::openEntry(directory, shard);
    if (!file)
      return readError(indexFile.path() + ": shard " + toString(file.takeError()));
    auto tensors = readSafetensors(*file, limits);
    if (!tensors)
      return tensors.takeError();
    if ((total += tensors->size()) > limits.tensors)
      return readError(indexFile.path() + ": the shards hold more than " + Twine(limits.tensors) +
                       " tensors, the reader's limit");
    for (CheckpointTensor &tensor : *tensors)
      byName.try_emplace(tensor.name, std::move(tensor));
  }
  Tensors result;
  for (const auto &[name, shard] : *index) {
    auto &byName = shards.find(shard)->second;
    auto position = byName.find(name);
    if (position == byName.end())
      return readError(indexFile.path() + ": tensor " + quotedText(name) + " is not in the file " +
                       quotedText(shard));
    result.push_back(std::move(position->second));
  }
  return result;
}

static Expected<Tensors> readWeights(StringRef directory, const SafetensorsLimits &limits) {
  auto pathOf = [&](StringRef name) {
    SmallString<128> path(directory);
    sys::path::append(path, name);
    return path;
  };
  SmallString<128> single = pathOf("model.safetensors");
  SmallString<128> sharded = pathOf("model.safetensors.index.json");
  bool isSharded = !sys::fs::exists(single) && sys::fs::exists(sharded);
  if (!isSharded && !sys::fs::exists(single))
    return readError(directory + ": holds neither model.safetensors nor "
                                 "model.safetensors.index.json; hint: other formats such as "
                                 "pytorch_model.bin must be converted first");
  auto file = MappedFile::open(isSharded ? sharded : single);
  if (!file)
    return file.takeError();
  return isSharded ? readShards(directory, **file, limits) : readSafetensors(*file, limits);
}

Expected<Checkpoint> openCheckpoint(StringRef directory, const SafetensorsLimits &limits) {
  if (!sys::fs::is_directory(directory))
    return readError(directory + ": is not a directory");
  Checkpoint checkpoint;
  checkpoint.directory = directory.str();
  SmallString<128> configPath(directory);
  sys::path::append(configPath, "config.json");
  checkpoint.configPath = configPath.str().str();
  auto configFile = MappedFile::open(configPath);
  if (!configFile)
    return configFile.takeError();
  auto config = parseJson(textOf(**configFile), configPath);
  if (!config)
    return config.takeError();
  if (!config->is_object())
    return readError(configPath + ": must be a JSON object, but is " + jsonText(*config));
  checkpoint.config = std::move(*config);
  auto tensors = readWeights(directory, limits);
  if (!tensors)
    return tensors.takeError();
  checkpoint.tensors = std::move(*tensors);
  std::sort(checkpoint.tensors.begin(), checkpoint.tensors.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return checkpoint;
}

} // namespace weft
