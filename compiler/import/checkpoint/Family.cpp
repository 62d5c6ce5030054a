//===- Family.cpp - The registry of families --------------------------------------------------===//

#include "compiler/import/checkpoint/Family.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {

/// In a function, because families register before main in no particular order.
static std::vector<Family> &registry() {
  static std::vector<Family> families;
  return families;
}

RegisterFamily::RegisterFamily(Family family) { registry().push_back(family); }

static std::string knownTypes() {
  std::vector<std::string> names;
  for (const Family &family : registry())
    names.push_back(family.modelType);
  sort(names);
  return join(names, ", ");
}

static const Family *byType(StringRef type) {
  for (const Family &family : registry())
    if (type == family.modelType)
      return &family;
  return nullptr;
}

/// By a class such as BertModel or BertForMaskedLM.
static const Family *byClass(StringRef name) {
  for (const Family &family : registry())
    if (StringRef rest = name;
        rest.consume_front(family.classPrefix) && (rest == "Model" || rest.starts_with("For")))
      return &family;
  return nullptr;
}

Expected<const Family *> findFamily(const Checkpoint &checkpoint) {
  JsonObject config(checkpoint.config, checkpoint.configPath);
  auto type = config.string("model_type", "");
  if (!type)
    return type.takeError();
  auto classes = config.strings("architectures", std::vector<std::string>());
  if (!classes)
    return classes.takeError();
  std::string name = *type;
  const Family *family = byType(name);
  if (name.empty() && !classes->empty()) {
    name = classes->front();
    family = byClass(name);
  }
  if (family)
    return family;
  if (name.empty())
    return readError(checkpoint.configPath + ": has no 'model_type' (supported: " + knownTypes() +
                     ")");
  return readError(checkpoint.configPath + ": model type " + quotedText(name) +
                   " is not supported (supported: " + knownTypes() + ")");
}

} // namespace weft
