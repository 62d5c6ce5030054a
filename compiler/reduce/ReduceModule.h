//===- ReduceModule.h - The smallest program that still fails ---------------------------------===//
//
//   auto fails = [&](const Module &candidate) { return differs(candidate); };
//   Module small = reduceModule(module, fails);
//
// A value whose operator is taken away becomes an argument, one that loses its last reader a
// result. So every choice of operators is a program, and a fault in the middle needs nothing around
// it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_REDUCE_REDUCEMODULE_H
#define WEFT_COMPILER_REDUCE_REDUCEMODULE_H

#include "compiler/reduce/Delta.h"
#include "weft/compiler.hpp"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace weft {

/// The edits of programs, in the order in which they pay off.
const std::vector<Reduction<Module>> &moduleReductions();

/// `module` fails and stays as it is; the result fails, too. Candidates are verified programs, but
/// what the passes or the evaluator refuse may be among them: `stillFails` answers no to those.
/// Candidates share `module`'s context and files, so all is done by one thread.
Module reduceModule(const Module &module, llvm::function_ref<bool(const Module &)> stillFails,
                    const ReduceOptions<Module> &options = {});

/// Operators of all functions, without constants: what people measure a program by.
size_t countOperators(const Module &module);

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_REDUCEMODULE_H
