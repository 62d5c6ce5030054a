//===- ScoreCommand.cpp -----------------------------------------------------------------------===//

#include "tools/weft/quantize/ScoreCommand.h"
#include "tools/weft/cli/TensorFile.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/wait.h>

namespace weft::cli {
namespace {

constexpr size_t kNameDigits = 5;

Diagnostic scoreError(const std::string &text, const std::string &hint = "") {
  return {Diagnostic::Error, "W0327", "", text, hint};
}

uint32_t elementNamed(const std::string &name) {
  uint32_t element = 0;
  while (element < 64 && weft_element_name(element) != name)
    ++element;
  return element;
}

weft::Result<void> writeOutputs(const std::string &folder, size_t call,
                                const std::vector<CallTensor> &outputs) {
  std::vector<NamedTensor> tensors;
  for (const CallTensor &output : outputs)
    tensors.push_back({output.name, HostTensor::over(elementNamed(output.element), output.dims,
                                                     const_cast<void *>(output.data), nullptr)});
  std::string name = std::to_string(call);
  name.insert(0, kNameDigits - std::min(kNameDigits, name.size()), '0');
  OutputFiles files;
  Result<Done> done = files.addNpz(folder + "/" + name + ".npz", tensors);
  if (done)
    done = files.commit();
  return done ? weft::Result<void>() : scoreError(done.failure().message);
}

/// The number in the last line.
weft::Result<double> scoreIn(const std::string &command, const std::string &printed) {
  std::string last;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      last = line;
  char *end = nullptr;
  double score = strtod(last.c_str(), &end);
  if (end == last.c_str() || end[strspn(end, " \t\r")] || !std::isfinite(score))
    return scoreError("'--score " + command + "' printed '" + last + "', which is no number",
                      "the last line that it prints is its score");
  return score;
}

weft::Result<double> runScore(const std::string &command, const std::string &folder) {
  FILE *pipe = popen((command + " '" + folder + "'").c_str(), "r");
  if (!pipe)
    return scoreError("'--score " + command + "' cannot be started");
  std::string printed;
  char buffer[4096];
  for (size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    printed.append(buffer, size);
  int status = pclose(pipe);
  if (status != 0)
    return scoreError("'--score " + command + "' ended with exit code " +
                      std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : status));
  return scoreIn(command, printed);
}

} // namespace

QuantizeScore scoreOf(const std::string &command, const std::string &folder) {
  return {[=](size_t call, const std::vector<CallTensor> &outputs) {
            return writeOutputs(folder, call, outputs);
          },
          [=] { return runScore(command, folder); }};
}

} // namespace weft::cli
