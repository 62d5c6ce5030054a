//===- Mesh.cpp - Printing, places, parts -------------------------------------------------------===//

#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft {

constexpr int64_t kMostRanks = 65536;

//===-- The attribute ----------------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseAxis))
    return {};
  if (failed(verify([&] { return parser.emitError(place); }, axes, sizes)))
    return {};
  return get(parser.getContext(), axes, sizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(llvm::zip_equal(getAxes(), getSizes()), printer.getStream(),
                        [&](auto axis) {
                          printer.printKeywordOrString(std::get<0>(axis).getValue());
                          printer << " = " << std::get<1>(axis);
                        });
  printer << ">";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> axes, ArrayRef<int64_t> sizes) {
  llvm::DenseSet<StringAttr> seen;
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) { // R1
    if (!seen.insert(axis).second)
      return emitError() << "axis '" << axis.getValue() << "' is there twice";
    if (size < 1)
      return emitError() << "axis '" << axis.getValue() << "' has " << size << " ranks";
    if (size > kMostRanks / ranks)
      return emitError() << "a mesh has at most " << kMostRanks << " ranks";
    ranks *= size;
  }
  return axes.empty() ? emitError() << "a mesh has at least one axis" : success();
}

int64_t MeshAttr::getRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getSizes())
    ranks *= size;
  return ranks;
}

std::optional<int64_t> MeshAttr::getSize(StringAttr axis) const {
  for (auto [name, size] : llvm::zip_equal(getAxes(), getSizes()))
    if (name == axis)
      return size;
  return std::nullopt;
}

SmallVector<int64_t> MeshAttr::getPlaces(int64_t rank) const {
  SmallVector<int64_t> places(getSizes().size());
  for (unsigned i = places.size(); i-- > 0; rank /= getSizes()[i])
    places[i] = rank % getSizes()[i];
  return places;
}

//===-- Ranks and groups -------------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kBytesEnd = " B by one rank";

bool saysBytes(CollectiveOpInterface exchange) {
  auto because = exchange->getAttrOfType<StringAttr>(kBecauseAttr);
  return because && because.getValue().ends_with(kBytesEnd);
}

void sayBytes(CollectiveOpInterface exchange) {
  auto because = exchange->getAttrOfType<StringAttr>(kBecauseAttr);
  if (!because)
    return;
  StringRef reason = because.getValue();
  if (saysBytes(exchange))
    reason = reason.rsplit(": ").first;
  exchange->setAttr(kBecauseAttr,
                    StringAttr::get(exchange->getContext(),
                                    reason + ": " + exchange.sentBytes().str() + kBytesEnd));
}

MeshAttr meshOf(Operation *op) {
  while (op && !isa<FunctionOpInterface>(op))
    op = op->getParentOp();
  return op ? op->getAttrOfType<MeshAttr>(kMeshAttr) : MeshAttr();
}

/// Of places alone, so that all its symbols are known before a call.
static bool isOfPlaces(const SymPred &fact, MeshAttr mesh) {
  SmallVector<StringAttr> places = rankSymbols(mesh);
  return llvm::all_of(fact.symbols(),
                      [&](StringAttr name) { return llvm::is_contained(places, name); });
}

LogicalResult verifyMesh(Operation *op, Attribute attribute) {
  auto mesh = dyn_cast<MeshAttr>(attribute);
  if (!mesh || !isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << kMeshAttr
                           << "' is an attribute of a function and holds #weft.mesh<...>";
  for (const SymPred &fact : symbolsOf(op).getFacts()) // R5
    for (int64_t rank = 0; isOfPlaces(fact, mesh) && rank < mesh.getRanks(); ++rank)
      if (FailureOr<bool> holds = fact.evaluate(rankValues(mesh, rank)); failed(holds) || !*holds)
        return op->emitError() << "fact '" << fact.str() << "' does not hold on rank " << rank
                               << " of " << mesh;
  return success();
}

StringAttr rankSymbol(StringAttr axis) {
  return StringAttr::get(axis.getContext(), "rank_" + axis.getValue());
}

SmallVector<StringAttr> rankSymbols(MeshAttr mesh) {
  return llvm::map_to_vector(mesh.getAxes(), rankSymbol);
}

SymValues rankValues(MeshAttr mesh, int64_t rank) {
  SymValues values;
  for (auto [symbol, place] : llvm::zip_equal(rankSymbols(mesh), mesh.getPlaces(rank)))
    values[symbol] = place;
  return values;
}

SymExpr placeIn(MeshAttr group) {
  SymExpr place = SymExpr::constant(group.getContext(), 0);
  for (auto [axis, size] : llvm::zip_equal(group.getAxes(), group.getSizes()))
    place = place * size + SymExpr::symbol(rankSymbol(axis));
  return place;
}

SymFacts placeFacts(MeshAttr group) {
  SymFacts facts(group.getContext());
  for (auto [axis, size] : llvm::zip_equal(group.getAxes(), group.getSizes()))
    facts = facts.with(SymPred::le(SymExpr::symbol(rankSymbol(axis)),
                                   SymExpr::constant(group.getContext(), size - 1)));
  return facts;
}

/// With functions that have one value under the facts as that value, also inside of others.
static SymExpr simplifyInside(SymExpr expr, const SymFacts &facts) {
  SymExpr sum = SymExpr::constant(expr.getContext(), 0);
  for (const SymTerm &term : expr.terms()) {
    SymExpr product = SymExpr::constant(expr.getContext(), term.coefficient);
    for (auto [atom, power] : term.factors) {
      SmallVector<SymExpr, 2> operands = atom.atomOperands();
      for (SymExpr &operand : operands)
        operand = simplifyInside(operand, facts);
      SymExpr made = atom;
      if (atom.asAtom() == AtomKind::FloorDiv)
        made = SymExpr::floordiv(operands[0], operands[1]);
      else if (atom.asAtom() == AtomKind::Pos)
        made = SymExpr::pos(operands[0]);
      else if (atom.asAtom() == AtomKind::BCast)
        made = SymExpr::bcast(operands[0], operands[1]);
      SymInterval range = facts.bounds(made);
      if (range.low && range.low == range.high)
        made = SymExpr::constant(expr.getContext(), *range.low);
      for (unsigned i = 0; i < power; ++i)
        product = product * made;
    }
    sum = sum + product;
  }
  return sum;
}

SymExpr atPlace(SymExpr expr, MeshAttr group, SymExpr place) {
  SymMap there;
  int64_t stride = group.getRanks();
  for (auto [axis, size] : llvm::zip_equal(group.getAxes(), group.getSizes())) {
    stride /= size;
    SymExpr along = SymExpr::floordiv(place, stride);
    there[rankSymbol(axis)] = stride * size == group.getRanks() ? along : SymExpr::mod(along, size);
  }
  return simplifyInside(expr.substitute(there), placeFacts(group));
}

bool differsIn(SymExpr expr, MeshAttr group) {
  return llvm::any_of(rankSymbols(group), [&](StringAttr symbol) {
    return llvm::is_contained(expr.symbols(), symbol);
  });
}

std::vector<SmallVector<int64_t>> groupsOf(MeshAttr mesh, MeshAttr group) {
  std::vector<SmallVector<int64_t>> groups;
  llvm::DenseMap<int64_t, unsigned> found; // by the rank that stands at 0 along the group's axes
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    int64_t first = 0, place = 0;
    SmallVector<int64_t> places = mesh.getPlaces(rank);
    for (auto [axis, size, at] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes(), places))
      first = first * size + (group.getSize(axis) ? 0 : at);
    for (auto [axis, size] : llvm::zip_equal(group.getAxes(), group.getSizes()))
      place = place * size + places[llvm::find(mesh.getAxes(), axis) - mesh.getAxes().begin()];
    auto [row, isNew] = found.try_emplace(first, groups.size());
    if (isNew)
      groups.emplace_back(group.getRanks());
    groups[row->second][place] = rank;
  }
  return groups;
}

//===-- Parts ------------------------------------------------------------------------------------===//

SymExpr partBegin(SymExpr extent, int64_t ranks, SymExpr place) {
  SymExpr longest = SymExpr::ceildiv(extent, ranks), begin = place * longest;
  return longest * ranks == extent ? begin : SymExpr::min(begin, extent);
}

SymExpr partSize(SymExpr extent, int64_t ranks, SymExpr place) {
  return partBegin(extent, ranks, place + 1) - partBegin(extent, ranks, place);
}

Part partOf(int64_t extent, int64_t ranks, int64_t place) {
  int64_t longest = (extent + ranks - 1) / ranks;
  return {std::min(place * longest, extent), std::min((place + 1) * longest, extent)};
}

} // namespace weft
