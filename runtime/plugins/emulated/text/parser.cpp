// Modules: directives, variables, and functions up to their bodies.
#include "runtime/plugins/emulated/text/parser.h"

#include <algorithm>
#include <cstdlib>

namespace weft_emulated {

void parser::add_variable(std::unordered_map<std::string, variable> &to, variable &&added) {
  std::string name = added.name;
  if (!to.emplace(name, std::move(added)).second)
    in.fail("a variable is declared twice");
}

void parser::initial_value(variable &into) {
  bool is_minus = in.eat('-');
  char first = in.next();
  if (first < '0' || first > '9')
    in.fail("initial values that are addresses are not supported");
  operand_text value = in.number();
  if (is_minus)
    value.bits = 0 - value.bits;
  if (into.initial.size() >= into.bytes && !into.is_unsized)
    in.fail("too many initial values");
  for (uint32_t i = 0; i < bytes_of(into.element); ++i)
    into.initial.push_back(uint8_t(value.bits >> (8 * i)));
}

void parser::initial(variable &into) {
  if (!in.eat('{'))
    return initial_value(into);
  do
    initial_value(into);
  while (in.eat(','));
  in.expect('}');
}

variable parser::declare(space where, bool is_extern) {
  variable made;
  made.where = where;
  made.line = in.line();
  bool has_type = false;
  std::string text = in.name();
  for (; text[0] == '.'; text = in.name()) {
    if (text == ".align") {
      made.alignment = uint32_t(in.count(1 << 16));
      if (made.alignment == 0 || (made.alignment & (made.alignment - 1)))
        in.fail("an alignment is a power of two");
    } else if (std::optional<type> element = type_named(text.substr(1))) {
      made.element = *element;
      has_type = true;
    } else if (text != ".ptr" && text != ".global" && text != ".noinline" && text != ".attribute") {
      in.fail("'" + text + "' is not supported in a declaration");
    }
  }
  if (!has_type || bytes_of(made.element) == 0)
    in.fail("a variable needs a type");
  made.name = text;
  made.alignment = std::max(made.alignment, bytes_of(made.element));
  uint64_t count = 1;
  while (in.eat('[')) {
    if (in.eat(']')) {
      count = 0;
      made.is_unsized = true;
      continue;
    }
    count *= in.count(most_variable_bytes);
    if (count > most_variable_bytes)
      in.fail("a variable is too large");
    in.expect(']');
  }
  made.bytes = count * bytes_of(made.element);
  if (made.bytes > most_variable_bytes)
    in.fail("a variable is too large");
  made.is_unsized |= is_extern && where == space::shared;
  if (in.eat('='))
    initial(made);
  return made;
}

void parser::parameters(std::vector<variable> &into) {
  if (in.eat(')'))
    return;
  do {
    std::string text = in.name();
    if (text != ".param" && text != ".reg")
      in.fail("a parameter is expected, not '" + text + "'");
    if (text == ".reg")
      in.fail("parameters in registers are not supported");
    into.push_back(declare(space::param, false));
    if (into.size() > 4096)
      in.fail("too many parameters");
  } while (in.eat(','));
  in.expect(')');
}

/// What stands between the parameters and the body: how it may be launched.
void parser::limits(function_text &made) {
  while (in.next() == '.') {
    std::string name = in.word();
    if (name == ".noreturn" || name == ".explicitcluster")
      continue;
    if (name != ".maxntid" && name != ".reqntid" && name != ".minnctapersm" && name != ".maxnreg" &&
        name != ".maxnctapersm" && name != ".reqnctapercluster" && name != ".maxclusterrank")
      in.fail("the directive '" + name + "' is not supported");
    uint64_t first = in.count(1 << 20);
    while (in.eat(','))
      if (in.count(1 << 20) != 1 && name == ".reqnctapercluster")
        in.fail("clusters of more than one dimension are not supported");
    if (name == ".reqnctapercluster")
      made.cluster = uint32_t(first);
  }
}

void parser::function(module_text &module, bool is_entry) {
  function_text made;
  made.is_entry = is_entry;
  made.line = in.line();
  if (in.eat('('))
    parameters(made.results);
  made.name = in.name();
  if (in.eat('('))
    parameters(made.parameters);
  limits(made);
  if (in.next() == '{') {
    made.has_body = true;
    body(made);
  } else {
    in.expect(';');
  }
  function_text &there = module.functions[made.name];
  if (there.has_body && made.has_body)
    in.fail("the function '" + made.name + "' is there twice");
  if (!there.has_body)
    there = std::move(made);
}

void parser::target(module_text &module) {
  std::string name = in.name();
  module.is_architecture_specific = name.back() == 'a';
  if (name.compare(0, 3, "sm_") != 0 || name.size() > 7)
    in.fail("a target like sm_80 is expected");
  module.architecture = std::atoi(name.c_str() + 3);
  in.skip_line();
}

void parser::directive(module_text &module) {
  std::string name = in.name();
  if (name == ".target")
    return target(module);
  if (name == ".version" || name == ".address_size" || name == ".file")
    return in.skip_line();
  if (name == ".section") // of debuggers
    return in.skip_behind('}');
  bool is_extern = false;
  while (name == ".visible" || name == ".weak" || name == ".extern" || name == ".common") {
    is_extern |= name == ".extern";
    name = in.name();
  }
  if (name == ".entry" || name == ".func")
    return function(module, name == ".entry");
  space where = space::global;
  if (name == ".const")
    where = space::constant;
  else if (name == ".shared")
    where = space::shared;
  else if (name != ".global")
    in.fail("the directive '" + name + "' is not supported");
  variable added = declare(where, is_extern);
  in.expect(';');
  if (is_extern && where != space::shared)
    in.fail("'" + added.name + "' is defined elsewhere, and nothing is linked here");
  std::string key = added.name;
  if (!module.variables.emplace(key, std::move(added)).second)
    in.fail("a variable is declared twice");
}

module_text parser::module() {
  module_text made;
  while (!in.is_end())
    directive(made);
  return made;
}

module_text parse_module(std::string_view text) { return parser(text).module(); }

} // namespace weft_emulated
