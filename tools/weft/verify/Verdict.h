//===- Verdict.h - What comparing two results of a model found --------------------------------===//
//
//   std::vector<Verdict> verdicts = judgeOutputs(got, expected, tolerance);
//   if (Verdict worst = worstOf(verdicts); !worst.isGood()) say(worst.text());
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERIFY_VERDICT_H
#define WEFT_TOOLS_WEFT_VERIFY_VERDICT_H

#include "tools/weft/cli/Compare.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/TensorFile.h"

namespace weft::cli {

/// "no difference", or the worst element and how many are wrong.
std::string describe(const Comparison &comparison, const std::vector<int64_t> &dims);

/// Of one output.
struct Verdict {
  std::string name;
  uint32_t element;
  std::vector<int64_t> dims;
  std::string trouble; ///< "its shape is …" when there is nothing to compare
  Comparison comparison;

  bool isGood() const { return trouble.empty() && comparison.good; }
  /// The trouble, or the comparison.
  std::string text() const;
};

/// As many as both lists have, which must be equally long. Names are those of `expected`;
/// `tolerance` as compareTensors takes it.
std::vector<Verdict> judgeOutputs(const std::vector<NamedTensor> &got,
                                  const std::vector<NamedTensor> &expected, double tolerance);

/// The one to tell about: trouble before wrong before good, then the largest error. Of none: good.
Verdict worstOf(const std::vector<Verdict> &verdicts);

/// Fields of the object that is open.
void comparisonJson(JsonWriter &json, const std::string &trouble, const Comparison &comparison);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERIFY_VERDICT_H
