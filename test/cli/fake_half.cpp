// Stands for libweft_tool.so in tests: prints the command line it was handed and returns 3.
#include <cstdio>

extern "C" __attribute__((visibility("default"))) int weft_tool_main(int argc,
                                                                     const char *const *argv) {
  for (int i = 0; i < argc; ++i)
    std::printf("%d: %s\n", i, argv[i]);
  return 3;
}
