// Random goals under random facts: no Yes and no No is refuted by any point of a box. The share of Unknown is printed.
#include "Helpers.h"
#include <algorithm>
#include <chrono>

using namespace weft;
using namespace weft::test;

namespace {
/// A predicate as it was written.
struct TreePred {
  struct Clause {
    bool equality;
    Tree lhs, rhs;
  };
  std::vector<Clause> clauses;

  SymPred build(mlir::MLIRContext &context) const {
    llvm::SmallVector<SymPred> alternatives;
    for (const Clause &clause : clauses) {
      SymExpr lhs = clause.lhs.build(context), rhs = clause.rhs.build(context);
      alternatives.push_back(clause.equality ? SymPred::equal(lhs, rhs) : SymPred::le(lhs, rhs));
    }
    return SymPred::either(alternatives);
  }
  std::optional<bool> evaluate(llvm::ArrayRef<int64_t> symbols) const {
    bool holds = false;
    for (const Clause &clause : clauses) {
      std::optional<int64_t> lhs = clause.lhs.evaluate(symbols), rhs = clause.rhs.evaluate(symbols);
      if (!lhs || !rhs)
        return std::nullopt;
      holds |= clause.equality ? *lhs == *rhs : *lhs <= *rhs;
    }
    return holds;
  }
};

struct Outcome {
  unsigned yes = 0, no = 0, unknown = 0, decidable = 0, missed = 0;
  double worst = 0, total = 0;
  std::string worstGoal;
};
} // namespace

static Tree constant(int64_t value) {
  Tree tree;
  tree.value = value;
  return tree;
}
static Tree symbol(Random &random) {
  Tree tree;
  tree.op = 's';
  tree.value = int64_t(random() % 3);
  return tree;
}
static Tree binary(char op, Tree a, Tree b) {
  Tree tree;
  tree.op = op;
  tree.operands = {std::move(a), std::move(b)};
  return tree;
}

/// Small trees over three symbols with small constants, so that relations are neither always true nor always false.
static Tree smallTree(Random &random, unsigned depth) {
  if (depth == 0 || random() % 5 == 0)
    return random() % 3 == 0 ? constant(int64_t(random() % 7) - 1) : symbol(random);
  char op = "+++--*/%^mMb"[random() % 12];
  Tree a = smallTree(random, depth - 1);
  if (op == '/' || op == '%' || op == '^')
    return binary(op, a,
                  random() % 6 == 0 ? symbol(random) : constant(pick(random, {1, 2, 3, 4, 6, 8})));
  return binary(op, a, smallTree(random, depth - 1));
}

static TreePred randomFact(Random &random) {
  switch (random() % 8) {
  case 0:
    return {{{false, constant(1 + random() % 3), symbol(random)}}};
  case 1:
    return {{{false, symbol(random), constant(2 + random() % 6)}}};
  case 2: {
    int64_t k = pick(random, {2, 3, 4, 8});
    return {
        {{true, binary('%', symbol(random), constant(k)), constant(random() % 3 == 0 ? 1 : 0)}}};
  }
  case 3:
    return {{{true, symbol(random), binary('+', symbol(random), symbol(random))}}};
  case 4:
    return {{{false, binary('+', symbol(random), symbol(random)), constant(3 + random() % 8)}}};
  case 5:
    return {{{true, symbol(random), symbol(random)}, {true, symbol(random), constant(1)}}};
  case 6:
    return {{{false, symbol(random), symbol(random)}}};
  default:
    return {{{random() % 3 == 0, smallTree(random, 2), smallTree(random, 2)}}};
  }
}

/// What brute force sees: whether the goal holds somewhere and whether it fails somewhere among the points that satisfy the facts.
static std::pair<bool, bool> enumerate(llvm::ArrayRef<TreePred> facts, const TreePred &goal) {
  std::pair<bool, bool> seen{false, false};
  constexpr int64_t side = 9;
  for (int64_t n = 0; n < side; ++n)
    for (int64_t m = 0; m < side; ++m)
      for (int64_t p = 0; p < side; ++p) {
        int64_t point[] = {n, m, p, 0};
        if (!llvm::all_of(
                facts, [&](const TreePred &fact) { return fact.evaluate(point).value_or(false); }))
          continue;
        if (std::optional<bool> holds = goal.evaluate(point))
          (*holds ? seen.first : seen.second) = true;
      }
  return seen;
}

static void check(mlir::MLIRContext &context, llvm::ArrayRef<TreePred> facts, const TreePred &goal,
                  bool boxed, Outcome &outcome) {
  SymFacts known(&context);
  for (const TreePred &fact : facts)
    known = known.with(fact.build(context));
  SymPred pred = goal.build(context);
  auto start = std::chrono::steady_clock::now();
  Proof proof = known.prove(pred);
  std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  outcome.total += passed.count();
  if (passed.count() > outcome.worst) {
    outcome.worst = passed.count();
    outcome.worstGoal = pred.str();
    for (const SymPred &fact : known.facts())
      outcome.worstGoal += "; " + fact.str();
  }
  auto [holds, fails] = enumerate(facts, goal);
  if ((proof == Proof::Yes && fails) || (proof == Proof::No && holds)) {
    std::string given;
    for (const SymPred &fact : known.facts())
      given += fact.str() + "; ";
    FAIL((proof == Proof::Yes ? "wrong yes: " : "wrong no: ") << given << "|- " << pred.str());
  }
  (proof == Proof::Yes ? outcome.yes : proof == Proof::No ? outcome.no : outcome.unknown)++;
  if (boxed && holds != fails) {
    outcome.decidable++;
    outcome.missed += proof == Proof::Unknown;
  }
}

TEST_CASE("no proof is refuted by a point of the box") {
  Random random(99);
  Outcome outcome;
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  constexpr unsigned rounds = 6000;
  for (unsigned round = 0; round < rounds; ++round) {
    if (round % 1000 == 0)
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    std::vector<TreePred> facts;
    for (unsigned i = random() % 4; i > 0; --i)
      facts.push_back(randomFact(random));
    // In every second round the facts confine the symbols to the box, and brute force knows the answer.
    bool boxed = round % 2 == 0;
    for (int64_t i = 0; boxed && i < 3; ++i) {
      Tree name;
      name.op = 's';
      name.value = i;
      facts.push_back({{{false, name, constant(8)}}});
    }
    TreePred goal{{{random() % 2 == 0, smallTree(random, 2), smallTree(random, 2)}}};
    if (random() % 5 == 0)
      goal.clauses.push_back({random() % 2 == 0, smallTree(random, 1), smallTree(random, 2)});
    check(*context, facts, goal, boxed, outcome);
  }
  WARN(outcome.yes << " yes, " << outcome.no << " no, " << outcome.unknown << " unknown; of "
                   << outcome.decidable << " decidable in a box " << outcome.missed << " missed; "
                   << 1000 * outcome.total / rounds << " us on average, slowest " << outcome.worst
                   << " ms: " << outcome.worstGoal);
  CHECK(outcome.yes > 500);
  CHECK(outcome.no > 500);
  CHECK(outcome.missed * 10 < outcome.decidable);
}

TEST_CASE("bounds contain every value and simplify keeps it") {
  Random random(123);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  unsigned points = 0, simplified = 0;
  for (unsigned round = 0; round < 2500; ++round) {
    std::vector<TreePred> facts;
    for (unsigned i = random() % 4; i > 0; --i)
      facts.push_back(randomFact(random));
    SymFacts known(&context);
    for (const TreePred &fact : facts)
      known = known.with(fact.build(context));
    Tree tree = smallTree(random, 3);
    SymExpr expr = tree.build(context), simple = known.simplify(expr);
    SymInterval range = known.bounds(expr);
    simplified += simple != expr;
    for (unsigned i = 0; i < 200; ++i) {
      int64_t point[] = {int64_t(random() % 9), int64_t(random() % 9), int64_t(random() % 9), 0};
      std::optional<int64_t> value = tree.evaluate(point);
      if (!value || !llvm::all_of(facts, [&](const TreePred &fact) {
            return fact.evaluate(point).value_or(false);
          }))
        continue;
      ++points;
      INFO(expr.str() << " = " << *value << ", simplified " << simple.str());
      for (const SymPred &fact : known.facts())
        UNSCOPED_INFO("fact " << fact.str());
      bool inside = (!range.low || *range.low <= *value) && (!range.high || *value <= *range.high);
      mlir::FailureOr<int64_t> again = simple.evaluate(valuesOf(context, point));
      if (!inside || mlir::failed(again) || *again != *value) {
        CHECK(inside);
        REQUIRE(mlir::succeeded(again));
        REQUIRE(*again == *value);
      }
    }
    for (unsigned i = 0; i < 3; ++i) {
      int64_t divisor = known.divisor(mlir::StringAttr::get(&context, symbolName(i)));
      REQUIRE(divisor >= 1);
    }
  }
  CHECK(points > 20000);
  CHECK(simplified > 200);
}
