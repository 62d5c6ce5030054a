//===- Room.h - Inputs of a call that grow in place -------------------------------------------===//
//
//   Result<CallInputs> in = giveRoom(function, inputs);      // in->views for weft_call
//   Result<HostTensor> tensor = withoutGaps(output, owner);  // what the call gave
//
// Inputs that an output extends in their memory are copied into buffers with the room that this takes. A call leaves the
// beginning as it was, so that it can be repeated.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_ROOM_H
#define WEFT_TOOLS_WEFT_CLI_ROOM_H

#include "tools/weft/cli/Artifact.h"

namespace weft::cli {

struct CallInputs {
  std::vector<weft_tensor_t> views;
  std::vector<HostTensor> buffers; ///< that views lie in, besides the tensors they were made of
};

Result<CallInputs> giveRoom(const FunctionView &function, const Inputs &inputs);

/// An output in row-major memory: its own, which `owner` keeps alive, or a copy.
Result<HostTensor> withoutGaps(const weft_tensor_t &output, std::shared_ptr<void> owner);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_ROOM_H
