//===- Trial.h - One program compiled, run and compared with its evaluation -------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_TRIAL_H
#define WEFT_TEST_DIFFERENTIAL_TRIAL_H

#include "test/support/Program.h"

namespace weft::test {

/// What to run a program with.
struct Trial {
  unsigned seed = 0; ///< of the inputs' elements
  std::vector<Sizes> sizes;
  std::string target = "x86:host";
  std::string compute = ""; ///< what operands of products are rounded to, "bf16" or "f16", or empty
  int threads = 1;
  bool overRanks = false; ///< split, run by all ranks, and evaluated as a graph and as a plan
  bool computesMeanwhile = false; ///< ranks compute while exchanges go on, wherever they can
  bool mayRefuse = false;         ///< positions outside, where the evaluator refuses them, too
  std::shared_ptr<std::vector<char>> weights; ///< the file that its weights lie in
  std::string str() const;
};

/// What is wrong: a refusal, an error of a call, or the worst difference at the first sizes that show one. Empty when nothing is. How far
/// results may differ stands in their locations (Knowledge). Where operands are rounded, what is right is what the pass says that rounds them.
std::string tryProgram(const Module &module, const Trial &trial);

/// The same for the program behind every pass on the plan, evaluated instead of compiled. It gives the bits of the program that it was made
/// from.
std::string tryPlan(const Module &module, const Trial &trial);

/// Where two programs evaluated do not give the same bits.
std::string trySame(const Module &module, const Module &other, const Trial &trial);

/// tryProgram in another process, so that crashes and endless loops are answers, too.
std::string tryProgramApart(const Module &module, const Trial &trial);

} // namespace weft::test

#endif // WEFT_TEST_DIFFERENTIAL_TRIAL_H
