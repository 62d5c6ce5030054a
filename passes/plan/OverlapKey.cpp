//===- OverlapKey.cpp -------------------------------------------------------------------------------------===//

#include "passes/plan/OverlapKey.h"
#include "passes/cost/KernelChoice.h"
#include "weft/sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace weft {
namespace {

constexpr size_t kKeyBytes = 8;

/// What is said of the collective beside its own attributes, such as why it is there, makes no other one of it.
void print(CollectiveOpInterface collective, raw_ostream &os) {
  os << collective->getName() << ' ' << collective->getOperand(0).getType() << " -> "
     << collective->getResult(0).getType();
  for (NamedAttribute attribute : collective->getAttrs())
    if (!attribute.getName().strref().contains('.'))
      os << ' ' << attribute.getName().strref() << " = " << attribute.getValue();
  os << '\n';
}

void printWithoutPicks(func::FuncOp specification, raw_ostream &os) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(UnknownLoc::get(specification.getContext()));
  func::FuncOp copy = specification.clone();
  copy->removeAttr(kPicksAttr);
  alone->push_back(copy);
  alone->print(os, OpPrintingFlags().assumeVerified());
}

} // namespace

std::string overlapKey(plan::ExchangeOp exchange, ArrayRef<plan::LaunchOp> launches,
                       const Link &link) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(exchange.collective(), os);
  auto module = exchange->getParentOfType<ModuleOp>();
  for (plan::LaunchOp launch : launches)
    printWithoutPicks(module.lookupSymbol<plan::KernelOp>(launch.getKernel()).specification(), os);
  if (link.isMemory)
    os << "memory";
  else
    os << llvm::format("%.9g bytes a nanosecond, %.9g nanoseconds", link.bytesPerNanosecond,
                       link.latency);
  uint8_t hash[32];
  weft_sha256(text.data(), text.size(), hash);
  return llvm::toHex(ArrayRef(hash, kKeyBytes), /*LowerCase=*/true);
}

} // namespace weft
