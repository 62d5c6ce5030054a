// Makes a program of a kernel's text: gives registers and variables places, decodes instructions, and finds registers that may be
// read before they are written.
#ifndef WEFT_EMULATED_CODE_BUILDER_H
#define WEFT_EMULATED_CODE_BUILDER_H

#include <set>
#include <unordered_map>

#include "runtime/plugins/emulated/code/instruction.h"
#include "runtime/plugins/emulated/text/syntax.h"

namespace weft_emulated {

/// Where the variables of a module lie: addresses of global and constant ones.
using variable_addresses = std::map<std::string, uint64_t>;

/// The kernel `entry` of a module. Throws text_error for what is not supported.
program build_program(const module_text &module, const function_text &entry,
                      const variable_addresses &addresses);

/// A variable's place: an address in its space.
struct placed {
  space where = space::local;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// A function while it is decoded.
struct frame {
  const function_text *text = nullptr;
  std::vector<std::unordered_map<std::string, operand>> registers; ///< by scope
  std::vector<std::unordered_map<std::string, placed>> variables;  ///< by scope
  std::unordered_map<std::string, placed> parameters;
  std::vector<placed> formals, results; ///< of a function that is called
  int32_t first = 0;                    ///< of its code
};

class builder {
public:
  builder(const module_text &module, const variable_addresses &addresses)
      : module(module), addresses(addresses) {}

  program build(const function_text &entry);

  // What the decoder of an instruction asks for.
  operand constant(uint64_t bits, uint8_t width);
  operand special_register(special what, uint8_t width);
  const operand *find_register(int scope, const std::string &name) const;
  bool find_variable(int scope, const std::string &name, placed &out) const;
  const frame *callee(const std::string &name) const;
  int32_t branch_target(int scope, const std::string &label, int line) const;
  const std::vector<std::string> *branch_table(int scope, const std::string &name) const;
  const char *keep_name(std::string name);
  /// Where lanes go that nobody reads.
  uint32_t scratch_slot();

  program made;
  /// By instruction: slots that it reads and writes.
  std::vector<std::vector<uint32_t>> reads, writes;

private:
  void place_shared(const function_text &entry);
  uint32_t place_one_shared(const variable &placing);
  void add_function(const function_text &text, int depth);
  void declare(frame &f);
  void declare_variable(const variable &declared, std::unordered_map<std::string, placed> &into);
  void declare_parameters(frame &f);
  uint64_t take_local(const variable &placing);
  uint32_t take_slot(uint32_t bytes);
  void decode(const statement &s);

  const module_text &module;
  const variable_addresses &addresses;
  std::map<std::string, frame> frames;
  std::set<std::string> active; ///< functions whose callers are being added
  std::map<std::string, placed> shared;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> constants;
  std::map<std::pair<special, uint8_t>, uint32_t> specials;
  std::map<std::string, const char *> kept;
  frame *current = nullptr;
  uint32_t scratch = ~0u;
};

/// Finds registers that may be read before they are written, and marks the instructions that must look.
void find_watched(program &code, const std::vector<std::vector<uint32_t>> &reads,
                  const std::vector<std::vector<uint32_t>> &writes);

} // namespace weft_emulated

#endif
