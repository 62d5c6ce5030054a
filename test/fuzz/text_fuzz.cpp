// Textual IR of any content ends in a module or in diagnostics. What is accepted prints to text that is accepted again, and is planned
// up to code generation or refused.
#include "compiler/import/text/ImportText.h"
#include "test/fuzz/Target.h"
#include "weft/compiler.hpp"

using namespace weft::fuzz;

const Format &weft::fuzz::targetFormat() { return irFormat(); }

std::vector<std::string> weft::fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
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
  ++accepted;
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
