//===- Disassembly.h - The instructions of kernels that are compiled, not run -------------------------===//
#ifndef WEFT_TEST_SUPPORT_DISASSEMBLY_H
#define WEFT_TEST_SUPPORT_DISASSEMBLY_H

#include "weft/compiler.hpp"

namespace weft::test {

/// Of all kernels of the program, in their order: "\tvaddps\t%zmm0, %zmm1, %zmm2". Fails the test when it does not compile, or has bytes that are
/// no instruction.
std::vector<std::string> disassembleKernels(const std::string &text, CompileOptions options);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_DISASSEMBLY_H
