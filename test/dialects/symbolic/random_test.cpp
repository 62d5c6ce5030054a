// Random expressions against a tree that is evaluated as written: construction, text, substitution, order of terms.
#include "Helpers.h"
#include <algorithm>

using namespace weft;
using namespace weft::test;

static llvm::SmallVector<int64_t> randomValues(Random &random, unsigned round) {
  llvm::SmallVector<int64_t> values;
  for (unsigned i = 0; i < kSymbols; ++i)
    values.push_back(
        pick(random, round % 4 == 3
                         ? llvm::ArrayRef<int64_t>{0, 1, 2147483647, 1000003, 65536}
                         : llvm::ArrayRef<int64_t>{0, 1, 1, 2, 3, 5, 7, 8, 13, 16, 31, 64, 97}));
  return values;
}

TEST_CASE("100000 random expressions keep their values and their text") {
  Random random(20240607);
  unsigned evaluations = 0, overflows = 0, undefined = 0;
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  for (unsigned round = 0; round < 100000; ++round) {
    if (round % 20000 == 0) // uniqued nodes live as long as the context
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    Tree tree = randomTree(random, 1 + round % 4);
    SymExpr expr = tree.build(*context);
    if (expr.isOverflow()) {
      ++overflows;
      continue;
    }
    for (unsigned i = 0; i < 4; ++i) {
      llvm::SmallVector<int64_t> values = randomValues(random, i);
      std::optional<int64_t> expected = tree.evaluate(values);
      if (!expected) {
        ++undefined;
        continue;
      }
      ++evaluations;
      mlir::FailureOr<int64_t> value = expr.evaluate(valuesOf(*context, values));
      if (mlir::failed(value) || *value != *expected) {
        // An operand of a normal form may leave 64 bits where the tree did not, only with large values.
        if (mlir::failed(value) && i == 3)
          continue;
        INFO(expr.str() << " at n=" << values[0] << " m=" << values[1] << " p=" << values[2]
                        << " s=" << values[3]);
        REQUIRE(mlir::succeeded(value));
        REQUIRE(*value == *expected);
      }
    }
    std::string text = expr.str();
    SymExpr again = parse(*context, text);
    if (again != expr) {
      INFO(text);
      REQUIRE(again.str() == text);
      REQUIRE(again == expr);
    }
  }
  WARN(evaluations << " evaluations, " << undefined << " undefined, " << overflows << " overflows");
  CHECK(evaluations > 200000);
  CHECK(overflows < 5000);
}

TEST_CASE("substitution then evaluation is evaluation of the values") {
  Random random(7);
  unsigned compared = 0;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (unsigned round = 0; round < 4000; ++round) {
    SymExpr expr = randomTree(random, 3).build(context);
    SymMap map;
    llvm::SmallVector<SymExpr> images;
    for (unsigned i = 0; i < kSymbols; ++i) {
      // Symbols stand for values >= 0, so their images are as well.
      images.push_back(SymExpr::pos(randomTree(random, 2).build(context)));
      map[mlir::StringAttr::get(&context, symbolName(i))] = images.back();
    }
    SymExpr substituted = expr.substitute(map);
    llvm::SmallVector<int64_t> values = randomValues(random, 0);
    SymValues inner = valuesOf(context, values), outer;
    for (auto [i, image] : llvm::enumerate(images))
      if (mlir::FailureOr<int64_t> value = image.evaluate(inner); mlir::succeeded(value))
        outer[mlir::StringAttr::get(&context, symbolName(i))] = *value;
    mlir::FailureOr<int64_t> expected = expr.evaluate(outer), value = substituted.evaluate(inner);
    bool mentionsBCast = expr.str().find("bcast") != std::string::npos;
    for (SymExpr image : images)
      mentionsBCast |= image.str().find("bcast") != std::string::npos;
    if (mlir::failed(expected) || mentionsBCast || substituted.isOverflow())
      continue; // bcast outside its domain has no value to keep
    ++compared;
    INFO(expr.str() << " becomes " << substituted.str());
    REQUIRE(mlir::succeeded(value));
    REQUIRE(*value == *expected);
  }
  CHECK(compared > 1500);
}

TEST_CASE("the order of terms and factors does not matter") {
  Random random(11);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (unsigned round = 0; round < 3000; ++round) {
    llvm::SmallVector<SymExpr> parts;
    for (unsigned i = 0; i < 5; ++i)
      parts.push_back(randomTree(random, 2).build(context));
    auto combine = [&](bool multiply) {
      SymExpr result = parts[0];
      for (SymExpr part : llvm::drop_begin(parts))
        result = multiply ? result * part : result + part;
      return result;
    };
    SymExpr sum = combine(false), product = combine(true);
    std::shuffle(parts.begin(), parts.end(), random);
    REQUIRE(combine(false) == sum);
    // A factor 0 may hide the overflow of the others in one order only.
    SymExpr shuffled = combine(true);
    if (!shuffled.isOverflow() && !product.isOverflow())
      REQUIRE(shuffled == product);
    SymExpr a = parts[2], b = parts[3];
    REQUIRE(SymExpr::min(a, b) == SymExpr::min(b, a));
    REQUIRE(SymExpr::max(a, b) == SymExpr::max(b, a));
    if (!a.asConstant() || !b.asConstant())
      REQUIRE(SymExpr::bcast(a, b) == SymExpr::bcast(b, a));
  }
}

TEST_CASE("normal forms are fixed points of their constructors") {
  Random random(13);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  unsigned atoms = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    SymExpr expr = randomTree(random, 3).build(context);
    for (const SymTerm &term : expr.terms())
      for (auto [atom, power] : term.factors) {
        llvm::SmallVector<SymExpr, 2> operands = atom.atomOperands();
        if (operands.empty())
          continue;
        ++atoms;
        INFO(atom.str());
        SymExpr again = *atom.asAtom() == AtomKind::Pos ? SymExpr::pos(operands[0])
                        : *atom.asAtom() == AtomKind::FloorDiv
                            ? SymExpr::floordiv(operands[0], operands[1])
                            : SymExpr::bcast(operands[0], operands[1]);
        REQUIRE(again == atom);
      }
  }
  CHECK(atoms > 10000);
}
