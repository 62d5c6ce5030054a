//===- Evaluate.cpp - Calls of functions ------------------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/eval/CallSymbols.h"
#include "compiler/eval/EvaluatePlan.h"
#include "compiler/eval/GraphWalk.h"
#include "compiler/eval/LocalParts.h"
#include "compiler/model/ElementRuns.h"
#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Aliases.h"

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

/// Whoever calls on any rank gets the same.
llvm::Error refuseDifference(const Twine &name, const RefTensor &first, const RefTensor &other,
                             unsigned rank) {
  if (std::optional<int64_t> i = firstDifference(first, other))
    return fail("output '" + name + "' differs between ranks 0 and " + Twine(rank) + ": element " +
                Twine(*i) + " is " + std::to_string(first.at(*i).asReal()) + " and " +
                std::to_string(other.at(*i).asReal()));
  return llvm::Error::success();
}

/// A graph on all ranks: results by rank.
llvm::Expected<std::vector<std::vector<RefTensor>>> walkGraph(func::FuncOp function,
                                                              const RankInputs &inputs,
                                                              std::vector<SymValues> symbols,
                                                              const EvaluateOptions &options) {
  GraphWalk walk(function, std::move(symbols), options);
  for (BlockArgument argument : function.getArguments())
    for (unsigned rank : walk.all())
      walk.set(argument, rank, inputs[rank][argument.getArgNumber()]);
  Block &body = function.getBody().front();
  if (llvm::Error error = walk.run(body, walk.all()))
    return std::move(error);
  std::vector<std::vector<RefTensor>> results(walk.all().size());
  for (Value result : body.getTerminator()->getOperands())
    for (unsigned rank : walk.all())
      results[rank].push_back(*walk.get(result, rank));
  return results;
}

/// Every rank gets all inputs, or its part of them.
llvm::Expected<RankInputs> inputsOfRanks(FunctionOpInterface function, MeshAttr mesh,
                                         ArrayRef<RefTensor> inputs, ArrayRef<SymValues> symbols) {
  RankInputs given(symbols.size());
  for (auto [i, whole] : llvm::enumerate(inputs)) {
    PlacementAttr placement = localArgument(function, i);
    if (!placement) {
      auto shared = std::make_shared<RefTensor>(whole);
      for (auto &own : given)
        own.push_back(shared);
      continue;
    }
    auto sizes = sizesOfParts(function.getArgumentTypes()[i], symbols);
    if (!sizes)
      return sizes.takeError();
    for (auto [rank, own] : llvm::enumerate(given)) {
      llvm::Expected<RefTensor> part = cutPart(whole, *sizes, {mesh, placement}, rank);
      if (!part)
        return fail("input '" + inputName(function, i) + "': " + llvm::toString(part.takeError()));
      own.push_back(std::make_shared<RefTensor>(std::move(*part)));
    }
  }
  return given;
}

/// What all of them give, or its parts together.
llvm::Expected<RefTensor> resultOfRanks(FunctionOpInterface function, unsigned i, MeshAttr mesh,
                                        ArrayRef<std::vector<RefTensor>> results) {
  std::string name = outputName(function, i);
  if (PlacementAttr placement = localResult(function, i)) {
    SmallVector<const RefTensor *> own;
    for (const std::vector<RefTensor> &each : results)
      own.push_back(&each[i]);
    std::optional<unsigned> differing;
    RefTensor whole = joinParts(own, {mesh, placement}, differing);
    if (differing)
      return fail("output '" + name + "': rank " + Twine(*differing) +
                  " has other elements than another rank with the same part");
    return whole;
  }
  for (auto [rank, own] : llvm::enumerate(results))
    if (llvm::Error error = refuseDifference(name, results.front()[i], own[i], rank))
      return std::move(error);
  return results.front()[i];
}

/// On all ranks.
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
  llvm::Expected<RankInputs> given = inputsOfRanks(function, mesh, inputs, symbols);
  if (!given)
    return given.takeError();
  auto planned = dyn_cast<plan::FuncOp>(*function);
  auto results = planned ? evaluatePlan(planned, *given, symbols, options)
                         : walkGraph(cast<func::FuncOp>(*function), *given, symbols, options);
  if (!results)
    return results.takeError();
  std::vector<RefTensor> whole;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    llvm::Expected<RefTensor> result = resultOfRanks(function, i, mesh, *results);
    if (!result)
      return result.takeError();
    whole.push_back(std::move(*result));
  }
  return whole;
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
    RankInputs given(1);
    for (const RefTensor &input : inputs)
      given[0].push_back(std::make_shared<RefTensor>(input));
    auto results = evaluatePlan(planned, given, {*symbols}, options);
    if (!results)
      return results.takeError();
    return std::move(results->front());
  }
  return evaluateGraph(cast<func::FuncOp>(*function), inputs, *symbols, options);
}

} // namespace weft
