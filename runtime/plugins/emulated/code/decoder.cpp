#include "runtime/plugins/emulated/code/decoder.h"

#include <cstring>

namespace weft_emulated {

static std::string joined(const std::vector<std::string> &opcode) {
  std::string text;
  for (const std::string &part : opcode) {
    if (!text.empty())
      text += '.';
    for (char c : part)
      text += c >= ' ' && c < 0x7f ? c : '?';
  }
  return text;
}

void decoder::fail(const std::string &what) const {
  throw text_error(s.line, "'" + joined(s.opcode) + "': " + what);
}

void decoder::fail_type(type) const { fail("it is not supported with these types"); }

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool decoder::take(std::string_view name) {
  for (size_t i = 1; i < s.opcode.size(); ++i)
    if (!taken[i] && s.opcode[i] == name)
      return taken[i] = true;
  return false;
}

void decoder::ignore(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    take(name);
}

type decoder::take_type() {
  for (size_t i = 1; i < s.opcode.size(); ++i)
    if (std::optional<type> found = taken[i] ? std::nullopt : type_named(s.opcode[i])) {
      taken[i] = true;
      return *found;
    }
  fail("a type is expected");
}

bool decoder::has_type() const {
  for (size_t i = 1; i < s.opcode.size(); ++i)
    if (!taken[i] && type_named(s.opcode[i]))
      return true;
  return false;
}

int decoder::take_one(std::initializer_list<std::string_view> names) {
  int place = 0;
  for (std::string_view name : names) {
    if (take(name))
      return place;
    ++place;
  }
  return -1;
}

std::string decoder::take_prefix(std::string_view prefix) {
  for (size_t i = 1; i < s.opcode.size(); ++i)
    if (!taken[i] && s.opcode[i].compare(0, prefix.size(), prefix) == 0 &&
        s.opcode[i].size() > prefix.size()) {
      taken[i] = true;
      return s.opcode[i].substr(prefix.size());
    }
  return "";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void decoder::need(size_t least, size_t most) const {
  if (count() < least || count() > most)
    fail("it has " + std::to_string(count()) + " operands");
}

const operand_text &decoder::text(size_t i) const {
  if (i >= count())
    fail("an operand is missing");
  return s.operands[i];
}

static bool special_named(std::string_view name, special &out) {
  static constexpr struct {
    std::string_view name;
    special what;
  } all[] = {{"%tid.x", special::tid_x},
             {"%tid.y", special::tid_yz},
             {"%tid.z", special::tid_yz},
             {"%ntid.x", special::ntid_x},
             {"%ntid.y", special::one},
             {"%ntid.z", special::one},
             {"%ctaid.x", special::ctaid_x},
             {"%ctaid.y", special::zero},
             {"%ctaid.z", special::zero},
             {"%nctaid.x", special::nctaid_x},
             {"%nctaid.y", special::one},
             {"%nctaid.z", special::one},
             {"%laneid", special::laneid},
             {"%warpid", special::warpid},
             {"%nwarpid", special::nwarpid},
             {"%smid", special::smid},
             {"%nsmid", special::nsmid},
             {"%gridid", special::zero},
             {"%lanemask_eq", special::lanemask_eq},
             {"%lanemask_lt", special::lanemask_lt},
             {"%lanemask_le", special::lanemask_le},
             {"%lanemask_gt", special::lanemask_gt},
             {"%lanemask_ge", special::lanemask_ge},
             {"%clock", special::clock},
             {"%clock64", special::clock},
             {"%globaltimer", special::clock},
             {"%clusterid.x", special::clusterid},
             {"%nclusterid.x", special::nclusterid},
             {"%cluster_ctaid.x", special::cluster_ctaid},
             {"%cluster_nctaid.x", special::cluster_nctaid},
             {"%cluster_ctarank", special::cluster_ctaid},
             {"%cluster_nctarank", special::cluster_nctaid},
             {"%dynamic_smem_size", special::dynamic_bytes},
             {"%total_smem_size", special::shared_bytes}};
  for (const auto &row : all)
    if (row.name == name)
      return out = row.what, true;
  return false;
}

operand decoder::resolve_name(const operand_text &text, uint32_t width) {
  if (const operand *found = b.find_register(s.scope, text.text))
    return *found;
  special what;
  if (special_named(text.text, what))
    return b.special_register(what, uint8_t(width));
  if (text.text == "WARP_SZ")
    return b.constant(32, uint8_t(width));
  placed place;
  if (b.find_variable(s.scope, text.text, place))
    return b.constant(place.address, uint8_t(width));
  fail("'" + joined({text.text}) + "' is not declared");
}

/// A number's bits as a value of this width.
static uint64_t bits_of(const operand_text &text, uint32_t width) {
  if (text.kind == operand_text::real && width == 4) {
    double value;
    std::memcpy(&value, &text.bits, 8);
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  if (text.kind == operand_text::single && width == 8) {
    uint32_t bits = uint32_t(text.bits);
    float value;
    std::memcpy(&value, &bits, 4);
    double wide = value;
    uint64_t all;
    std::memcpy(&all, &wide, 8);
    return all;
  }
  return text.bits;
}

operand decoder::resolve(const operand_text &text, uint32_t width) {
  switch (text.kind) {
  case operand_text::name: {
    operand found = resolve_name(text, width);
    found.is_negated = text.is_negated;
    if (text.is_negated && found.kind != operand::predicate)
      fail("only predicates are negated");
    return found;
  }
  case operand_text::integer:
  case operand_text::single:
  case operand_text::real:
    return b.constant(bits_of(text, width), uint8_t(width));
  case operand_text::sink: {
    operand result;
    result.kind = operand::sink;
    return result;
  }
  default:
    fail("an operand is not one value");
  }
}

operand decoder::read(const operand_text &text, uint32_t width, bool is_any) {
  operand found = resolve(text, width);
  if (found.kind != operand::lanes || (!is_any && found.width != width))
    fail("'" + joined({text.text}) + "' is not a register of " + std::to_string(8 * width) +
         " bits");
  if (!found.is_constant)
    b.reads.back().push_back(found.slot);
  return found;
}

operand decoder::write(const operand_text &text, uint32_t width, bool is_any) {
  operand found = resolve(text, width);
  if (found.kind == operand::sink)
    return found;
  if (found.kind != operand::lanes || found.is_constant || (!is_any && found.width != width))
    fail("'" + joined({text.text}) + "' is not a register of " + std::to_string(8 * width) +
         " bits");
  b.writes.back().push_back(found.slot);
  return found;
}

void decoder::source(size_t i, uint32_t width) { operands.push_back(read(text(i), width, false)); }
void decoder::any_source(size_t i, uint32_t width) {
  operands.push_back(read(text(i), width, true));
}
void decoder::destination(size_t i, uint32_t width) {
  operands.push_back(write(text(i), width, false));
  if (operands.back().kind == operand::sink) // written, and read by nobody
    operands.back().slot = b.scratch_slot();
}
void decoder::any_destination(size_t i) {
  operands.push_back(write(text(i), 4, true));
  if (operands.back().kind == operand::sink)
    fail("'_' is no destination here");
}
void decoder::nothing() { operands.emplace_back(); }

void decoder::predicate_source(size_t i) {
  operand found = resolve(text(i), 4);
  bool is_number = found.kind == operand::lanes && found.is_constant;
  if (found.kind != operand::predicate && !is_number)
    fail("a predicate is expected");
  if (!is_number)
    b.reads.back().push_back(found.slot);
  operands.push_back(found);
}

bool decoder::is_predicate(size_t i) const {
  const operand *found = b.find_register(s.scope, text(i).text);
  return text(i).kind == operand_text::name && found && found->kind == operand::predicate;
}

operand decoder::write_predicate(const operand_text &text) {
  operand found = resolve(text, 4);
  if (found.kind != operand::predicate && found.kind != operand::sink)
    fail("a predicate is expected");
  if (found.kind == operand::predicate)
    b.writes.back().push_back(found.slot);
  return found;
}

void decoder::predicate_destination(size_t i) { operands.push_back(write_predicate(text(i))); }

void decoder::predicate_pair(size_t i) {
  if (text(i).parts.size() != 2)
    fail("two predicates are expected");
  operands.push_back(write_predicate(text(i).parts[0]));
  operands.push_back(write_predicate(text(i).parts[1]));
}

void decoder::mixed_pair(size_t i) {
  if (text(i).parts.size() != 2)
    fail("a register and a predicate are expected");
  operands.push_back(write(text(i).parts[0], 4, false));
  if (operands.back().kind == operand::sink)
    operands.back().slot = b.scratch_slot();
  operands.push_back(write_predicate(text(i).parts[1]));
}

void decoder::address(size_t i) {
  const operand_text &given = text(i);
  const operand_text &base = given.kind == operand_text::address ? given.parts[0] : given;
  operand found = read(base, 8, true);
  if (found.width != 4 && found.width != 8)
    fail("an address has 32 or 64 bits");
  found.kind = operand::address;
  found.value = given.offset;
  operands.push_back(found);
}

void decoder::add_parts(std::vector<operand> &&parts) {
  operand made;
  made.kind = operand::vector;
  made.count = uint32_t(parts.size());
  b.made.operands.push_back(std::move(parts));
  made.parts = b.made.operands.back().data();
  operands.push_back(made);
}

void decoder::vector_source(size_t i, uint32_t width, size_t size, bool is_any) {
  const operand_text &given = text(i);
  std::vector<operand> parts;
  if (given.kind == operand_text::vector) {
    for (const operand_text &part : given.parts)
      parts.push_back(read(part, width, is_any));
  } else {
    parts.push_back(read(given, width, is_any));
  }
  if (size && parts.size() != size)
    fail("an operand has " + std::to_string(parts.size()) + " elements instead of " +
         std::to_string(size));
  add_parts(std::move(parts));
}

void decoder::vector_destination(size_t i, uint32_t width, size_t size, bool is_any) {
  const operand_text &given = text(i);
  std::vector<operand> parts;
  if (given.kind == operand_text::vector) {
    for (const operand_text &part : given.parts)
      parts.push_back(write(part, width, is_any));
  } else {
    parts.push_back(write(given, width, is_any));
  }
  if (size && parts.size() != size)
    fail("an operand has " + std::to_string(parts.size()) + " elements instead of " +
         std::to_string(size));
  add_parts(std::move(parts));
}

void decoder::coordinates(size_t i, size_t size) {
  const operand_text &given = text(i);
  if (given.kind != operand_text::address || given.parts.size() != 2 ||
      given.parts[1].parts.size() != size)
    fail(std::to_string(size) + " coordinates are expected");
  std::vector<operand> parts;
  for (const operand_text &part : given.parts[1].parts)
    parts.push_back(read(part, 4, false));
  add_parts(std::move(parts));
}

int64_t decoder::immediate(size_t i) {
  if (text(i).kind != operand_text::integer)
    fail("a number is expected as an operand");
  return int64_t(text(i).bits);
}

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

void decoder::finish() {
  for (size_t i = 1; i < s.opcode.size(); ++i)
    if (!taken[i])
      fail("the modifier '." + joined({s.opcode[i]}) + "' is not supported");
  out.operands = uint8_t(operands.size());
  b.made.operands.push_back(std::move(operands));
  out.o = b.made.operands.back().data();
}

instruction decoder::decode() {
  taken.assign(s.opcode.size(), false);
  out.line = s.line;
  out.name = b.keep_name(joined(s.opcode));
  if (!s.guard.empty()) {
    const operand *guard = b.find_register(s.scope, s.guard);
    if (!guard || guard->kind != operand::predicate)
      fail("its guard '" + joined({s.guard}) + "' is not a predicate");
    out.guard = int32_t(guard->slot);
    out.is_guard_negated = s.is_guard_negated;
    b.reads.back().push_back(guard->slot);
  }
  decode_function found = find_decoder(s.opcode[0]);
  if (!found)
    fail("the emulated GPU does not know this instruction");
  found(*this);
  if (!out.run)
    fail_type(out.t);
  finish();
  return out;
}

} // namespace weft_emulated
