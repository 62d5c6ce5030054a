//===- Apart.cpp ------------------------------------------------------------------------------------===//

#include "passes/kernel/Apart.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace weft {

/// The first name or line in a location; empty when it has none.
static std::string placeIn(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto line = dyn_cast<FileLineColLoc>(location))
    return "line " + std::to_string(line.getLine());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      if (std::string place = placeIn(each); !place.empty())
        return place;
  return "";
}

std::string placeOf(Operation *op) {
  std::string place = placeIn(op->getLoc()), name = op->getName().stripDialect().str();
  if (place.empty())
    return name;
  return StringRef(place).starts_with("line ") ? name + ", " + place : place;
}

const char *whyFirst(RootKind kind) {
  switch (kind) {
  case RootKind::Contraction:
    return "a product begins a kernel: it reads its operands many times";
  case RootKind::Window:
    return "a convolution or pooling begins a kernel: its windows read elements many times";
  case RootKind::Serial:
    return "an operator with loops of its own begins a kernel";
  default:
    return nullptr;
  }
}

const char *whyNoLines(RootKind kind) {
  switch (kind) {
  case RootKind::Contraction:
  case RootKind::Attention:
    return "whole rows are read, which the tiles of the product do not hold";
  case RootKind::Window:
    return "whole rows are read, which the tiles of a convolution or pooling do not hold";
  case RootKind::Row:
    return "one kernel walks the rows of one softmax, normalisation or reduction";
  default:
    return "whole rows are read, which an operator with loops of its own does not give";
  }
}

Apart alsoRead(Operation *reader) {
  if (isa<func::ReturnOp>(reader))
    return {"the value between them is an output of the model"};
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return {"the value between them is a result of a branch or loop"};
  return {"the value between them has another reader", reader};
}

void ApartNotes::note(Operation *from, Operation *to, Apart why) {
  if (areKept)
    notes.try_emplace({from, to}, why);
}

void ApartNotes::correct(Operation *from, Operation *to, Apart why) {
  if (areKept)
    notes[{from, to}] = why;
}

DictionaryAttr ApartNotes::describe(Operation *from, Operation *to) const {
  Builder b(to->getContext());
  Apart why = notes.lookup({from, to});
  if (!why)
    why.reason = "a branch, a loop or a number that the host reads stands between them";
  SmallVector<NamedAttribute> entries{b.getNamedAttr("from", b.getStringAttr(placeOf(from))),
                                      b.getNamedAttr("to", b.getStringAttr(placeOf(to))),
                                      b.getNamedAttr("reason", b.getStringAttr(why.reason))};
  if (why.by)
    entries.push_back(b.getNamedAttr("by", b.getStringAttr(placeOf(why.by))));
  return b.getDictionaryAttr(entries);
}

} // namespace weft
