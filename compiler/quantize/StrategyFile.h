//===- StrategyFile.h - Decisions as text, and a program that follows them --------------------===//
//
//   StrategyFiles files = strategyFiles(module, decisions, strategy);
//   Result<Module> program = applyStrategy(module, path);        // in weft/quantize.hpp
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H
#define WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H

#include "compiler/quantize/Strategy.h"
#include "compiler/quantize/StrategyLines.h"

namespace weft {

/// What a line calls it.
StrategyLine::Form formOf(const Decision &decision, const EdgeChoice &choice);

struct StrategyFiles {
  std::string lines;   ///< one for every layer, with all that its form needs
  std::string weights; ///< beside it, the numbers that lines name; empty where they name none
};
StrategyFiles strategyFiles(const Module &module, const std::vector<Decision> &decisions,
                            const Strategy &strategy);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H
