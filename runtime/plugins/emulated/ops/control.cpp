// Where a warp goes on: branches, calls and ends.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/ops.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

namespace {

/// Lanes in `mask` go elsewhere, each to its place in lane_pc.
void part(warp &w, uint32_t mask) {
  uint32_t staying = w.active & ~mask;
  each_lane(staying, [&](int k) { w.lane_pc[k] = w.pc; });
  w.active = 0;
  reconverge(w);
}

void branch(warp &w, const instruction &i) {
  if (w.executing == w.active) {
    w.pc = uint32_t(i.target);
    return;
  }
  ++w.count->divergent_branches;
  each_lane(w.executing, [&](int k) { w.lane_pc[k] = uint32_t(i.target); });
  part(w, w.executing);
}

void branch_by_table(warp &w, const instruction &i) {
  const std::vector<int32_t> &table = w.home->grid->code->branch_tables[size_t(i.n)];
  uint32_t *index = w.lanes<uint32_t>(i.o[0]);
  each_lane(w.executing, [&](int k) {
    if (index[k] >= table.size())
      stop(w, k,
           "branches to entry " + std::to_string(index[k]) + " of a table of " +
               std::to_string(table.size()));
    w.lane_pc[k] = uint32_t(table[index[k]]);
  });
  part(w, w.executing);
}

void pass(warp &w, int lane, const std::vector<passed_bytes> &all) {
  uint8_t *local = w.local + size_t(lane) * w.local_bytes;
  for (const passed_bytes &each : all)
    std::memmove(local + each.to, local + each.from, each.bytes);
}

void call(warp &w, const instruction &i) {
  const call_site &site = w.home->grid->code->calls[size_t(i.n)];
  each_lane(w.executing, [&](int k) {
    pass(w, k, site.arguments);
    w.returns[k].push_back(w.pc);
    w.lane_pc[k] = uint32_t(i.target);
  });
  part(w, w.executing);
}

void end_lanes(warp &w) {
  if (w.async)
    check_end(w);
  w.live &= ~w.executing;
  w.active &= ~w.executing;
  ++w.home->progress;
  if (!w.live)
    w.is_done = true;
  else if (!w.active)
    reconverge(w);
}

void leave(warp &w, const instruction &) { end_lanes(w); }

/// The end of a function, or of a kernel.
void give_back(warp &w, const instruction &i) {
  const program &code = *w.home->grid->code;
  uint32_t ending = 0;
  each_lane(w.executing, [&](int k) {
    if (w.returns[k].empty()) {
      ending |= 1u << k;
      return;
    }
    w.lane_pc[k] = w.returns[k].back();
    w.returns[k].pop_back();
    pass(w, k, code.calls[size_t(code.code[w.lane_pc[k] - 1].n)].results);
  });
  if (ending) // all of them: code of a function is not code of a kernel
    return end_lanes(w);
  part(w, w.executing);
  (void)i;
}

void stop_here(warp &w, const instruction &) {
  stop(w, __builtin_ctz(w.executing), "the kernel gives up (trap)");
}

void nothing(warp &, const instruction &) {}

std::vector<passed_bytes> passed(decoder &d, const operand_text &list,
                                 const std::vector<placed> &there, bool is_result) {
  if (list.parts.size() != there.size())
    d.fail("the function has " + std::to_string(there.size()) + " of these, not " +
           std::to_string(list.parts.size()));
  std::vector<passed_bytes> all;
  for (size_t i = 0; i < there.size(); ++i) {
    placed here;
    if (!d.b.find_variable(d.scope(), list.parts[i].text, here) || here.where != space::local)
      d.fail("arguments are variables in .param");
    if (here.bytes != there[i].bytes)
      d.fail("an argument has another size than the parameter");
    passed_bytes one = {uint32_t(here.address), uint32_t(there[i].address), uint32_t(here.bytes)};
    if (is_result)
      std::swap(one.from, one.to);
    all.push_back(one);
  }
  return all;
}

} // namespace

void decode_bra(decoder &d) {
  d.take("uni");
  d.need(1, 1);
  d.out.target = d.b.branch_target(d.scope(), d.text(0).text, d.line());
  if (d.out.guard < 0)
    d.out.flags |= ends_flow;
  d.set(branch, unit::control);
}

void decode_brx(decoder &d) {
  if (!d.take("idx"))
    d.fail("'.idx' is expected");
  d.take("uni");
  d.need(2, 2);
  d.source(0, 4);
  const std::vector<std::string> *labels = d.b.branch_table(d.scope(), d.text(1).text);
  if (!labels)
    d.fail("there is no table '" + d.text(1).text + "'");
  std::vector<int32_t> targets;
  for (const std::string &label : *labels)
    targets.push_back(d.b.branch_target(d.scope(), label, d.line()));
  d.out.n = int32_t(d.b.made.branch_tables.size());
  d.b.made.branch_tables.push_back(std::move(targets));
  d.out.flags |= ends_flow | uses_table;
  d.set(branch_by_table, unit::control);
}

void decode_call(decoder &d) {
  d.take("uni");
  static const operand_text none;
  const operand_text *results = &none, *arguments = &none;
  size_t at = 0;
  if (d.text(0).kind == operand_text::list)
    results = &d.text(at++);
  const operand_text &name = d.text(at++);
  if (at < d.count() && d.text(at).kind == operand_text::list)
    arguments = &d.text(at++);
  if (at < d.count())
    d.fail("calls through a pointer are not supported");
  const frame *callee = d.b.callee(name.text);
  if (name.kind != operand_text::name || !callee || callee->text->is_entry)
    d.fail("the function '" + name.text + "' has no body here");
  call_site site;
  site.arguments = passed(d, *arguments, callee->formals, false);
  site.results = passed(d, *results, callee->results, true);
  d.out.n = int32_t(d.b.made.calls.size());
  d.b.made.calls.push_back(std::move(site));
  d.out.target = callee->first;
  d.set(call, unit::control);
}

void decode_ret(decoder &d) {
  d.take("uni");
  d.need(0, 0);
  d.out.flags |= ends_flow;
  d.set(give_back, unit::control);
}

void decode_exit(decoder &d) {
  d.need(0, 0);
  d.out.flags |= ends_flow;
  d.set(leave, unit::control);
}

void decode_trap(decoder &d) {
  d.need(0, 0);
  d.out.flags |= ends_flow;
  d.set(stop_here, unit::control);
}

/// A register that the compiler leaves undefined on purpose.
void decode_implicit(decoder &d) {
  if (d.b.find_register(d.scope(), d.text(0).text)) {
    const operand *found = d.b.find_register(d.scope(), d.text(0).text);
    d.b.writes.back().push_back(found->slot);
  }
  d.set(nothing, unit::control);
}

/// How many registers a warp has is nothing that is imitated, but all of it must ask together.
void decode_setmaxnreg(decoder &d) {
  d.ignore({"inc", "dec", "sync", "aligned", "u32"});
  d.need(1, 1);
  int64_t count = d.immediate(0);
  if (count < 24 || count > 256 || count % 8)
    d.fail("a multiple of 8 from 24 to 256 is expected");
  d.set([](warp &w, const instruction &) { need_convergence(w); }, unit::control);
}

void decode_nothing(decoder &d) {
  d.ignore({"u32", "launch_dependents", "wait"});
  d.need(0, 1);
  d.set(nothing, unit::control);
}

} // namespace weft_emulated
