//===- InspectedArtifact.h - What weft inspect says of an artifact ----------------------------------===//
//
//   Result<InspectedArtifact> read = …;                // InspectCommand.cpp
//   console.json() ? console.result(inspectionJson(*read)) : printInspection(*read, console);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERBS_INSPECTEDARTIFACT_H
#define WEFT_TOOLS_WEFT_VERBS_INSPECTEDARTIFACT_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/RankParts.h"

#include <optional>

namespace weft::cli {

/// What one number of ranks runs.
struct InspectedProgram {
  Artifact artifact;
  std::vector<FunctionView> functions;
  std::vector<std::optional<weft_cost_t>> costs; ///< of functions all of whose symbols have a value

  /// All functions that are for several ranks are for the same.
  int64_t ranks() const {
    int64_t most = 1;
    for (const FunctionView &function : functions)
      most = std::max(most, ranksOf(function));
    return most;
  }
};

struct InspectedArtifact {
  std::string path;
  std::vector<InspectedProgram> programs; ///< for the fewest ranks first
  SymbolValues at;                        ///< empty: formulas are shown

  /// The first program's.
  const Artifact &artifact() const { return programs[0].artifact; }
  /// Of the file, as SHA-256.
  std::string hash() const;
};

void printInspection(const InspectedArtifact &artifact, Console &console);
std::string inspectionJson(const InspectedArtifact &artifact);

/// "x = [tp: ceildiv(s, 2)]": of which inputs and outputs ranks have parts.
std::vector<std::string> partTexts(const FunctionView &function, bool unicode);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERBS_INSPECTEDARTIFACT_H
