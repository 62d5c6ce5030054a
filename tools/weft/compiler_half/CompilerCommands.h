//===- CompilerCommands.h - Verbs that need the compiler ----------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILER_HALF_COMPILERCOMMANDS_H
#define WEFT_TOOLS_WEFT_COMPILER_HALF_COMPILERCOMMANDS_H

#include "tools/weft/Console.h"
#include "tools/weft/Inputs.h"
#include "weft/compiler.hpp"

namespace weft::cli {

int compileCommand(const ParsedOptions &options, Console &console);
int evalCommand(const ParsedOptions &options, Console &console);

/// Prints all diagnostics, the last as the failure; gives the exit code.
int refuse(Console &console, const std::vector<Diagnostic> &diagnostics, int exitCode = ExitInputRefused);

/// The signature of a function of a model, as prepareInputs needs it.
Result<Signature> modelSignature(Module &module, const std::string &function);

/// `--dim seq=1..512` and `--assume PREDICATE` as predicates.
Result<std::vector<std::string>> readFacts(const ParsedOptions &options);

} // namespace weft::cli

#endif
