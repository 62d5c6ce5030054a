//===- cost_test.cpp - What the vector math functions cost ------------------------------------===//
//
// Not run by ctest: `WEFT_MATH_ASSEMBLY=1 vector_math_test [cost]` prints instructions per vector
// and nanoseconds per element on 4096 elements in the cache.
//
//===------------------------------------------------------------------------------------------===//

#include "JitModule.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <sstream>

using namespace weft::test;

namespace {

/// Instructions of the function's longest stretch between labels: the loop body, unrolled or not.
int countLoopInstructions(const std::string &assembly, const std::string &name) {
  std::istringstream lines(assembly.substr(assembly.find("\n" + name + ":")));
  std::string line;
  int count = 0, longest = 0;
  while (std::getline(lines, line) && line.rfind(".Lfunc_end", 0) != 0) {
    bool instruction = line.size() > 1 && line[0] == '\t' && std::isalpha(line[1]);
    if (!instruction && line.rfind(".LBB", 0) == 0)
      count = 0;
    longest = std::max(longest, count += instruction);
  }
  return longest;
}

/// The best of many passes over the data.
double nanosecondsPerElement(const JitModule &module, const std::string &name, float low,
                             float high) {
  std::vector<float> in(4096), out(4096);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = low + (high - low) * static_cast<float>(i) / static_cast<float>(in.size());
  JitModule::Function function = module.lookUp(name);
  double best = 1e9;
  for (int round = 0; round < 500; ++round) {
    auto start = std::chrono::steady_clock::now();
    function(in.data(), in.data(), out.data(), in.size());
    std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / static_cast<double>(in.size()));
  }
  return best;
}

} // namespace

TEST_CASE("cost of the functions", "[.][cost]") {
  struct Item {
    const char *name, *body;
    float low, high;
  };
  const Item items[] = {{"copy", "%r = math.absf %a : $T", 0, 1},
                        {"exp", "%r = math.exp %a : $T", -20, 0},
                        {"tanh", "%r = math.tanh %a : $T", -4, 4},
                        {"erf", "%r = math.erf %a : $T", -4, 4},
                        {"log", "%r = math.log %a : $T", 0.1f, 100},
                        {"sin", "%r = math.sin %a : $T", -100, 100},
                        {"tan", "%r = math.tan %a : $T", -100, 100},
                        {"atan", "%r = math.atan %a : $T", -4, 4},
                        {"powf", "%r = math.powf %a, %b : $T", 0, 4},
                        {"remf", "%c = arith.addf %b, %b : $T\n%r = arith.remf %a, %c : $T", 1, 9},
                        {"rsqrt", "%r = math.rsqrt %a : $T", 1, 9}};
  std::vector<Snippet> snippets;
  for (const Item &item : items)
    snippets.push_back({item.name, item.body});
  for (const Machine &machine : machines()) {
    JitModule module(snippets, machine, machine.lanes);
    for (const Item &item : items) {
      int instructions =
          module.assembly.empty() ? 0 : countLoopInstructions(module.assembly, item.name);
      std::printf("%s x%-2d %-6s %4d instructions %7.3f ns\n", machine.cpu.c_str(), machine.lanes,
                  item.name, instructions,
                  nanosecondsPerElement(module, item.name, item.low, item.high));
    }
  }
}
