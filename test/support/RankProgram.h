//===- RankProgram.h - A program over ranks, compiled and run by threads, for tests ---------------------===//
//
//   RankProgram program(text);                             // of one f32 input and one f32 output
//   program.evaluate({5, 3}, input, false);                // what all ranks are to get
//   program.run(2, {5, 3}, input);                         // what each of them gets
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_RANKPROGRAM_H
#define WEFT_TEST_SUPPORT_RANKPROGRAM_H

#include "compiler/eval/Evaluate.h"
#include "weft/compiler.hpp"
#include "weft/group.h"
#include <functional>
#include <optional>

namespace weft::test {

using Values = std::vector<float>;

class RankProgram {
public:
  /// On failure `failure` is not empty.
  explicit RankProgram(const std::string &text, CompileOptions options = {});
  RankProgram(const RankProgram &) = delete;
  ~RankProgram();

  /// Of the graph, or of its plan, printed and read; with what ranks sent. Nothing with `failure` set.
  std::optional<Values> evaluate(const std::vector<int64_t> &dims, const Values &input, bool asPlan,
                                 std::vector<Traffic> *traffic = nullptr);
  /// What every rank gets of two calls, each; `failure` says what one of them failed with.
  std::vector<Values> run(int32_t world, const std::vector<int64_t> &dims, const Values &input,
                          const weft_transport_v1 *table = nullptr);
  /// One rank of it.
  weft_status_t callTwice(weft_group_t *group, const std::vector<int64_t> &dims,
                          const Values &input, Values &result, weft_error_t *error) const;

  std::string failure, path; ///< of the artifact
  weft_module_t *module = nullptr;

private:
  std::optional<Module> model;
};

/// What one rank does, or with no group all there is: two calls through a context of its own.
weft_status_t callTwice(weft_module_t *module, weft_group_t *group,
                        const std::vector<int64_t> &dims, const Values &input, Values &result,
                        weft_error_t *error);

/// Runs the body on every rank of a group of threads, by the table where one is given; "W0433 message" of each, empty for success.
std::vector<std::string>
onRanks(int32_t world, const std::function<weft_status_t(weft_group_t *, weft_error_t *)> &body,
        const weft_transport_v1 *table = nullptr);

/// Numbers whose sums are exact.
Values numbers(size_t count);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_RANKPROGRAM_H
