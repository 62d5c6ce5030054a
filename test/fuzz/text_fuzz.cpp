// Textual IR of any content ends in a module or in diagnostics. What is accepted prints to text that is accepted again, and is planned
// up to code generation or refused.
#include "compiler/pipeline/Import.h"
#include "weft/compiler.hpp"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char *const kSeeds[] = {
    R"(func.func @main(%a: !weft.tensor<[m, 24], f32> {weft.name = "a"}, %c: !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
    attributes {weft.symbols = #weft.symbols<m, n : "m <= 4096", "mod(n, 8) == 0">} {
  %w = weft.constant dense<1.0> : tensor<24x8xf32> -> !weft.tensor<[24, 8], f32>
  %0 = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, 8], f32>) -> !weft.tensor<[m, 8], f32>
  %1 = weft.reduce sum %0 [1] : (!weft.tensor<[m, 8], f32>) -> !weft.tensor<[m], f32>
  %2 = weft.reshape %1 to [m, 1] : (!weft.tensor<[m], f32>) -> !weft.tensor<[m, 1], f32>
  %3 = weft.add %2, %c : (!weft.tensor<[m, 1], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %3 : !weft.tensor<[m, n], f32>
})",
    R"(func.func @main(%x: !weft.tensor<[2*m + 1, n], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.slice %x from [0, 0] size [2*m + 1, floordiv(n, 2)] step [1, 2] : (!weft.tensor<[2*m + 1, n], bf16>) -> !weft.tensor<[2*m + 1, floordiv(n, 2)], bf16>
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[2*m + 1, floordiv(n, 2)], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], bf16>
  %2 = weft.convert %1 to ui8 : (!weft.tensor<[floordiv(n, 2), 2*m + 1], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8>
  return %2 : !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8>
})",
    R"(func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "x"}, %c: !weft.tensor<[], i1> {weft.name = "c"}, %k: !weft.tensor<[], i64> {weft.name = "k"}) -> (!weft.tensor<[j], f32> {weft.name = "y"}, !weft.tensor<[u], f32> {weft.name = "z"})
    attributes {weft.symbols = #weft.symbols<n bound j, u : "j <= 2*n", "u <= n">} {
  %y = weft.if %c attributes {binds = ["j"]} : (!weft.tensor<[], i1>) -> !weft.tensor<[j], f32> {
    %a = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %a : !weft.tensor<[n], f32>
  } else {
    %b = weft.concat %x, %x dim 0 : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[2*n], f32>
    weft.yield %b : !weft.tensor<[2*n], f32>
  }
  weft.bind "u" %k : !weft.tensor<[], i64>
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %z = weft.slice %e from [0] size [u] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[u], f32>
  return %y, %z : !weft.tensor<[j], f32>, !weft.tensor<[u], f32>
})",
    R"(func.func @main(%x: !weft.tensor<[n, 4], f32> {weft.name = "x"}) -> (!weft.tensor<[4], f32> {weft.name = "sum"}, !weft.tensor<[n, 4], f32> {weft.name = "each"})
    attributes {weft.symbols = #weft.symbols<n bound i : "i <= n">} {
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[4], f32>
  %sum, %each = weft.loop "i" trips [n] (%zero) : (!weft.tensor<[4], f32>) -> (!weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>) {
  ^bb0(%s: !weft.tensor<[4], f32>):
    %row = weft.slice %x from [i, 0] size [1, 4] step [1, 1] : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[1, 4], f32>
    %r = weft.reshape %row to [4] : (!weft.tensor<[1, 4], f32>) -> !weft.tensor<[4], f32>
    %next = weft.add %s, %r : (!weft.tensor<[4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[4], f32>
    weft.yield %next, %next : !weft.tensor<[4], f32>, !weft.tensor<[4], f32>
  }
  return %sum, %each : !weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>
})"};

extern "C" size_t weft_fuzz_seed(unsigned index, uint8_t *out, size_t size) {
  if (index >= sizeof(kSeeds) / sizeof(kSeeds[0]) || strlen(kSeeds[index]) > size)
    return 0;
  memcpy(out, kSeeds[index], strlen(kSeeds[index]));
  return strlen(kSeeds[index]);
}

/// LLVM's allocators mark free memory where they are instrumented; MLIR's library is not and does not unmark it. Hangs and undefined
/// behaviour end the run as crashes do.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }
extern "C" const char *__ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft::Result<weft::Module> module =
      weft::importText("fuzz.mlir", llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (!module) {
    if (module.diagnostics().empty()) {
      fprintf(stderr, "refused without a reason:\n%.*s\n", int(size),
              reinterpret_cast<const char *>(data));
      abort();
    }
    return 0;
  }
  std::string text = module->text();
  if (!weft::importText("fuzz.mlir", text)) {
    fprintf(stderr, "printed text is refused:\n%s\n", text.c_str());
    abort();
  }
  weft::CompileOptions options;
  options.target = "x86:v2";
  weft::Result<weft::Artifact> checked = weft::Compiler().check(*module, options);
  if (!checked && checked.diagnostics().empty()) {
    fprintf(stderr, "refused without a reason:\n%s\n", text.c_str());
    abort();
  }
  return 0;
}
