//===- Random.cpp - Code of random_uniform -----------------------------------------------------===//
//
// The generator is written as one stream: word n of the state is made anew just before it is used, from
// itself, its neighbour and the word 397 places on. Seeding, drawing and shuffling of bits are the
// definition's (MT19937, 2002 version).
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Random.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kAhead = 397;
constexpr int64_t kLow32 = 0xffffffff;

/// The state in scratch, a word of 32 bits per slot of 64.
class Generator {
public:
  explicit Generator(SerialBuilder &s) : s(s), b(s.builder()) {}

  void seed(Value number) {
    Value first = low32(number);
    s.setScratch(s.constant(0), first);
    s.loop(s.constant(1), s.constant(kRandomWords), first, [&](Value i, ValueRange last) {
      Value mixed = xorOf(last[0], shr(last[0], 30));
      Value next = low32(s.add(s.mul(mixed, s.constant(1812433253)), i));
      s.setScratch(i, next);
      return SmallVector<Value>{next};
    });
  }

  /// The word at `slot` of the stream; slots are taken in turn, from 0 to 623 and again.
  Value draw(Value slot) {
    Value high = andOf(s.scratch(slot), 0x80000000);
    Value low = andOf(s.scratch(around(s.add(slot, s.constant(1)))), 0x7fffffff);
    Value y = b.create<arith::OrIOp>(high, low);
    // 0x9908b0df where y is odd
    Value twist = s.mul(andOf(y, 1), s.constant(0x9908b0df));
    Value far = s.scratch(around(s.add(slot, s.constant(kAhead))));
    Value next = xorOf(xorOf(far, shr(y, 1)), twist);
    s.setScratch(slot, next);
    return temper(next);
  }

  /// A slot below twice 624 brought back into the state.
  Value around(Value slot) {
    Value words = s.constant(kRandomWords);
    return s.select(s.less(slot, words), slot, s.sub(slot, words));
  }

private:
  Value temper(Value y) {
    y = xorOf(y, shr(y, 11));
    y = xorOf(y, andOf(shl(y, 7), 0x9d2c5680));
    y = xorOf(y, andOf(shl(y, 15), 0xefc60000));
    return xorOf(y, shr(y, 18));
  }
  Value low32(Value x) { return andOf(x, kLow32); }
  Value andOf(Value x, int64_t mask) { return b.create<arith::AndIOp>(x, s.constant(mask)); }
  Value xorOf(Value x, Value y) { return b.create<arith::XOrIOp>(x, y); }
  Value shr(Value x, int64_t by) { return b.create<arith::ShRUIOp>(x, s.constant(by)); }
  Value shl(Value x, int64_t by) { return b.create<arith::ShLIOp>(x, s.constant(by)); }

  SerialBuilder &s;
  ImplicitLocOpBuilder &b;
};

} // namespace

/// Two words per element. 624 is even, so the second never begins the state again.
void RandomUniformOp::emitSerial(SerialBuilder &s, Value) {
  auto type = tensorType(getResult());
  auto &b = s.builder();
  Generator words(s);
  words.seed(s.load(0, {}));
  Type f64 = b.getF64Type();
  auto real = [&](Value x) { return b.create<arith::SIToFPOp>(f64, x); };
  auto number = [&](double x) { return b.create<arith::ConstantOp>(b.getF64FloatAttr(x)); };
  s.loop(
      s.constant(0), s.symbolic(type.getElements()), s.constant(0), [&](Value i, ValueRange slot) {
        Value next = s.add(slot[0], s.constant(1));
        Value a = words.draw(slot[0]), c = words.draw(next);
        // 27 bits and 26 bits are one exact double.
        Value bits = s.add(s.mul(b.create<arith::ShRUIOp>(a, s.constant(5)), s.constant(1 << 26)),
                           b.create<arith::ShRUIOp>(c, s.constant(6)));
        Value drawn = b.create<arith::MulFOp>(real(bits), number(0x1p-53));
        s.store(0, s.unflatten(i, type.getDims()), drawn);
        return SmallVector<Value>{words.around(s.add(next, s.constant(1)))};
      });
}

} // namespace weft
