// Operands of instructions.
#include "runtime/plugins/emulated/text/parser.h"

#include <cstring>

namespace weft_emulated {

operand_text parser::group(char close, operand_text::kind_t kind, int depth) {
  operand_text result;
  result.kind = kind;
  if (in.eat(close))
    return result;
  do
    result.parts.push_back(operand(depth + 1));
  while (in.eat(','));
  in.expect(close);
  return result;
}

static void negate(operand_text &number) {
  double real;
  switch (number.kind) {
  case operand_text::integer:
    number.bits = 0 - number.bits;
    return;
  case operand_text::single:
    number.bits ^= 0x80000000u;
    return;
  default:
    std::memcpy(&real, &number.bits, 8);
    real = -real;
    std::memcpy(&number.bits, &real, 8);
  }
}

operand_text parser::atom(int depth) {
  if (depth > deepest_operand)
    in.fail("operands are nested too deeply");
  if (in.eat('!')) {
    operand_text result = atom(depth + 1);
    result.is_negated = !result.is_negated;
    return result;
  }
  if (in.eat('{'))
    return group('}', operand_text::vector, depth);
  if (in.eat('('))
    return group(')', operand_text::list, depth);
  char first = in.next();
  if (first == '-' || (first >= '0' && first <= '9')) {
    bool is_minus = in.eat('-');
    operand_text result = in.number();
    if (is_minus)
      negate(result);
    return result;
  }
  operand_text result;
  result.text = in.name();
  if (result.text == "_")
    result.kind = operand_text::sink;
  return result;
}

operand_text parser::address(int depth) {
  operand_text result;
  result.kind = operand_text::address;
  result.parts.push_back(atom(depth + 1));
  if (in.eat('+'))
    result.offset = in.integer();
  else if (in.next() == '-')
    result.offset = in.integer();
  while (in.eat(','))
    result.parts.push_back(operand(depth + 1));
  in.expect(']');
  return result;
}

operand_text parser::operand(int depth) {
  if (depth > deepest_operand)
    in.fail("operands are nested too deeply");
  if (in.eat('['))
    return address(depth);
  operand_text first = atom(depth);
  if (first.kind == operand_text::name && in.eat('+')) {
    operand_text sum;
    sum.kind = operand_text::address;
    sum.offset = in.integer();
    sum.parts.push_back(std::move(first));
    return sum;
  }
  if (!in.eat('|'))
    return first;
  operand_text both;
  both.kind = operand_text::pair;
  both.parts.push_back(std::move(first));
  both.parts.push_back(atom(depth));
  return both;
}

} // namespace weft_emulated
