//===- ToyFamily.h - Scalar C code through the system's compiler: the smallest family of targets ------===//
//
//   addFamily(toyFamily());
//   Program program(text, "toy:scalar");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_TARGETS_TOY_TOYFAMILY_H
#define WEFT_TEST_TARGETS_TOY_TOYFAMILY_H

#include "targets/common/Registry.h"

namespace weft::test {

/// Kernels are C; the program that calls them is compiled as for this machine.
const TargetFamily &toyFamily();

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_TOY_TOYFAMILY_H
