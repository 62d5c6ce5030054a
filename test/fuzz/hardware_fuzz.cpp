// Any bytes: a description of hardware is refused in one line, or has fields within their ranges.
#include "compiler/hardware/HardwareData.h"
#include "test/fuzz/Target.h"

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return jsonFormat(); }

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

/// Names as the dialect's are.
static bool isOperator(llvm::StringRef name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == llvm::StringRef::npos;
}

static void lookAt(const HardwareTensor &tensor) {
  require(!tensor.elements.empty() && !tensor.scalesPer.empty(), "lists are not empty");
  for (const ScaleUnit &unit : tensor.scalesPer)
    require(!unit.text().empty() && (unit.kind == ScaleUnit::Block) == (unit.block > 0),
            "blocks have sizes");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto hardware =
      parseHardware(llvm::StringRef(reinterpret_cast<const char *>(data), size), "h", isOperator);
  if (!hardware) {
    requireError(llvm::toString(hardware.takeError()), "h");
    return 0;
  }
  ++fuzz::accepted;
  for (const HardwareOperator &way : hardware->operators) {
    require(!way.operands.empty() && !way.names.empty(), "an operator has a name and operands");
    for (const HardwareTensor &operand : way.operands)
      lookAt(operand);
    lookAt(way.result);
    require(!way.sums.empty() && way.sums.back().products == 0, "the last sum is the whole one");
    require(way.summedMultiple >= 1 && way.keptMultiple >= 1, "sizes can be multiples");
    for (const HardwareSum &sum : way.sums)
      require(sum.bits >= 8 && sum.bits <= 64, "sums have bits");
  }
  return 0;
}
