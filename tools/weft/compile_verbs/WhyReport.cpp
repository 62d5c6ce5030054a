//===- WhyReport.cpp - weft inspect MODEL --why -------------------------------------------------===//
//
// Plans the model's kernels for one target and says, for every kernel, why it is apart from those
// it reads, and which schedules left it to the one that computes it. No code is generated.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/compile_verbs/WhyReport.h"
#include "compiler/driver/Explain.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <cmath>

namespace weft::cli {
namespace {

std::string counted(size_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "node 'fc' (MatMul) and 2 more"
std::string nodesOf(const ExplainedKernel &kernel) {
  if (kernel.nodes.empty())
    return "";
  std::string text = "  " + kernel.nodes[0];
  return kernel.nodes.size() > 1
             ? text + " and " + std::to_string(kernel.nodes.size() - 1) + " more"
             : text;
}

class WhyReport {
public:
  WhyReport(const ParsedOptions &options, Console &console, const Explanation &explained)
      : options(options), console(console), explained(explained), wanted(options.value("why")) {}

  int run() {
    for (const ExplainedKernel &kernel : explained.kernels)
      if (isWanted(kernel))
        shown.push_back(&kernel);
    if (shown.empty() && !wanted.empty())
      return console.fail({ExitWrongUsage,
                           "'--why=" + wanted + "': no kernel has that number, name or node",
                           "weft inspect " + options.positional()[0] + " --why lists them", ""});
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  bool isWanted(const ExplainedKernel &kernel) const {
    if (wanted.empty() || wanted == std::to_string(kernel.number) || wanted == kernel.symbol)
      return true;
    // A number is not looked for in names.
    return wanted.find_first_not_of("0123456789") != std::string::npos &&
           std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [&](const std::string &node) {
             return node.find(wanted) != std::string::npos;
           });
  }

  void line(const std::string &text) { console.result(text + "\n"); }

  void report() {
    std::vector<std::pair<std::string, size_t>> reasons = countReasons();
    size_t edges = 0;
    for (const auto &[reason, count] : reasons)
      edges += count;
    std::string path = options.positional()[0];
    line(console.bold(lastName(path)) + "  " + explained.target + "  " +
         counted(explained.kernels.size(), "kernel call") + ", " + counted(edges, "value") +
         " between them");
    if (explained.plan && wanted.empty())
      reportPlan(*explained.plan);
    if (wanted.empty())
      reportExchanges();
    if (wanted.empty())
      for (const auto &[reason, count] : reasons) {
        std::string digits = std::to_string(count);
        line(std::string(6 - std::min<size_t>(6, digits.size()), ' ') + digits + " x  " + reason);
      }
    for (const ExplainedKernel *kernel : shown)
      reportKernel(*kernel);
  }

  /// What was placed how, and what the call would cost otherwise.
  void reportPlan(const PlanResult &plan) {
    line("ranks  " + plan.summary());
    for (const PlanResult::Named &named : plan.named)
      line("  plan " + named.name + " on " + named.mesh + ": " + timeText(named.price.time()) +
           " a call, " + sizeText(named.price.memory()) + " by one rank");
    for (const PlanDecision &decision : plan.decisions) {
      line("  " + decision.chosen + "  " + decision.first +
           (decision.members > 1 ? " and " + std::to_string(decision.members - 1) + " more" : "") +
           (decision.products.empty() ? "" : ", read by " + decision.products.front()));
      for (const PlanDecision::Way &way : decision.others)
        line("    not " + way.placement + ": " + (way.more < 0 ? "-" : "+") +
             timeText(std::abs(way.more)) + ", " + sizeText(way.price.memory()) + " by one rank");
    }
  }

  /// What an exchange takes with the products as it is and otherwise, and why it is so.
  static std::string textOf(const ExplainedExchange &each) {
    std::string together = timeText(each.together) + " together",
                apart = timeText(each.apart) + " apart";
    std::string text =
        each.kind + " and products: " +
        (each.isTogether ? together + ", not " + apart : apart + ", not " + together);
    if (!each.chosen.picks.schedule.empty())
      text += ": " + tunedBy(*each.chosen.record);
    for (const std::string &choice : choiceTexts(each.chosen))
      text += "\n" + choice;
    return text;
  }

  /// Alike ones share a line.
  void reportExchanges() {
    std::vector<std::pair<std::string, std::vector<std::string>>> lines; ///< prices, nodes
    for (const ExplainedExchange &each : explained.exchanges) {
      std::string text = textOf(each);
      auto same = std::find_if(lines.begin(), lines.end(),
                               [&](const auto &line) { return line.first == text; });
      if (same == lines.end())
        same = lines.insert(lines.end(), {text, {}});
      same->second.push_back(each.node);
    }
    for (const auto &[text, nodes] : lines)
      line("exchange  " + nodes[0] +
           (nodes.size() > 1 ? " and " + std::to_string(nodes.size() - 1) + " more" : "") + ": " +
           text);
  }

  /// Most frequent first.
  std::vector<std::pair<std::string, size_t>> countReasons() const {
    std::vector<std::pair<std::string, size_t>> counts;
    for (const ExplainedKernel &kernel : explained.kernels)
      for (const ExplainedEdge &edge : kernel.edges) {
        auto same = std::find_if(counts.begin(), counts.end(),
                                 [&](const auto &each) { return each.first == edge.reason; });
        if (same == counts.end())
          counts.push_back({edge.reason, 1});
        else
          ++same->second;
      }
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    return counts;
  }

  void reportKernel(const ExplainedKernel &kernel) {
    line(console.bold("kernel " + std::to_string(kernel.number)) + "  " + kernel.symbol +
         nodesOf(kernel));
    for (const ExplainedEdge &edge : kernel.edges)
      reportEdge("reads kernel " + std::to_string(edge.producer), edge);
    if (!wanted.empty())
      for (const ExplainedKernel &reader : explained.kernels)
        for (const ExplainedEdge &edge : reader.edges)
          if (edge.producer == kernel.number)
            reportEdge("read by kernel " + std::to_string(reader.number), edge);
    reportDeclined(kernel);
    if (kernel.unit != Unit::Reals)
      line("  multiplies " + nameOf(kernel.unit).str() + note(kernel.unit));
    reportChoices(kernel);
  }

  static std::string note(Unit unit) {
    return unit == Unit::BytePairs ? ", which saturate in 16 bits: the weight lets none" : "";
  }

  /// What was taken first, then what else could be; nothing where that is all.
  static std::string choiceText(const std::string &name, const std::string &taken,
                                const std::vector<std::string> &candidates,
                                const std::string &estimate, const ExplainedChoices &chosen) {
    std::string others;
    for (const std::string &other : candidates)
      if (other != taken)
        others += (others.empty() ? "" : ", ") + other;
    return others.empty() ? ""
                          : "  " + name + " " + taken + ", not " + others + ": " +
                                (taken == estimate ? "estimated" : tunedBy(*chosen.record));
  }

  static std::vector<std::string> choiceTexts(const ExplainedChoices &chosen) {
    std::vector<std::string> texts;
    for (const Choice &choice : chosen.choices) {
      auto pick = chosen.picks.values.find(choice.name);
      int64_t taken = pick == chosen.picks.values.end() ? choice.estimate : pick->second;
      std::vector<std::string> candidates;
      for (int64_t candidate : choice.candidates)
        candidates.push_back(std::to_string(candidate));
      std::string text = choiceText(choice.name, std::to_string(taken), candidates,
                                    std::to_string(choice.estimate), chosen);
      if (!text.empty())
        texts.push_back(std::move(text));
    }
    return texts;
  }

  void reportChoices(const ExplainedKernel &kernel) {
    const ExplainedChoices &chosen = kernel.chosen;
    std::string schedule =
        choiceText("schedule", kernel.schedule, chosen.schedules, chosen.schedules.front(), chosen);
    if (!schedule.empty())
      line(schedule);
    for (const std::string &text : choiceTexts(chosen))
      line(text);
  }

  static std::string tunedBy(const TuningRecord &record) {
    return "tuned, " + std::to_string(record.gain / 10) + "." + std::to_string(record.gain % 10) +
           " % faster on " + record.processor + (record.sizes == "-" ? "" : " at " + record.sizes);
  }

  void reportEdge(const std::string &what, const ExplainedEdge &edge) {
    line("  " + what + "  " + edge.from + " -> " + edge.to);
    line("    " + edge.reason + (edge.by.empty() ? "" : ": " + edge.by));
  }

  /// Schedules with the same reason share a line. Those for other kinds of kernels are told of only
  /// when more is asked for.
  void reportDeclined(const ExplainedKernel &kernel) {
    std::vector<std::pair<std::string, std::string>> lines; ///< reason, schedules
    for (const DeclinedSchedule &each : kernel.declined) {
      if (each.why.isOtherKind && wanted.empty() && console.verbosity() < 1)
        continue;
      auto same = std::find_if(lines.begin(), lines.end(),
                               [&](const auto &line) { return line.first == each.why.reason; });
      if (same == lines.end())
        lines.push_back({each.why.reason, each.schedule});
      else
        same->second += ", " + each.schedule;
    }
    for (const auto &[reason, schedules] : lines)
      line("  not " + schedules + ": " + reason);
  }

  void reportJson() {
    JsonWriter json("weft.why/1");
    json.field("file", options.positional()[0]).field("target", explained.target);
    if (explained.plan)
      writePlan(json, *explained.plan);
    if (!explained.exchanges.empty())
      writeExchanges(json);
    json.array("kernels");
    for (const ExplainedKernel *kernel : shown) {
      json.object().field("number", kernel->number).field("function", kernel->function);
      json.field("name", kernel->symbol).field("schedule", kernel->schedule);
      json.field("unit", nameOf(kernel->unit).str());
      json.list("nodes", kernel->nodes).array("reads");
      for (const ExplainedEdge &edge : kernel->edges)
        json.object()
            .field("kernel", edge.producer)
            .field("from", edge.from)
            .field("to", edge.to)
            .field("reason", edge.reason)
            .field("by", edge.by)
            .end();
      json.end().array("declined");
      for (const DeclinedSchedule &each : kernel->declined)
        json.object()
            .field("schedule", each.schedule)
            .field("reason", each.why.reason)
            .field("other_kind", each.why.isOtherKind)
            .end();
      json.end();
      writeChoices(json, kernel->chosen);
      json.end();
    }
    console.result(json.end().finish());
  }

  void writeExchanges(JsonWriter &json) const {
    json.array("exchanges");
    for (const ExplainedExchange &each : explained.exchanges) {
      json.object()
          .field("kind", each.kind)
          .field("node", each.node)
          .field("apart_nanoseconds", each.apart)
          .field("together_nanoseconds", each.together)
          .field("together", each.isTogether)
          .field("pieces", each.pieces);
      writeChoices(json, each.chosen);
      json.end();
    }
    json.end();
  }

  static void writePlan(JsonWriter &json, const PlanResult &plan) {
    json.object("plan").field("name", plan.name).field("mesh", plan.plan.mesh);
    json.field("nanoseconds", plan.price.time()).field("bytes", plan.price.memory());
    json.list("placements", plan.plan.placements).array("decisions");
    for (const PlanDecision &decision : plan.decisions) {
      json.object().field("first", decision.first).field("members", decision.members);
      json.field("chosen", decision.chosen).list("products", decision.products).array("others");
      for (const PlanDecision::Way &way : decision.others)
        json.object().field("placement", way.placement).field("more_nanoseconds", way.more).end();
      json.end().end();
    }
    json.end().end();
  }

  static void writeChoices(JsonWriter &json, const ExplainedChoices &chosen) {
    json.field("kernel", chosen.kernel).list("schedules", chosen.schedules).array("choices");
    for (const Choice &choice : chosen.choices) {
      auto pick = chosen.picks.values.find(choice.name);
      std::vector<std::string> candidates;
      for (int64_t candidate : choice.candidates)
        candidates.push_back(std::to_string(candidate));
      json.object().field("choice", choice.name).field("estimated", choice.estimate);
      json.field("picked", pick == chosen.picks.values.end() ? choice.estimate : pick->second);
      json.list("candidates", candidates).end();
    }
    json.end();
    if (chosen.record)
      json.field("record", chosen.record->text());
  }

  const ParsedOptions &options;
  Console &console;
  const Explanation &explained;
  const std::string wanted; ///< empty: all kernels
  std::vector<const ExplainedKernel *> shown;
};

} // namespace

int whyReport(const ParsedOptions &options, Console &console, const Module &module) {
  CompileOptions compile;
  compile.target = options.value("target", compile.target);
  compile.numerics = readNumerics(options);
  readInPlace(options, compile);
  compile.tuningFiles = options.values("tuning");
  compile.tunedFor = options.value("tuned-for");
  if (weft::cli::Result<Done> done = readRanks(options, compile); !done)
    return console.fail(done.failure());
  weft::Result<Explanation> explained = explain(module, compile);
  if (!explained)
    return refuse(console, explained.diagnostics());
  return WhyReport(options, console, *explained).run();
}

} // namespace weft::cli
