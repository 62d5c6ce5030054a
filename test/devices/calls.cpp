// Many calls of one program in one process, each on an emulated GPU with options of its own: calls MODEL.mlir TARGET SIZES...
//
// SIZES are those of a call: m=3,n=5. A line of the input, "1 seed=7,lazy", is a call with the second of them and these options; the line that
// answers it is "right", "wrong: by 0.5" or "failed: " and what was said.
#include "test/support/Program.h"
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <sstream>

using namespace weft::test;

namespace {

constexpr double tolerance = 1e-4;

struct Call {
  std::vector<Tensor> inputs;
  std::vector<weft::RefTensor> expected;
};

Sizes sizesOf(const std::string &text) {
  Sizes sizes;
  std::istringstream words(text);
  for (std::string each; std::getline(words, each, ',');)
    sizes[each.substr(0, each.find('='))] = std::stoll(each.substr(each.find('=') + 1));
  return sizes;
}

std::string answer(Program &program, const Call &call, const std::string &options) {
  if (!program.openEmulated(options))
    return "failed: " + program.error();
  double difference = program.difference(call.inputs, call.expected);
  if (!program.error().empty())
    return "failed: " + program.error();
  return difference <= tolerance ? "right" : "wrong: by " + std::to_string(difference);
}

} // namespace

int main(int count, char **words) {
  // A device takes and gives back as much memory for every call; the system would clear it each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
  std::ifstream file(count > 3 ? words[1] : "");
  std::stringstream text;
  text << file.rdbuf();
  Program program(text.str(), words[2]);
  if (!program.error().empty() || !program.device) {
    std::cerr << "calls: " << program.error() << "\n";
    return 1;
  }
  std::vector<Call> calls;
  for (int i = 3; i < count; ++i) {
    std::vector<Tensor> inputs = program.generate(sizesOf(words[i]), 1);
    calls.push_back({inputs, program.evaluate(inputs)});
  }
  for (std::string line; std::getline(std::cin, line);) {
    size_t end = line.find(' ');
    std::cout << answer(program, calls.at(std::stoul(line.substr(0, end))), line.substr(end + 1))
              << std::endl;
  }
  return 0;
}
