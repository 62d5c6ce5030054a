//===- Attempts.cpp ---------------------------------------------------------------------------===//

#include "compiler/quantize/Attempts.h"

namespace weft {
namespace {

constexpr size_t kTrials = 3;
constexpr double kClockShare = 1.02; ///< of a bound on time: what the same code differs by

} // namespace

Result<void> Attempts::prepare() {
  if (!elsewhere)
    return {};
  Result<uint64_t> bytes = elsewhere->fileBytesOf(module);
  if (!bytes)
    return bytes.diagnostics();
  plainBytes = *bytes;
  return {};
}

Result<std::unique_ptr<Attempt>> Attempts::once() {
  Result<Module> program = realised(module, decisions, search.best());
  if (!program)
    return program.diagnostics();
  Result<std::unique_ptr<Session>> session = Session::compile(*program, options, "quantized");
  if (!session)
    return session.diagnostics();
  Result<Timed> taken = search.timeBest(**session);
  if (!taken)
    return taken.diagnostics();
  Result<uint64_t> bytes = elsewhere ? elsewhere->fileBytesOf(*program) : (*session)->fileBytes();
  if (!bytes)
    return bytes.diagnostics();
  uint64_t plain = elsewhere ? plainBytes : search.inF32().fileBytes();
  return std::unique_ptr<Attempt>(
      new Attempt{*program, std::move(*session), *taken, *bytes, plain});
}

Result<std::unique_ptr<Attempt>> Attempts::withinBudgets() {
  Result<std::unique_ptr<Attempt>> attempt = once();
  for (size_t trial = 0; attempt && trial < kTrials && !isWithinBudgets(**attempt); ++trial) {
    Result<bool> isOther = search.chooseLess(bytesTooMany(**attempt), timeTooMuch(**attempt));
    if (!isOther)
      return isOther.diagnostics();
    if (!*isOther)
      break;
    attempt = once();
  }
  return attempt;
}

bool Attempts::isWithinBudgets(const Attempt &attempt) const {
  return bytesTooMany(attempt) <= 0 && timeTooMuch(attempt) <= 0;
}

double Attempts::bytesTooMany(const Attempt &attempt) const {
  double most = INFINITY;
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.metric == QuantizeBudget::Size)
      most = std::min(most, budget.bytesOf(double(attempt.plainBytes)));
  return double(attempt.bytes) - most;
}

double Attempts::timeTooMuch(const Attempt &attempt) const {
  std::optional<double> most = search.mostLatency(attempt.taken.base);
  double latency = attempt.taken.other / attempt.taken.base;
  return most && latency > kClockShare * *most ? latency - *most : 0;
}

} // namespace weft
