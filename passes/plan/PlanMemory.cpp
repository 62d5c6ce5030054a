//===- PlanMemory.cpp - Search for a good order of placement ---------------------------------------===//

#include "passes/plan/PlanMemory.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace weft {
namespace {

/// Of every class of a block, those that are needed at the same time: few, where programs are long.
using Conflicts = SmallVector<SmallVector<unsigned>>;

Conflicts conflictsOf(ArrayRef<StorageClass> classes, unsigned block) {
  SmallVector<unsigned> byBirth;
  for (unsigned i = 0; i < classes.size(); ++i)
    if (classes[i].block == block)
      byBirth.push_back(i);
  llvm::stable_sort(byBirth,
                    [&](unsigned a, unsigned b) { return classes[a].birth < classes[b].birth; });
  Conflicts conflicts(classes.size());
  for (size_t n = 0; n < byBirth.size(); ++n)
    for (unsigned j : ArrayRef(byBirth).drop_front(n + 1)) {
      if (classes[j].birth > classes[byBirth[n]].death)
        break; // so are all that begin later
      conflicts[byBirth[n]].push_back(j);
      conflicts[j].push_back(byBirth[n]);
    }
  return conflicts;
}

/// Sizes at one assignment of the symbols.
using Sizes = SmallVector<int64_t>;

struct Anchor {
  Sizes sizes;
  int64_t live; ///< the most that is needed at one time, at least 1
};

class Planner {
public:
  Planner(ArrayRef<StorageClass> classes, const Conflicts &conflicts, unsigned block,
          ArrayRef<StringAttr> symbols, const SymFacts &facts)
      : classes(classes), conflicts(conflicts) {
    for (unsigned i = 0; i < classes.size(); ++i)
      if (classes[i].block == block)
        all.push_back(i);
    for (const SymValues &values : sizesToTry(symbols, facts)) {
      Sizes sizes;
      for (const StorageClass &each : classes)
        sizes.push_back(each.block == block ? each.bytes.evaluate(values).value_or(0) : 0);
      anchors.push_back({sizes, std::max<int64_t>(1, live(sizes))});
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
    for (const Anchor &anchor : anchors)
      for (int key = 0; key < 4; ++key) {
        SmallVector<unsigned> order(all);
        llvm::stable_sort(order, [&](unsigned a, unsigned b) {
          return weight(anchor.sizes, a, key) > weight(anchor.sizes, b, key);
        });
        offer(order);
        offer(byOffset(anchor.sizes, order));
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
      for (unsigned j : conflicts[i])
        if (offset[j] >= 0)
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
    SmallVector<int64_t> end(classes.size(), 0); // 0: not placed yet
    int64_t top = 0;
    for (unsigned i : order) {
      int64_t offset = 0;
      for (unsigned j : conflicts[i])
        offset = std::max(offset, end[j]);
      end[i] = offset + sizes[i];
      top = std::max(top, end[i]);
    }
    return top;
  }

  int64_t live(const Sizes &sizes) const {
    int64_t most = 0;
    for (unsigned i : all) {
      const StorageClass &at = classes[i];
      int64_t sum = sizes[i];
      for (unsigned j : conflicts[i])
        if (classes[j].birth <= at.birth && at.birth <= classes[j].death)
          sum += sizes[j];
      most = std::max(most, sum);
    }
    return most;
  }

  /// Worst ratio to the live maximum over the anchors, the mean as tie breaker.
  double costOf(ArrayRef<unsigned> order) const {
    double worst = 1, mean = 0;
    for (const Anchor &anchor : anchors) {
      double ratio = double(peak(anchor.sizes, order)) / double(anchor.live);
      worst = std::max(worst, ratio);
      mean += ratio / anchors.size();
    }
    return worst + mean / 1000;
  }

  ArrayRef<StorageClass> classes;
  const Conflicts &conflicts;
  SmallVector<unsigned> all; ///< of the block
  SmallVector<Anchor> anchors;
};

/// A sum of sizes, and what it comes to at points where the facts hold; INT64_MIN where that cannot be said.
struct Sum {
  SymExpr bytes;
  SmallVector<int64_t, 12> at;
};
constexpr int64_t kUnknown = INT64_MIN;

Sum operator+(const Sum &a, const Sum &b) {
  Sum sum{a.bytes + b.bytes, {}};
  for (auto [x, y] : llvm::zip_equal(a.at, b.at)) {
    int64_t &value = sum.at.emplace_back();
    if (x == kUnknown || y == kUnknown || llvm::AddOverflow(x, y, value))
      value = kUnknown;
  }
  return sum;
}

/// Points at which the facts hold: what is not so at one of them does not follow from the facts.
SmallVector<SymValues> pointsWithin(ArrayRef<StringAttr> symbols, const SymFacts &facts) {
  static constexpr int64_t offsets[] = {0, 1, 2, 3, 5, 8, 15, 16, 31, 64, 100, 513, 4000};
  constexpr unsigned tried = 16;
  SmallVector<SymValues> points(tried);
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    SymInterval range = facts.bounds(SymExpr::symbol(symbol));
    int64_t low = range.low.value_or(0), high = range.high.value_or(kMaxSymbolValue),
            step = facts.divisor(symbol);
    for (auto [n, point] : llvm::enumerate(points)) {
      // Each symbol goes through the offsets in strides of its own, so that one is large where another is small.
      int64_t value =
          llvm::alignTo(low + offsets[(n * (2 * i + 1) + i) % std::size(offsets)], step);
      point[symbol] = std::min(value, high);
    }
  }
  llvm::erase_if(points, [&](const SymValues &point) {
    return llvm::any_of(facts.facts(), [&](const SymPred &fact) {
      FailureOr<bool> holds = fact.evaluate(point);
      return succeeded(holds) && !*holds; // one about other symbols excludes nothing
    });
  });
  return points;
}

/// At least both for all values of the symbols: `a` and every term by which `b` is larger.
SymExpr atLeastBoth(SymExpr a, SymExpr b) {
  SymExpr result = a;
  for (const SymTerm &term : (b - a).terms()) {
    SymExpr product = SymExpr::constant(a.getContext(), term.coefficient);
    for (auto [atom, power] : term.factors)
      for (unsigned i = 0; i < power; ++i)
        product = product * atom;
    result = result + SymExpr::pos(product);
  }
  return result;
}

/// Whether the expression has a function inside of another one.
bool isNested(SymExpr expr, unsigned depth = 0) {
  return llvm::any_of(expr.terms(), [&](const SymTerm &term) {
    return llvm::any_of(term.factors, [&](const auto &factor) {
      SymExpr atom = factor.first;
      return atom.asAtom() != AtomKind::Symbol &&
             (depth > 0 || llvm::any_of(atom.atomOperands(), [&](SymExpr operand) {
                return isNested(operand, depth + 1);
              }));
    });
  });
}

/// Keeps of sums those that can be the largest. A sum that is smaller at a point is not the larger one, which saves nearly all proofs.
class LargestSums {
public:
  LargestSums(ArrayRef<StringAttr> symbols, const SymFacts &facts)
      : facts(facts), points(pointsWithin(symbols, facts)) {}

  Sum sumOf(SymExpr bytes) const {
    Sum sum{bytes, {}};
    for (const SymValues &point : points)
      sum.at.push_back(bytes.evaluate(point).value_or(kUnknown));
    return sum;
  }

  /// Adds the sum unless another is proved at least as large; drops those it dominates.
  void add(SmallVectorImpl<Sum> &list, Sum sum) {
    for (const Sum &other : list)
      if (isCovered(sum, other))
        return;
    llvm::erase_if(list, [&](const Sum &other) { return isCovered(other, sum); });
    list.push_back(std::move(sum));
    if (list.size() > kMostSums)
      join(list);
  }

  bool isExact() const { return exact; }

private:
  static constexpr size_t kMostSums = 64;
  static constexpr unsigned kMostWork = 1000; ///< of proofs
  /// Where a function is inside of another, as in sizes of ranks' parts, a proof that fails takes some hundredths of a second.
  static constexpr unsigned kWorkOfNested = 10;

  bool isCovered(const Sum &small, const Sum &large) {
    if (small.bytes == large.bytes)
      return true;
    for (auto [a, b] : llvm::zip_equal(small.at, large.at))
      if (a > b && b != kUnknown)
        return false;
    if (work >= kMostWork)
      return false;
    work += isNested(large.bytes - small.bytes) ? kWorkOfNested : 1;
    return facts.proveLE(small.bytes, large.bytes) == Proof::Yes;
  }

  /// One sum that is at least each.
  void join(SmallVectorImpl<Sum> &list) {
    SymExpr bytes = list.front().bytes;
    for (const Sum &sum : llvm::drop_begin(list))
      bytes = atLeastBoth(bytes, sum.bytes);
    list.assign({sumOf(bytes)});
    exact = false;
  }

  const SymFacts &facts;
  SmallVector<SymValues> points;
  unsigned work = 0;
  bool exact = true;
};

/// What offset + size of a class can be. Layers are alike, and so is what lies below their values: each question is answered once.
class Tops {
public:
  using Of = SmallVector<Sum>;
  explicit Tops(LargestSums &largest) : largest(largest) {}

  /// Of a class that lies above those with these tops. The answer lives as long as this.
  const Of &above(ArrayRef<const Of *> below, SymExpr bytes) {
    SmallVector<const Of *> distinct;
    for (const Of *each : below)
      if (!llvm::is_contained(distinct, each))
        distinct.push_back(each);
    Key key{bytes.asAttribute().getAsOpaquePointer()};
    key.insert(key.end(), distinct.begin(), distinct.end());
    auto [found, isNew] = known.try_emplace(std::move(key));
    if (isNew)
      fill(found->second, distinct, bytes);
    return found->second;
  }
  ArrayRef<Sum> peaks() const { return largestOfAll; }

private:
  using Key = std::vector<const void *>;

  void fill(Of &tops, ArrayRef<const Of *> below, SymExpr bytes) {
    SmallVector<Sum> bases;
    llvm::DenseSet<SymExpr> seen;
    for (const Of *each : below)
      for (const Sum &top : *each)
        if (seen.insert(top.bytes).second)
          largest.add(bases, top);
    if (bases.empty())
      bases.push_back(largest.sumOf(SymExpr::constant(bytes.getContext(), 0)));
    Sum size = largest.sumOf(bytes);
    for (const Sum &base : bases) {
      tops.push_back(base + size);
      largest.add(largestOfAll, tops.back());
    }
  }

  LargestSums &largest;
  std::map<Key, Of> known;
  SmallVector<Sum> largestOfAll;
};

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
  Conflicts conflicts = conflictsOf(classes, block);
  plan.order = Planner(classes, conflicts, block, symbols, facts).best();
  SmallVector<size_t> place(classes.size());
  for (auto [n, i] : llvm::enumerate(plan.order))
    place[i] = n;
  plan.below.resize(classes.size());
  LargestSums largest(symbols, facts);
  Tops tops(largest);
  SmallVector<const Tops::Of *> of(classes.size());
  for (unsigned i : plan.order) {
    llvm::copy_if(conflicts[i], std::back_inserter(plan.below[i]),
                  [&](unsigned j) { return place[j] < place[i]; });
    llvm::sort(plan.below[i], [&](unsigned a, unsigned b) { return place[a] < place[b]; });
    of[i] = &tops.above(llvm::map_to_vector(plan.below[i], [&](unsigned j) { return of[j]; }),
                        classes[i].bytes);
  }
  for (const Sum &peak : tops.peaks())
    plan.peaks.push_back(peak.bytes);
  plan.isExact = largest.isExact();
  if (plan.peaks.empty())
    plan.peaks.push_back(SymExpr::constant(context, 0));
  return plan;
}

} // namespace weft
