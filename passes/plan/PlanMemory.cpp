//===- PlanMemory.cpp - Search for a good order of placement ---------------------------------------===//

#include "passes/plan/PlanMemory.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {

bool conflict(const StorageClass &a, const StorageClass &b) {
  return a.birth <= b.death && b.birth <= a.death;
}

/// Sizes at one assignment of the symbols.
using Sizes = SmallVector<int64_t>;

class Planner {
public:
  Planner(ArrayRef<StorageClass> classes, unsigned block, ArrayRef<StringAttr> symbols,
          const SymFacts &facts)
      : classes(classes) {
    for (unsigned i = 0; i < classes.size(); ++i)
      if (classes[i].block == block)
        all.push_back(i);
    for (const SymValues &values : sizesToTry(symbols, facts)) {
      Sizes sizes;
      for (const StorageClass &each : classes)
        sizes.push_back(each.block == block ? each.bytes.evaluate(values).value_or(0) : 0);
      anchors.push_back(sizes);
    }
  }

  SmallVector<unsigned> best() {
    SmallVector<unsigned> chosen;
    double least = 0;
    auto offer = [&](SmallVector<unsigned> order) {
      double cost = costOf(order);
      if (chosen.empty() || cost < least) {
        chosen = order;
        least = cost;
      }
    };
    for (const Sizes &sizes : anchors)
      for (int key = 0; key < 4; ++key) {
        SmallVector<unsigned> order(all);
        llvm::stable_sort(order, [&](unsigned a, unsigned b) {
          return weight(sizes, a, key) > weight(sizes, b, key);
        });
        offer(order);
        offer(byOffset(sizes, order));
      }
    return chosen;
  }

private:
  double weight(const Sizes &sizes, unsigned i, int key) const {
    double span = classes[i].death - classes[i].birth + 1;
    switch (key) {
    case 0:
      return double(sizes[i]);
    case 1:
      return span;
    case 2:
      return double(sizes[i]) * span;
    default:
      return -double(classes[i].birth);
    }
  }

  /// Best fit in the given sequence, then sorted by the offsets found.
  SmallVector<unsigned> byOffset(const Sizes &sizes, ArrayRef<unsigned> sequence) const {
    SmallVector<int64_t> offset(classes.size(), -1);
    for (unsigned i : sequence) {
      SmallVector<std::pair<int64_t, int64_t>> taken;
      for (unsigned j : sequence)
        if (offset[j] >= 0 && conflict(classes[i], classes[j]))
          taken.push_back({offset[j], offset[j] + sizes[j]});
      llvm::sort(taken);
      int64_t at = 0, bestAt = -1, bestGap = INT64_MAX;
      for (auto [from, to] : taken) {
        if (from - at >= sizes[i] && from - at < bestGap) {
          bestAt = at;
          bestGap = from - at;
        }
        at = std::max(at, to);
      }
      offset[i] = bestAt >= 0 ? bestAt : at;
    }
    SmallVector<unsigned> order(sequence);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return offset[a] < offset[b]; });
    return order;
  }

  int64_t peak(const Sizes &sizes, ArrayRef<unsigned> order) const {
    SmallVector<int64_t> offset(classes.size(), 0);
    int64_t top = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      unsigned i = order[n];
      for (unsigned j : order.take_front(n))
        if (conflict(classes[i], classes[j]))
          offset[i] = std::max(offset[i], offset[j] + sizes[j]);
      top = std::max(top, offset[i] + sizes[i]);
    }
    return top;
  }

  int64_t live(const Sizes &sizes) const {
    int64_t most = 0;
    for (unsigned i : all) {
      const StorageClass &at = classes[i];
      int64_t sum = 0;
      for (unsigned j : all)
        if (classes[j].birth <= at.birth && at.birth <= classes[j].death)
          sum += sizes[j];
      most = std::max(most, sum);
    }
    return most;
  }

  /// Worst ratio to the live maximum over the anchors, the mean as tie breaker.
  double costOf(ArrayRef<unsigned> order) const {
    double worst = 1, mean = 0;
    for (const Sizes &sizes : anchors) {
      double ratio = double(peak(sizes, order)) / double(std::max<int64_t>(1, live(sizes)));
      worst = std::max(worst, ratio);
      mean += ratio / anchors.size();
    }
    return worst + mean / 1000;
  }

  ArrayRef<StorageClass> classes;
  SmallVector<unsigned> all; ///< of the block
  SmallVector<Sizes> anchors;
};

/// Adds `expr` unless another is proved at least as large; drops those it dominates.
void addMaximand(SmallVectorImpl<SymExpr> &list, SymExpr expr, const SymFacts &facts) {
  for (SymExpr other : list)
    if (other == expr || facts.proveLE(expr, other) == Proof::Yes)
      return;
  llvm::erase_if(list, [&](SymExpr other) { return facts.proveLE(other, expr) == Proof::Yes; });
  list.push_back(expr);
}

} // namespace

SmallVector<SymValues> sizesToTry(ArrayRef<StringAttr> symbols, const SymFacts &facts) {
  SmallVector<SymValues> all;
  for (int64_t scale : {1, 16, 128, 512}) {
    SymValues &values = all.emplace_back();
    for (StringAttr symbol : symbols) {
      SymInterval range = facts.bounds(SymExpr::symbol(symbol));
      values[symbol] =
          std::clamp<int64_t>(scale, range.low.value_or(0), range.high.value_or(kMaxSymbolValue));
    }
  }
  return all;
}

MemoryPlan planMemory(ArrayRef<StorageClass> classes, unsigned block, ArrayRef<StringAttr> symbols,
                      const SymFacts &facts, MLIRContext *context) {
  MemoryPlan plan;
  plan.order = Planner(classes, block, symbols, facts).best();
  plan.below.resize(classes.size());
  SmallVector<SmallVector<SymExpr>> tops(classes.size()); // maximands of offset + size
  for (size_t n = 0; n < plan.order.size(); ++n) {
    unsigned i = plan.order[n];
    SmallVector<SymExpr> bases;
    for (unsigned j : ArrayRef(plan.order).take_front(n))
      if (conflict(classes[i], classes[j])) {
        plan.below[i].push_back(j);
        for (SymExpr top : tops[j])
          addMaximand(bases, top, facts);
      }
    if (bases.empty())
      bases.push_back(SymExpr::constant(context, 0));
    for (SymExpr base : bases) {
      tops[i].push_back(base + classes[i].bytes);
      addMaximand(plan.peaks, tops[i].back(), facts);
    }
  }
  if (plan.peaks.empty())
    plan.peaks.push_back(SymExpr::constant(context, 0));
  return plan;
}

} // namespace weft
