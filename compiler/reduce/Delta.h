//===- Delta.h - Takes away from a model what its failure does not need -----------------------===//
//
//   std::vector<Reduction<Text>> reductions = {{"lines", countLines, withoutLines}};
//   Text small = reduce<Text>(text, reductions, stillFails, {});
//
// A reduction offers a number of edits that can be made in any combination. Halves of them are
// tried first and single ones last (delta debugging: Zeller and Hildebrandt, 2002), so a model of a
// thousand parts with one guilty one needs tens of candidates. Knows no kind of model.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_REDUCE_DELTA_H
#define WEFT_COMPILER_REDUCE_DELTA_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Which of a reduction's edits are made.
using Edits = std::vector<bool>;

template <typename Model> struct Reduction {
  std::string what; ///< what it takes away, for people: "outputs"
  std::function<size_t(const Model &)> count;
  /// The model with these edits made; nothing when they cannot be made together.
  std::function<std::optional<Model>(const Model &, const Edits &)> apply;
};

template <typename Model> struct ReduceOptions {
  /// Asked before each candidate; once true, the best so far is the result.
  std::function<bool()> stop;
  /// Told of each smaller model that still fails.
  std::function<void(const std::string &what, const Model &)> smaller;
};

/// As many of `count` edits as `works` allows: chunks of halving sizes, the last ones first,
/// because what comes late in a program depends on what comes early.
Edits chooseEdits(size_t count, const std::function<bool(const Edits &)> &works,
                  const std::function<bool()> &stop);

/// Goes through `reductions` until none makes the model smaller. `model` itself fails.
template <typename Model>
Model reduce(Model model, const std::vector<Reduction<Model>> &reductions,
             const std::function<bool(const Model &)> &stillFails,
             const ReduceOptions<Model> &options) {
  size_t idle = 0; ///< reductions in a row that changed nothing
  for (size_t at = 0; idle < reductions.size(); at = (at + 1) % reductions.size()) {
    const Reduction<Model> &reduction = reductions[at];
    const Model before = model;
    ++idle;
    chooseEdits(
        reduction.count(before),
        [&](const Edits &edits) {
          std::optional<Model> candidate = reduction.apply(before, edits);
          if (!candidate || !stillFails(*candidate))
            return false;
          model = *candidate;
          idle = 0;
          if (options.smaller)
            options.smaller(reduction.what, model);
          return true;
        },
        options.stop);
    if (options.stop && options.stop())
      break;
  }
  return model;
}

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_DELTA_H
