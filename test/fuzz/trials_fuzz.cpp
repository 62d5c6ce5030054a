// What a remote of 'weft tune' answers: the line of a message, and the archive with times and outputs. What is accepted is times of the
// sizes, kernels and outputs that were expected.
#include <cmath>

#include "test/fuzz/Target.h"
#include "tools/weft/cli/Zip.h"
#include "tools/weft/trials/Message.h"
#include "tools/weft/trials/Samples.h"
#include "weft/npy.h"

using namespace weft::cli;
using weft::fuzz::require;

namespace {

const ExpectedSamples kExpected{2, 3, {WEFT_F32, WEFT_BF16}};

void checkHead(std::string_view line) {
  std::optional<MessageHead> head = parseHead(line);
  if (!head)
    return;
  require(head->bytes <= kMostPayload, "what follows a line is limited");
  std::string written = head->word + " " + std::to_string(head->bytes);
  for (const std::string &argument : head->arguments)
    written += " " + argument;
  std::optional<MessageHead> again = parseHead(written);
  require(again && again->word == head->word && again->arguments == head->arguments,
          "a line is read as it is written");
}

void checkTimes(const TakenSamples &taken) {
  require(taken.sizes.size() == kExpected.sizes && std::isfinite(taken.turnSeconds),
          "there are times for every size");
  for (const TimedSamples &samples : taken.sizes) {
    require(!samples.whole.empty() && samples.kernels.size() == kExpected.kernels,
            "there are times of calls and kernels");
    for (double seconds : samples.whole)
      require(seconds > 0 && std::isfinite(seconds), "a call takes time");
    for (const std::vector<double> &kernel : samples.kernels) {
      require(kernel.size() == samples.whole.size(), "there is one for every turn");
      for (double seconds : kernel)
        require(seconds >= 0 && std::isfinite(seconds), "times are finite");
    }
  }
}

std::string array(uint32_t element, const std::vector<int64_t> &dims, std::string_view content) {
  std::string file(WEFT_NPY_HEADER_MAX, '\0');
  file.resize(
      weft_npy_header(file.data(), file.size(), element, uint32_t(dims.size()), dims.data()));
  return file + std::string(content);
}

std::string times(size_t count) {
  std::vector<double> numbers(count, 0.25);
  return {reinterpret_cast<const char *>(numbers.data()), count * sizeof(double)};
}

std::string archiveOf(int64_t turns, bool withOutputs) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const std::string who : {"base", "other"}) {
    for (const std::string at : {".0", ".1"}) {
      members.push_back({who + ".whole" + at, array(WEFT_F64, {turns}, times(size_t(turns)))});
      members.push_back(
          {who + ".kernels" + at, array(WEFT_F64, {3, turns}, times(3 * size_t(turns)))});
    }
    members.push_back({who + ".turn", array(WEFT_F64, {}, times(1))});
  }
  for (const std::string at : {".0", ".1"})
    if (withOutputs) {
      members.push_back({"output.0" + at, array(WEFT_F32, {2, 2}, times(2))});
      members.push_back({"output.1" + at, array(WEFT_U16, {4}, times(1))});
    }
  ZipWriter zip;
  for (const auto &[name, content] : members)
    zip.add(name + ".npy", {content});
  std::string archive;
  for (std::string_view piece : zip.finish())
    archive += piece;
  return archive;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  checkHead(text.substr(0, text.find('\n')));
  require(asLine(text).size() < 300, "what is shown is short");
  std::vector<uint8_t> bytes(data, data + size);
  Result<std::vector<NamedTensor>> tensors = readTensorBytes(bytes.data(), bytes.size(), nullptr);
  if (!tensors)
    return 0;
  bool all = true;
  for (const char *who : {"base", "other"}) {
    Result<TakenSamples> taken = samplesIn(*tensors, who, kExpected);
    if (taken)
      checkTimes(*taken);
    all = all && taken;
  }
  Result<std::vector<std::vector<HostTensor>>> outputs = outputsIn(*tensors, kExpected);
  double sum = 0;
  for (size_t each = 0; outputs && each < outputs->size(); ++each)
    for (size_t i = 0; i < kExpected.outputs.size(); ++i) {
      const HostTensor &output = (*outputs)[each][i];
      require(output.element() == kExpected.outputs[i], "outputs have their types");
      for (int64_t element = 0; element < output.count(); ++element)
        sum += output.get(element);
    }
  volatile double read = sum; // or nothing would be read
  (void)read;
  weft::fuzz::accepted += all && outputs;
  return 0;
}

const weft::fuzz::Format &weft::fuzz::targetFormat() { return npzFormat(); }

/// Right answers of one turn and of more, one without outputs, and lines.
std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &) {
  std::vector<std::string> seeds = {archiveOf(1, true), archiveOf(2, true), archiveOf(6, true),
                                    archiveOf(2, false)};
  for (const char *line : {"times 120\n", "failed 5 a b\nabcde", "features 0 fp neon\n"})
    seeds.push_back(line);
  return seeds;
}
