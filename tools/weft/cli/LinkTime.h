//===- LinkTime.h - How long exchanges of the past are on a link --------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_LINKTIME_H
#define WEFT_TOOLS_WEFT_CLI_LINKTIME_H

#include "tools/weft/cli/History.h"

namespace weft::cli {

/// Seconds that pieces of one exchange take on a link as --link has it, which has nothing else to do; 0 where `link` is none.
double secondsOnLink(const std::string &link, const std::vector<PastCollective> &pieces,
                     const PastGroup &group);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_LINKTIME_H
