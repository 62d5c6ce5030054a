//===- SignatureJson.h - What functions take and return, as JSON ----------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_SIGNATUREJSON_H
#define WEFT_TOOLS_WEFT_CLI_SIGNATUREJSON_H

#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Json.h"

namespace weft::cli {

void argumentsJson(JsonWriter &json, const char *name, const std::vector<InputSpec> &list);
void symbolsJson(JsonWriter &json, const std::vector<SymbolSpec> &symbols);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_SIGNATUREJSON_H
