//===- RankManifest.cpp -----------------------------------------------------------------------===//

#include "compiler/driver/RankManifest.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {

/// Each once.
struct Texts {
  std::vector<std::string> all;
  void insert(std::string text) {
    if (!llvm::is_contained(all, text))
      all.push_back(std::move(text));
  }
};

/// Which exchanges ranks compute beside.
void addFused(const PlannedFunction &planned, Texts &texts) {
  for (const PlannedExchange &each : planned.exchanges) {
    plan::ExchangeOp exchange = each.op;
    if (exchange.getBeside() || isa<plan::OverlapOp>(exchange->getParentOp()))
      texts.insert(exchange.collective()->getName().stripDialect().str() + " after '" +
                   exchange.getNode().str() + "'");
  }
}

std::string printed(MeshAttr mesh) {
  std::string text;
  for (auto [axis, size] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))
    text += (text.empty() ? "" : ", ") + axis.str() + " = " + std::to_string(size);
  return text;
}

/// Which inputs and outputs ranks have parts of.
void addLocal(plan::FuncOp planned, Texts &texts) {
  auto function = cast<FunctionOpInterface>(*planned);
  auto add = [&](StringRef kind, unsigned i, PlacementAttr placement, SymTensorType whole) {
    if (!placement)
      return;
    std::string dims;
    for (SymExpr dim : whole.getDims())
      dims += (dims.empty() ? "" : ", ") + dim.str();
    texts.insert((function.getName() + "<" + printed(meshOf(planned)) + "> " + kind + " " +
                  Twine(i) + ": " + placement.str() + " of [" + dims + "]")
                     .str());
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    add("input", i, localArgument(function, i), wholeArgument(function, i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    add("output", i, localResult(function, i), wholeResult(function, i));
}

} // namespace

void describeRanks(ArrayRef<const Program *> programs, FuseComm fuse, llvm::json::Object &object) {
  Texts fused, local;
  bool hasRanks = false;
  for (const Program *program : programs) {
    hasRanks |= bool(program->mesh);
    for (const PlannedFunction &planned : program->functions) {
      addFused(planned, fused);
      addLocal(planned.function, local);
    }
  }
  if (hasRanks)
    object["fuse_comm"] = fuse == FuseComm::Auto    ? "auto"
                          : fuse == FuseComm::Never ? "never"
                                                    : "always";
  if (!fused.all.empty())
    object["fused_exchanges"] = llvm::json::Array(fused.all);
  if (!local.all.empty())
    object["local"] = llvm::json::Array(local.all);
}

} // namespace weft
