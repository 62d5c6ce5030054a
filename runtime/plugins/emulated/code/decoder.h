// Decodes one instruction: its modifiers and operands are taken one by one, and what nobody took is refused.
#ifndef WEFT_EMULATED_CODE_DECODER_H
#define WEFT_EMULATED_CODE_DECODER_H

#include <initializer_list>

#include "runtime/plugins/emulated/code/builder.h"

namespace weft_emulated {

class decoder {
public:
  decoder(builder &b, const statement &s) : b(b), s(s) {}

  instruction decode();

  // Modifiers.
  bool take(std::string_view name);
  /// Takes those of the names that are there, which change nothing that is imitated.
  void ignore(std::initializer_list<std::string_view> names);
  /// The next modifier that is a type; a finding when there is none.
  type take_type();
  bool has_type() const;
  /// Takes the first of the names that is there and gives its place, or -1.
  int take_one(std::initializer_list<std::string_view> names);
  /// The next modifier that begins with `prefix`, without it; empty when there is none.
  std::string take_prefix(std::string_view prefix);

  // Operands, which are appended to out.o in the order of these calls.
  size_t count() const { return s.operands.size(); }
  void need(size_t least, size_t most) const;
  const operand_text &text(size_t i) const;
  void source(size_t i, uint32_t width);
  /// A register of any width, or a number of this.
  void any_source(size_t i, uint32_t width);
  void destination(size_t i, uint32_t width);
  void any_destination(size_t i);
  void predicate_source(size_t i);
  bool is_predicate(size_t i) const;
  void predicate_destination(size_t i);
  /// p|q: two destinations.
  void predicate_pair(size_t i);
  /// d|p: a register of 32 bits, or nothing, and a predicate.
  void mixed_pair(size_t i);
  void address(size_t i);
  /// {a, b, …} or a single register, of `size` elements unless that is 0.
  void vector_source(size_t i, uint32_t width, size_t size, bool is_any = false);
  void vector_destination(size_t i, uint32_t width, size_t size, bool is_any = false);
  /// Of [map, {a, b}]: the registers in the braces.
  void coordinates(size_t i, size_t size);
  /// A number that is part of the instruction.
  int64_t immediate(size_t i);
  void nothing(); ///< an operand that is not there

  void set(handler run, unit counted) { out.run = run, out.counted = counted; }
  [[noreturn]] void fail(const std::string &what) const;
  [[noreturn]] void fail_type(type t) const;
  const operand &operand_at(size_t i) const { return operands[i]; }
  int scope() const { return s.scope; }
  int line() const { return s.line; }
  const statement &written() const { return s; }

  instruction out;
  builder &b;

private:
  operand resolve(const operand_text &text, uint32_t width);
  operand resolve_name(const operand_text &text, uint32_t width);
  operand read(const operand_text &text, uint32_t width, bool is_any);
  operand write_predicate(const operand_text &text);
  operand write(const operand_text &text, uint32_t width, bool is_any);
  void add_parts(std::vector<operand> &&parts);
  void finish();

  const statement &s;
  std::vector<bool> taken;
  std::vector<operand> operands;
};

using decode_function = void (*)(decoder &);
/// What decodes instructions whose opcode begins with this word, or null.
decode_function find_decoder(std::string_view opcode);

} // namespace weft_emulated

#endif
