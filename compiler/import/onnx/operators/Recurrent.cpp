//===- Recurrent.cpp - RNN, GRU and LSTM as loops over time -----------------------------------===//
//
// Per direction: products with the input are one contraction in front of the loop; the loop carries
// the states and stacks the outputs. Behind the end of a sequence states stay and outputs are 0.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/NamedActivation.h"
#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// What the three operators have in common.
class Recurrent {
public:
  Recurrent(NodeImport &n, unsigned gates, ArrayRef<StringRef> functionNames) : n(n), gates(gates) {
    std::string direction = n.textAttribute("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      n.wrong("attribute 'direction' is '" + direction + "'");
    directions = direction == "bidirectional" ? 2 : 1;
    firstIsReverse = direction == "reverse";
    batchFirst = n.intAttribute("layout", 0) != 0;
    clip = n.floatAttribute("clip");
    n.ignoreAttributes({"hidden_size", "output_sequence"}); // R says the former
    readFunctions(functionNames);
    x = n.input(0);
    if (x)
      computed = accumulateType(n, elementOf(x));
    if (n.refused() || !x || n.rank(0) != 3 || n.rank(1) != 3 || n.rank(2) != 3) {
      n.wrong("X, W and R must have three dimensions");
      return;
    }
    for (auto [input, rank, name] :
         {std::tuple(3u, 2u, "B"), {4u, 1u, "sequence_lens"}, {7u, 2u, "P"}})
      if (n.hasInput(input) && n.rank(input) != rank) {
        n.wrong(name + Twine(" must have rank ") + Twine(rank));
        return;
      }
    x = operand(0);
    if (batchFirst)
      x = n.transpose(x, {1, 0, 2});
    times = typeOf(x).getDim(0);
    batch = typeOf(x).getDim(1);
    hidden = n.dim(2, 2);
    n.requireEqual(n.dim(1, 0), n.constant(directions), "the first dimension of W");
    n.requireEqual(n.dim(2, 0), n.constant(directions), "the first dimension of R");
    n.requireEqual(n.dim(1, 1), hidden * gates, "the second dimension of W");
    n.requireEqual(n.dim(2, 1), hidden * gates, "the second dimension of R");
  }

  /// One step: the products of input and all gates, and the states before; gives the states after, the
  /// first of which is the output.
  using Step = llvm::function_ref<SmallVector<Value>(unsigned direction, Value products,
                                                     ArrayRef<Value> states)>;

  /// `initial`: inputs that hold the states to start from.
  void run(ArrayRef<unsigned> initial, Step step) {
    SmallVector<Value> outputs;
    SmallVector<SmallVector<Value>> last(initial.size());
    for (unsigned d = 0; d < directions && !n.refused(); ++d) {
      bool reverse = firstIsReverse || d == 1;
      SmallVector<Value> inits;
      for (unsigned input : initial)
        inits.push_back(n.hasInput(input) ? stateOf(input, d)
                                          : n.fill({batch, hidden}, computed, 0.0));
      Value products = inputProducts(d);
      SmallVector<Value> results = n.loop(
          times, {}, inits, [&](SymExpr index, ValueRange states, GraphBuilder::LoopBody &body) {
            return fillBody(d, reverse ? times - 1 - index : index, products, states, step, body);
          });
      if (results.empty())
        return;
      Value all = results.back(); // [times, batch, hidden]
      if (reverse)
        all = n.slice(all, {times - 1, n.constant(0), n.constant(0)}, typeOf(all).getDims(),
                      {-1, 1, 1});
      outputs.push_back(n.unsqueeze(all, int64_t(1)));
      for (size_t i = 0; i < initial.size(); ++i)
        last[i].push_back(n.unsqueeze(results[i], int64_t(0)));
    }
    if (n.refused())
      return;
    Value all = n.convert(n.concat(outputs, 1), n.element(0)); // [times, directions, batch, hidden]
    n.results.push_back(batchFirst ? n.transpose(all, {2, 0, 1, 3}) : all);
    for (ArrayRef<Value> each : last) {
      Value state = n.convert(n.concat(each, 0), n.element(0));
      n.results.push_back(batchFirst ? n.transpose(state, {1, 0, 2}) : state);
    }
  }

  /// In the type that is computed with. Weights are converted where they are multiplied: what moves
  /// constants comes before.
  Value operand(unsigned input) { return n.convert(n.input(input), computed); }

  /// Row d of an operand that has one per direction.
  Value perDirection(Value all, unsigned d) {
    if (!all)
      return {};
    return n.reshape(n.sliceDim(all, 0, n.constant(d), n.constant(1)),
                     Dims(ArrayRef<SymExpr>(typeOf(all).getDims()).drop_front()));
  }

  /// Part `k` of gates that lie side by side in the last dimension.
  Value gate(Value all, unsigned k) {
    return all ? n.sliceDim(all, rankOf(all) - 1, hidden * int64_t(k), hidden) : all;
  }

  /// Products with rows of R, all gates or `count` of them from `first` on.
  Value recurrence(unsigned d, Value state, unsigned first, unsigned count) {
    Value r = n.sliceDim(perDirection(n.input(2), d), 0, hidden * int64_t(first),
                         hidden * int64_t(count));
    return r ? buildMatMul(n, state, n.transpose(n.convert(r, computed), {1, 0}), computed) : r;
  }

  /// Biases: of the input's products, then of the states'. Null without any.
  Value bias(unsigned d, bool ofStates) {
    if (!n.hasInput(3))
      return {};
    Value row = perDirection(operand(3), d);
    return n.sliceDim(row, 0, ofStates ? hidden * int64_t(gates) : n.constant(0),
                      hidden * int64_t(gates));
  }

  Value plus(Value a, Value b) { return a && b ? n.add(a, b) : a ? a : b; }

  Value activate(unsigned d, unsigned k, Value v) {
    if (clip)
      v = n.minimum(n.maximum(v, n.numberLike(v, -*clip)), n.numberLike(v, *clip));
    return functions[d * (functions.size() / directions) + k].apply(n, v);
  }

  NodeImport &n;
  Value x;
  Type computed;
  SymExpr times, batch, hidden;

private:
  void readFunctions(ArrayRef<StringRef> defaults) {
    SmallVector<std::string> names;
    if (auto given = n.textsAttribute("activations"))
      names.append(given->begin(), given->end());
    else
      for (unsigned d = 0; d < directions; ++d)
        names.append(defaults.begin(), defaults.end());
    if (names.size() != directions * defaults.size())
      n.wrong("attribute 'activations' has " + Twine(names.size()) + " entries, but " +
              Twine(directions * defaults.size()) + " are needed");
    auto alphas = n.floatsAttribute("activation_alpha").value_or(SmallVector<double>());
    auto betas = n.floatsAttribute("activation_beta").value_or(SmallVector<double>());
    ArrayRef<double> restOfAlphas = alphas, restOfBetas = betas;
    for (const std::string &name : names)
      functions.push_back(NamedActivation::take(name, restOfAlphas, restOfBetas));
  }

  Value stateOf(unsigned input, unsigned d) {
    Value all = operand(input);
    if (n.rank(input) != 3)
      return n.wrong("an initial state must have three dimensions");
    Value state = perDirection(batchFirst ? n.transpose(all, {1, 0, 2}) : all, d);
    if (state && n.requireEqual(typeOf(state).getDim(0), batch, "the batch of an initial state"))
      state = n.refine(state, 0, batch);
    return state;
  }

  Value inputProducts(unsigned d) {
    Value w = perDirection(n.input(1), d);
    if (!w)
      return {};
    w = n.transpose(n.convert(w, computed), {1, 0});
    return plus(buildMatMul(n, x, w, computed), bias(d, false));
  }

  bool fillBody(unsigned d, SymExpr time, Value products, ValueRange states, Step step,
                GraphBuilder::LoopBody &body) {
    Value now = n.sliceDim(products, 0, time, n.constant(1));
    if (!now)
      return false;
    now = n.reshape(now, Dims(ArrayRef<SymExpr>(typeOf(now).getDims()).drop_front()));
    SmallVector<Value> before(states), after = step(d, now, before);
    if (n.refused() || llvm::is_contained(after, Value()))
      return false;
    Value output = after[0];
    if (n.hasInput(4)) { // lengths of sequences
      Value lengths = n.unsqueeze(n.convert(n.input(4), n.i64()), int64_t(1));
      Value runs = n.compare(CompareKind::Less, n.number(n.i64(), time), lengths);
      output = n.select(runs, output, n.numberLike(output, 0));
      for (auto [state, old] : llvm::zip(after, before))
        state = n.select(runs, state, old);
    }
    body.yielded = after;
    body.yielded.push_back(output);
    return !n.refused();
  }

  unsigned gates, directions = 1;
  bool firstIsReverse = false, batchFirst = false;
  std::optional<double> clip;
  std::vector<NamedActivation> functions;
};

void convertRnn(NodeImport &n) {
  Recurrent r(n, 1, {"Tanh"});
  if (n.refused())
    return;
  r.run({5}, [&](unsigned d, Value products, ArrayRef<Value> states) -> SmallVector<Value> {
    Value sum = r.plus(n.add(products, r.recurrence(d, states[0], 0, 1)), r.bias(d, true));
    return {r.activate(d, 0, sum)};
  });
}

/// Gates z, r, h.
void convertGru(NodeImport &n) {
  bool resetBehind = n.intAttribute("linear_before_reset", 0) != 0;
  Recurrent r(n, 3, {"Sigmoid", "Tanh"});
  if (n.refused())
    return;
  r.run({5}, [&](unsigned d, Value products, ArrayRef<Value> states) -> SmallVector<Value> {
    Value state = states[0], shift = r.bias(d, true);
    Value both = r.recurrence(d, state, 0, resetBehind ? 3 : 2);
    auto sum = [&](unsigned k) {
      return r.plus(n.add(r.gate(products, k), r.gate(both, k)), r.gate(shift, k));
    };
    Value update = r.activate(d, 0, sum(0)), reset = r.activate(d, 0, sum(1));
    Value candidate;
    if (resetBehind)
      candidate = n.mul(reset, r.plus(r.gate(both, 2), r.gate(shift, 2)));
    else
      candidate = r.plus(r.recurrence(d, n.mul(reset, state), 2, 1), r.gate(shift, 2));
    candidate = r.activate(d, 1, n.add(r.gate(products, 2), candidate));
    // (1 - z) * candidate + z * state
    return {n.add(n.mul(n.sub(n.numberLike(update, 1), update), candidate), n.mul(update, state))};
  });
}

/// Gates i, o, f, c; input 7 holds weights by which the cell enters i, o and f.
void convertLstm(NodeImport &n) {
  bool coupled = n.intAttribute("input_forget", 0) != 0;
  Recurrent r(n, 4, {"Sigmoid", "Tanh", "Tanh"});
  if (n.refused())
    return;
  r.run({5, 6}, [&](unsigned d, Value products, ArrayRef<Value> states) -> SmallVector<Value> {
    Value cell = states[1];
    Value all = r.plus(n.add(products, r.recurrence(d, states[0], 0, 4)), r.bias(d, true));
    Value peep = n.hasInput(7) ? r.perDirection(r.operand(7), d) : Value();
    auto sum = [&](unsigned k, Value from) {
      Value part = r.gate(all, k);
      return peep && from ? n.add(part, n.mul(r.gate(peep, k), from)) : part;
    };
    Value in = r.activate(d, 0, sum(0, cell));
    Value forget = coupled ? n.sub(n.numberLike(in, 1), in) : r.activate(d, 0, sum(2, cell));
    Value next = n.add(n.mul(forget, cell), n.mul(in, r.activate(d, 1, sum(3, Value()))));
    Value out = r.activate(d, 0, sum(1, next));
    return {n.mul(out, r.activate(d, 2, next)), next};
  });
}

} // namespace

void addRecurrent(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"RNN", 7, newest, convertRnn, 3, 6, 2});
  table.add({"GRU", 7, newest, convertGru, 3, 6, 2});
  table.add({"LSTM", 7, newest, convertLstm, 3, 8, 3});
}

} // namespace weft::onnx
