//===- Evaluate.cpp - Calls of functions ------------------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/eval/CallSymbols.h"
#include "compiler/eval/EvaluatePlan.h"
#include "compiler/eval/GraphWalk.h"
#include "compiler/model/ElementRuns.h"
#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Aliases.h"
#include <cstring>

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// The buffer of an input with room: what callers see of it, and zeros.
llvm::Expected<RefTensor> withRoom(const RefTensor &seen, Type buffer, const SymValues &symbols) {
  llvm::Expected<DimValues> dims = dimsOf(cast<SymTensorType>(buffer), symbols);
  if (!dims)
    return dims.takeError();
  RefTensor whole(seen.element, *dims);
  scatterRuns(seen, runsOfBox(*dims, DimValues(dims->size(), 0), seen.dims), whole);
  return whole;
}

/// The same bits: a nan equals itself.
bool isSame(const RefTensor &a, const RefTensor &b, int64_t i) {
  Scalar x = a.at(i), y = b.at(i);
  return x.integer == y.integer && std::memcmp(&x.real, &y.real, sizeof(double)) == 0;
}

/// Whoever calls on any rank gets the same.
llvm::Error refuseDifference(const Twine &name, const RefTensor &first, const RefTensor &other,
                             unsigned rank) {
  for (int64_t i = 0; i < first.size(); ++i)
    if (!isSame(first, other, i))
      return fail("output '" + name + "' differs between ranks 0 and " + Twine(rank) +
                  ": element " + Twine(i) + " is " + std::to_string(first.at(i).asReal()) +
                  " and " + std::to_string(other.at(i).asReal()));
  return llvm::Error::success();
}

/// A graph on all ranks: results by rank.
llvm::Expected<std::vector<std::vector<RefTensor>>> walkGraph(func::FuncOp function,
                                                              ArrayRef<RefTensor> inputs,
                                                              std::vector<SymValues> symbols,
                                                              const EvaluateOptions &options) {
  GraphWalk walk(function, std::move(symbols), options);
  for (auto [argument, input] : llvm::zip_equal(function.getArguments(), inputs)) {
    auto shared = std::make_shared<RefTensor>(input);
    for (unsigned rank : walk.all())
      walk.set(argument, rank, shared);
  }
  Block &body = function.getBody().front();
  if (llvm::Error error = walk.run(body, walk.all()))
    return std::move(error);
  std::vector<std::vector<RefTensor>> results(walk.all().size());
  for (Value result : body.getTerminator()->getOperands())
    for (unsigned rank : walk.all())
      results[rank].push_back(*walk.get(result, rank));
  return results;
}

/// On all ranks, of which each gets all inputs.
llvm::Expected<std::vector<RefTensor>> evaluateOnRanks(FunctionOpInterface function, MeshAttr mesh,
                                                       ArrayRef<RefTensor> inputs,
                                                       const EvaluateOptions &options) {
  std::vector<SymValues> symbols;
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    llvm::Expected<SymValues> bound = bindInputs(function, inputs, rankValues(mesh, rank));
    if (!bound)
      return bound.takeError();
    symbols.push_back(std::move(*bound));
  }
  auto planned = dyn_cast<plan::FuncOp>(*function);
  auto results =
      planned ? evaluatePlan(planned, inputs, std::move(symbols), options)
              : walkGraph(cast<func::FuncOp>(*function), inputs, std::move(symbols), options);
  if (!results)
    return results.takeError();
  for (auto [rank, own] : llvm::enumerate(*results))
    for (auto [i, result] : llvm::enumerate(own))
      if (llvm::Error error =
              refuseDifference(outputName(function, i), results->front()[i], result, rank))
        return std::move(error);
  return std::move(results->front());
}

} // namespace

llvm::Expected<std::vector<RefTensor>> evaluateBody(func::FuncOp function,
                                                    std::vector<RefTensor> inputs,
                                                    const SymValues &symbols,
                                                    const EvaluateOptions &options) {
  GraphWalk walk(function, {symbols}, options);
  for (auto [argument, input] : llvm::zip_equal(function.getArguments(), inputs))
    walk.set(argument, 0, std::make_shared<RefTensor>(std::move(input)));
  Block &body = function.getBody().front();
  if (llvm::Error error = walk.run(body, walk.all()))
    return std::move(error);
  std::vector<RefTensor> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(*walk.get(result, 0));
  return results;
}

/// With the symbols of a call.
static llvm::Expected<std::vector<RefTensor>> evaluateGraph(func::FuncOp function,
                                                            ArrayRef<RefTensor> inputs,
                                                            const SymValues &symbols,
                                                            const EvaluateOptions &options) {
  std::vector<RefTensor> whole(inputs.begin(), inputs.end());
  for (auto [i, input] : llvm::enumerate(whole))
    if (function.getArgAttr(i, kViewAttr)) {
      llvm::Expected<RefTensor> buffer = withRoom(input, function.getArgumentTypes()[i], symbols);
      if (!buffer)
        return buffer.takeError();
      input = std::move(*buffer);
    }
  auto results = evaluateBody(function, std::move(whole), symbols, options);
  for (unsigned i = 0; results && i < results->size(); ++i)
    if (function.getResultAttr(i, kAliasesAttr)) {
      llvm::Expected<DimValues> seen = dimsOf(callersOutput(function, i), symbols);
      if (!seen)
        return seen.takeError();
      RefTensor &result = (*results)[i];
      ElementRuns runs = runsOfBox(result.dims, DimValues(seen->size(), 0), *seen);
      result = gatherRuns(result, runs, *seen);
    }
  return results;
}

llvm::Expected<std::vector<RefTensor>> evaluateFunction(FunctionOpInterface function,
                                                        ArrayRef<RefTensor> inputs,
                                                        const EvaluateOptions &options) {
  if (MeshAttr mesh = meshOf(function))
    return evaluateOnRanks(function, mesh, inputs, options);
  llvm::Expected<SymValues> symbols = bindInputs(function, inputs);
  if (!symbols)
    return symbols.takeError();
  if (auto planned = dyn_cast<plan::FuncOp>(*function)) {
    auto results = evaluatePlan(planned, inputs, {*symbols}, options);
    if (!results)
      return results.takeError();
    return std::move(results->front());
  }
  return evaluateGraph(cast<func::FuncOp>(*function), inputs, *symbols, options);
}

} // namespace weft
