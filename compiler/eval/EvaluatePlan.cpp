//===- EvaluatePlan.cpp - What the host of a plan decides -------------------------------------===//

#include "compiler/eval/EvaluatePlan.h"
#include "compiler/eval/ExchangeRanks.h"
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
  using Ranks = SmallVector<unsigned>;

  PlanEvaluator(plan::FuncOp function, std::vector<SymValues> values,
                const EvaluateOptions &options)
      : function(function), options{options.weight, {}, options.traffic},
        exchange(meshOf(function), this->options) {
    for (SymValues &own : values)
      states.push_back(std::make_unique<State>(function, std::move(own), this->options));
  }

  /// Results by rank.
  llvm::Expected<std::vector<std::vector<RefTensor>>> run(const RankInputs &inputs) {
    for (auto [state, given] : llvm::zip_equal(states, inputs))
      if (llvm::Error error = state->buffers.begin(given))
        return std::move(error);
    Ranks all = llvm::to_vector(llvm::seq<unsigned>(0, states.size()));
    if (llvm::Error error = run(function.getBody().front(), all))
      return std::move(error);
    std::vector<std::vector<RefTensor>> results(states.size());
    for (unsigned rank : all)
      for (unsigned i = 0; i < function.getNumResults(); ++i) {
        llvm::Expected<RefTensor> result = resultOf(*states[rank], i);
        if (!result)
          return result.takeError();
        results[rank].push_back(std::move(*result));
      }
    return results;
  }

private:
  /// What one rank knows, and its memory.
  struct State {
    State(plan::FuncOp function, SymValues values, const EvaluateOptions &options)
        : symbols(symbolsOf(function), std::move(values)), buffers(function, symbols, options) {}
    CallSymbols symbols;
    PlanBuffers buffers;
  };

  /// As callers see it.
  llvm::Expected<RefTensor> resultOf(State &state, unsigned i) {
    auto type = cast<SymTensorType>(function.getResultTypes()[i]);
    llvm::Expected<DimValues> dims = dimsOf(type, state.symbols.known());
    if (!dims)
      return dims.takeError();
    llvm::Expected<DimValues> seen = dimsOf(callersOutput(function, i), state.symbols.known());
    if (!seen)
      return seen.takeError();
    ElementRuns runs = runsOfBox(*dims, DimValues(dims->size(), 0), *seen);
    llvm::Expected<RefTensor> whole =
        state.buffers.read({state.buffers.result(i), type.getElementType(), *dims, runs,
                            "output '" + outputName(function, i) + "'"});
    if (!whole)
      return whole.takeError();
    return gatherRuns(*whole, runs, *seen);
  }

  /// On the ranks that come here.
  llvm::Error run(Block &block, const Ranks &ranks) {
    for (Operation &op : block)
      if (llvm::Error error = step(op, ranks))
        return error;
    return llvm::Error::success();
  }

  llvm::Error step(Operation &op, const Ranks &ranks) {
    if (auto branch = dyn_cast<plan::IfOp>(op))
      return decide(branch, ranks);
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      return decide(loop, ranks);
    if (auto together = dyn_cast<plan::ExchangeOp>(op))
      return runTogether(together, ranks);
    if (auto overlap = dyn_cast<plan::OverlapOp>(op))
      return run(overlap.getBody().front(), ranks);
    if (isa<plan::AwaitOp>(op)) // what it ends was done at once
      return llvm::Error::success();
    for (unsigned rank : ranks)
      if (llvm::Error error = step(op, *states[rank]))
        return error;
    return llvm::Error::success();
  }

  llvm::Error step(Operation &op, State &state) {
    return llvm::TypeSwitch<Operation *, llvm::Error>(&op)
        .Case([&](plan::LaunchOp launch) { return launchAll({launch}, state); })
        .Case([&](plan::TogetherOp together) {
          return launchAll(llvm::to_vector(together.getBody().getOps<plan::LaunchOp>()), state);
        })
        .Case<plan::BindOp, plan::CheckPositionsOp>([&](auto host) { return decide(host, state); })
        .Case<plan::YieldOp, plan::ReturnOp>([](auto) { return llvm::Error::success(); })
        .Default([&](Operation *) { return state.buffers.name(op); });
  }

  llvm::Error launchAll(ArrayRef<plan::LaunchOp> launches, State &state) {
    return evaluateLaunches(launches, state.symbols.known(), state.buffers, options);
  }

  //===-- What ranks do together --------------------------------------------------------------===//

  llvm::Error runTogether(plan::ExchangeOp op, const Ranks &ranks) {
    CollectiveOpInterface collective = op.collective();
    Type given = collective->getOperand(0).getType(), got = collective->getResult(0).getType();
    auto read = [&](unsigned rank) -> llvm::Expected<std::shared_ptr<RefTensor>> {
      llvm::Expected<PlanOperand> from = operandOf(op, op.getSent(), given, *states[rank]);
      if (!from)
        return from.takeError();
      llvm::Expected<PlanOperand> to = operandOf(op, op.getReceived(), got, *states[rank]);
      if (!to)
        return to.takeError();
      if (PlanBuffers::overlap(*from, *to))
        return fail(from->name + " lies where its result does");
      llvm::Expected<RefTensor> values = states[rank]->buffers.read(*from);
      if (!values)
        return values.takeError();
      return std::make_shared<RefTensor>(std::move(*values));
    };
    auto write = [&](unsigned rank, RefTensor result) -> llvm::Error {
      llvm::Expected<PlanOperand> to = operandOf(op, op.getReceived(), got, *states[rank]);
      return to ? states[rank]->buffers.write(*to, std::move(result), op) : to.takeError();
    };
    auto symbols = [&](unsigned rank) -> const SymValues & {
      return states[rank]->symbols.known();
    };
    return exchange.run(collective, ranks, {read, symbols, write});
  }

  static llvm::Expected<PlanOperand> operandOf(plan::ExchangeOp op, Value buffer, Type tensor,
                                               State &state) {
    auto type = cast<SymTensorType>(tensor);
    llvm::Expected<DimValues> dims = dimsOf(type, state.symbols.known());
    if (!dims)
      return dims.takeError();
    std::string name = "what 'plan.exchange'" + placeOf(op.getLoc()) + " gives";
    return PlanOperand{state.buffers.at(buffer), type.getElementType(), *dims, runsOfAll(*dims),
                       name};
  }

  //===-- What the host reads -----------------------------------------------------------------===//

  /// The one element that the host reads.
  llvm::Expected<int64_t> number(Value buffer, Type element, Operation *reader, State &state) {
    std::string name = ("what '" + reader->getName().getStringRef() + "'" +
                        placeOf(reader->getLoc()) + " decides by")
                           .str();
    llvm::Expected<RefTensor> read =
        state.buffers.read({state.buffers.at(buffer), element, {}, runsOfAll({}), name});
    if (!read)
      return read.takeError();
    return read->at(0).integer;
  }

  llvm::Expected<bool> isTrue(Value buffer, Operation *reader, State &state) {
    llvm::Expected<int64_t> byte =
        number(buffer, IntegerType::get(reader->getContext(), 1), reader, state);
    if (!byte)
      return byte.takeError();
    return *byte != 0;
  }

  static llvm::Expected<int64_t> valueOf(SymExpr expr, const State &state) {
    FailureOr<int64_t> value = expr.evaluate(state.symbols.known());
    if (failed(value))
      return fail("'" + expr.str() + "' is not a size");
    return *value;
  }

  static std::string where(Operation *op, StringRef node = "") {
    if (!node.empty())
      return node.str() + ": ";
    return ("'" + op->getName().getStringRef() + "' ").str();
  }

  llvm::Error decide(plan::BindOp bind, State &state) {
    llvm::Expected<int64_t> value =
        number(bind.getValue(), IntegerType::get(bind.getContext(), bind.getBits()), bind, state);
    if (!value)
      return value.takeError();
    return state.symbols.set(bind.getSymbolAttr(), *value, where(bind, bind.getNode()));
  }

  llvm::Error decide(plan::CheckPositionsOp check, State &state) {
    llvm::Expected<DimValues> dims = sizesOf(check.getDims(), state);
    if (!dims)
      return dims.takeError();
    llvm::Expected<RefTensor> positions =
        state.buffers.read({state.buffers.at(check.getPositions()),
                            IntegerType::get(check.getContext(), check.getBits()), *dims,
                            runsOfAll(*dims), "what 'plan.check_positions' compares"});
    if (!positions)
      return positions.takeError();
    return checkPositions(*positions, check.getSizes(), state.symbols.known(),
                          where(check, check.getNode()));
  }

  static llvm::Expected<DimValues> sizesOf(DimsAttr dims, const State &state) {
    DimValues sizes;
    for (SymExpr dim : dims.getDims()) {
      llvm::Expected<int64_t> size = valueOf(dim, state);
      if (!size)
        return size.takeError();
      sizes.push_back(*size);
    }
    return sizes;
  }

  //===-- Regions -----------------------------------------------------------------------------===//

  llvm::Error decide(plan::IfOp branch, const Ranks &ranks) {
    Ranks ways[2];
    for (unsigned rank : ranks) {
      llvm::Expected<bool> yes = isTrue(branch.getCondition(), branch, *states[rank]);
      if (!yes)
        return yes.takeError();
      ways[*yes].push_back(rank);
    }
    for (bool way : {true, false}) {
      Block &block = (way ? branch.getYes() : branch.getNo()).front();
      if (ways[way].empty())
        continue;
      if (llvm::Error error = run(block, ways[way]))
        return error;
      for (unsigned rank : ways[way])
        if (llvm::Error error = leave(branch, block, *states[rank]))
          return error;
    }
    return llvm::Error::success();
  }

  /// Takes what a region yielded.
  llvm::Error leave(plan::IfOp branch, Block &block, State &state) {
    auto yield = cast<plan::YieldOp>(block.getTerminator());
    for (auto [result, buffer] : llvm::zip_equal(branch.getResults(), yield.getBuffers()))
      state.buffers.set(result, state.buffers.at(buffer));
    for (auto [name, dim] : llvm::zip_equal(branch.symbolsAfter(), yield.getDims().getDims())) {
      llvm::Expected<int64_t> value = valueOf(dim, state);
      if (!value)
        return value.takeError();
      if (llvm::Error error = state.symbols.set(name, *value, where(branch)))
        return error;
    }
    return llvm::Error::success();
  }

  /// A loop as one rank runs it: where the values that it carries lie, and where their next ones
  /// are written.
  struct Turns {
    int64_t most, count = 0;
    bool goesOn = true;
    SmallVector<Address> current, next, spare;
  };

  llvm::Error decide(plan::LoopOp loop, const Ranks &ranks) {
    llvm::DenseMap<unsigned, Turns> turns;
    for (unsigned rank : ranks) {
      llvm::Expected<Turns> begun = begin(loop, *states[rank]);
      if (!begun)
        return begun.takeError();
      turns.try_emplace(rank, std::move(*begun));
    }
    for (Ranks here = ranks;;) {
      llvm::erase_if(here, [&](unsigned rank) {
        const Turns &own = turns.find(rank)->second;
        return !own.goesOn || own.count >= own.most;
      });
      if (here.empty())
        break;
      for (unsigned rank : here)
        if (llvm::Error error = beginTurn(loop, turns.find(rank)->second, *states[rank]))
          return error;
      if (llvm::Error error = run(loop.getBody().front(), here))
        return error;
      for (unsigned rank : here)
        if (llvm::Error error = endTurn(loop, turns.find(rank)->second, *states[rank]))
          return error;
    }
    for (unsigned rank : ranks)
      if (llvm::Error error = end(loop, turns.find(rank)->second, *states[rank]))
        return error;
    return llvm::Error::success();
  }

  llvm::Expected<Turns> begin(plan::LoopOp loop, State &state) {
    llvm::Expected<int64_t> trips = valueOf(loop.getTrips()[0], state);
    if (!trips)
      return trips.takeError();
    Turns turns{*trips};
    for (auto [i, value] : llvm::enumerate(loop.getCarried())) {
      turns.current.push_back(state.buffers.at(value));
      turns.next.push_back(state.buffers.at(loop.getMemory()[2 * i]));
      turns.spare.push_back(state.buffers.at(loop.getMemory()[2 * i + 1]));
    }
    if (llvm::Error error = decideToGoOn(loop, loop.getBegin(), turns, state))
      return std::move(error);
    return turns;
  }

  /// Without a buffer the loop ends with its trips.
  llvm::Error decideToGoOn(plan::LoopOp loop, Value buffer, Turns &turns, State &state) {
    if (!buffer)
      return llvm::Error::success();
    llvm::Expected<bool> byte = isTrue(buffer, loop, state);
    if (!byte)
      return byte.takeError();
    turns.goesOn = *byte;
    return llvm::Error::success();
  }

  llvm::Error beginTurn(plan::LoopOp loop, const Turns &turns, State &state) {
    Block &body = loop.getBody().front();
    size_t n = turns.current.size();
    for (size_t i = 0; i < n; ++i) {
      state.buffers.set(body.getArgument(i), turns.current[i]);
      state.buffers.set(body.getArgument(n + i), turns.next[i]);
    }
    return state.symbols.set(loop.getIndexAttr(), turns.count, where(loop));
  }

  llvm::Error endTurn(plan::LoopOp loop, Turns &turns, State &state) {
    ++turns.count;
    turns.current = turns.next; // and is the next spare one
    std::swap(turns.next, turns.spare);
    auto yield = cast<plan::YieldOp>(loop.getBody().front().getTerminator());
    return decideToGoOn(loop, loop.getCount() ? yield.getBuffers()[0] : Value(), turns, state);
  }

  llvm::Error end(plan::LoopOp loop, const Turns &turns, State &state) {
    state.symbols.forget(loop.getIndexAttr());
    for (auto [result, address] : llvm::zip_equal(loop.getResults(), turns.current))
      state.buffers.set(result, address);
    return loop.getCount() ? state.symbols.set(loop.getCountAttr(), turns.count, where(loop))
                           : llvm::Error::success();
  }

  plan::FuncOp function;
  const EvaluateOptions options;
  std::vector<std::unique_ptr<State>> states; ///< by rank
  ExchangeRanks exchange;
};

} // namespace

llvm::Expected<std::vector<std::vector<RefTensor>>> evaluatePlan(plan::FuncOp function,
                                                                 const RankInputs &inputs,
                                                                 std::vector<SymValues> symbols,
                                                                 const EvaluateOptions &options) {
  return PlanEvaluator(function, std::move(symbols), options).run(inputs);
}

} // namespace weft
