//===- OtherMachine.h - What is asked of a machine that is not here ---------------------------===//
//
//   OtherMachine there(options);
//   there.secondsOf(program, calls)        // of all of them together, predicted
//   there.fileBytesOf(program)             // of the artifact for it
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_OTHERMACHINE_H
#define WEFT_COMPILER_QUANTIZE_OTHERMACHINE_H

#include "compiler/quantize/Session.h"

namespace weft {

class OtherMachine {
public:
  /// `options` has a machine, and lives as long. Its target is what programs are compiled for
  /// there, or "host": then the machine's data say it.
  explicit OtherMachine(const QuantizeOptions &options);

  const std::string &target() const { return compile.target; }
  /// Refuses what the machine's data say nothing of.
  Result<double> secondsOf(const Module &program, const std::vector<BoundCall> &calls) const;
  Result<uint64_t> fileBytesOf(const Module &program) const;

private:
  const QuantizeOptions &options;
  CompileOptions compile;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_OTHERMACHINE_H
