//===- Attempts.h - What was found, compiled and timed, until budgets hold --------------------===//
//
//   Attempts attempts(module, options, decisions, elsewhere, search);
//   Result<std::unique_ptr<Attempt>> found = attempts.withinBudgets();
//
// What layers become changes the code as well, and a whole takes another time than the sum of its
// parts: neither is known before something is compiled. What a file is too large by, or too slow,
// is asked for on top.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ATTEMPTS_H
#define WEFT_COMPILER_QUANTIZE_ATTEMPTS_H

#include "compiler/quantize/Search.h"

namespace weft {

struct Attempt {
  Module program;
  std::unique_ptr<Session> session;
  Timed taken; ///< beside the model in f32
  uint64_t bytes, plainBytes;
};

class Attempts {
public:
  /// `elsewhere`: where it is to run; null: here.
  Attempts(const Module &module, const QuantizeOptions &options,
           const std::vector<Decision> &decisions, const OtherMachine *elsewhere, Search &search)
      : module(module), options(options), decisions(decisions), elsewhere(elsewhere),
        search(search) {}

  /// Before anything is searched: compiles the model for where it is to run, which may refuse it.
  Result<void> prepare();
  /// Of the strategy that the search has now.
  Result<std::unique_ptr<Attempt>> once();
  /// Of one that the search finds again, a few times, where budgets on time or size do not hold.
  Result<std::unique_ptr<Attempt>> withinBudgets();
  bool isWithinBudgets(const Attempt &attempt) const;

private:
  double bytesTooMany(const Attempt &attempt) const;
  /// As a part of the time in f32.
  double timeTooMuch(const Attempt &attempt) const;

  const Module &module;
  const QuantizeOptions &options;
  const std::vector<Decision> &decisions;
  const OtherMachine *elsewhere;
  Search &search;
  uint64_t plainBytes = 0; ///< elsewhere
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ATTEMPTS_H
