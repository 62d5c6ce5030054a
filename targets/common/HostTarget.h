//===- HostTarget.h - Who compiles the host's program ----------------------------------------------===//
//
//   MLIRContext context;
//   target.loadDialects(context);
//   … a module of the host's program …
//   llvm::Expected<std::string> object = target.compile(module);
//
// A variant of an artifact has exactly one: the processor that calls the kernels, wherever these run.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_HOSTTARGET_H
#define WEFT_TARGETS_COMMON_HOSTTARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace weft {

class HostTarget {
public:
  virtual ~HostTarget() = default;
  /// Loads the dialects that `compile` takes: LLVM, func, arith, cf, scf and math.
  virtual void loadDialects(mlir::MLIRContext &context) const = 0;
  /// An ELF object of the module, which is changed.
  virtual llvm::Expected<std::string> compile(mlir::ModuleOp module) const = 0;
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_HOSTTARGET_H
