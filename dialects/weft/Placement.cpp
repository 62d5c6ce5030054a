//===- Placement.cpp - Printing, reading and verifying placements -------------------------------===//

#include "dialects/weft/Aliases.h"
#include "dialects/weft/Gathered.h"
#include "dialects/weft/Mesh.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft {

static ArrayAttr arrayOf(MLIRContext *context, ArrayRef<StringAttr> axes) {
  SmallVector<Attribute> attributes(axes.begin(), axes.end());
  return ArrayAttr::get(context, attributes);
}

static constexpr StringLiteral kStar = "*";

static bool hasStar(StringAttr axis) { return axis.getValue().ends_with(kStar); }

static StringAttr withoutStar(StringAttr axis) {
  return hasStar(axis) ? StringAttr::get(axis.getContext(), axis.getValue().drop_back()) : axis;
}

static bool isWord(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  SmallVector<ArrayAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    SmallVector<StringAttr> axes;
    do {
      std::string name;
      if (parser.parseKeywordOrString(&name))
        return failure();
      if (name != "_")
        axes.push_back(StringAttr::get(context, name));
      if (name != "_" && succeeded(parser.parseOptionalStar()))
        axes.back() = gatheredAxis(axes.back());
    } while (succeeded(parser.parseOptionalPlus()));
    dims.push_back(arrayOf(context, axes));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseGreater())
    return {};
  return get(context, dims);
}

void PlacementAttr::print(AsmPrinter &printer) const {
  auto printDim = [&](ArrayAttr dim) {
    if (dim.empty())
      printer << "_";
    llvm::interleave(
        dim.getAsRange<StringAttr>(), printer.getStream(),
        [&](StringAttr axis) {
          printer.printKeywordOrString(withoutStar(axis).getValue());
          printer << (hasStar(axis) ? "*" : "");
        },
        "+");
  };
  printer << "<[";
  llvm::interleaveComma(getDims(), printer.getStream(), printDim);
  printer << "]>";
}

std::string PlacementAttr::str() const {
  std::string text;
  for (ArrayAttr dim : getDims()) {
    text += text.empty() ? "[" : ", ";
    std::string axes;
    for (StringAttr axis : dim.getAsRange<StringAttr>())
      axes += (axes.empty() ? "" : "+") + axis.str();
    text += axes.empty() ? "_" : axes;
  }
  return text.empty() ? "[]" : text + "]";
}

llvm::Expected<PlacementAttr> parsePlacement(MLIRContext *context, StringRef text) {
  StringRef inner = text.trim();
  if (!inner.consume_front("[") || !inner.consume_back("]"))
    return llvm::createStringError("'" + text + "' is no placement, such as [tp, _]");
  SmallVector<StringRef> pieces;
  SmallVector<ArrayAttr> dims;
  if (!inner.trim().empty())
    inner.split(pieces, ',');
  for (StringRef piece : pieces) {
    SmallVector<StringRef> names;
    SmallVector<StringAttr> axes;
    piece.split(names, '+');
    for (StringRef name : names) {
      StringRef axis = name.trim();
      bool isGathered = axis.consume_back(kStar);
      if (!isWord(axis) || (isGathered && axis == "_"))
        return llvm::createStringError("'" + text + "' is no placement: '" + name.trim() +
                                       "' is no axis");
      if (axis != "_")
        axes.push_back(StringAttr::get(context, name.trim()));
    }
    dims.push_back(arrayOf(context, axes));
  }
  return PlacementAttr::get(context, dims);
}

SmallVector<StringAttr> PlacementAttr::getAxes() const {
  SmallVector<StringAttr> axes;
  for (ArrayAttr dim : getDims())
    for (StringAttr axis : dim.getAsRange<StringAttr>())
      axes.push_back(withoutStar(axis));
  return axes;
}

bool PlacementAttr::isWhole() const { return getAxes().empty(); }

std::optional<unsigned> PlacementAttr::getDim(StringAttr axis) const {
  for (auto [d, dim] : llvm::enumerate(getDims()))
    if (llvm::is_contained(dim, axis))
      return d;
  return std::nullopt;
}

PlacementAttr PlacementAttr::without(StringAttr axis) const {
  SmallVector<ArrayAttr> dims;
  for (ArrayAttr dim : getDims()) {
    SmallVector<StringAttr> axes(dim.getAsRange<StringAttr>());
    llvm::erase_if(axes, [&](StringAttr each) { return withoutStar(each) == axis; });
    dims.push_back(arrayOf(getContext(), axes));
  }
  PlacementAttr rest = get(getContext(), dims);
  return rest.isWhole() ? PlacementAttr() : rest;
}

StringAttr gatheredAxis(StringAttr axis) {
  return StringAttr::get(axis.getContext(), axis.getValue() + kStar);
}

std::optional<unsigned> gatheredDim(PlacementAttr placement, StringAttr axis) {
  return placement.getDim(gatheredAxis(axis));
}

bool isGathered(PlacementAttr placement) {
  return llvm::any_of(placement.getDims(), [](ArrayAttr dim) {
    return llvm::any_of(dim.getAsRange<StringAttr>(), hasStar);
  });
}

bool canGather(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && !isPacked(constant.getType().getElementType());
}

LogicalResult verifySplitOver(Operation *op, Attribute attribute) {
  if (!isa<MeshAttr>(attribute) || !isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << kSplitOverAttr
                           << "' is an attribute of a function and holds #weft.mesh<...>";
  if (op->hasAttr(kMeshAttr)) // R3
    return op->emitError() << "a function with '" << kMeshAttr << "' is not split once more";
  return success();
}

static PlacementAttr localPlacement(DictionaryAttr said) {
  return said && said.contains(kWholeAttr) ? said.getAs<PlacementAttr>(kPlacementAttr)
                                           : PlacementAttr();
}

static SymTensorType wholeOf(DictionaryAttr said, Type type) {
  auto whole = said ? said.getAs<TypeAttr>(kWholeAttr) : TypeAttr();
  return cast<SymTensorType>(whole ? whole.getValue() : type);
}

PlacementAttr localArgument(FunctionOpInterface function, unsigned i) {
  return localPlacement(function.getArgAttrDict(i));
}
PlacementAttr localResult(FunctionOpInterface function, unsigned i) {
  return localPlacement(function.getResultAttrDict(i));
}
SymTensorType wholeArgument(FunctionOpInterface function, unsigned i) {
  return wholeOf(function.getArgAttrDict(i), function.getArgumentTypes()[i]);
}
SymTensorType wholeResult(FunctionOpInterface function, unsigned i) {
  return wholeOf(function.getResultAttrDict(i), function.getResultTypes()[i]);
}

LogicalResult verifyWhole(Operation *function, Type type, DictionaryAttr said) {
  auto given = dyn_cast<TypeAttr>(said.get(kWholeAttr));
  auto whole = given ? dyn_cast<SymTensorType>(given.getValue()) : SymTensorType();
  auto own = dyn_cast<SymTensorType>(type);
  auto placement = said.getAs<PlacementAttr>(kPlacementAttr);
  if (!whole || !own || !placement || whole.getElementType() != own.getElementType() ||
      whole.getRank() != own.getRank() || placement.getDims().size() != own.getRank()) // R5
    return function->emitError() << "'" << kWholeAttr << "' is of a part with a placement, and "
                                 << "holds the type of the whole, which " << type
                                 << " is no part of";
  if (said.contains(kViewAttr) || said.contains(kAliasesAttr) || isPacked(own.getElementType()))
    return function->emitError() << "ranks cannot have parts of " << type // R6
                                 << ", which grows in place or shares bytes";
  for (unsigned d = 0; d < own.getRank(); ++d)
    if (placement.getDims()[d].empty() && whole.getDim(d) != own.getDim(d)) // R5
      return function->emitError() << "dimension " << d << " of " << type << " is not split, and "
                                   << "another one than that of the whole, " << whole;
  return success();
}

LogicalResult verifyPlacement(Operation *op, Type type, Attribute attribute) {
  auto placement = dyn_cast<PlacementAttr>(attribute);
  auto tensor = dyn_cast_or_null<SymTensorType>(type);
  if (!placement || !tensor)
    return op->emitError() << "'" << kPlacementAttr
                           << "' is of a tensor and holds #weft.placement<...>";
  if (placement.getDims().size() != tensor.getRank()) // R1
    return op->emitError() << "placement " << placement.str() << " has "
                           << placement.getDims().size() << " dimensions, but the value is "
                           << type;
  Operation *function = op;
  while (function && !isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  auto mesh = function ? function->getAttrOfType<MeshAttr>(kSplitOverAttr) : MeshAttr();
  if (!mesh && op == function) // what is left of it says which part an argument or result is
    mesh = function->getAttrOfType<MeshAttr>(kMeshAttr);
  llvm::DenseSet<StringAttr> seen;
  for (StringAttr axis : placement.getAxes()) { // R2
    if (!seen.insert(axis).second)
      return op->emitError() << "placement " << placement.str() << " has axis '" << axis.getValue()
                             << "' twice";
    if (!mesh || !mesh.getSize(axis))
      return op->emitError() << "placement " << placement.str() << " has axis '" << axis.getValue()
                             << "', which the function is not split over";
  }
  if (isGathered(placement) && !(isa<ConstantOp>(op) && canGather(op->getResult(0)))) // R4
    return op->emitError() << "placement " << placement.str()
                           << " gathers what is no weight of whole bytes";
  return success();
}

} // namespace weft
