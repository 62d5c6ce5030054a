#include "compiler/host/DescriptorData.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "weft/artifact.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {

void emitDescriptor(ModuleOp module, StringRef descriptor) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto addData = [&](StringRef name, StringRef bytes, StringRef section, unsigned align) {
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    auto global =
        b.create<LLVM::GlobalOp>(module.getLoc(), type, /*isConstant=*/true,
                                 LLVM::Linkage::External, name, b.getStringAttr(bytes), align);
    global.setVisibility_(LLVM::Visibility::Hidden);
    if (!section.empty())
      global.setSection(section);
  };
  addData(kDescriptorSymbol, descriptor, "", 64);
  std::string note;
  uint32_t header[3] = {sizeof(WEFT_NOTE_NAME), sizeof(weft_file_v1), WEFT_NOTE_TYPE};
  note.append(reinterpret_cast<char *>(header), sizeof(header));
  note.append(WEFT_NOTE_NAME, sizeof(WEFT_NOTE_NAME));
  note.resize(llvm::alignTo(note.size(), 4));
  note.append(sizeof(weft_file_v1), '\0');
  addData("weft_note", note, ".note.weft", 8);
}

} // namespace weft
