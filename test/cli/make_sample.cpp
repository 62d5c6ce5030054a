// Writes the runtime tests' artifact to a file, for tests of the command 'weft': make_sample FILE
#include <cstdio>

#include "test/runtime/artifact_builder.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  weft_test::bytes file = weft_test::make_sample().seal();
  FILE *out = std::fopen(argv[1], "wb");
  bool good = out && std::fwrite(file.data(), 1, file.size(), out) == file.size();
  return out && std::fclose(out) == 0 && good ? 0 : 1;
}
