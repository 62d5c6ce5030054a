//===- TargetsCommand.cpp - weft targets ------------------------------------------------------===//
//
// What a target needs of a processor is what the runtime asks for when a file is opened: the same probe says here what this
// machine has.
//===------------------------------------------------------------------------------------------===//

#include "targets/common/Registry.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "weft/device.h"

#include <algorithm>
#include <memory>

namespace weft::cli {
namespace {

struct TargetRow {
  std::string name;
  std::vector<std::string> features;
  bool runsHere = false, isForDevice = false;
};

using Device = std::unique_ptr<weft_device_t, void (*)(weft_device_t *)>;

bool hasAll(weft_device_t *device, const std::vector<std::string> &features) {
  return std::all_of(features.begin(), features.end(), [&](const std::string &feature) {
    int64_t has = 0;
    return !device->calls->property(device, ("feature." + feature).c_str(), &has) && has;
  });
}

std::vector<TargetRow> allRows(weft_device_t *device) {
  std::vector<TargetRow> rows;
  for (const auto &target : allKernelTargets())
    rows.push_back({target->name().str(), target->features(), hasAll(device, target->features()),
                    target->isForDevice()});
  return rows;
}

/// Names in a column, what each needs behind it.
std::string textOf(const std::vector<TargetRow> &rows, const std::string &host) {
  size_t width = 0;
  for (const TargetRow &row : rows)
    width = std::max(width, row.name.size());
  std::string text;
  for (const TargetRow &row : rows) {
    std::string name = row.name + std::string(width - row.name.size(), ' ');
    text += name + (row.name == host  ? "  host    "
                    : row.runsHere    ? "  runs    "
                    : row.isForDevice ? "  device  "
                                      : "  -       ");
    for (const std::string &feature : row.features)
      text += (&feature == &row.features.front() ? "" : " ") + feature;
    text += "\n";
  }
  return text;
}

std::string jsonOf(const std::vector<TargetRow> &rows, const std::string &host) {
  JsonWriter json("weft.targets/1");
  json.field("processor", hostProcessor()).field("host", host).array("targets");
  for (const TargetRow &row : rows)
    json.object()
        .field("name", row.name)
        .field("runs", row.runsHere)
        .field("device", row.isForDevice)
        .list("features", row.features)
        .end();
  return json.end().finish();
}

} // namespace

int targetsCommand(const ParsedOptions &, Console &console) {
  weft_device_t *opened = nullptr;
  weft_error_t why = WEFT_ERROR_INIT;
  if (weft_cpu_open(nullptr, &opened, &why))
    return console.fail({ExitMachineLacks, why.message, "", ""});
  Device device(opened, [](weft_device_t *each) { each->calls->close(each); });
  std::vector<TargetRow> rows = allRows(device.get());
  llvm::Expected<std::vector<FoundTarget>> own = findTargets(TargetName::kHost);
  std::string host = own ? own->front().kernels->name().str() : "";
  llvm::consumeError(own.takeError());
  console.result(console.json() ? jsonOf(rows, host) : textOf(rows, host));
  console.say("this machine: " + hostProcessor());
  return console.finish();
}

} // namespace weft::cli
