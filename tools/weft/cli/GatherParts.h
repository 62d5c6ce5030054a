//===- GatherParts.h - What all ranks of a group have, on each of them ------------------------===//
//
//   gatherParts(group, output, rank == 0 ? &parts : nullptr, error);      // on every rank
//   joinParts(function, index, parts);                                    // RankParts.h
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_GATHERPARTS_H
#define WEFT_TOOLS_WEFT_CLI_GATHERPARTS_H

#include "tools/weft/cli/HostTensor.h"
#include "weft/group.h"

namespace weft::cli {

/// As many bytes of every rank behind each other.
weft_status_t gatherBytes(weft_group_t *group, const std::vector<uint8_t> &own,
                          std::vector<uint8_t> &all, weft_error_t *error);

/// A tensor's parts by rank, which need not be as long as each other; `parts` is null where nobody
/// wants them.
weft_status_t gatherParts(weft_group_t *group, const weft_tensor_t &own,
                          std::vector<HostTensor> *parts, weft_error_t *error);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_GATHERPARTS_H
