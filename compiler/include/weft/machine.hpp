//===- machine.hpp - What a machine that need not be here can do ------------------------------------===//
//
//   weft::Result<weft::Machine> machine = weft::findMachine("neoverse-n1");     // or a file: "./mine.json"
//   weft::CompileOptions there;
//   there.target = weft::targetOf(*machine);
//   weft::Result<std::vector<double>> seconds = weft::predictSeconds(module, there, *machine, {{{"seq", 128}}});
//
// docs/machines.md has the fields of such files.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_MACHINE_HPP
#define WEFT_MACHINE_HPP

#include "weft/compiler.hpp"
#include <map>

namespace weft {

/// Rates, caches and what is compiled for it; the compiler's own.
struct MachineData;
/// One that was read.
using Machine = std::shared_ptr<const MachineData>;

/// Data that come with Weft, by the machine's name, or a file: a path has a dot or a slash. Refuses a name without data with code W0309, and a file that holds none with W0333.
Result<Machine> findMachine(const std::string &nameOrFile);
/// As the data call it.
std::string nameOf(const Machine &machine);
/// What is compiled for it: "arm:neoverse-n1".
std::string targetOf(const Machine &machine);

/// Values of symbols, by their names.
using SymbolSizes = std::map<std::string, int64_t>;
/// Seconds that each of some calls of `main`, or the only function, would take there, compiled so. Nothing is compiled or run. Refuses, with code
/// W0301, kernels that the machine's data say nothing of. Kernels whose sizes only data decide are not in it.
Result<std::vector<double>> predictSeconds(const Module &module, const CompileOptions &options,
                                           const Machine &machine,
                                           const std::vector<SymbolSizes> &calls,
                                           unsigned threads = 1);

} // namespace weft

#endif // WEFT_MACHINE_HPP
