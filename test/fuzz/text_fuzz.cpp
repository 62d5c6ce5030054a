// Textual IR of any content ends in a module or in diagnostics. What is accepted prints to text that is accepted again.
#include "compiler/pipeline/Import.h"
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
  weft::Result<weft::Module> module = weft::importText("fuzz.mlir", llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (!module) {
    if (module.diagnostics().empty()) {
      fprintf(stderr, "refused without a reason:\n%.*s\n", int(size), reinterpret_cast<const char *>(data));
      abort();
    }
    return 0;
  }
  std::string text = module->text();
  if (!weft::importText("fuzz.mlir", text)) {
    fprintf(stderr, "printed text is refused:\n%s\n", text.c_str());
    abort();
  }
  return 0;
}
