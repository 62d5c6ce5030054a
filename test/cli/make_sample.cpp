// Writes the runtime tests' artifact to a file, for tests of the command 'weft': make_sample FILE [OUTPUT…]
// The function 'main' gets these names of its outputs.
#include <cstdio>

#include "test/runtime/artifact_builder.h"

int main(int argc, char **argv) {
  weft_test::sample sample = weft_test::make_sample();
  auto &outputs = sample.description.functions[0].outputs;
  if (argc < 2 || size_t(argc) > 2 + outputs.size())
    return 2;
  for (int i = 2; i < argc; ++i)
    outputs[size_t(i) - 2].name = argv[i];
  weft_test::bytes file = sample.seal();
  FILE *out = std::fopen(argv[1], "wb");
  bool good = out && std::fwrite(file.data(), 1, file.size(), out) == file.size();
  return out && std::fclose(out) == 0 && good ? 0 : 1;
}
