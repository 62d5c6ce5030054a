//===- ModelImport.cpp - The model that a command names -----------------------------------------===//

#include "tools/weft/model/ModelImport.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/model/Limiting.h"

#include <cstdlib>
#include <cstring>

namespace weft::cli {

/// "1,-2,3"; nothing when that is not what the text is.
static std::optional<std::vector<int64_t>> parseNumbers(const std::string &text) {
  std::vector<int64_t> numbers;
  for (size_t begin = 0;;) {
    size_t comma = text.find(',', begin);
    std::string word = text.substr(begin, comma - begin);
    size_t digits = word[0] == '-' ? 1 : 0;
    errno = 0;
    int64_t value = strtoll(word.c_str(), nullptr, 10);
    if (word.size() == digits ||
        word.find_first_not_of("0123456789", digits) != std::string::npos || errno)
      return std::nullopt;
    numbers.push_back(value);
    if (comma == std::string::npos)
      return numbers;
    begin = comma + 1;
  }
}

static Result<InputConstant> fromFile(const std::string &name, const std::string &path) {
  Result<std::vector<NamedTensor>> tensors = readTensorFile(path);
  if (!tensors)
    return tensors.failure();
  if (tensors->size() != 1 || !(*tensors)[0].name.empty())
    return Failure{ExitInputRefused,
                   path + ": holds several tensors, but '--constant' needs a .npy file", "", ""};
  const HostTensor &tensor = (*tensors)[0].tensor;
  return InputConstant{name,
                       weft_element_name(tensor.element()),
                       tensor.dims(),
                       {tensor.data(), tensor.data() + tensor.bytes()}};
}

Result<ImportOptions> readImportOptions(const ParsedOptions &options) {
  ImportOptions import;
  for (const std::string &text : options.values("constant")) {
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals),
                value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (value[0] == '@') {
      Result<InputConstant> constant = fromFile(name, value.substr(1));
      if (!constant)
        return constant.failure();
      import.constants.push_back(*constant);
      continue;
    }
    std::optional<std::vector<int64_t>> numbers = parseNumbers(value);
    if (!numbers || name.empty())
      return Failure{ExitWrongUsage, "'--constant " + text + "' is not understood",
                     "write NAME=@FILE.npy or whole numbers, NAME=1,2,3", ""};
    std::vector<char> bytes(numbers->size() * sizeof(int64_t));
    memcpy(bytes.data(), numbers->data(), bytes.size());
    import.constants.push_back({name, "", {int64_t(numbers->size())}, bytes});
  }
  for (const std::string &text : options.values("op")) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Failure{ExitWrongUsage, "'--op " + text + "' is not understood",
                     "write DOMAIN:NAME=FILE.mlir", ""};
    import.operators.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  if (hasOption(options.verb(), "cache"))
    import.cache = options.value("cache");
  Result<GivenLimits> limits = readLimits(options);
  if (!limits)
    return limits.failure();
  import.limits = limits->import;
  return import;
}

std::optional<Module> importModel(const ParsedOptions &options, Console &console, int &exitCode,
                                  std::vector<std::string> facts, bool withCache) {
  Result<ImportOptions> import = readImportOptions(options);
  if (!import) {
    exitCode = console.fail(import.failure());
    return std::nullopt;
  }
  import->facts = std::move(facts);
  if (!withCache)
    import->cache.clear();
  weft::Result<Module> module = Compiler().importFile(options.positional()[0], *import);
  if (!module) {
    exitCode = refuse(console, module.diagnostics());
    return std::nullopt;
  }
  warn(console, module.diagnostics());
  return *module;
}

std::string lastName(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

std::string fileBeside(const std::string &model, const std::string &extension) {
  std::string name = lastName(model);
  size_t dot = name.rfind('.');
  if (name.empty() || name == "." || name == "..")
    name = "model";
  else if (dot != std::string::npos && dot > 0)
    name.resize(dot);
  return name + extension;
}

} // namespace weft::cli
