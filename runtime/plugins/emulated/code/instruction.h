// Instructions as they are executed: decoded once, with operands that are places in a warp's registers.
//
// A register is 32 lanes of its own width, one behind the other; a predicate is a mask of 32 bits. Numbers, addresses of variables and special
// registers are registers that are filled before a kernel starts, so an operand has no kinds that execution must tell apart.
#ifndef WEFT_EMULATED_CODE_INSTRUCTION_H
#define WEFT_EMULATED_CODE_INSTRUCTION_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/plugins/emulated/text/types.h"

namespace weft_emulated {

struct warp;
struct instruction;
using handler = void (*)(warp &, const instruction &);

struct operand {
  enum kind_t : uint8_t { none, lanes, predicate, address, vector, sink };
  kind_t kind = none;
  uint8_t width = 4; ///< bytes of a lane
  bool is_negated = false, is_constant = false;
  uint32_t slot = 0; ///< where its lanes are; of an address: those of its base
  uint32_t count = 0;
  int64_t value = 0; ///< of a constant; of an address: what is added to the base
  const operand *parts = nullptr;
};

/// What an instruction is counted as.
enum class unit : uint8_t {
  integer,
  real,
  move,
  control,
  global,
  shared,
  local,
  warp,
  barrier,
  atomic,
  copy,
  tensor
};
constexpr size_t unit_count = 12;

/// Of instruction::flags, in all handlers: nothing behind it runs, unless its guard is false; its targets are in a table.
constexpr uint8_t ends_flow = 0x80, uses_table = 0x40;

struct instruction {
  handler run = nullptr;
  const operand *o = nullptr;
  int32_t guard = -1; ///< slot of a predicate
  bool is_guard_negated = false;
  bool is_watched = false; ///< reads or writes registers that may be read before they are written
  unit counted = unit::integer;
  uint8_t operands = 0;
  type t = type::none, from = type::none;
  space where = space::generic;
  uint8_t vector = 1, mode = 0, mode2 = 0, flags = 0;
  int32_t n = 0, k = 0;
  int32_t target = -1; ///< of a branch or call
  int32_t line = 0;
  uint32_t reads = 0, writes = 0, read_count = 0, write_count = 0; ///< in program::watched
  const char *name = "";
};

/// Bits that all lanes of a slot begin with.
struct filled_slot {
  uint32_t slot;
  uint8_t width;
  uint64_t bits;
};

enum class special : uint8_t {
  tid_x,
  tid_yz,
  ntid_x,
  one,
  zero,
  ctaid_x,
  nctaid_x,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  clock,
  clusterid,
  nclusterid,
  cluster_ctaid,
  cluster_nctaid,
  dynamic_bytes,
  shared_bytes
};

struct special_slot {
  uint32_t slot;
  uint8_t width;
  special what;
};

/// A parameter of a kernel: its bytes among all.
struct kernel_parameter {
  uint32_t offset, bytes;
};

/// Bytes that a call takes from one function's variable to another's, both in local memory.
struct passed_bytes {
  uint32_t from, to, bytes;
};
struct call_site {
  std::vector<passed_bytes> arguments, results;
};

/// A kernel that is ready to run. The functions that it calls are part of it, in front of their callers: lanes that are in one run first.
struct program {
  std::string name;
  std::vector<instruction> code;
  int32_t entry = 0;
  uint32_t register_bytes = 0, local_bytes = 0, parameter_bytes = 0, cluster = 1;
  uint32_t shared_bytes = 0; ///< that are declared, placed from shared_base on
  uint32_t dynamic_base = 0; ///< where those begin that a launch asks for
  bool has_dynamic = false, has_calls = false;
  std::vector<kernel_parameter> parameters;
  std::vector<filled_slot> constants;
  std::vector<special_slot> specials;
  std::vector<call_site> calls;
  std::vector<std::vector<int32_t>> branch_tables;
  /// Registers that may be read before they are written: numbers in a warp's list of masks.
  std::vector<uint32_t> watched;
  uint32_t watched_count = 0;
  std::deque<std::vector<operand>> operands;
  std::deque<std::string> names;
};

/// Shared memory and local memory have windows among generic addresses; what they hold begins above 0, so that a null is outside.
constexpr uint64_t shared_window = uint64_t(1) << 56, local_window = uint64_t(1) << 57,
                   parameter_window = uint64_t(1) << 58;
constexpr uint32_t shared_base = 1024, local_base = 16;

} // namespace weft_emulated

#endif
