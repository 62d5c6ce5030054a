//===- Tuned.h - What of a program is as records say -----------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_TUNED_H
#define WEFT_COMPILER_DRIVER_TUNED_H

#include "compiler/plan/PlannedProgram.h"
#include "compiler/tuning/Tuning.h"

namespace weft {

/// Distinct ones that are otherwise than estimated.
struct Tuned {
  size_t kernels, exchanges, all; ///< `all`: kernels that there are
  bool any() const { return kernels + exchanges > 0; }
  /// "2 of 5 kernels and 1 exchange as measured on AMD EPYC 9B14 (25/17)"
  std::string text(const std::string &processor) const;
};

/// `scope`: the target's, as records name it.
Tuned tunedOf(const Program &program, const Tuning &tuning, const std::string &scope);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_TUNED_H
