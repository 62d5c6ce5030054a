//===- Bisect.cpp -----------------------------------------------------------------------------===//

#include "tools/weft/verify/Bisect.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/IR/Builders.h"

#include <algorithm>

namespace weft::cli {

/// One program returns at most so many values; more are compared in several.
constexpr size_t kMostResults = 64;

/// The node's name, or the place in a text.
static std::string nodeName(mlir::Location location) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(location))
    return name.getName().str();
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine());
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location each : fused.getLocations())
      if (std::string name = nodeName(each); !name.empty())
        return name;
  return "";
}

Bisection::Bisection(const Module &module, mlir::func::FuncOp function, const Inputs &inputs,
                     double tolerance)
    : module(module), function(function), inputs(inputs), tolerance(tolerance) {
  for (mlir::Operation &op : function.getBody().front().without_terminator()) {
    if (mlir::isa<ConstantOp>(op) || op.getNumResults() == 0)
      continue;
    positions[&op] = operators.size();
    operators.push_back(&op);
  }
}

ObserveValues Bisection::observer() {
  return [this](mlir::Operation *op, llvm::ArrayRef<RefTensor> values) {
    if (mlir::isa<ConstantOp>(op) || trouble)
      return;
    for (const RefTensor &value : values) {
      Result<HostTensor> host = toHostTensor(value);
      if (!host) {
        trouble = host.failure();
        return;
      }
      observed[op].push_back(*host);
    }
  };
}

/// A kernel group's results are what its body yields.
const HostTensor *Bisection::expected(mlir::Value value) const {
  auto result = mlir::dyn_cast<mlir::OpResult>(value);
  if (!result)
    return nullptr;
  if (auto kernel = mlir::dyn_cast<KernelOp>(result.getOwner()))
    return expected(kernel.getBody().front().getTerminator()->getOperand(result.getResultNumber()));
  auto found = observed.find(result.getOwner());
  return found == observed.end() ? nullptr : &found->second[result.getResultNumber()];
}

/// Values of the first `prefix` operators that others, or the caller, read.
std::vector<mlir::Value> Bisection::liveAfter(size_t prefix) const {
  std::vector<mlir::Value> live;
  for (size_t i = 0; i < prefix; ++i)
    for (mlir::Value result : operators[i]->getResults()) {
      bool isRead = llvm::any_of(result.getUsers(), [&](mlir::Operation *user) {
        auto position = positions.find(user);
        return position == positions.end() || position->second >= prefix;
      });
      if (isRead && expected(result))
        live.push_back(result);
    }
  return live;
}

void Bisection::returnValues(llvm::ArrayRef<mlir::Value> values) {
  mlir::MLIRContext *context = function.getContext();
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::DictionaryAttr> names;
  for (mlir::Value value : values) {
    auto name = mlir::StringAttr::get(context, "value" + std::to_string(types.size()));
    types.push_back(value.getType());
    names.push_back(mlir::DictionaryAttr::get(
        context, mlir::NamedAttribute(mlir::StringAttr::get(context, kNameAttr), name)));
  }
  function.getBody().front().getTerminator()->setOperands(values);
  function.setType(mlir::FunctionType::get(context, function.getArgumentTypes(), types));
  function.setAllResultAttrs(names);
}

std::optional<Difference> Bisection::difference(mlir::Value value, const HostTensor &got) const {
  const HostTensor &want = *expected(value);
  mlir::Operation *op = value.getDefiningOp();
  Difference found{nodeName(op->getLoc()),
                   op->getName().getStringRef().str(),
                   positions.lookup(op) + 1,
                   operators.size(),
                   got.element(),
                   got.dims(),
                   "",
                   {}};
  if (got.dims() != want.dims())
    found.trouble =
        "its shape is " + printDims(got.dims()) + ", but " + printDims(want.dims()) + " is right";
  else
    found.comparison = compareTensors(got, want, tolerance);
  bool good = found.trouble.empty() && found.comparison.good;
  return good ? std::nullopt : std::optional<Difference>(std::move(found));
}

/// Compiles a program that returns `values`, in program order, and gives the first wrong one.
Result<std::optional<Difference>> Bisection::compare(llvm::ArrayRef<mlir::Value> values) {
  returnValues(values);
  Result<std::string> path = compileAside(module, options, *folder);
  if (!path)
    return path.failure();
  Result<CalledModel> called =
      callArtifact(*path, function.getName().str(), inputs, *guard, caller);
  if (!called)
    return called.failure();
  for (auto [value, output] : llvm::zip(values, called->outputs))
    if (std::optional<Difference> found = difference(value, output.tensor))
      return found;
  return std::optional<Difference>();
}

Result<std::optional<Difference>> Bisection::firstWrong(size_t prefix) {
  std::vector<mlir::Value> live = liveAfter(prefix);
  for (size_t begin = 0; begin < live.size(); begin += kMostResults) {
    size_t count = std::min(kMostResults, live.size() - begin);
    Result<std::optional<Difference>> found = compare(llvm::ArrayRef(live).slice(begin, count));
    if (!found || *found)
      return found;
  }
  return std::optional<Difference>();
}

Result<std::optional<Difference>> Bisection::run(const CompileOptions &wantedOptions,
                                                 const TemporaryFolder &wantedFolder,
                                                 InterruptGuard &wantedGuard,
                                                 const Progress &progress) {
  if (trouble)
    return *trouble;
  options = wantedOptions;
  folder = &wantedFolder;
  guard = &wantedGuard;
  for (auto other : module.get().module->getOps<mlir::func::FuncOp>())
    if (other != function)
      other.setPrivate(); // not compiled
  auto judge = [&](size_t prefix) {
    Result<std::optional<Difference>> found = firstWrong(prefix);
    if (found)
      progress("operators 1.." + std::to_string(prefix) + " of " +
               std::to_string(operators.size()) + ": " + (*found ? "different" : "equal"));
    return found;
  };
  size_t good = 0, bad = operators.size();
  Result<std::optional<Difference>> first = judge(bad);
  while (first && *first && bad - good > 1) {
    size_t middle = good + (bad - good) / 2;
    Result<std::optional<Difference>> found = judge(middle);
    if (!found)
      return found;
    (*found ? bad : good) = middle;
    if (*found)
      first = found;
  }
  return first;
}

} // namespace weft::cli
