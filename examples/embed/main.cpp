// Builds a program in C++, compiles it, and calls it at two sizes: the compiler as a library of a
// larger tool.
#include <cstdio>
#include <vector>
#include <weft/builder.hpp>
#include <weft/runtime.h>

static int report(const std::vector<weft::Diagnostic> &diagnostics) {
  for (const weft::Diagnostic &d : diagnostics)
    std::fprintf(stderr, "error[%s]: %s\n", d.code.c_str(), d.text.c_str());
  return 1;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "embed.weft";

  // y = softmax(x / 2) on [batch, 3], for any batch.
  weft::Builder b("embed");
  weft::Value x = b.input("x", weft::Element::F32, {"batch", 3});
  b.output("y", b.softmax(b.mul(x, b.scalar(weft::Element::F32, 0.5))));
  weft::Result<weft::Module> module = b.finish();
  if (!module)
    return report(module.diagnostics());

  weft::CompileOptions options;
  options.outputPath = path;
  weft::Compiler compiler;
  weft::Result<weft::Artifact> artifact = compiler.compile(*module, options);
  if (!artifact)
    return report(artifact.diagnostics());

  weft_error_t error = WEFT_ERROR_INIT;
  weft_module_t *opened = nullptr;
  weft_context_t *context = nullptr;
  if (weft_module_open(nullptr, path, &opened, &error) ||
      weft_context_create(opened, nullptr, &context, &error)) {
    std::fprintf(stderr, "error[%s]: %s\n", error.code, error.message);
    return 1;
  }
  for (int64_t batch : {1, 2}) {
    std::vector<float> in = {0, 1, 2, 3, 4, 5};
    int64_t dims[] = {batch, 3};
    weft_tensor_t input = weft_tensor_of(in.data(), WEFT_F32, 2, dims), output = WEFT_TENSOR_EMPTY;
    if (weft_call(context, nullptr, &input, 1, &output, 1, &error)) {
      std::fprintf(stderr, "error[%s]: %s\n", error.code, error.message);
      return 1;
    }
    const float *y = static_cast<const float *>(output.data);
    for (int64_t i = 0; i < batch; ++i)
      std::printf("%.4f %.4f %.4f\n", y[3 * i], y[3 * i + 1], y[3 * i + 2]);
    weft_tensor_release(context, &output);
  }
  weft_context_release(context);
  weft_module_release(opened);
  return 0;
}
