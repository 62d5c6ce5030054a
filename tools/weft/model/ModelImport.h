//===- ModelImport.h - What verbs that need the compiler share ----------------------------------------===//
//
// Models by the command line's words, models as signatures, and the compiler's diagnostics on the console.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MODEL_MODELIMPORT_H
#define WEFT_TOOLS_WEFT_MODEL_MODELIMPORT_H

#include "compiler/model/ModuleImpl.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/Inputs.h"
#include "weft/compiler.hpp"

namespace weft::cli {

/// "path: text".
std::string textOf(const Diagnostic &diagnostic);
/// What the process exits with when these end a command.
int exitCodeOf(const std::vector<Diagnostic> &diagnostics);
/// The last of them, where only one can be said.
Failure failureOf(const std::vector<Diagnostic> &diagnostics);
/// Prints all of them and gives the exit code; with --json one document lists them.
int refuse(Console &console, const std::vector<Diagnostic> &diagnostics);
/// Prints the warnings that came with a value.
void warn(Console &console, const std::vector<Diagnostic> &diagnostics);

/// `--constant NAME=@FILE.npy`, `--constant NAME=1,2,3`, `--op DOMAIN:NAME=FILE.mlir`, `--cache i8` and what
/// `--limit` says of models.
Result<ImportOptions> readImportOptions(const ParsedOptions &options);
/// Imports the model that the first operand names, with its warnings printed. When there is none,
/// `exitCode` is what the command returns. `facts` as in ImportOptions. `withCache`: as
/// --cache says, else as the model has them.
std::optional<Module> importModel(const ParsedOptions &options, Console &console, int &exitCode,
                                  std::vector<std::string> facts = {}, bool withCache = true);

/// The function of that name, of the graph or planned; without a name 'main' or the first public one.
Result<mlir::FunctionOpInterface> findFunction(const Module &module, const std::string &name);
Result<mlir::FunctionOpInterface> findFunction(mlir::ModuleOp program, const std::string &name);
/// Its signature as callers see it, for prepareInputs.
Result<Signature> modelSignature(mlir::FunctionOpInterface function);
/// What it gives.
std::vector<InputSpec> modelOutputs(mlir::FunctionOpInterface function);

/// --accuracy, --weights, --compute and --keep-f32.
Numerics readNumerics(const ParsedOptions &options);
/// Whether --mesh, --ranks or --plan are given.
bool asksForRanks(const ParsedOptions &options);
/// Of `compile`, `eval`, `verify`, `tune` and `inspect --why`: the mesh, placements on it, and how to find them.
Result<Done> readRanks(const ParsedOptions &options, CompileOptions &compile);
/// Of `compile`, `verify` and `tune`: --fuse-comm.
FuseComm readFuseComm(const ParsedOptions &options);
/// What `compile` and `tune` have in common: target, numerics, indices, jobs and what grows in place.
CompileOptions readCompileOptions(const ParsedOptions &options);
/// --in-place[=NAMES]
void readInPlace(const ParsedOptions &options, CompileOptions &compile);
/// The file or folder that a path ends with, also where a slash follows.
std::string lastName(std::string path);
/// MODEL with another extension, in the current folder; for a checkpoint folder its own name.
std::string fileBeside(const std::string &model, const std::string &extension);

/// `--dim seq=1..512` and `--assume PREDICATE` as predicates.
Result<std::vector<std::string>> readFacts(const ParsedOptions &options);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_MODEL_MODELIMPORT_H
