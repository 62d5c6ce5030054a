// Bits, conversions between element types, and tests of single elements.
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

bool hasBits(Value v) { return isBool(v) || isInteger(v); }

bool complement(Graph &g) {
  Value x = g.pick(hasBits);
  return x && g.add(g.b.create<NotOp>(x), g.integers(g.element(x), 1e30));
}

/// A value of the same type, or one number.
Value sameElement(Graph &g, Value x) {
  Value y = g.pick([&](Value v) { return v.getType() == x.getType(); });
  return y && g.dice(3) ? y : g.fill(g.element(x), double(g.dice(9)));
}

bool combineBits(Graph &g) {
  Value x = g.pick(hasBits);
  if (!x)
    return false;
  Value y = sameElement(g, x);
  Knowledge all = g.integers(g.element(x), 1e30);
  switch (g.dice(3)) {
  case 0:
    return g.add(g.b.create<AndOp>(x, y), all);
  case 1:
    return g.add(g.b.create<OrOp>(x, y), all);
  default:
    return g.add(g.b.create<XorOp>(x, y), all);
  }
}

bool shift(Graph &g) {
  Value x = g.pick(isInteger);
  if (!x)
    return false;
  return g.add(g.b.create<ShiftOp>(ShiftKind(g.dice(2)), x, sameElement(g, x)),
               g.integers(g.element(x), 1e30));
}

bool convert(Graph &g) {
  Type to = g.randomElement();
  bool jumps = !isFloat(to);
  Value x = g.pick([&](Value v) { return !jumps || g.know(v).isExact(); }, true);
  if (!x)
    return false;
  Knowledge k = g.know(x);
  if (to.isInteger(1))
    return g.add(g.b.create<ConvertOp>(x, to), g.truth());
  if (jumps)
    return g.add(g.b.create<ConvertOp>(x, to),
                 g.integers(to, isReal(x) && k.special ? 1e30 : k.most));
  // An 8-bit float that has no infinity makes a nan of what is too large.
  if (k.most > largestOf(to) / 4 || (k.special && elementBits(to) == 8))
    return false;
  return g.add(g.b.create<ConvertOp>(x, to), g.rounded(to, k));
}

/// Floats as integers, and back to the floats they were (other bits could be any number).
bool bits(Graph &g) {
  Value x = g.pick([&](Value v) { return g.know(v).isExact() && !isBool(v); }, true);
  if (!x)
    return false;
  unsigned width = elementBits(g.element(x));
  Type to = g.dice(2) ? Type(g.b.getIntegerType(width)) : g.b.getIntegerType(width, false);
  // Two exact values may still differ in the sign of zero and the bits of a nan.
  Value source = x;
  if (isReal(x)) {
    if (g.know(x).special)
      return false;
    source = g.note(g.b.create<AbsOp>(x), g.know(x));
  }
  Value asBits = g.note(g.b.create<BitcastOp>(source, to), g.integers(to, 1e30));
  g.add(asBits, g.know(asBits));
  if (isReal(x) && g.dice(2))
    return g.add(g.b.create<BitcastOp>(asBits, g.element(x)), g.know(source));
  return true;
}

bool test(Graph &g) {
  Value x = g.pick(isReal, true);
  if (!x)
    return false;
  if (g.dice(2))
    return g.add(g.b.create<IsNanOp>(x), g.truth());
  bool positive = g.dice(2), negative = g.dice(2);
  auto type = g.type(x).withElement(g.b.getI1Type());
  return g.add(g.b.create<IsInfOp>(type, x, positive, negative), g.truth());
}

constexpr Maker kMakers[] = {
    {"complement", complement},
    {"combine_bits", combineBits, 2},
    {"shift", shift},
    {"convert", convert, 5},
    {"bits", bits},
    {"test", test},
};

} // namespace

ArrayRef<Maker> integerMakers() { return kMakers; }

} // namespace weft::test
