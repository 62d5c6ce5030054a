// Which registers may be read before they are written.
//
// A register that is written on every way to a read needs no look when it runs. What remains is watched: the instructions that read it there look
// at a mask of the lanes that have it, and all that write it keep that mask.
#include <algorithm>
#include <unordered_map>

#include "runtime/plugins/emulated/code/builder.h"

namespace weft_emulated {

namespace {

using bits = std::vector<uint64_t>;
/// Above this, sets of registers are not computed, and all are watched.
constexpr uint64_t most_bits = uint64_t(1) << 31;

class analysis {
public:
  analysis(program &code, const std::vector<std::vector<uint32_t>> &reads,
           const std::vector<std::vector<uint32_t>> &writes)
      : code(code), reads(reads), writes(writes) {}

  void run() {
    number();
    cut();
    bool is_large = uint64_t(blocks.size()) * registers.size() > most_bits;
    if (!is_large)
      solve();
    std::vector<bool> is_watched(registers.size(), is_large);
    std::vector<std::vector<uint32_t>> looks(code.code.size());
    walk([&](size_t at, uint32_t reg) {
      is_watched[reg] = true;
      looks[at].push_back(reg);
    });
    mark(is_watched, looks);
  }

private:
  struct basic_block {
    size_t first, end;
    std::vector<size_t> next;
    bits in;
    bool is_reached = false;
  };

  void number() {
    for (const auto &lists : {&reads, &writes})
      for (const auto &list : *lists)
        for (uint32_t slot : list)
          registers.emplace(slot, uint32_t(registers.size()));
  }

  bool ends_block(const instruction &i) const { return i.target >= 0 || i.flags & ends_flow; }

  void cut() {
    std::vector<bool> begins(code.code.size() + 1);
    begins[size_t(code.entry)] = begins[0] = true;
    for (size_t at = 0; at < code.code.size(); ++at) {
      const instruction &i = code.code[at];
      if (!ends_block(i))
        continue;
      begins[at + 1] = true;
      for (size_t target : targets(i))
        begins[target] = true;
    }
    std::vector<size_t> block_at(code.code.size() + 1, 0);
    for (size_t at = 0; at < code.code.size(); ++at) {
      if (begins[at]) {
        if (!blocks.empty())
          blocks.back().end = at;
        blocks.push_back({at, code.code.size(), {}, {}, false});
      }
      block_at[at] = blocks.size() - 1;
    }
    for (basic_block &block : blocks) {
      const instruction &last = code.code[block.end - 1];
      if (ends_block(last))
        for (size_t target : targets(last))
          block.next.push_back(block_at[target]);
      bool falls = !(last.flags & ends_flow) || last.guard >= 0;
      if (falls && block.end < code.code.size())
        block.next.push_back(block_at[block.end]);
    }
  }

  std::vector<size_t> targets(const instruction &i) const {
    if (i.flags & uses_table) {
      const auto &table = code.branch_tables[size_t(i.n)];
      return {table.begin(), table.end()};
    }
    if (i.target < 0)
      return {};
    return {size_t(i.target)};
  }

  void apply(size_t at, bits &have) const {
    if (code.code[at].guard >= 0)
      return;
    for (uint32_t slot : writes[at]) {
      uint32_t reg = registers.at(slot);
      have[reg / 64] |= uint64_t(1) << (reg & 63);
    }
  }

  void solve() {
    std::vector<size_t> waiting;
    auto reach = [&](size_t block, const bits &have) {
      basic_block &b = blocks[block];
      if (!b.is_reached) {
        b.is_reached = true;
        b.in = have;
        waiting.push_back(block);
        return;
      }
      bool is_changed = false;
      for (size_t i = 0; i < have.size(); ++i) {
        is_changed |= (b.in[i] & ~have[i]) != 0;
        b.in[i] &= have[i];
      }
      if (is_changed)
        waiting.push_back(block);
    };
    // Every function begins with nothing: a call's target is reached like a branch's, and its registers are its own.
    for (size_t block = 0; block < blocks.size(); ++block)
      if (blocks[block].first == size_t(code.entry))
        reach(block, bits(registers.size() / 64 + 1));
    while (!waiting.empty()) {
      size_t block = waiting.back();
      waiting.pop_back();
      bits have = blocks[block].in;
      for (size_t at = blocks[block].first; at < blocks[block].end; ++at)
        apply(at, have);
      for (size_t next : blocks[block].next)
        reach(next, have);
    }
  }

  template <class F> void walk(F &&missing) const {
    for (const basic_block &block : blocks) {
      if (!block.is_reached)
        continue;
      bits have = block.in;
      for (size_t at = block.first; at < block.end; ++at) {
        for (uint32_t slot : reads[at]) {
          uint32_t reg = registers.at(slot);
          if (!(have[reg / 64] >> (reg & 63) & 1))
            missing(at, reg);
        }
        apply(at, have);
      }
    }
  }

  void mark(const std::vector<bool> &is_watched, const std::vector<std::vector<uint32_t>> &looks) {
    std::vector<uint32_t> place(registers.size());
    for (size_t reg = 0; reg < place.size(); ++reg)
      if (is_watched[reg])
        place[reg] = code.watched_count++;
    if (!code.watched_count)
      return;
    for (size_t at = 0; at < code.code.size(); ++at) {
      instruction &i = code.code[at];
      i.reads = uint32_t(code.watched.size());
      for (uint32_t reg : looks[at])
        code.watched.push_back(place[reg]);
      i.read_count = uint32_t(code.watched.size()) - i.reads;
      i.writes = uint32_t(code.watched.size());
      for (uint32_t slot : writes[at])
        if (is_watched[registers.at(slot)])
          code.watched.push_back(place[registers.at(slot)]);
      i.write_count = uint32_t(code.watched.size()) - i.writes;
      i.is_watched = i.read_count || i.write_count;
    }
  }

  program &code;
  const std::vector<std::vector<uint32_t>> &reads, &writes;
  std::unordered_map<uint32_t, uint32_t> registers;
  std::vector<basic_block> blocks;
};

} // namespace

void find_watched(program &code, const std::vector<std::vector<uint32_t>> &reads,
                  const std::vector<std::vector<uint32_t>> &writes) {
  analysis(code, reads, writes).run();
}

} // namespace weft_emulated
