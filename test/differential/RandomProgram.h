//===- RandomProgram.h - A typed program made from a seed ------------------------------------------------===//
//
// Inputs x [m, n], y [n, 16], z [m, 1, 8] (f32) and ids [m] (i64); then a number of operators on whatever exists so far, each chosen among those
// that fit. Values stay moderate, and functions with jumps see only exact values, so that f32 and double agree.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_RANDOMPROGRAM_H
#define WEFT_TEST_DIFFERENTIAL_RANDOMPROGRAM_H

#include "weft/compiler.hpp"

namespace weft::test {

Module randomProgram(unsigned seed, unsigned operators);

} // namespace weft::test

#endif
