//===- SignatureJson.cpp --------------------------------------------------------------------------===//

#include "tools/weft/cli/SignatureJson.h"

namespace weft::cli {

void argumentsJson(JsonWriter &json, const char *name, const std::vector<InputSpec> &list) {
  json.array(name);
  for (const InputSpec &argument : list)
    json.object()
        .field("name", argument.name)
        .field("element", weft_element_name(argument.element))
        .list("dims", argument.dims)
        .end();
  json.end();
}

void symbolsJson(JsonWriter &json, const std::vector<SymbolSpec> &symbols) {
  json.array("symbols");
  for (const SymbolSpec &s : symbols)
    json.object()
        .field("name", s.name)
        .field("min", s.min)
        .field("max", s.max)
        .field("multiple", s.multiple)
        .field("input", s.input)
        .field("dim", s.dim)
        .end();
  json.end();
}

} // namespace weft::cli
