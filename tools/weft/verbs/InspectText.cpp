//===- InspectText.cpp - weft inspect of an artifact, for people --------------------------------------===//
//
// Memory formulas are printed exactly, because the runtime keeps to them byte by byte; work is rounded for reading.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/SignatureText.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/verbs/InspectedArtifact.h"

#include <algorithm>
#include <map>

namespace weft::cli {

namespace {

constexpr size_t kKernelsShown = 8, kChecksShown = 8;

class InspectText {
public:
  InspectText(const InspectedArtifact &artifact, Console &console)
      : of(artifact), info(artifact.artifact().info()), console(console) {}

  void print() {
    size_t slash = of.path.rfind('/');
    std::string name = of.path.substr(slash == std::string::npos ? 0 : slash + 1);
    std::string hash = of.hash();
    line(console.bold(name) + "  " + info.producer + "  " + info.target + "  " +
         printBytes(static_cast<double>(info.file_size)) + "  sha256 " +
         (console.verbosity() > 0 ? hash : hash.substr(0, 12)));
    reportVariants();
    reportNumerics();
    reportRanks();
    reportFusing();
    for (size_t i = 0; i < of.programs[0].functions.size(); ++i)
      reportFunction(of.programs[0].functions[i], of.programs[0].costs[i]);
    for (size_t p = 1; p < of.programs.size(); ++p)
      for (size_t i = 0; i < of.programs[p].functions.size(); ++i)
        reportMesh(of.programs[p].functions[i], of.programs[p].costs[i]);
    if (info.weights)
      line("weights  " + std::to_string(info.weights) + ", " +
           printBytes(static_cast<double>(info.weight_bytes)) +
           " (mapped, shared between processes)");
    reportKernels();
  }

private:
  std::string pretty(const std::string &formula) const {
    return beautifyFormula(formula, console.unicode());
  }
  /// "NAME = FORMULA UNIT", or a simpler bound of a formula that fills the screen.
  std::string shown(const std::string &name, const std::string &formula, const std::string &unit,
                    bool rounded = false) const {
    return showFormula(name, formula, unit, {console.unicode(), console.verbosity() > 0, rounded});
  }
  std::string shownRounded(const std::string &name, const std::string &formula,
                           const std::string &unit) const {
    return formula.empty() ? name + " = ?" : shown(name, formula, unit, /*rounded=*/true);
  }

  void line(const std::string &text) { console.result(text + "\n"); }

  /// The targets of the file, when there are several, or none can run here.
  void reportVariants() {
    std::vector<std::string> items;
    bool canRun = false;
    for (const VariantView &variant : of.artifact().variants()) {
      if (variant.ranks != of.programs[0].ranks())
        continue; // as this one
      std::string item = variant.target;
      if (variant.isChosen && variant.missing.empty())
        item += "  (used here)";
      canRun |= variant.missing.empty();
      if (!variant.missing.empty())
        item += "  (needs " + variant.missing +
                (variant.isRefused ? ", which the system does not let this process use)"
                                   : ", which this machine lacks)");
      if (console.verbosity() > 0)
        item += "  " + joined(variant.features);
      items.push_back(item);
    }
    if (items.size() > 1 || !canRun)
      list("targets", items);
  }

  /// Of a file for several numbers of ranks.
  void reportRanks() {
    std::string counts;
    for (int64_t ranks : of.artifact().ranks())
      counts += (counts.empty() ? "" : ", ") + std::to_string(ranks);
    if (of.artifact().ranks().size() > 1)
      line("ranks    " + counts + "  (each has its program, all share the weights)");
  }

  /// Which exchanges ranks compute beside, of all meshes.
  void reportFusing() {
    std::vector<std::string> how = of.artifact().listed("fuse_comm"),
                             fused = of.artifact().listed("fused_exchanges");
    if (fused.empty())
      return;
    if (!how.empty())
      fused.front() += "  (--fuse-comm " + how[0] + ")";
    list("fused", fused);
  }

  void reportNumerics() {
    NumericsView n = of.artifact().numerics();
    std::vector<std::string> items;
    for (const auto &[name, texts] : {std::pair{"accuracy ", n.accuracy},
                                      {"activations ", n.activations},
                                      {"weights ", n.weights},
                                      {"compute ", n.compute},
                                      {"kept in f32: ", n.keepF32}})
      for (const std::string &text : texts)
        items.push_back(name + text);
    if (!items.empty())
      list("numerics", items);
  }

  static std::string joined(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
      text += (text.empty() ? "" : " ") + word;
    return text;
  }

  void reportFunction(const FunctionView &f, const std::optional<weft_cost_t> &cost) {
    line(console.bold(f.signature.function) + "(" + arguments(f.signature.inputs) + ") -> " +
         (f.outputs.size() == 1 ? arguments(f.outputs) : "(" + arguments(f.outputs) + ")"));
    std::string symbols;
    for (const SymbolSpec &symbol : f.signature.symbols)
      symbols += (symbols.empty() ? "" : "    ") + printRange(symbol, console.unicode());
    if (!symbols.empty())
      line("symbols  " + symbols);
    if (!f.mesh.empty())
      line(meshText(f));
    reportParts(f);
    std::string bound;
    for (const SymbolSpec &symbol : f.bound)
      bound += (bound.empty() ? "" : ", ") + symbol.name;
    reportInPlace(f);
    if (!bound.empty())
      line("bound    " + bound + "  (known while a call runs)");
    if (std::vector<std::string> facts = extraFacts(f); !facts.empty())
      list("facts", facts);
    list("checks", f.checks);
    if (!f.regions.empty())
      list("together", regionTexts(f));
    if (cost)
      return reportCost(f, *cost);
    line("memory   " + shown("arena", f.arena.empty() ? "0" : f.arena, "B") + "    " +
         shown("scratch", f.scratch.empty() ? "0" : f.scratch, "B per worker"));
    reportLate(f);
    if (!f.flops.empty() || !f.bytesMoved.empty())
      line("work     " + shownRounded("flops", f.flops, "") + "    " +
           shownRounded("moved", f.bytesMoved, "B"));
    reportTraffic(f);
  }

  void reportParts(const FunctionView &f) {
    if (std::vector<std::string> texts = partTexts(f, console.unicode()); !texts.empty())
      list("local", texts);
  }

  static std::string meshText(const FunctionView &f) {
    std::string ranks = std::to_string(ranksOf(f));
    return "mesh     " + printMesh(f) + "  (" + ranks + " ranks: weft run --ranks " + ranks + ")";
  }

  /// What differs for another number of ranks.
  void reportMesh(const FunctionView &f, const std::optional<weft_cost_t> &cost) {
    line((of.programs[0].functions.size() > 1 ? console.bold(f.signature.function) + "\n" : "") +
         meshText(f));
    reportParts(f);
    if (cost) {
      line("memory   arena = " + exactBytes(cost->arena) +
           "    scratch = " + exactBytes(cost->scratch_per_worker) + " per worker");
    } else {
      line("memory   " + shown("arena", f.arena.empty() ? "0" : f.arena, "B") + "    " +
           shown("scratch", f.scratch.empty() ? "0" : f.scratch, "B per worker"));
      reportLate(f);
    }
    reportTraffic(f);
  }

  /// What one rank reads, and sends along axes: formulas, or numbers with --at, of rank 0 when nothing else is said.
  void reportTraffic(const FunctionView &f) {
    SymbolValues values = of.at;
    for (const SymbolSpec &symbol : f.places)
      values.emplace(symbol.name, 0);
    if (!f.weightsRead.empty()) {
      auto read = of.at.empty() ? std::nullopt : evaluateFormula(f.weightsRead, values);
      std::string bytes = read ? std::to_string(*read) : f.weightsRead;
      line("read     " + shown("weights", bytes, "B") + " by one rank");
    }
    const char *label = "sent     over ";
    for (const TrafficSpec &each : f.traffic) {
      std::optional<int64_t> bytes, messages;
      if (!of.at.empty()) {
        bytes = evaluateFormula(each.bytes, values);
        messages = evaluateFormula(each.messages, values);
      }
      line(label + each.axes + ": " +
           (bytes && messages
                ? exactBytes(*bytes) + " in " + std::to_string(*messages) + " messages"
                : shown("bytes", each.bytes, "B") + "    " + shown("messages", each.messages, "")) +
           " by one rank");
      label = "         over ";
    }
  }

  /// Inputs that outputs extend where they lie, and the room that a call needs in them.
  void reportInPlace(const FunctionView &f) {
    std::vector<std::string> items;
    for (const InPlaceSpec &pair : f.inPlace)
      items.push_back(f.signature.inputs[pair.input].name + " becomes " +
                      f.outputs[pair.output].name + ", with room for " +
                      pretty(f.outputs[pair.output].dims[pair.dim]) + " along dimension " +
                      std::to_string(pair.dim));
    if (!items.empty())
      list("in place", items);
  }

  /// "2 x  a + b": kernels that run at the same time, with how often; the most frequent first.
  std::vector<std::string> regionTexts(const FunctionView &f) const {
    std::vector<KernelView> kernels = of.artifact().kernels();
    std::map<std::vector<uint32_t>, unsigned> counts;
    for (const std::vector<uint32_t> &region : f.regions)
      ++counts[region];
    std::vector<std::pair<std::vector<uint32_t>, unsigned>> rows(counts.begin(), counts.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    std::vector<std::string> texts;
    for (const auto &[region, count] : rows) {
      std::string &text = texts.emplace_back();
      for (uint32_t kernel : region)
        text += (text.empty() ? "" : " + ") + kernels[kernel].name;
      text = std::to_string(count) + " x  " + text;
    }
    return texts;
  }

  /// Formulas over sizes that only the running call knows.
  void reportLate(const FunctionView &f) {
    std::string more;
    for (const std::string &bytes : f.late)
      more += (more.empty() ? "" : " + ") + bytes;
    std::string scratch;
    for (const std::string &bytes : f.lateScratch)
      scratch += "    " + shown("scratch", bytes, "B per worker");
    if (!more.empty() || !scratch.empty())
      line("later    " + shown("more", more.empty() ? "0" : more, "B") + scratch);
  }

  void reportCost(const FunctionView &f, const weft_cost_t &cost) {
    std::string values;
    for (const SymbolSpec &symbol : f.signature.symbols)
      values += (values.empty() ? "" : "  ") + symbol.name + " = " +
                std::to_string(of.at.at(symbol.name));
    if (!values.empty())
      line("at       " + values);
    for (const InputSpec &output : f.outputs) {
      std::string dims;
      for (const std::string &formula : output.dims) {
        std::optional<int64_t> value = evaluateFormula(formula, of.at);
        dims += (dims.empty() ? "" : ", ") + (value ? std::to_string(*value) : pretty(formula));
      }
      line("         " + output.name + ": " + weft_element_name(output.element) + "[" + dims + "]");
    }
    line("memory   arena = " + exactBytes(cost.arena) +
         "    scratch = " + exactBytes(cost.scratch_per_worker) + " per worker    outputs = " +
         (f.bound.empty() ? exactBytes(cost.outputs) : "decided by data"));
    reportLate(f);
    line("work     flops = " + printCount(static_cast<double>(cost.flops)) +
         "    moved = " + printBytes(static_cast<double>(cost.bytes_moved)));
    reportTraffic(f);
  }

  static std::string exactBytes(int64_t bytes) {
    std::string exact = std::to_string(bytes) + " B";
    return bytes < 1024 ? exact : exact + " (" + printBytes(static_cast<double>(bytes)) + ")";
  }

  std::string arguments(const std::vector<InputSpec> &list) const {
    std::string out;
    for (const InputSpec &argument : list)
      out += (out.empty() ? "" : ", ") + argument.name + ": " +
             printShape(argument, console.unicode());
    return out;
  }

  /// Facts that no range says, of symbols and of places in the mesh.
  static std::vector<std::string> extraFacts(const FunctionView &f) {
    std::vector<SymbolSpec> symbols = f.signature.symbols;
    symbols.insert(symbols.end(), f.places.begin(), f.places.end());
    return factsBesideRanges(f.facts, symbols);
  }

  void list(const std::string &title, const std::vector<std::string> &items) {
    std::string label = title + std::string(9 - title.size(), ' ');
    if (items.empty())
      return line(label + "none");
    size_t shown = console.verbosity() > 0 ? items.size() : std::min(items.size(), kChecksShown);
    for (size_t i = 0; i < shown; ++i)
      line((i ? "         " : label) + items[i]);
    if (shown < items.size())
      line("         and " + std::to_string(items.size() - shown) + " more (-v)");
  }

  void reportKernels() {
    std::vector<KernelView> kernels = of.artifact().kernels();
    std::sort(kernels.begin(), kernels.end(), [](const KernelView &a, const KernelView &b) {
      return a.calls != b.calls ? a.calls > b.calls : a.name < b.name;
    });
    uint64_t calls = 0;
    for (const KernelView &kernel : kernels)
      calls += kernel.calls;
    line("kernels  " + std::to_string(kernels.size()) + ", called " + std::to_string(calls) +
         " times");
    size_t shown =
        console.verbosity() > 0 ? kernels.size() : std::min(kernels.size(), kKernelsShown);
    size_t width = 0;
    for (size_t i = 0; i < shown; ++i)
      width = std::max(width, kernels[i].name.size());
    for (size_t i = 0; i < shown; ++i) {
      const KernelView &kernel = kernels[i];
      std::string count = std::to_string(kernel.calls);
      std::string text =
          std::string(6 - std::min<size_t>(6, count.size()), ' ') + count + " x  " + kernel.name;
      if (!kernel.nodes.empty())
        text += std::string(width - kernel.name.size() + 2, ' ') + kernel.nodes[0];
      if (kernel.nodes.size() > 1)
        text += " and " + std::to_string(kernel.nodes.size() - 1) + " more";
      line(text);
    }
    if (shown < kernels.size())
      line("         and " + std::to_string(kernels.size() - shown) + " more (-v)");
  }

  const InspectedArtifact &of;
  const weft_module_info_t info;
  Console &console;
};

} // namespace

void printInspection(const InspectedArtifact &artifact, Console &console) {
  InspectText(artifact, console).print();
}

} // namespace weft::cli
