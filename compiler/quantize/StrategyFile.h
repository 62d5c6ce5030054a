//===- StrategyFile.h - Decisions as text, and a program that follows them --------------------===//
//
//   std::string text = strategyText(module, decisions, strategy);
//   Result<Module> program = applyStrategy(module, path);        // in weft/quantize.hpp
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H
#define WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H

#include "compiler/quantize/Strategy.h"

namespace weft {

/// One line for every layer, with all that its form needs.
std::string strategyText(const Module &module, const std::vector<Decision> &decisions,
                         const Strategy &strategy);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_STRATEGYFILE_H
