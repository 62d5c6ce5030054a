// From words to a tree.
#ifndef WEFT_EMULATED_TEXT_PARSER_H
#define WEFT_EMULATED_TEXT_PARSER_H

#include "runtime/plugins/emulated/text/lexer.h"

namespace weft_emulated {

/// What a module may have at most: text that nests or grows without end is refused.
constexpr size_t most_scopes = 100000, most_statements = 4000000, most_registers = 400000;
constexpr uint64_t most_variable_bytes = uint64_t(1) << 28;
constexpr int deepest_operand = 8;

class parser {
public:
  explicit parser(std::string_view text) : in(text) {}
  module_text module();

private:
  void directive(module_text &module);
  void target(module_text &module);
  void function(module_text &module, bool is_entry);
  void parameters(std::vector<variable> &into);
  void limits(function_text &made);
  /// The rest of a declaration, behind ".shared" or the like.
  variable declare(space where, bool is_extern);
  void initial(variable &into);
  void initial_value(variable &into);
  void add_variable(std::unordered_map<std::string, variable> &to, variable &&added);

  void body(function_text &made);
  void body_directive(function_text &made, const std::string &name);
  void registers(scope_text &scope);
  void add_register(scope_text &scope, std::string name, type element);
  void label_or_statement(function_text &made);
  void branch_targets(scope_text &scope, const std::string &label);
  void instruction(function_text &made);
  void implicit(function_text &made);

  operand_text operand(int depth = 0);
  operand_text atom(int depth);
  operand_text group(char close, operand_text::kind_t kind, int depth);
  operand_text address(int depth);

  lexer in;
  int scope = -1;
  size_t register_count = 0;
};

} // namespace weft_emulated

#endif
