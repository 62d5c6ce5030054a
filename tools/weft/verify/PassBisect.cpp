//===- PassBisect.cpp -------------------------------------------------------------------------===//

#include "tools/weft/verify/PassBisect.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <cstring>

namespace weft::cli {

void PassChanges::add(std::string pass, std::vector<NamedTensor> outputs) {
  std::vector<Verdict> own = judgeOutputs(outputs, before, tolerance),
                       total = judgeOutputs(outputs, imported, tolerance);
  changes.push_back({std::move(pass), changes.size() + 1, worstOf(own), worstOf(total), true});
  before = std::move(outputs);
}

void PassChanges::addSame(std::string pass) {
  if (changes.empty() || changes.back().isEvaluated)
    return add(std::move(pass), before);
  addRefused(std::move(pass), changes.back().total.trouble);
  changes.back().own = worstOf({});
}

void PassChanges::addRefused(std::string pass, const std::string &why) {
  Verdict refused{"", 0, {}, why, {}};
  changes.push_back({std::move(pass), changes.size() + 1, refused, refused, false});
}

const PassChange *PassChanges::first() const {
  auto found = std::find_if(changes.begin(), changes.end(),
                            [](const PassChange &change) { return !change.total.isGood(); });
  return found == changes.end() ? nullptr : &*found;
}

/// "0", "3.1e-02", "shape", and "refused" where there are no outputs.
static std::string amount(const Verdict &verdict) {
  if (!verdict.trouble.empty())
    return verdict.name.empty() ? "refused" : "shape";
  char text[32];
  snprintf(text, sizeof text, verdict.comparison.worst == 0 ? "%.0f" : "%.1e",
           verdict.comparison.worst);
  return text;
}

std::string PassChanges::table() const {
  size_t width = strlen("pass");
  for (const PassChange &change : changes)
    width = std::max(width, change.pass.size());
  std::string text;
  auto row = [&](std::string pass, std::string own, std::string total) {
    pass.resize(width, ' ');
    own.resize(9, ' ');
    text += (text.empty() ? "passes   " : "         ") + pass + "  " + own + "  " + total + "\n";
  };
  row("pass", "changes", "in all");
  for (const PassChange &change : changes)
    row(change.pass, amount(change.own), amount(change.total));
  return text;
}

std::string PassChanges::verdict() const {
  const PassChange *change = first();
  if (!change)
    return "no pass changes an output by more than the tolerance";
  std::string place = change->pass == kCodeStep
                          ? "the code of the kernels: the passes are good"
                          : "pass " + change->pass + ", " + std::to_string(change->position) +
                                " of " + std::to_string(changes.size());
  std::string output = change->isEvaluated ? "output '" + change->total.name + "': " : "";
  return place + "\n         " + output + change->total.text();
}

/// Locations apart.
static bool isSameProgram(mlir::ModuleOp a, mlir::ModuleOp b) {
  return mlir::OperationEquivalence::isEquivalentTo(a, b,
                                                    mlir::OperationEquivalence::IgnoreLocations);
}

Result<PassChanges> comparePasses(const Module &module, const std::vector<PassProgram> &programs,
                                  const std::string &function, const Inputs &inputs,
                                  std::vector<NamedTensor> imported, double tolerance) {
  PassChanges changes(std::move(imported), tolerance);
  for (size_t i = 1; i < programs.size(); ++i) {
    if (interrupted())
      return Failure{ExitInterrupted, "interrupted", "", ""};
    const auto &[pass, program] = programs[i];
    if (isSameProgram(*programs[i - 1].program, *program)) {
      changes.addSame(pass);
      continue;
    }
    Result<mlir::FunctionOpInterface> found = findFunction(*program, function);
    if (!found)
      return found.failure();
    Result<std::vector<NamedTensor>> outputs = evaluateModel(module, *found, inputs);
    if (outputs)
      changes.add(pass, std::move(*outputs));
    else
      changes.addRefused(pass, outputs.failure().message);
  }
  return changes;
}

} // namespace weft::cli
