//===- RankPlan.cpp -------------------------------------------------------------------------------===//

#include "passes/parallel/RankPlan.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace weft {

llvm::Expected<MeshAttr> parseMesh(MLIRContext *context, StringRef text) {
  SmallVector<StringRef> pieces;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  text.split(pieces, ',');
  for (StringRef piece : pieces) {
    auto [name, size] = piece.split('=');
    bool isName = !name.empty() && llvm::isAlpha(name[0]) &&
                  llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!isName || size.getAsInteger(10, sizes.emplace_back()))
      return llvm::createStringError("mesh '" + text + "': '" + piece +
                                     "' is no axis with its size, such as tp=2");
    axes.push_back(StringAttr::get(context, name));
  }
  std::string reported;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reported = diagnostic.str();
    return success();
  });
  if (failed(MeshAttr::verify([&] { return emitError(UnknownLoc::get(context)); }, axes, sizes)))
    return llvm::createStringError("mesh '" + text + "': " + reported);
  return MeshAttr::get(context, axes, sizes);
}

std::string textOf(MeshAttr mesh) {
  std::string text;
  for (auto [axis, size] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))
    text += (text.empty() ? "" : ",") + axis.str() + "=" + std::to_string(size);
  return text;
}

std::string placementText(StringRef name, PlacementAttr placement) {
  std::string text;
  for (char c : name) {
    if (StringRef("*?[]\\").contains(c))
      text += '\\';
    text += c;
  }
  return text + "=" + placement.str();
}

std::string RankPlan::str() const {
  std::string text = "mesh " + mesh + "\n";
  for (const std::string &placement : placements)
    text += "place " + placement + "\n";
  return text;
}

namespace {

class PlanReader {
public:
  explicit PlanReader(MLIRContext *context) : context(context) {}

  llvm::Error readLine(StringRef line) {
    auto [word, rest] = line.split(' ');
    rest = rest.trim();
    if (word == "mesh")
      return readMesh(rest);
    if (word == "place")
      return readPlacement(rest);
    return llvm::createStringError("'" + word + "' is neither 'mesh' nor 'place'");
  }

  RankPlan plan;

private:
  llvm::Error readMesh(StringRef text) {
    if (mesh)
      return llvm::createStringError("a second mesh");
    llvm::Expected<MeshAttr> parsed = parseMesh(context, text);
    if (!parsed)
      return parsed.takeError();
    mesh = *parsed;
    plan.mesh = text.str();
    return llvm::Error::success();
  }

  llvm::Error readPlacement(StringRef text) {
    if (!mesh)
      return llvm::createStringError("a placement before the mesh");
    auto [name, dims] = text.rsplit('=');
    if (name.empty() || dims.empty())
      return llvm::createStringError("'" + text +
                                     "' is no name with a placement, such as w=[tp, _]");
    llvm::Expected<PlacementAttr> placement = parsePlacement(context, dims);
    if (!placement)
      return placement.takeError();
    for (StringAttr axis : placement->getAxes())
      if (!mesh.getSize(axis))
        return llvm::createStringError("mesh '" + plan.mesh + "' has no axis '" + axis.getValue() +
                                       "'");
    plan.placements.push_back(text.str());
    return llvm::Error::success();
  }

  MLIRContext *context;
  MeshAttr mesh;
};

} // namespace

llvm::Expected<RankPlan> readRankPlan(MLIRContext *context, StringRef text, StringRef path) {
  PlanReader reader(context);
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [i, line] : llvm::enumerate(lines)) {
    StringRef content = line.trim();
    if (content.empty() || content.starts_with("#"))
      continue;
    if (llvm::Error error = reader.readLine(content))
      return llvm::createStringError(path + ":" + Twine(i + 1) + ": " +
                                     llvm::toString(std::move(error)));
  }
  if (reader.plan.mesh.empty())
    return llvm::createStringError(path + ": has no mesh");
  return reader.plan;
}

} // namespace weft
