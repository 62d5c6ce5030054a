//===- Samples.h - What a trial measured, as tensors of a .npz file ---------------------------===//
//
//   there   std::vector<NamedTensor> tensors;
//           addSamples(tensors, "base", *base); addOutputs(tensors, *other); write(tensors);
//   here    Result<std::vector<TimedSamples>> samples = samplesIn(tensors, "base", expected);
//
// What is read was written by a program elsewhere, which may be wrong: everything is checked.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_SAMPLES_H
#define WEFT_TOOLS_WEFT_TRIALS_SAMPLES_H

#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/trials/Timing.h"

namespace weft::cli {

Result<Done> addSamples(std::vector<NamedTensor> &tensors, const std::string &who,
                        const TimedModel &model);
Result<Done> addOutputs(std::vector<NamedTensor> &tensors, const TimedModel &model);

/// What a reader knows of them.
struct ExpectedSamples {
  size_t sizes, kernels;
  std::vector<uint32_t> outputs; ///< their elements
};

/// By size.
struct TakenSamples {
  std::vector<TimedSamples> sizes;
  double turnSeconds = 0;
};
Result<TakenSamples> samplesIn(const std::vector<NamedTensor> &tensors, const std::string &who,
                               const ExpectedSamples &expected);
Result<std::vector<std::vector<HostTensor>>> outputsIn(const std::vector<NamedTensor> &tensors,
                                                       const ExpectedSamples &expected);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TRIALS_SAMPLES_H
