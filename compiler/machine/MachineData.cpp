//===- MachineData.cpp - Reads what a machine can do ------------------------------------------===//

#include "compiler/machine/MachineData.h"
#include "compiler/import/readers/JsonFields.h"
#include "compiler/import/readers/MappedFile.h"
#include <algorithm>

using namespace llvm;
using nlohmann::json;

namespace weft {
namespace {

constexpr const char *kSchema = "weft.machine/1";
constexpr size_t kMostCaches = 8, kMostEntries = 64;
constexpr JsonLimits kLimits{100'000, 2'000, 8};

class MachineReader : JsonFields {
public:
  MachineReader(const json &object, StringRef place) : JsonFields(object, place) {}

  Expected<MachineData> read() {
    MachineData data;
    takeSchema(kSchema);
    take(data.name, "name");
    take(data.about, "about");
    take(data.target, "target");
    readFlag(data.isMeasured, "measured");
    double cores = 0;
    take(cores, "cores", 4096);
    data.cores = int64_t(std::max(cores, 1.0));
    take(data.clock, "clock_ghz", 100);
    takeAll(data.multiplyAdds, "multiply_adds_per_cycle", kMostFigure);
    take(data.operations, "operations_per_cycle");
    takeAll(data.reached, "reached", 100);
    readCaches(data.caches);
    take(data.memoryOfOne, "memory_gb_per_s");
    take(data.memoryOfAll, "memory_gb_per_s_of_all");
    take(data.startNanoseconds, "start_ns");
    take(data.shareNanoseconds, "share_ns");
    take(data.together, "reached_together", 1);
    readSources(data.sources);
    if (error.empty() && data.memoryOfAll < data.memoryOfOne)
      refuse("'memory_gb_per_s_of_all' is less than 'memory_gb_per_s' of one core");
    refuseOthers("of a machine");
    if (!error.empty())
      return readError(error);
    return data;
  }

private:
  const json *objectAt(const std::string &key) {
    known.insert(key);
    const json *value = fields.find(key);
    if (value && value->is_object() && !value->empty() && value->size() <= kMostEntries)
      return value;
    refuse("'" + key + "' must be an object with fields");
    return nullptr;
  }
  void takeAll(std::map<std::string, double> &figures, const std::string &key, double most) {
    if (const json *value = objectAt(key))
      for (const auto &[name, figure] : value->items()) {
        if (!figure.is_number())
          return refuse("'" + key + "' of " + quotedText(name) + " must be a number");
        figures[name] = figure.get<double>();
        check(figures[name], "'" + key + "' of " + quotedText(name), most);
      }
  }
  void readSources(std::map<std::string, std::string> &sources) {
    if (const json *value = objectAt("sources"))
      for (const auto &[name, source] : value->items()) {
        if (!source.is_string())
          return refuse("'sources' of " + quotedText(name) + " must be text");
        if (!known.count(name))
          return refuse("'sources' speaks of " + quotedText(name) + ", which is no field");
        sources[name] = source.get<std::string>();
      }
  }

  void readCaches(std::vector<MachineData::Cache> &caches) {
    known.insert("caches");
    const json *list = fields.find("caches");
    if (!list || !list->is_array() || list->size() > kMostCaches)
      return refuse("'caches' must be a list of at most " + std::to_string(kMostCaches));
    for (const json &each : *list) {
      MachineReader reader(each, place + ": 'caches' " + std::to_string(caches.size() + 1));
      MachineData::Cache cache{};
      reader.take(cache.bytes, "bytes");
      reader.take(cache.bytesPerCycle, "bytes_per_cycle");
      reader.readFlag(cache.isShared, "shared");
      reader.refuseOthers("of a machine");
      if (error.empty())
        error = reader.error;
      if (error.empty() && !caches.empty() && cache.bytes <= caches.back().bytes)
        refuse("'caches' must begin with the smallest");
      caches.push_back(cache);
    }
  }
};

} // namespace

Expected<MachineData> parseMachine(StringRef text, StringRef place) {
  Expected<json> value = parseJson(text, place, kLimits);
  if (!value)
    return value.takeError();
  return MachineReader(*value, place).read();
}

Expected<MachineData> readMachine(const std::string &path) {
  Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  ArrayRef<char> bytes = (*file)->bytes();
  return parseMachine({bytes.data(), bytes.size()}, path);
}

} // namespace weft
