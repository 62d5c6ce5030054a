// Words, numbers and signs of PTX text, one after the other.
#ifndef WEFT_EMULATED_TEXT_LEXER_H
#define WEFT_EMULATED_TEXT_LEXER_H

#include "runtime/plugins/emulated/text/syntax.h"

namespace weft_emulated {

class lexer {
public:
  explicit lexer(std::string_view text) : text(text) {}

  int line() const { return at_line; }
  [[noreturn]] void fail(const std::string &what) const { throw text_error(at_line, what); }

  /// Behind spaces and comments. The compiler's comments "implicit-def: %r" name registers that are defined by nobody on purpose.
  void skip();
  bool is_end() {
    skip();
    return at >= text.size();
  }
  /// The next character that means something, 0 at the end.
  char next() {
    skip();
    return peek(0);
  }
  bool eat(char sign);
  void expect(char sign);
  /// A name, an opcode or a directive: letters, digits, '_', '.', '%', '$' and "::". Empty when there is none.
  std::string word();
  /// The same, which must be there.
  std::string name();
  /// What begins with a digit: an operand of a kind of number.
  operand_text number();
  int64_t integer();
  /// An integer in [0, most].
  uint64_t count(uint64_t most);
  void skip_line();
  /// Everything up to this sign, and the sign.
  void skip_behind(char sign);
  /// "quoted"
  void quoted();

  std::vector<std::string> take_implicit() { return std::move(implicit); }

  struct mark {
    size_t at;
    int line;
  };
  mark here() const { return {at, at_line}; }
  void back_to(mark m) { at = m.at, at_line = m.line; }
  /// What is next, for a message.
  std::string near() const;

private:
  char peek(size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : 0; }
  void comment(std::string_view body);

  std::string_view text;
  size_t at = 0;
  int at_line = 1;
  std::vector<std::string> implicit;
};

} // namespace weft_emulated

#endif
