//===- EvaluatePlan.cpp - What the host of a plan decides -------------------------------------===//

#include "compiler/eval/EvaluatePlan.h"
#include "compiler/eval/PlanLaunch.h"
#include "compiler/model/EntryPlan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

class PlanEvaluator {
public:
  PlanEvaluator(plan::FuncOp function, SymValues values, const EvaluateOptions &options)
      : function(function), options{options.weight, {}},
        symbols(symbolsOf(function), std::move(values)), buffers(function, symbols, this->options) {
  }

  llvm::Expected<std::vector<RefTensor>> run(ArrayRef<RefTensor> inputs) {
    if (llvm::Error error = buffers.begin(inputs))
      return std::move(error);
    if (llvm::Error error = run(function.getBody().front()))
      return std::move(error);
    std::vector<RefTensor> results;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      llvm::Expected<RefTensor> result = resultOf(i);
      if (!result)
        return result.takeError();
      results.push_back(std::move(*result));
    }
    return results;
  }

private:
  /// As callers see it.
  llvm::Expected<RefTensor> resultOf(unsigned i) {
    auto type = cast<SymTensorType>(function.getResultTypes()[i]);
    llvm::Expected<DimValues> dims = dimsOf(type, symbols.known());
    if (!dims)
      return dims.takeError();
    llvm::Expected<DimValues> seen = dimsOf(callersOutput(function, i), symbols.known());
    if (!seen)
      return seen.takeError();
    ElementRuns runs = runsOfBox(*dims, DimValues(dims->size(), 0), *seen);
    llvm::Expected<RefTensor> whole =
        buffers.read({buffers.result(i), type.getElementType(), *dims, runs,
                      "output '" + outputName(function, i) + "'"});
    if (!whole)
      return whole.takeError();
    return gatherRuns(*whole, runs, *seen);
  }

  llvm::Error run(Block &block) {
    for (Operation &op : block)
      if (llvm::Error error = step(op))
        return error;
    return llvm::Error::success();
  }

  llvm::Error step(Operation &op) {
    return llvm::TypeSwitch<Operation *, llvm::Error>(&op)
        .Case([&](plan::LaunchOp launch) { return launchAll({launch}); })
        .Case([&](plan::TogetherOp together) {
          return launchAll(llvm::to_vector(together.getBody().getOps<plan::LaunchOp>()));
        })
        .Case<plan::BindOp, plan::CheckPositionsOp, plan::IfOp, plan::LoopOp>(
            [&](auto host) { return decide(host); })
        .Case<plan::YieldOp, plan::ReturnOp>([](auto) { return llvm::Error::success(); })
        .Default([&](Operation *) { return buffers.name(op); });
  }

  llvm::Error launchAll(ArrayRef<plan::LaunchOp> launches) {
    return evaluateLaunches(launches, symbols.known(), buffers, options);
  }

  /// The one element that the host reads.
  llvm::Expected<int64_t> number(Value buffer, Type element, Operation *reader) {
    llvm::Expected<RefTensor> read = buffers.read({buffers.at(buffer),
                                                   element,
                                                   {},
                                                   runsOfAll({}),
                                                   ("what '" + reader->getName().getStringRef() +
                                                    "'" + placeOf(reader->getLoc()) + " decides by")
                                                       .str()});
    if (!read)
      return read.takeError();
    return read->at(0).integer;
  }

  llvm::Expected<bool> isTrue(Value buffer, Operation *reader) {
    llvm::Expected<int64_t> byte =
        number(buffer, IntegerType::get(reader->getContext(), 1), reader);
    if (!byte)
      return byte.takeError();
    return *byte != 0;
  }

  llvm::Expected<int64_t> valueOf(SymExpr expr) {
    FailureOr<int64_t> value = expr.evaluate(symbols.known());
    if (failed(value))
      return fail("'" + expr.str() + "' is not a size");
    return *value;
  }

  static std::string where(Operation *op, StringRef node = "") {
    if (!node.empty())
      return node.str() + ": ";
    return ("'" + op->getName().getStringRef() + "' ").str();
  }

  llvm::Error decide(plan::BindOp bind) {
    llvm::Expected<int64_t> value =
        number(bind.getValue(), IntegerType::get(bind.getContext(), bind.getBits()), bind);
    if (!value)
      return value.takeError();
    return symbols.set(bind.getSymbolAttr(), *value, where(bind, bind.getNode()));
  }

  llvm::Error decide(plan::CheckPositionsOp check) {
    llvm::Expected<DimValues> dims = sizesOf(check.getDims());
    if (!dims)
      return dims.takeError();
    llvm::Expected<RefTensor> positions = buffers.read(
        {buffers.at(check.getPositions()), IntegerType::get(check.getContext(), check.getBits()),
         *dims, runsOfAll(*dims), "what 'plan.check_positions' compares"});
    if (!positions)
      return positions.takeError();
    return checkPositions(*positions, check.getSizes(), symbols.known(),
                          where(check, check.getNode()));
  }

  llvm::Expected<DimValues> sizesOf(DimsAttr dims) {
    DimValues sizes;
    for (SymExpr dim : dims.getDims()) {
      llvm::Expected<int64_t> size = valueOf(dim);
      if (!size)
        return size.takeError();
      sizes.push_back(*size);
    }
    return sizes;
  }

  llvm::Error decide(plan::IfOp branch) {
    llvm::Expected<bool> yes = isTrue(branch.getCondition(), branch);
    if (!yes)
      return yes.takeError();
    Block &block = (*yes ? branch.getYes() : branch.getNo()).front();
    if (llvm::Error error = run(block))
      return error;
    auto yield = cast<plan::YieldOp>(block.getTerminator());
    for (auto [result, buffer] : llvm::zip_equal(branch.getResults(), yield.getBuffers()))
      buffers.set(result, buffers.at(buffer));
    for (auto [name, dim] : llvm::zip_equal(branch.symbolsAfter(), yield.getDims().getDims())) {
      llvm::Expected<int64_t> value = valueOf(dim);
      if (!value)
        return value.takeError();
      if (llvm::Error error = symbols.set(name, *value, where(branch)))
        return error;
    }
    return llvm::Error::success();
  }

  /// Where the values that a loop carries lie, and where their next ones are written.
  struct Carried {
    SmallVector<Address> current, next, spare;
  };

  llvm::Error decide(plan::LoopOp loop) {
    llvm::Expected<int64_t> trips = valueOf(loop.getTrips()[0]);
    if (!trips)
      return trips.takeError();
    Carried carried;
    for (auto [i, value] : llvm::enumerate(loop.getCarried())) {
      carried.current.push_back(buffers.at(value));
      carried.next.push_back(buffers.at(loop.getMemory()[2 * i]));
      carried.spare.push_back(buffers.at(loop.getMemory()[2 * i + 1]));
    }
    bool goesOn = true;
    if (llvm::Error error = decideToGoOn(loop, loop.getBegin(), goesOn))
      return error;
    int64_t count = 0;
    for (; goesOn && count < *trips; ++count)
      if (llvm::Error error = turn(loop, count, carried, goesOn))
        return error;
    symbols.forget(loop.getIndexAttr());
    for (auto [result, address] : llvm::zip_equal(loop.getResults(), carried.current))
      buffers.set(result, address);
    return loop.getCount() ? symbols.set(loop.getCountAttr(), count, where(loop))
                           : llvm::Error::success();
  }

  /// Without a buffer the loop ends with its trips.
  llvm::Error decideToGoOn(plan::LoopOp loop, Value buffer, bool &goesOn) {
    if (!buffer)
      return llvm::Error::success();
    llvm::Expected<bool> byte = isTrue(buffer, loop);
    if (!byte)
      return byte.takeError();
    goesOn = *byte;
    return llvm::Error::success();
  }

  llvm::Error turn(plan::LoopOp loop, int64_t index, Carried &carried, bool &goesOn) {
    Block &body = loop.getBody().front();
    size_t n = carried.current.size();
    for (size_t i = 0; i < n; ++i) {
      buffers.set(body.getArgument(i), carried.current[i]);
      buffers.set(body.getArgument(n + i), carried.next[i]);
    }
    if (llvm::Error error = symbols.set(loop.getIndexAttr(), index, where(loop)))
      return error;
    if (llvm::Error error = run(body))
      return error;
    carried.current = carried.next; // and is the next spare one
    std::swap(carried.next, carried.spare);
    auto yield = cast<plan::YieldOp>(body.getTerminator());
    return decideToGoOn(loop, loop.getCount() ? yield.getBuffers()[0] : Value(), goesOn);
  }

  plan::FuncOp function;
  const EvaluateOptions options;
  CallSymbols symbols;
  PlanBuffers buffers;
};

} // namespace

llvm::Expected<std::vector<RefTensor>> evaluatePlan(plan::FuncOp function,
                                                    ArrayRef<RefTensor> inputs,
                                                    const SymValues &symbols,
                                                    const EvaluateOptions &options) {
  return PlanEvaluator(function, symbols, options).run(inputs);
}

} // namespace weft
