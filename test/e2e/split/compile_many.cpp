//===- compile_many.cpp - Compiles one model in many ways ------------------------------------------------===//
//
//   compile_many MODEL TARGET     < words of 'weft compile', a line for each artifact, separated by tabs
//
// Splits of a small model have most kernels in common, whose code is made once here. Options are -o FILE, --mesh, --place, --ranks and --fuse-comm. For
// each line it answers with one: empty, or why there is no artifact.
//===------------------------------------------------------------------------------------------===//

#include "weft/compiler.hpp"
#include <cstdio>
#include <iostream>
#include <sstream>

using namespace weft;

namespace {

CompileOptions optionsOf(const std::string &line) {
  CompileOptions options;
  std::istringstream words(line);
  for (std::string name, value;
       std::getline(words, name, '\t') && std::getline(words, value, '\t');)
    if (name == "-o")
      options.outputPath = value;
    else if (name == "--mesh")
      options.mesh.push_back(value);
    else if (name == "--place")
      options.placements.push_back(value);
    else if (name == "--ranks")
      options.ranks = std::stoll(value);
    else if (name == "--fuse-comm")
      options.fuseComm = value == "always" ? FuseComm::Always : FuseComm::Never;
    else
      std::cerr << "unknown option '" << name << "'\n", exit(2);
  return options;
}

std::string textOf(const std::vector<Diagnostic> &diagnostics) {
  return diagnostics.empty() ? "failed without a reason" : diagnostics[0].text;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3)
    return fputs("usage: compile_many MODEL TARGET\n", stderr), 2;
  Compiler compiler;
  Result<Module> model = compiler.importFile(arguments[1]);
  if (!model)
    return fprintf(stderr, "%s\n", textOf(model.diagnostics()).c_str()), 1;
  auto kernels = std::make_shared<KernelCode>();
  for (std::string line; std::getline(std::cin, line);) {
    CompileOptions options = optionsOf(line);
    options.target = arguments[2];
    options.jobs = 1;
    options.kernelCode = kernels;
    if (options.ranks > 0)
      options.plan = "auto";
    Result<Artifact> done = compiler.compile(*model, options);
    std::cout << (done ? "" : textOf(done.diagnostics())) << std::endl;
  }
  return 0;
}
