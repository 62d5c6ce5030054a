//===- Manifest.cpp -----------------------------------------------------------------------------===//
//
// export_cases.py says what each line means.
//===------------------------------------------------------------------------------------------===//
#include "test/onnx_suite/Manifest.h"

#include <fstream>
#include <sstream>

namespace weft::suite {

static std::vector<std::string> split(const std::string &line, char separator) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);)
    fields.push_back(field);
  return fields;
}

/// False when the line is not one of a manifest.
static bool readLine(const std::vector<std::string> &fields, Case &into) {
  const std::string &keyword = fields[0];
  size_t values = fields.size() - 1;
  if (keyword == "operators" && values == 1)
    into.operators = split(fields[1], ',');
  else if (keyword == "tolerance" && values == 2)
    into.relative = std::stod(fields[1]), into.absolute = std::stod(fields[2]);
  else if (keyword == "input" && values == 2)
    into.inputs.push_back({fields[1], fields[2]});
  else if (keyword == "output" && values == 2)
    into.outputs.push_back({fields[1], fields[2]});
  else if (keyword == "sets" && values == 1)
    into.sets = unsigned(std::stoul(fields[1]));
  else if (keyword == "edge" && values == 1)
    into.edge = fields[1];
  else
    return keyword == "key" || keyword == "opset" || keyword == "operator";
  return true;
}

std::string readManifest(const std::string &path, std::vector<Case> &cases) {
  std::ifstream file(path);
  if (!file)
    return path + ": cannot be read";
  std::string folder = path.substr(0, path.rfind('/') + 1);
  size_t before = cases.size();
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields = split(line, '\t');
    bool isCase = fields.size() == 3 && fields[0] == "case";
    if (isCase)
      cases.push_back({fields[1], folder + fields[2], {}, 0, 0, {}, {}, 0, ""});
    if (fields.empty() || (!isCase && (cases.size() == before || !readLine(fields, cases.back()))))
      return path + ": the line '" + line + "' is not one of a manifest";
  }
  return cases.size() == before ? path + ": has no cases" : "";
}

std::string readNotYet(const std::string &path, std::map<std::string, std::string> &reasons) {
  std::ifstream file(path);
  if (!file)
    return path + ": cannot be read";
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("# ", 0) == 0)
      reason = line.substr(2);
    else if (!line.empty() && !reasons.emplace(line, reason).second)
      return path + ": '" + line + "' is listed twice";
  }
  return "";
}

} // namespace weft::suite
