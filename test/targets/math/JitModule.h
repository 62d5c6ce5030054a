//===- JitModule.h - Compile lane-wise MLIR snippets in process and call them -----------------===//
//
//   JitModule module({{"exp", "%r = math.exp %a : $T"}}, machines()[0], /*lanes=*/8);
//   module.call("exp", a.data(), nullptr, out.data(), count);
//
//===------------------------------------------------------------------------------------------===//

#ifndef WEFT_TEST_TARGETS_MATH_JITMODULE_H
#define WEFT_TEST_TARGETS_MATH_JITMODULE_H

#include "targets/cpu/machine/VectorMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace weft::test {

/// A processor level that the host can run.
struct Machine {
  std::string cpu;
  const VectorMachine *vectors;
  /// Lanes of f32 in one register.
  int lanes;
};
/// x86-64-v2, v3 and v4, as far as the host has them.
std::vector<Machine> machines();

/// One function over arrays: `body` computes %r from the lanes %a and %b, where $T, $A, $B stand
/// for the types of %r, %a and %b.
struct Snippet {
  std::string name, body;
  std::string result = "f32", a = "f32", b = "f32";
};

/// Compiled snippets. Anything that goes wrong throws std::runtime_error.
class JitModule {
public:
  /// `lanes` of 0 means scalars.
  JitModule(const std::vector<Snippet> &snippets, const Machine &machine, int lanes);
  ~JitModule();

  /// Computes out[i] = snippet(a[i], b[i]) for a count that is a multiple of the lanes.
  using Function = void (*)(const void *a, const void *b, void *out, int64_t count);
  Function lookUp(const std::string &name) const;
  void call(const std::string &name, const void *a, const void *b, void *out, size_t count) const;
  /// Symbols the object needs from elsewhere, such as libm functions.
  const std::vector<std::string> &undefinedSymbols() const { return undefined; }
  /// The generated assembly, if the environment asks for it; see JitModule.cpp.
  std::string assembly;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<std::string> undefined;
};

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_MATH_JITMODULE_H
