#include "test/support/EmulatedCall.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace weft::test {
namespace {

void writeWord(std::ofstream &file, int64_t word) {
  file.write(reinterpret_cast<const char *>(&word), sizeof word);
}

int64_t readWord(std::ifstream &file) {
  int64_t word = 0;
  file.read(reinterpret_cast<char *>(&word), sizeof word);
  return word;
}

int64_t bytesOf(const weft_tensor_t &tensor) {
  int64_t count = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    count *= tensor.dim[d];
  return (count * int64_t(weft_element_bits(tensor.element)) + 7) / 8;
}

void writeInputs(const std::string &path, const std::vector<weft_tensor_t> &inputs) {
  std::ofstream file(path, std::ios::binary);
  writeWord(file, int64_t(inputs.size()));
  for (const weft_tensor_t &input : inputs) {
    writeWord(file, input.element);
    writeWord(file, input.rank);
    for (uint32_t d = 0; d < input.rank; ++d)
      writeWord(file, input.dim[d]);
    writeWord(file, bytesOf(input));
    file.write(static_cast<const char *>(input.data), bytesOf(input));
  }
}

bool readOutputs(const std::string &path, std::vector<EmulatedTensor> &results) {
  std::ifstream file(path, std::ios::binary);
  results.resize(size_t(std::clamp<int64_t>(readWord(file), 0, 64)));
  for (EmulatedTensor &result : results) {
    result.element = uint32_t(readWord(file));
    result.dims.resize(size_t(std::clamp<int64_t>(readWord(file), 0, WEFT_MAX_RANK)));
    for (int64_t &dim : result.dims)
      dim = readWord(file);
    result.bytes.resize(file ? size_t(readWord(file)) : 0);
    file.read(result.bytes.data(), int64_t(result.bytes.size()));
  }
  return bool(file);
}

/// What the command says when it fails.
std::string runCommand(const std::string &command) {
  FILE *said = popen((command + " 2>&1").c_str(), "r");
  if (!said)
    return "the emulator cannot be started";
  std::string text;
  char buffer[512];
  while (size_t size = fread(buffer, 1, sizeof buffer, said))
    text.append(buffer, size);
  int status = pclose(said);
  if (!status)
    return "";
  return text.empty() ? "the emulated process ends with status " + std::to_string(status)
                      : text.substr(0, text.find('\n'));
}

/// What is called elsewhere, or on a device.
std::vector<std::string> givenTargets() {
  const char *targets = getenv("WEFT_TEST_TARGETS");
  bool isUsed = targets && (getenv("WEFT_TEST_EMULATED") || getenv("WEFT_TEST_DEVICE"));
  std::vector<std::string> list;
  std::istringstream text(isUsed ? targets : "");
  for (std::string each; std::getline(text, each, ',');)
    list.push_back(each);
  return list;
}

bool isGiven(const std::string &target) {
  std::vector<std::string> all = givenTargets();
  return std::find(all.begin(), all.end(), target) != all.end();
}

} // namespace

const char *deviceFor(const std::string &target) {
  return isGiven(target) ? std::getenv("WEFT_TEST_DEVICE") : nullptr;
}

bool isEmulated(const std::string &target) { return isGiven(target) && !deviceFor(target); }

std::vector<std::string> targetsToTry(std::vector<std::string> own) {
  std::vector<std::string> given = givenTargets();
  return given.empty() ? own : given;
}

bool isTried(const std::string &target) { return isGiven(target) || givenTargets().empty(); }

std::string callEmulated(const std::string &artifact, const std::vector<weft_tensor_t> &inputs,
                         std::vector<EmulatedTensor> &results, int threads) {
  std::string in = artifact + ".in", out = artifact + ".out";
  writeInputs(in, inputs);
  std::string why = runCommand(std::string(getenv("WEFT_TEST_EMULATED")) + " " + artifact + " " +
                               in + " " + out + " " + std::to_string(threads));
  if (why.empty() && !readOutputs(out, results))
    why = "the emulated process left no outputs";
  unlink(in.c_str());
  unlink(out.c_str());
  return why;
}

} // namespace weft::test
