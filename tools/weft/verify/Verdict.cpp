//===- Verdict.cpp ----------------------------------------------------------------------------===//

#include "tools/weft/verify/Verdict.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace weft::cli {

std::string describe(const Comparison &c, const std::vector<int64_t> &dims) {
  int64_t count = tensorSize(WEFT_U8, dims).value_or(TensorSize{0, 0}).count;
  if (count == 0)
    return "no elements";
  if (c.worst == 0)
    return "no difference";
  char text[200];
  snprintf(text, sizeof text, "worst error %.3g: got %.9g, expected %.9g", c.worst, c.got,
           c.expected);
  std::string place = dims.empty() ? "" : " at " + printDims(c.index);
  if (c.good)
    return text + place;
  return std::to_string(c.wrong) + " of " + std::to_string(count) + " elements differ, " + text +
         place;
}

std::string Verdict::text() const { return trouble.empty() ? describe(comparison, dims) : trouble; }

std::vector<Verdict> judgeOutputs(const std::vector<NamedTensor> &got,
                                  const std::vector<NamedTensor> &expected, double tolerance) {
  assert(got.size() == expected.size() && "a program keeps its outputs");
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < expected.size(); ++i) {
    const HostTensor &mine = got[i].tensor, &want = expected[i].tensor;
    Verdict verdict{expected[i].name, mine.element(), mine.dims(), "", {}};
    if (mine.dims() != want.dims())
      verdict.trouble = "its shape is " + printDims(mine.dims()) + ", but " +
                        printDims(want.dims()) + " is expected";
    else
      verdict.comparison = compareTensors(mine, want, tolerance);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Verdict worstOf(const std::vector<Verdict> &verdicts) {
  auto rank = [](const Verdict &v) {
    return std::make_tuple(!v.trouble.empty(), !v.isGood(),
                           v.trouble.empty() ? v.comparison.worst : 0.0);
  };
  auto worst =
      std::max_element(verdicts.begin(), verdicts.end(),
                       [&](const Verdict &a, const Verdict &b) { return rank(a) < rank(b); });
  return worst == verdicts.end() ? Verdict{"", 0, {}, "", {true, 0, {}, 0, 0, 0}} : *worst;
}

void comparisonJson(JsonWriter &json, const std::string &trouble, const Comparison &c) {
  if (!trouble.empty())
    json.field("trouble", trouble);
  else
    json.field("worst", c.worst)
        .list("index", c.index)
        .field("got", c.got)
        .field("expected", c.expected)
        .field("wrong", c.wrong);
}

} // namespace weft::cli
