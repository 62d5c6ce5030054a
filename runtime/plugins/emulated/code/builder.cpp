#include "runtime/plugins/emulated/code/builder.h"

#include <algorithm>

#include "runtime/plugins/emulated/code/decoder.h"

namespace weft_emulated {

namespace {
constexpr uint32_t most_register_bytes = 1u << 24;
constexpr int deepest_call = 32;
} // namespace

uint32_t builder::take_slot(uint32_t bytes) {
  uint32_t slot = made.register_bytes;
  made.register_bytes += (bytes + 63) / 64 * 64;
  if (made.register_bytes > most_register_bytes)
    throw text_error(current ? current->text->line : 0, "too many registers");
  return slot;
}

operand builder::constant(uint64_t bits, uint8_t width) {
  if (width < 8)
    bits &= (uint64_t(1) << (8 * width)) - 1;
  auto [found, is_new] = constants.emplace(std::make_pair(bits, width), 0);
  if (is_new) {
    found->second = take_slot(32u * width);
    made.constants.push_back({found->second, width, bits});
  }
  operand result;
  result.kind = operand::lanes;
  result.is_constant = true;
  result.width = width;
  result.slot = found->second;
  result.value = int64_t(bits);
  return result;
}

operand builder::special_register(special what, uint8_t width) {
  auto [found, is_new] = specials.emplace(std::make_pair(what, width), 0);
  if (is_new) {
    found->second = take_slot(32u * width);
    made.specials.push_back({found->second, width, what});
  }
  operand result;
  result.kind = operand::lanes;
  result.is_constant = true;
  result.width = width;
  result.slot = found->second;
  return result;
}

uint32_t builder::scratch_slot() {
  if (scratch == ~0u)
    scratch = take_slot(32 * 16);
  return scratch;
}

const operand *builder::find_register(int scope, const std::string &name) const {
  for (int s = scope; s >= 0; s = current->text->scopes[size_t(s)].parent) {
    auto found = current->registers[size_t(s)].find(name);
    if (found != current->registers[size_t(s)].end())
      return &found->second;
  }
  return nullptr;
}

bool builder::find_variable(int scope, const std::string &name, placed &out) const {
  for (int s = scope; s >= 0; s = current->text->scopes[size_t(s)].parent) {
    auto found = current->variables[size_t(s)].find(name);
    if (found != current->variables[size_t(s)].end())
      return out = found->second, true;
  }
  if (auto found = current->parameters.find(name); found != current->parameters.end())
    return out = found->second, true;
  if (auto found = shared.find(name); found != shared.end())
    return out = found->second, true;
  auto found = module.variables.find(name);
  auto address = addresses.find(name);
  if (found == module.variables.end() || address == addresses.end())
    return false;
  out = {found->second.where, address->second, found->second.bytes};
  return true;
}

const frame *builder::callee(const std::string &name) const {
  auto found = frames.find(name);
  return found == frames.end() ? nullptr : &found->second;
}

int32_t builder::branch_target(int scope, const std::string &label, int line) const {
  for (int s = scope; s >= 0; s = current->text->scopes[size_t(s)].parent) {
    const auto &labels = current->text->scopes[size_t(s)].labels;
    auto found = labels.find(label);
    if (found != labels.end())
      return current->first + int32_t(found->second);
  }
  throw text_error(line, "there is no label '" + label + "'");
}

const std::vector<std::string> *builder::branch_table(int scope, const std::string &name) const {
  for (int s = scope; s >= 0; s = current->text->scopes[size_t(s)].parent) {
    const auto &targets = current->text->scopes[size_t(s)].targets;
    auto found = targets.find(name);
    if (found != targets.end())
      return &found->second;
  }
  return nullptr;
}

const char *builder::keep_name(std::string name) {
  const char *&place = kept[name];
  if (!place) {
    made.names.push_back(std::move(name));
    place = made.names.back().c_str();
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Aligned as it was declared and no better: a layout that is kinder than a real one would hide an alignment that is missing.
uint32_t builder::place_one_shared(const variable &placing) {
  uint32_t a = placing.alignment, &top = made.dynamic_base;
  top = (top + a - 1) / a * a;
  if (top % (2 * a) == 0 && a < 1024)
    top += a;
  uint32_t place = top;
  if (placing.bytes + top > (1u << 26))
    throw text_error(placing.line, "more shared memory than any device has");
  top += uint32_t(placing.bytes);
  return place;
}

/// Names in operands, also in those within others.
static void collect_names(const operand_text &text, std::set<std::string> &into) {
  if (text.kind == operand_text::name)
    into.insert(text.text);
  for (const operand_text &part : text.parts)
    collect_names(part, into);
}

/// A module may hold many kernels: only what this one, or a function that it may call, speaks of takes place in a block.
void builder::place_shared(const function_text &entry) {
  made.dynamic_base = shared_base;
  std::vector<const variable *> sized, unsized;
  std::set<std::string> used;
  for (const auto &[name, function] : module.functions) {
    if (function.is_entry && &function != &entry)
      continue;
    for (const statement &s : function.statements)
      for (const operand_text &each : s.operands)
        collect_names(each, used);
    for (const scope_text &scope : function.scopes)
      for (const auto &[local_name, each] : scope.variables)
        if (each.where == space::shared)
          sized.push_back(&each);
  }
  for (const auto &[name, each] : module.variables)
    if (each.where == space::shared && used.count(name))
      (each.is_unsized ? unsized : sized).push_back(&each);
  std::stable_sort(sized.begin(), sized.end(), [](const variable *a, const variable *b) {
    return a->alignment != b->alignment ? a->alignment > b->alignment : a->name < b->name;
  });
  for (const variable *each : sized)
    shared[each->name] = {space::shared, place_one_shared(*each), each->bytes};
  for (const variable *each : unsized) { // they all begin at the same place
    if (!made.has_dynamic)
      made.dynamic_base = place_one_shared(*each);
    made.has_dynamic = true;
    if (made.dynamic_base % each->alignment)
      made.dynamic_base = (made.dynamic_base + each->alignment - 1) & ~(each->alignment - 1);
  }
  for (const variable *each : unsized)
    shared[each->name] = {space::shared, made.dynamic_base, 0};
  made.shared_bytes = made.dynamic_base - shared_base;
}

uint64_t builder::take_local(const variable &placing) {
  uint32_t a = std::max(placing.alignment, 1u);
  made.local_bytes = (made.local_bytes + a - 1) & ~(a - 1);
  uint64_t place = made.local_bytes;
  if (placing.bytes + made.local_bytes > (1u << 19))
    throw text_error(placing.line, "more local memory than any device has");
  made.local_bytes += uint32_t(placing.bytes);
  return place;
}

void builder::declare_variable(const variable &declared,
                               std::unordered_map<std::string, placed> &into) {
  if (declared.where == space::shared)
    return;
  into[declared.name] = {space::local, take_local(declared), declared.bytes};
}

void builder::declare_parameters(frame &f) {
  const function_text &text = *f.text;
  if (!text.is_entry) {
    for (bool is_result : {false, true})
      for (const variable &each : is_result ? text.results : text.parameters) {
        placed place = {space::local, take_local(each), each.bytes};
        f.parameters[each.name] = place;
        (is_result ? f.results : f.formals).push_back(place);
      }
    return;
  }
  for (const variable &each : text.parameters) {
    uint32_t a = each.alignment;
    made.parameter_bytes = (made.parameter_bytes + a - 1) & ~(a - 1);
    if (each.bytes > 32764 || made.parameter_bytes > 32764)
      throw text_error(text.line, "a kernel's parameters have more than 32764 bytes");
    f.parameters[each.name] = {space::param, made.parameter_bytes, each.bytes};
    made.parameters.push_back({made.parameter_bytes, uint32_t(each.bytes)});
    made.parameter_bytes += uint32_t(each.bytes);
  }
}

void builder::declare(frame &f) {
  size_t count = f.text->scopes.size();
  f.registers.resize(count);
  f.variables.resize(count);
  for (size_t s = 0; s < count; ++s) {
    std::vector<std::pair<std::string, type>> names(f.text->scopes[s].registers.begin(),
                                                    f.text->scopes[s].registers.end());
    std::sort(names.begin(), names.end());
    for (const auto &[name, element] : names) {
      operand place;
      bool is_predicate = element == type::pred;
      place.kind = is_predicate ? operand::predicate : operand::lanes;
      place.width = is_predicate ? 4 : uint8_t(bytes_of(element));
      place.slot = take_slot(is_predicate ? 4 : 32u * place.width);
      f.registers[s].emplace(name, place);
    }
    for (const auto &[name, each] : f.text->scopes[s].variables)
      declare_variable(each, f.variables[s]);
  }
  declare_parameters(f);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void builder::decode(const statement &s) {
  reads.emplace_back();
  writes.emplace_back();
  made.code.push_back(decoder(*this, s).decode());
}

/// Functions that it calls come first, so that lanes that are in one run before those behind the call.
void builder::add_function(const function_text &text, int depth) {
  if (frames.count(text.name))
    return;
  if (depth > deepest_call || !active.insert(text.name).second)
    throw text_error(text.line, "'" + text.name + "' calls itself, or calls are nested too deeply");
  for (const statement &s : text.statements) {
    if (s.opcode[0] != "call")
      continue;
    for (const operand_text &each : s.operands) {
      auto found = module.functions.find(each.text);
      if (each.kind == operand_text::name && found != module.functions.end() &&
          found->second.has_body)
        add_function(found->second, depth + 1);
    }
  }
  frame &f = frames[text.name];
  f.text = &text;
  current = &f;
  declare(f);
  f.first = int32_t(made.code.size());
  for (const statement &s : text.statements)
    decode(s);
  statement end;
  end.line = text.statements.empty() ? text.line : text.statements.back().line;
  end.opcode = {text.is_entry ? "exit" : "ret"};
  decode(end);
  active.erase(text.name);
}

program builder::build(const function_text &entry) {
  made.name = entry.name;
  made.cluster = entry.cluster;
  made.local_bytes = local_base;
  place_shared(entry);
  add_function(entry, 0);
  made.entry = frames[entry.name].first;
  made.has_calls = frames.size() > 1;
  made.local_bytes = (made.local_bytes + 15) & ~15u;
  find_watched(made, reads, writes);
  return std::move(made);
}

program build_program(const module_text &module, const function_text &entry,
                      const variable_addresses &addresses) {
  return builder(module, addresses).build(entry);
}

} // namespace weft_emulated
