//===- random_programs.cpp - Evaluator against compiled code, as long as you like -------------------------===//
//
//   random_programs --from 1 --count 50        # what the tests run
//   random_programs --seconds 3600             # from a fresh seed
//   random_programs --from 1234 --count 1 --print
//   random_programs --wild                     # positions outside are refused, and nothing is read beyond inputs
//   random_programs --ranks                    # split over random meshes by random placements, evaluated and run by all ranks
//   random_programs --fused                    # products that ranks compute while rows travel
//   random_programs --chosen                   # layers become what was chosen for them; every second time in branches that take it
//   random_programs --half --target x86:v3     # products and convolutions of operands in 16 bits; by tiles: plain:v4+amx
//
// A program that fails is made smaller and written as seed-N.mlir, beside what is wrong. Exit code 3 when
// one failed, 77 when this machine cannot run code for the target.
//===------------------------------------------------------------------------------------------===//
#include "compiler/reduce/ReduceModule.h"
#include "test/differential/Choices.h"
#include "test/differential/RandomProgram.h"
#include "test/targets/plain/PlainFamily.h" // plain:v4+amx
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace weft;
using namespace weft::test;

namespace {

struct Options {
  unsigned from = std::random_device()();
  unsigned count = 0; ///< 0: until the time is over
  double seconds = 60;
  bool print = false, reduce = true, wild = false, half = false, ranks = false, fused = false,
       chosen = false;
  std::string target, output = ".";
};

[[noreturn]] void usage() {
  std::fputs("usage: random_programs [--from SEED] [--count N | --seconds N] [--target T]\n"
             "                       [--output-dir DIR] [--no-reduce] [--print] [--wild | --half | "
             "--ranks | --fused | --chosen]\n",
             stderr);
  exit(2);
}

Options parse(int count, char **arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i];
    auto value = [&]() -> const char * {
      if (++i == count)
        usage();
      return arguments[i];
    };
    if (name == "--from")
      options.from = unsigned(strtoul(value(), nullptr, 10));
    else if (name == "--count")
      options.count = unsigned(strtoul(value(), nullptr, 10));
    else if (name == "--seconds")
      options.seconds = strtod(value(), nullptr);
    else if (name == "--target")
      options.target = value();
    else if (name == "--output-dir")
      options.output = value();
    else if (name == "--no-reduce")
      options.reduce = false;
    else if (name == "--print")
      options.print = true;
    else if (name == "--wild")
      options.wild = true;
    else if (name == "--half")
      options.half = true;
    else if (name == "--ranks")
      options.ranks = true;
    else if (name == "--fused")
      options.fused = true;
    else if (name == "--chosen")
      options.chosen = true;
    else
      usage();
  }
  return options;
}

/// What kind of problem it is: a smaller program must have the same.
std::string kindOf(const std::string &problem) {
  for (const char *kind : {"invalid", "compiler", "evaluator", "call: ", "crash", "does not end"})
    if (problem.find(kind) != std::string::npos)
      return kind;
  return problem.empty() ? "" : "different";
}

/// How many times what is allowed; 0 when the problem is no difference.
double excessOf(const std::string &problem) {
  size_t at = problem.rfind("times ");
  return at == std::string::npos ? 0 : strtod(problem.c_str() + at + 6, nullptr);
}

/// A refusal is the same when its words are, numbers and names apart; a difference when it is not much smaller, or it would end as rounding.
bool isLike(const std::string &problem, const std::string &other) {
  std::string kind = kindOf(problem);
  if (kind != kindOf(other))
    return false;
  if (kind == "different")
    return excessOf(problem) >= std::min(excessOf(other) / 10, 1e6);
  if (kind != "compiler" && kind != "evaluator" && kind != "call: ")
    return true;
  auto start = [&](const std::string &text) { return text.substr(text.find(kind), 40); };
  return start(problem) == start(other);
}

void writeFailure(const Options &options, const RandomProgram &program, std::string problem) {
  Module module = program.module;
  Trial trial = program.trial;
  if (options.reduce) {
    std::printf("making it smaller ...\n");
    std::fflush(stdout);

    module = reduceModule(module, [&](const Module &candidate) {
      return isLike(tryProgramApart(candidate, trial), problem);
    });
    problem = tryProgramApart(module, trial);
  }
  std::string path = options.output + "/seed-" + std::to_string(trial.seed) + ".mlir";
  std::string text = module.text();
  std::ofstream(path) << "// " << problem << "\n// " << trial.str() << "\n" << text;
  std::printf("%s\n%s\n%s\nwritten to %s\n", text.c_str(), problem.c_str(), trial.str().c_str(),
              path.c_str());
}

/// What `weft quantize` writes in the end, or what it tries choices with.
RandomProgram withChosen(RandomProgram program) {
  program.module =
      program.trial.seed % 2 ? realisedChoices(program.module) : simulatedChoices(program.module);
  return program;
}

/// Whether data are positions somewhere.
bool hasPositions(const RandomProgram &program) {
  return program.module.get()
      .module->walk([](PositionsOpInterface) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

} // namespace

int main(int count, char **arguments) {
  Options options = parse(count, arguments);
  if (!options.target.empty() && !isSupported(options.target))
    return 77;
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  unsigned tried = 0, failed = 0;
  for (unsigned seed = options.from;
       options.count ? tried < options.count : seconds() < options.seconds; ++seed) {
    RandomProgram program = options.wild     ? wildProgram(seed)
                            : options.half   ? halfProgram(seed)
                            : options.ranks  ? splitProgram(seed)
                            : options.fused  ? fusedProgram(seed)
                            : options.chosen ? withChosen(chosenProgram(seed))
                                             : randomProgram(seed);
    if (options.wild && !hasPositions(program))
      continue;
    ++tried;
    if (!options.target.empty())
      program.trial.target = options.target;
    if (options.print)
      std::printf("%s", program.module.text().c_str());
    std::string problem = tryProgramApart(program.module, program.trial);
    if (problem.empty())
      continue;
    ++failed;
    std::printf("seed %u: %s\n", seed, problem.c_str());
    writeFailure(options, program, problem);
    std::fflush(stdout);
  }
  std::printf("%u programs from seed %u, %u failed, %.0f s\n", tried, options.from, failed,
              seconds());
  return failed ? 3 : 0;
}
