// Bodies of functions: registers, labels and instructions.
#include "runtime/plugins/emulated/text/parser.h"

namespace weft_emulated {

void parser::add_register(scope_text &scope, std::string name, type element) {
  if (++register_count > most_registers)
    in.fail("too many registers");
  if (!scope.registers.emplace(std::move(name), element).second)
    in.fail("a register is declared twice");
}

void parser::registers(scope_text &scope) {
  std::string text = in.name();
  std::optional<type> element = text[0] == '.' ? type_named(text.substr(1)) : std::nullopt;
  if (!element || *element == type::b128)
    in.fail("registers of type '" + text + "' are not supported");
  do {
    std::string name = in.name();
    if (in.eat('<')) {
      uint64_t count = in.count(most_registers);
      in.expect('>');
      for (uint64_t i = 0; i < count; ++i)
        add_register(scope, name + std::to_string(i), *element);
    } else {
      add_register(scope, name, *element);
    }
  } while (in.eat(','));
  in.expect(';');
}

void parser::body_directive(function_text &made, const std::string &name) {
  scope_text &here = made.scopes[size_t(scope)];
  if (name == ".reg")
    return registers(here);
  if (name == ".shared" || name == ".local" || name == ".param") {
    space where = name == ".shared"  ? space::shared
                  : name == ".local" ? space::local
                                     : space::param;
    variable added = declare(where, false);
    in.expect(';');
    return add_variable(here.variables, std::move(added));
  }
  if (name == ".loc" || name == ".file")
    return in.skip_line();
  if (name != ".pragma")
    in.fail("the directive '" + name + "' is not supported");
  in.quoted();
  in.expect(';');
}

void parser::branch_targets(scope_text &scope, const std::string &label) {
  std::vector<std::string> &targets = scope.targets[label];
  do
    targets.push_back(in.name());
  while (in.eat(','));
  in.expect(';');
}

void parser::instruction(function_text &made) {
  statement added;
  added.scope = scope;
  added.line = in.line();
  if (in.eat('@')) {
    added.is_guard_negated = in.eat('!');
    added.guard = in.name();
  }
  in.skip();
  added.line = in.line();
  std::string opcode = in.name();
  for (size_t begin = 0; begin <= opcode.size();) {
    size_t end = std::min(opcode.find('.', begin), opcode.size());
    added.opcode.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  if (in.next() != ';')
    do {
      if (added.opcode[0] == "call" && in.next() == ';')
        break;
      added.operands.push_back(operand());
    } while (in.eat(','));
  in.expect(';');
  if (made.statements.size() >= most_statements)
    in.fail("too many instructions");
  made.statements.push_back(std::move(added));
}

void parser::implicit(function_text &made) {
  for (std::string &name : in.take_implicit()) {
    statement added;
    added.line = in.line();
    added.scope = scope;
    added.opcode = {"implicit-def"};
    operand_text defined;
    defined.text = std::move(name);
    added.operands.push_back(std::move(defined));
    made.statements.push_back(std::move(added));
  }
}

void parser::label_or_statement(function_text &made) {
  lexer::mark begin = in.here();
  std::string name = in.word();
  if (!name.empty() && in.eat(':')) {
    scope_text &here = made.scopes[size_t(scope)];
    lexer::mark behind = in.here();
    if (in.next() == '.' && in.word() == ".branchtargets")
      return branch_targets(here, name);
    in.back_to(behind);
    if (!here.labels.emplace(name, made.statements.size()).second)
      in.fail("a label is there twice");
    return;
  }
  in.back_to(begin);
  instruction(made);
}

void parser::body(function_text &made) {
  in.take_implicit();
  scope = -1;
  do {
    char first = in.next();
    implicit(made);
    if (in.is_end())
      in.fail("a function does not end");
    if (in.eat('{')) {
      if (made.scopes.size() >= most_scopes)
        in.fail("too many braces");
      made.scopes.emplace_back();
      made.scopes.back().parent = scope;
      scope = int(made.scopes.size()) - 1;
    } else if (scope < 0) {
      in.expect('{');
    } else if (in.eat('}')) {
      scope = made.scopes[size_t(scope)].parent;
    } else if (first == '.') {
      body_directive(made, in.word());
    } else {
      label_or_statement(made);
    }
  } while (scope >= 0);
}

} // namespace weft_emulated
