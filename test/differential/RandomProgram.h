//===- RandomProgram.h - A typed program made from a seed ------------------------------------------------===//
//
//   RandomProgram program = randomProgram(7);
//   std::string problem = tryProgram(program.module, program.trial);   // Trial.h
//
// Inputs of random types over the symbols m and n, then operators of all families on whatever exists so far (Makers.h). The same seed gives
// the same program.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_RANDOMPROGRAM_H
#define WEFT_TEST_DIFFERENTIAL_RANDOMPROGRAM_H

#include "test/differential/Trial.h"

namespace weft::test {

struct RandomProgram {
  Module module;
  Trial trial;
};

RandomProgram randomProgram(unsigned seed);
/// The same program, but positions outside are refused.
RandomProgram wildProgram(unsigned seed);
/// Products and convolutions of 16 bits, or of f32 that are rounded to them, at sizes around those of vectors.
RandomProgram halfProgram(unsigned seed);
/// The program of randomProgram, to be split over a random mesh, with placements of some values.
RandomProgram splitProgram(unsigned seed);
/// A program like that of randomProgram, with layers that may become integers, and for each what was chosen.
RandomProgram chosenProgram(unsigned seed);
/// Products of tokens over ranks that compute while rows travel.
RandomProgram fusedProgram(unsigned seed);

/// The module that `generate` fills; it gives the file of weights.
RandomProgram programOf(const Trial &trial,
                        llvm::function_ref<std::vector<char>(mlir::ModuleOp)> generate);

} // namespace weft::test

#endif // WEFT_TEST_DIFFERENTIAL_RANDOMPROGRAM_H
