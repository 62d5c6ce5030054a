//===- Manifest.h - What an artifact's manifest says ------------------------------------------===//
//
//   manifestTexts("{\"keep_f32\":[\"/a\",\"/b\"],\"weights\":\"bf16\"}", "weights")      // bf16
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_MANIFEST_H
#define WEFT_TOOLS_WEFT_CLI_MANIFEST_H

#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// The text under `name`, or those of the list there; none when the manifest says nothing of it. It is
/// read as the compiler writes it, without spaces. Escapes but \" and \\ stay as they are written.
std::vector<std::string> manifestTexts(std::string_view manifest, std::string_view name);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_MANIFEST_H
