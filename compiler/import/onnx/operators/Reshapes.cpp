//===- Reshapes.cpp - Reshape, Flatten, Squeeze, Expand, Tile ---------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// Replaces constant 0 (copy) and -1 (the rest) in a target shape.
std::optional<Dims> resolveTarget(NodeImport &n, Value x, Dims target, bool zeroCopies) {
  std::optional<size_t> open;
  for (auto [i, entry] : llvm::enumerate(target)) {
    if (entry.isConstant(0) && zeroCopies) {
      if (i >= rankOf(x))
        return n.wrong("entry " + Twine(i) +
                       " of the shape copies a dimension that the input lacks"),
               std::nullopt;
      entry = typeOf(x).getDim(i);
    } else if (entry.isConstant(-1)) {
      if (open)
        return n.wrong("the shape has two entries of -1"), std::nullopt;
      open = i;
    } else if (!n.requireAtMost(n.constant(0), entry, "entry " + Twine(i) + " of the shape")) {
      return std::nullopt;
    }
  }
  if (open) {
    target[*open] = n.constant(1);
    SymExpr rest = n.product(target);
    if (rest.isConstant(0))
      return n.wrong("the shape has an entry of -1 beside one of 0"), std::nullopt;
    target[*open] = n.simplify(SymExpr::floordiv(typeOf(x).getElements(), rest));
  }
  return target;
}

/// A target shape of which data decide some entries (null): -1 and 0 there get their meaning when the program runs. What the entries must
/// multiply to is checked there, too.
std::optional<Dims> bindTarget(NodeImport &n, Value x, Dims target, bool zeroCopies) {
  auto number = [&](int64_t value) { return n.number(n.i64(), double(value)); };
  auto isNumber = [&](Value value, int64_t is) {
    return n.compare(CompareKind::Equal, value, number(is));
  };
  SmallVector<Value> entries;
  Value others = number(1);
  std::string meaning = zeroCopies ? "target of" : "exact target of";
  for (auto [k, entry] : llvm::enumerate(target)) {
    bool hasDim = zeroCopies && k < rankOf(x);
    if (entry && entry.isConstant(0) && hasDim)
      entry = typeOf(x).getDim(k);
    Value value = entry ? n.number(n.i64(), entry) : n.operandElement(1, k);
    if (!entry && hasDim)
      value = n.select(isNumber(value, 0), n.number(n.i64(), typeOf(x).getDim(k)), value);
    entries.push_back(value);
    others = n.mul(others, n.select(isNumber(value, -1), number(1), n.maximum(value, number(0))));
  }
  for (SymExpr dim : typeOf(x).getDims())
    meaning += " " + dim.str();
  Value all = n.number(n.i64(), typeOf(x).getElements());
  Value rest = n.div(all, n.maximum(others, number(1)));
  for (auto [k, entry] : llvm::enumerate(target)) {
    if (entry && !entry.isConstant(-1))
      continue;
    entry = n.bindOnce(1, k, meaning, {},
                       [&, k = k] { return n.select(isNumber(entries[k], -1), rest, entries[k]); });
    if (!entry)
      return std::nullopt;
  }
  return target;
}

void convertReshapeTo(NodeImport &n, const Dims &target, bool zeroCopies) {
  if (std::optional<Dims> dims = resolveTarget(n, n.input(0), target, zeroCopies))
    n.result(n.reshape(n.input(0), *dims));
}

void convertReshapeAttribute(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  auto shape = n.intsAttribute("shape");
  if (!shape || !n.input(0))
    return (void)n.wrong("attribute 'shape' is missing");
  Dims target;
  for (int64_t entry : *shape)
    target.push_back(n.constant(entry));
  convertReshapeTo(n, target, /*zeroCopies=*/true);
}

void convertReshape(NodeImport &n) {
  bool zeroCopies = n.intAttribute("allowzero", 0) == 0;
  std::optional<Dims> target = n.knownOperand(1);
  if (!target || !n.input(0))
    return;
  if (!llvm::is_contained(*target, SymExpr()))
    return convertReshapeTo(n, *target, zeroCopies);
  std::optional<Dims> dims = bindTarget(n, n.input(0), *target, zeroCopies);
  for (SymExpr dim : dims.value_or(Dims()))
    if (!n.requireAtMost(n.constant(0), dim, "the shape"))
      return;
  if (dims)
    n.result(n.reshape(n.input(0), *dims));
}

void convertFlatten(NodeImport &n) {
  int64_t rank = n.rank(0);
  int64_t given = n.intAttribute("axis", 1);
  unsigned axis =
      n.axis(given, given < 0 ? rank : rank + 1); // it may stand behind the last dimension
  Dims dims = n.dims(0);
  ArrayRef<SymExpr> all(dims);
  if (!n.refused())
    n.result(
        n.reshape(n.input(0), {n.product(all.take_front(axis)), n.product(all.drop_front(axis))}));
}

void convertSqueeze(NodeImport &n) {
  Dims dims = n.dims(0);
  auto list = n.axesOperand("axes", 1);
  SmallVector<int64_t> axes;
  if (list)
    axes = n.axes(*list, dims.size());
  else
    for (auto [d, dim] : llvm::enumerate(dims))
      if (dim.isConstant(1))
        axes.push_back(d);
  for (int64_t axis : llvm::reverse(axes)) {
    if (!n.requireEqual(dims[axis], n.constant(1), "dimension " + Twine(axis)))
      return;
    dims.erase(dims.begin() + axis);
  }
  n.result(n.reshape(n.input(0), dims));
}

void convertUnsqueeze(NodeImport &n) {
  auto list = n.axesOperand("axes", 1);
  if (!list)
    return (void)n.wrong("the axes are missing");
  n.result(n.unsqueeze(n.input(0), n.axes(*list, n.rank(0) + list->size())));
}

/// Entry `k` of a target shape that data decide: where it is 1, the dimension of `x` stays.
SymExpr bindExpanded(NodeImport &n, Value x, unsigned k, unsigned rank) {
  unsigned added = rank > rankOf(x) ? rank - rankOf(x) : 0;
  SymExpr dim = k < added ? n.constant(1) : typeOf(x).getDim(k + rankOf(x) - rank);
  if (dim.isConstant(1))
    return n.bindOnce(1, k, kItself, {}, [&] { return n.operandElement(1, k); });
  SymExpr size = n.bindOnce(1, k, "expanded " + dim.str(), {}, [&] {
    Value entry = n.operandElement(1, k), one = n.number(n.i64(), 1.0);
    return n.select(n.compare(CompareKind::Equal, entry, one), n.number(n.i64(), dim), entry);
  });
  // Also where nothing can be repeated: then it is checked, and the dimension is known.
  if (size && dim.asConstant())
    return n.requireEqual(size, dim, "entry " + Twine(k) + " of the shape") ? dim : SymExpr();
  return size;
}

void convertExpand(NodeImport &n) {
  std::optional<Dims> target = n.knownOperand(1);
  if (!target || !n.input(0))
    return;
  for (auto [k, entry] : llvm::enumerate(*target)) {
    if (!entry)
      entry = bindExpanded(n, n.input(0), k, target->size());
    if (!entry || !n.requireAtMost(n.constant(0), entry, "the shape"))
      return;
  }
  n.result(n.expandWith(n.input(0), *target));
}

/// One dimension at a time: [d] as [1, d], repeated to [r, d], read as [r*d].
Value tileDim(NodeImport &n, Value x, unsigned d, SymExpr count) {
  if (!x || count.isConstant(1))
    return x;
  Dims result = GraphBuilder::replaced(x, d, n.simplify(typeOf(x).getDim(d) * count));
  Dims apart(typeOf(x).getDims());
  if (apart[d].isConstant(1))
    return n.expandTo(x, result);
  apart.insert(apart.begin() + d, count);
  return n.reshape(n.expandTo(n.unsqueeze(x, int64_t(d)), apart), result);
}

void convertTile(NodeImport &n) {
  std::optional<Dims> repeats = n.sizesOperand(1);
  Value x = n.input(0);
  if (!repeats || !x)
    return;
  if (repeats->size() != rankOf(x))
    return (void)n.wrong("there are " + Twine(repeats->size()) + " repeats for rank " +
                         Twine(rankOf(x)));
  for (auto [d, count] : llvm::enumerate(*repeats))
    if (n.requireAtMost(n.constant(0), count, "repeat " + Twine(d)))
      x = tileDim(n, x, d, count);
  n.result(x);
}

} // namespace

void addReshapes(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Reshape", 1, 4, convertReshapeAttribute});
  table.add({"Reshape", 5, newest, convertReshape, 2, 2});
  table.add({"Flatten", 1, newest, convertFlatten});
  table.add({"Squeeze", 1, newest, convertSqueeze, 1, 2});
  table.add({"Unsqueeze", 1, newest, convertUnsqueeze, 1, 2});
  table.add({"Expand", 8, newest, convertExpand, 2, 2});
  table.add({"Tile", 6, newest, convertTile, 2, 2});
}

} // namespace weft::onnx
