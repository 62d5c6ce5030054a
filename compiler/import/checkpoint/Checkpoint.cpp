//===- Checkpoint.cpp - From a directory to a module ------------------------------------------===//

#include "compiler/import/checkpoint/Checkpoint.h"
#include "compiler/import/checkpoint/CheckpointModel.h"
#include "compiler/import/checkpoint/Family.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace weft {

Result<Module> buildCheckpoint(const Checkpoint &checkpoint, const SentenceLayout *layout) {
  Expected<const Family *> family = findFamily(checkpoint);
  if (!family) {
    Diagnostic unsupported = toDiagnostic(family.takeError(), checkpoint.configPath);
    unsupported.code = "W0207";
    return unsupported;
  }
  CheckpointModel model(checkpoint, layout);
  (*family)->build(model);
  return model.finish();
}

Result<Module> importCheckpoint(const std::string &directory) {
  auto layout = readSentenceLayout(directory);
  if (!layout)
    return toDiagnostic(layout.takeError());
  SmallString<128> folder(directory);
  if (*layout && !(*layout)->modelFolder.empty())
    sys::path::append(folder, (*layout)->modelFolder);
  Expected<Checkpoint> checkpoint = openCheckpoint(folder);
  if (!checkpoint)
    return toDiagnostic(checkpoint.takeError());
  checkpoint->directory = directory; // names are relative to what the user gave
  return buildCheckpoint(*checkpoint, *layout ? &**layout : nullptr);
}

} // namespace weft
