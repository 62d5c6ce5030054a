//===- Codegen.h - From structured operations to object code -----------------------------------------===//
#ifndef WEFT_TARGETS_CPU_CODEGEN_H
#define WEFT_TARGETS_CPU_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/cpu/machine/VectorMachine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
class Target;
class TargetMachine;
} // namespace llvm

namespace weft {

/// What is done to LLVM IR before it becomes code: all that O2 has; what kernels need of that (KernelPasses.h); the same, but long loops are
/// not considered for unrolling; nothing.
enum class Optimization { Full, Kernels, ShortLoops, None };

struct CodegenOptions {
  std::string triple, cpu, features; ///< as LLVM names them
  const VectorMachine *machine = nullptr;
  std::string core = {}; ///< whose instructions are put in order; empty: those of `cpu`
  unsigned vectorScale =
      0; ///< of registers whose length is not fixed: of how many times 128 bits code may take them to be
  Optimization optimization = Optimization::Kernels;
};

/// Lowers the module in place and returns an ELF object. The module may use func, arith, math, vector, scf, cf and llvm.
llvm::Expected<std::string> compileToObject(mlir::ModuleOp module, const CodegenOptions &options);

/// The first half of that: what is left is of the LLVM dialect.
llvm::Error lowerToLlvmDialect(mlir::ModuleOp module, const VectorMachine &machine);

/// Registers what translation needs in a context.
void registerCodegenDialects(mlir::MLIRContext &context);

/// One of those that LLVM has.
llvm::Expected<const llvm::Target *> findLlvmTarget(const std::string &triple);

void optimize(llvm::Module &module, llvm::TargetMachine &machine, Optimization optimization);

} // namespace weft

#endif
