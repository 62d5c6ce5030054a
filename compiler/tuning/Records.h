//===- Records.h - What was measured to be best, as lines of text -----------------------------------===//
//
//   weft-tuning 1 | AMD EPYC 9B14 (25/17) | x86:v4 | 8b1d33a0c2f4e596 | contraction rows=7 | batch=1 seq=128 | threads=1 | 4.1 %
//
// A line says everything by itself, so files are merged by putting them together and sorting. docs/tuning.md describes the fields. Any
// bytes are read into records or an error; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_TUNING_RECORDS_H
#define WEFT_COMPILER_TUNING_RECORDS_H

#include "compiler/tuning/RecordLines.h"
#include "targets/common/Picks.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace weft {

struct TuningRecord {
  std::string processor, target;
  std::string kernel; ///< kernelKey of its specification
  Picks picks;        ///< always with a schedule
  std::string sizes;  ///< that were measured: "seq=16, seq=128"; "-" where there is no symbol
  int64_t threads;
  int64_t gain; ///< tenths of a percent

  std::string text() const;
  bool operator==(const TuningRecord &other) const { return text() == other.text(); }
};

/// Limits of what is read.
constexpr size_t kMostRecordBytes = 1000, kMostRecords = 100000;

/// The records of a file's text, in its order. Empty lines are passed over; anything else that is no record is an error with its line:
/// "name: line 3: …".
llvm::Expected<std::vector<TuningRecord>> parseRecords(llvm::StringRef text, llvm::StringRef name);
llvm::Expected<std::vector<TuningRecord>> readRecords(const std::string &path);

/// As a file has them: sorted, each once.
std::string printRecords(const std::vector<TuningRecord> &records);

/// "rows=7 block=200".
std::string printPicks(const std::map<std::string, int64_t> &values);

} // namespace weft

#endif // WEFT_COMPILER_TUNING_RECORDS_H
