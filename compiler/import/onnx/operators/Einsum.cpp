//===- Einsum.cpp - Einstein summation as contractions of two operands at a time --------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// One name per dimension: letters, and ".0", ".1", ... for those under an ellipsis, from the right.
using Labels = SmallVector<std::string>;

struct Term {
  Value value;
  Labels labels;
};

bool contains(const Labels &labels, StringRef label) { return llvm::is_contained(labels, label); }

/// Reads "b...ij" with `hidden` dimensions under the ellipsis.
std::optional<Labels> parseTerm(NodeImport &n, StringRef text, unsigned hidden) {
  Labels labels;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      for (unsigned k = hidden; k-- > 0;)
        labels.push_back("." + std::to_string(k));
      continue;
    }
    std::string letter(1, text.front());
    if (!llvm::isAlpha(letter[0]))
      return n.wrong("the equation has an unexpected '" + letter + "'"), std::nullopt;
    labels.push_back(letter);
    text = text.drop_front();
  }
  return labels;
}

class Einsum {
public:
  explicit Einsum(NodeImport &n) : n(n) {}

  Value run(StringRef equation) {
    std::string compact = equation.str();
    llvm::erase_if(compact, [](char c) { return c == ' '; });
    auto [inputs, output] = StringRef(compact).split("->");
    if (!readTerms(inputs) ||
        !readOutput(StringRef(compact).contains("->") ? std::optional(output) : std::nullopt))
      return {};
    while (terms.size() > 1 && !n.refused())
      joinFirstTwo();
    return n.refused() ? Value() : reduceAndOrder(terms[0]);
  }

private:
  bool readTerms(StringRef text) {
    SmallVector<StringRef> pieces;
    text.split(pieces, ',');
    ArrayRef<Value> operands = n.allInputs();
    if (pieces.size() != operands.size()) {
      n.wrong("the equation has " + Twine(pieces.size()) + " operands, but there are " +
              Twine(operands.size()));
      return false;
    }
    for (auto [piece, operand] : llvm::zip(pieces, operands)) {
      Value value = operand;
      unsigned letters = llvm::count_if(piece, [](char c) { return c != '.'; });
      bool hasEllipsis = piece.contains("...");
      if (hasEllipsis ? letters > rankOf(value) : letters != rankOf(value)) {
        n.wrong("'" + piece + "' does not fit an operand of rank " + Twine(rankOf(value)));
        return false;
      }
      unsigned hidden = rankOf(value) - letters;
      mostHidden = std::max(mostHidden, hidden);
      std::optional<Labels> labels = parseTerm(n, piece, hidden);
      if (!labels)
        return false;
      takeDiagonals(value, *labels);
      terms.push_back({value, *labels});
    }
    return agree();
  }

  /// A letter that occurs twice reads the diagonal: elements i*(n + 1) of both dimensions in a row.
  void takeDiagonals(Value &value, Labels &labels) {
    for (unsigned first = 0; value && first < labels.size(); ++first) {
      const auto *again = std::find(labels.begin() + first + 1, labels.end(), labels[first]);
      if (again == labels.end())
        continue;
      unsigned second = again - labels.begin(), last = labels.size() - 1;
      SymExpr size = typeOf(value).getDim(first);
      if (!n.requireEqual(typeOf(value).getDim(second), size, "dimension '" + labels[first] + "'"))
        return;
      value = n.moveDim(n.moveDim(n.refine(value, second, size), second, last), first, last - 1);
      if (!value)
        return;
      std::string label = labels[first];
      labels.erase(labels.begin() + second);
      labels.erase(labels.begin() + first);
      labels.push_back(label);
      Dims joined(ArrayRef<SymExpr>(typeOf(value).getDims()).drop_back(2));
      joined.push_back(size * size);
      Value position = n.mul(n.iota(size, 0, n.i64()), n.number(n.i64(), size + 1));
      value = n.gather(n.reshape(value, joined), position, joined.size() - 1, Outside::Clamped);
      --first; // a letter may occur three times
    }
  }

  /// A label has one size in all operands, into which they broadcast.
  bool mergeSizes(const Term &term) {
    Dims known;
    for (const std::string &label : term.labels)
      known.push_back(sizes.try_emplace(label, n.constant(1)).first->second);
    if (!n.mergeDims(known, typeOf(term.value).getDims()))
      return false;
    for (auto [label, size] : llvm::zip(term.labels, known))
      sizes[label] = size;
    return true;
  }

  bool agree() {
    if (n.refused() || !llvm::all_of(terms, [&](const Term &term) { return mergeSizes(term); }))
      return false;
    for (Term &term : terms) {
      Dims dims;
      for (const std::string &label : term.labels)
        dims.push_back(sizes[label]);
      term.value = n.applyDims(term.value, dims);
    }
    return !n.refused();
  }

  bool readOutput(std::optional<StringRef> text) {
    if (text) {
      std::optional<Labels> labels = parseTerm(n, *text, mostHidden);
      if (!labels)
        return false;
      output = *labels;
      for (const std::string &label : output)
        if (llvm::count(output, label) > 1)
          return n.wrong("'" + label + "' occurs twice in the result"), false;
    } else { // what occurs once, in alphabetical order, behind the ellipsis
      std::map<std::string, unsigned> counts;
      for (const Term &term : terms)
        for (const std::string &label : term.labels)
          ++counts[label];
      for (unsigned k = mostHidden; k-- > 0;)
        output.push_back("." + std::to_string(k));
      for (auto &[label, count] : counts)
        if (count == 1 && label[0] != '.')
          output.push_back(label);
    }
    for (const std::string &label : output)
      if (!sizes.count(label)) {
        n.wrong("'" + label + "' of the result is in no operand");
        return false;
      }
    return true;
  }

  bool neededLater(StringRef label) const {
    if (contains(output, label))
      return true;
    return llvm::any_of(ArrayRef(terms).drop_front(2),
                        [&](const Term &t) { return contains(t.labels, label); });
  }

  /// The name of a label in a rule.
  static std::string factor(StringRef label) {
    return label[0] == '.' ? ("e" + label.drop_front()).str() : label.str();
  }

  void joinFirstTwo() {
    Term &a = terms[0], &b = terms[1];
    Labels result;
    std::string out;
    for (const Labels *labels : {&a.labels, &b.labels})
      for (const std::string &label : *labels)
        if (!contains(result, label) && neededLater(label))
          result.push_back(label);
    auto accessesOf = [&](const Term &self, const Term &other) {
      SmallVector<std::string> accesses;
      for (auto [dim, label] : llvm::zip_equal(typeOf(self.value).getDims(), self.labels)) {
        const auto *found = llvm::find(other.labels, label);
        bool repeats = dim.isConstant(1) && found != other.labels.end() &&
                       !typeOf(other.value).getDim(found - other.labels.begin()).isConstant(1);
        accesses.push_back(repeats ? "1" : factor(label));
      }
      return accesses;
    };
    SmallVector<std::string> left = accessesOf(a, b), right = accessesOf(b, a);
    for (const std::string &label : result)
      out += factor(label) + " ";
    Type element = elementOf(a.value);
    Value product = n.contract(llvm::join(left, " ") + ", " + llvm::join(right, " ") + " -> " + out,
                               a.value, b.value, accumulateType(n, element));
    terms[0] = {n.convert(product, element), result};
    terms.erase(terms.begin() + 1);
  }

  Value reduceAndOrder(Term term) {
    SmallVector<int64_t> gone;
    Labels kept;
    for (auto [d, label] : llvm::enumerate(term.labels))
      if (contains(output, label))
        kept.push_back(label);
      else
        gone.push_back(d);
    Value value = n.reduce(CombinerKind::Sum, term.value, gone, /*keepDims=*/false);
    SmallVector<int64_t> order;
    for (const std::string &label : output) {
      const auto *found = llvm::find(kept, label);
      if (found == kept.end())
        return n.refuse("'" + label + "' of the result comes from no operand");
      order.push_back(found - kept.begin());
    }
    return n.transpose(value, order);
  }

  NodeImport &n;
  SmallVector<Term> terms;
  Labels output;
  std::map<std::string, SymExpr> sizes;
  unsigned mostHidden = 0;
};

void convertEinsum(NodeImport &n) {
  std::string equation = n.textAttribute("equation", "");
  n.result(Einsum(n).run(equation));
}

} // namespace

void addEinsum(OperatorTable &table) {
  table.add({"Einsum", 12, kNewestOpset, convertEinsum, 1, kAnyNumber});
}

} // namespace weft::onnx
