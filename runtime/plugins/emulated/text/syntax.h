// PTX text as a tree: what was written, before anything is known of its meaning.
#ifndef WEFT_EMULATED_TEXT_SYNTAX_H
#define WEFT_EMULATED_TEXT_SYNTAX_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/plugins/emulated/text/types.h"

namespace weft_emulated {

/// The text cannot be read, or says something that is not known: one line, which starts with the line's number.
struct text_error : std::runtime_error {
  text_error(int line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

struct operand_text {
  enum kind_t : uint8_t {
    name,    ///< of a register, variable, label or function
    integer, ///< bits
    single,  ///< 0f…: bits of an f32
    real,    ///< 0d… or decimal: bits of an f64
    vector,  ///< {a, b}
    list,    ///< (a, b), of a call
    pair,    ///< a|b
    address, ///< [parts[0] + offset], or [parts[0], {parts[1]}]
    sink     ///< _
  };
  kind_t kind = name;
  bool is_negated = false; ///< !p
  std::string text;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::vector<operand_text> parts;
};

struct statement {
  int line = 0, scope = 0;
  std::string guard; ///< a predicate, or empty
  bool is_guard_negated = false;
  std::vector<std::string> opcode; ///< split at its dots
  std::vector<operand_text> operands;
};

struct variable {
  std::string name;
  space where = space::global;
  type element = type::b8;
  uint32_t alignment = 1;
  uint64_t bytes = 0;
  bool is_unsized = false; ///< extern, and as large as the launch says
  std::vector<uint8_t> initial;
  int line = 0;
};

/// Names between two braces.
struct scope_text {
  int parent = -1;
  std::unordered_map<std::string, type> registers;
  std::unordered_map<std::string, size_t> labels; ///< the statement behind
  std::unordered_map<std::string, variable> variables;
  std::unordered_map<std::string, std::vector<std::string>> targets; ///< .branchtargets
};

struct function_text {
  std::string name;
  bool is_entry = false, has_body = false;
  int line = 0;
  uint32_t cluster = 1; ///< blocks that run together
  std::vector<variable> parameters, results;
  std::vector<scope_text> scopes; ///< [0] is the body
  std::vector<statement> statements;
};

struct module_text {
  int architecture = 0; ///< of ".target sm_90a"
  bool is_architecture_specific = false;
  std::map<std::string, function_text> functions;
  std::map<std::string, variable> variables;
};

/// Reads a module. Throws text_error.
module_text parse_module(std::string_view text);

} // namespace weft_emulated

#endif
