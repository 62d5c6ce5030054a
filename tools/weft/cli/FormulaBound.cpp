//===- FormulaBound.cpp - Bounds of divisions and maxima as polynomials -----------------------===//
//
// Every function of the formula language lies between two polynomials with rational coefficients:
//
//   (a - k + 1)/k <= floordiv(a, k) <= a/k        a/k <= ceildiv(a, k) <= (a + k - 1)/k
//
// A product is bounded factor by factor: c*f*rest with rest >= 0 is at most c times the upper bound
// of f when c > 0, else c times the lower bound, times rest; the products that this gives are bounded
// again. A function that may be negative down to -k becomes (f + k) - k first, so that `rest` never is.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/Formula.h"
#include "tools/weft/cli/FormulaTree.h"

#include <algorithm>
#include <map>
#include <vector>

namespace weft::cli {

namespace {

/// With denominator 0 after an overflow, which every operation keeps.
class Rational {
public:
  using Wide = __int128;
  Rational(Wide over = 0, Wide under = 1) : over(over), under(under) { reduce(); }

  friend Rational operator+(Rational a, Rational b) {
    Wide left, right, sum, under;
    bool bad = overflows(a.over, b.under, &left) || overflows(b.over, a.under, &right) ||
               __builtin_add_overflow(left, right, &sum) || overflows(a.under, b.under, &under);
    return bad ? Rational(0, 0) : Rational(sum, under);
  }
  friend Rational operator*(Rational a, Rational b) {
    Wide over, under;
    bool bad = overflows(a.over, b.over, &over) || overflows(a.under, b.under, &under);
    return bad ? Rational(0, 0) : Rational(over, under);
  }
  friend bool operator<(Rational a, Rational b) { return (a + b * -1).over < 0; }

  bool isDefined() const { return under != 0; }
  bool isNegative() const { return over < 0; }
  bool isZero() const { return over == 0; }
  /// The least whole number that is not smaller; nothing beyond 64 bits.
  std::optional<int64_t> ceiling() const {
    if (under == 0)
      return std::nullopt;
    Wide value = over / under + (over > 0 && over % under != 0);
    return value == Wide(int64_t(value)) ? std::optional<int64_t>(int64_t(value)) : std::nullopt;
  }

private:
  static constexpr Wide most = Wide(1) << 126; // so that the negative of a number is one

  static Wide magnitude(Wide a) { return a < 0 ? -a : a; }
  /// Compilers' own check of so wide a product calls a function that not every system's library has.
  static bool overflows(Wide a, Wide b, Wide *out) {
    if (b != 0 && magnitude(a) > most / magnitude(b))
      return true;
    *out = a * b;
    return false;
  }

  void reduce() {
    if (over < -most)
      over = under = 0;
    Wide a = magnitude(over), b = under;
    while (b != 0)
      std::swap(a %= b, b);
    if (under == 0 || a <= 1)
      return;
    over /= a;
    under /= a;
  }

  Wide over, under;
};

/// The symbols of a product, sorted; a square has one twice.
using Monomial = std::vector<std::string>;

struct Order {
  bool operator()(const Monomial &a, const Monomial &b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};
using Polynomial = std::map<Monomial, Rational, Order>;

class Bounder {
public:
  Polynomial bound(const Sum &sum, bool upper) {
    Polynomial total;
    for (const Product &product : sum)
      addProduct(product, upper, total);
    return total;
  }

  /// False when some bound was not found: what bound() gave means nothing.
  bool succeeded() const { return found; }

private:
  /// A function that is not negative once `shift` is added.
  struct Factor {
    const Atom *atom;
    int64_t shift;
  };

  struct Rest {
    Rational coefficient;
    Monomial symbols;
    std::vector<Factor> factors;
  };

  bool spend() {
    constexpr unsigned most = 1 << 20;
    return found &= ++steps < most;
  }

  void addProduct(const Product &product, bool upper, Polynomial &total) {
    Rest rest{product.coefficient, {}, {}};
    std::vector<const Atom *> functions;
    for (const Atom &atom : product.atoms)
      if (atom.isSymbol())
        rest.symbols.push_back(atom.name);
      else
        functions.push_back(&atom);
    addShifted(rest, functions, functions.size() > 1, upper, total);
  }

  /// Moves the functions to rest.factors; one that may be negative gives two products.
  void addShifted(Rest rest, std::vector<const Atom *> functions, bool severally, bool upper,
                  Polynomial &total) {
    while (!functions.empty() && spend()) {
      const Atom *function = functions.back();
      functions.pop_back();
      int64_t shift = severally ? shiftOf(*function) : 0;
      if (shift != 0) {
        Rest without = rest;
        without.coefficient = without.coefficient * -shift;
        addShifted(without, functions, severally, upper, total);
      }
      rest.factors.push_back({function, shift});
    }
    addBounded(std::move(rest), upper, total);
  }

  void addBounded(Rest rest, bool upper, Polynomial &total) {
    if (!spend())
      return;
    if (rest.factors.empty()) {
      std::sort(rest.symbols.begin(), rest.symbols.end());
      Rational &sum = total[rest.symbols];
      sum = sum + rest.coefficient;
      found &= sum.isDefined();
      return;
    }
    Factor factor = rest.factors.back();
    rest.factors.pop_back();
    Polynomial known = boundAtom(*factor.atom, rest.coefficient.isNegative() != upper);
    known[{}] = known[{}] + factor.shift;
    for (const auto &[symbols, coefficient] : known) {
      Rest next = rest;
      next.coefficient = next.coefficient * coefficient;
      next.symbols.insert(next.symbols.end(), symbols.begin(), symbols.end());
      if (!next.coefficient.isZero() || !next.coefficient.isDefined())
        addBounded(std::move(next), upper, total);
    }
  }

  /// The least k >= 0 with atom + k >= 0 that its lower bound shows: values are whole numbers.
  int64_t shiftOf(const Atom &atom) {
    Polynomial low = boundAtom(atom, false);
    Rational least = low[{}];
    low.erase(Monomial());
    for (const auto &[symbols, coefficient] : low)
      found &= !coefficient.isNegative();
    std::optional<int64_t> atLeast = least.ceiling();
    found &= atLeast.has_value();
    return found ? std::max<int64_t>(0, -*atLeast) : 0;
  }

  bool isNonNegative(const Polynomial &polynomial) {
    return std::none_of(polynomial.begin(), polynomial.end(),
                        [](const auto &term) { return term.second.isNegative(); });
  }

  Polynomial boundAtom(const Atom &atom, bool upper) {
    const std::vector<Sum> &arguments = atom.arguments;
    if (!spend())
      return {};
    if (atom.isSymbol())
      return symbol(atom.name);
    if (atom.name.empty() && arguments.size() == 1)
      return bound(arguments[0], upper);
    if (atom.name == "max")
      return termwise(arguments, upper, upper);
    if (atom.name == "min")
      return upper ? simplest(arguments) : termwise(arguments, false, false);
    if (atom.name == "pos" && arguments.size() == 1)
      return boundPositive(arguments[0], upper);
    if (atom.name == "bcast" && arguments.size() == 2) // one of them
      return termwise(arguments, upper, upper);
    if (arguments.size() == 2)
      return boundDivision(atom.name, arguments[0], arguments[1], upper);
    found = false;
    return {};
  }

  static Polynomial symbol(const std::string &name) {
    Polynomial one;
    one[Monomial{name}] = 1;
    return one;
  }

  /// The largest, or least, coefficient of every product: symbols are not negative.
  Polynomial termwise(const std::vector<Sum> &sums, bool upper, bool largest) {
    Polynomial result = bound(sums[0], upper);
    for (size_t i = 1; i < sums.size(); ++i) {
      Polynomial next = bound(sums[i], upper);
      for (const auto &[symbols, coefficient] : next)
        result.try_emplace(symbols, 0);
      for (auto &[symbols, coefficient] : result) {
        auto other = next.find(symbols);
        Rational value = other == next.end() ? Rational(0) : other->second;
        if (largest ? coefficient < value : value < coefficient)
          coefficient = value;
      }
    }
    return result;
  }

  /// Each is an upper bound of their minimum: that of the lowest degree.
  Polynomial simplest(const std::vector<Sum> &sums) {
    std::optional<Polynomial> best;
    for (const Sum &sum : sums) {
      Polynomial next = bound(sum, true);
      auto degree = [](const Polynomial &p) { return p.empty() ? 0 : p.begin()->first.size(); };
      if (!best || degree(next) < degree(*best))
        best = std::move(next);
    }
    return *best;
  }

  Polynomial boundPositive(const Sum &sum, bool upper) {
    Polynomial result = bound(sum, upper);
    if (!upper && !isNonNegative(result))
      return {};
    for (auto &[symbols, coefficient] : result)
      if (coefficient.isNegative())
        coefficient = 0;
    return result;
  }

  static std::optional<int64_t> constant(const Sum &sum) {
    bool isNumber = sum.size() == 1 && sum[0].atoms.empty();
    return isNumber ? std::optional<int64_t>(sum[0].coefficient) : std::nullopt;
  }

  Polynomial boundDivision(const std::string &name, const Sum &dividend, const Sum &divisor,
                           bool upper) {
    std::optional<int64_t> k = constant(divisor);
    if (k && *k < 1)
      found = false;
    if (name == "mod") {
      Polynomial most = upper ? bound(divisor, true) : Polynomial();
      if (upper)
        most[{}] = most[{}] + -1;
      return most;
    }
    bool isCeiling = name == "ceildiv";
    found &= isCeiling || name == "floordiv";
    if (k)
      return scaled(bound(dividend, upper), upper == isCeiling ? (upper ? *k - 1 : 1 - *k) : 0, *k);
    // By something that is 1 at least.
    found &= isNonNegative(bound(dividend, false));
    return upper ? bound(dividend, true) : Polynomial();
  }

  /// (polynomial + addend) / k
  static Polynomial scaled(Polynomial polynomial, int64_t addend, int64_t k) {
    polynomial[{}] = polynomial[{}] + addend;
    for (auto &[symbols, coefficient] : polynomial)
      coefficient = coefficient * Rational(1, k);
    return polynomial;
  }

  bool found = true;
  unsigned steps = 0;
};

std::optional<std::string> print(const Polynomial &polynomial) {
  std::string text;
  for (const auto &[symbols, coefficient] : polynomial) {
    std::optional<int64_t> value = coefficient.ceiling();
    if (!value || *value == INT64_MIN)
      return std::nullopt;
    if (*value == 0)
      continue;
    text += text.empty() ? (*value < 0 ? "-" : "") : *value < 0 ? " - " : " + ";
    std::string product = std::to_string(std::abs(*value));
    if (product == "1" && !symbols.empty())
      product.clear();
    for (const std::string &symbol : symbols)
      product += (product.empty() ? "" : "*") + symbol;
    text += product;
  }
  return text.empty() ? "0" : text;
}

/// In columns, not bytes of UTF-8.
size_t widthOf(const std::string &text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

std::optional<std::string> boundFormula(std::string_view text) {
  std::optional<Sum> sum = parseFormula(text);
  if (!sum)
    return std::nullopt;
  Bounder bounder;
  Polynomial upper = bounder.bound(*sum, true);
  return bounder.succeeded() ? print(upper) : std::nullopt;
}

std::string showFormula(const std::string &name, std::string_view formula, const std::string &unit,
                        FormulaStyle style) {
  constexpr size_t most = 140;
  auto pretty = [&](std::string_view text) {
    return style.rounded ? roundFormula(text, style.unicode) : beautifyFormula(text, style.unicode);
  };
  std::string behind = unit.empty() ? "" : " " + unit, all = pretty(formula);
  size_t width = widthOf(all);
  if (style.whole || width <= most)
    return name + " = " + all + behind;
  if (std::optional<std::string> bound = boundFormula(formula))
    if (std::string simple = pretty(*bound); widthOf(simple) <= most)
      return name + (style.unicode ? " ≤ " : " <= ") + simple + behind +
             " (simplified: see -v, inspect --at)";
  return name + " = a formula of " + std::to_string(width) + " characters: see -v, inspect --at";
}

} // namespace weft::cli
