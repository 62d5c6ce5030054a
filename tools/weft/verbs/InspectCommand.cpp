//===- InspectCommand.cpp - weft inspect of an artifact ---------------------------------------===//
//
// Says everything from the descriptor; nothing of the artifact runs. Memory formulas are printed
// exactly, because the runtime keeps to them byte by byte; work is rounded for reading.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <climits>
#include <map>

namespace weft::cli {

namespace {

constexpr size_t kKernelsShown = 8, kChecksShown = 8;

std::string hex(const uint8_t *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += digits[bytes[i] >> 4];
    out += digits[bytes[i] & 15];
  }
  return out;
}

class Inspection {
public:
  Inspection(const ParsedOptions &options, Console &console) : options(options), console(console) {}

  int run() {
    for (const char *option : {"constant", "dim", "assume"})
      if (options.has(option))
        return console.fail({ExitWrongUsage,
                             "'--" + std::string(option) + "' is for models, but '" +
                                 options.positional()[0] + "' is compiled already",
                             {},
                             {}});
    if (options.has("why"))
      return console.fail(
          {ExitWrongUsage,
           "'" + options.positional()[0] + "' is compiled already, and artifacts keep no reasons",
           "weft inspect MODEL --why, with the model it was compiled from",
           {}});
    if (options.has("machine"))
      return console.fail(
          {ExitWrongUsage,
           "'" + options.positional()[0] +
               "' is compiled already, and artifacts do not say what each kernel does",
           "weft inspect MODEL --machine, with the model it was compiled from",
           {}});
    for (auto step : {&Inspection::open, &Inspection::readAt, &Inspection::priceAll})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  /// What one number of ranks runs.
  struct Program {
    Artifact artifact;
    std::vector<FunctionView> functions;
    std::vector<std::optional<weft_cost_t>> costs;
  };

  /// The program for the fewest ranks and, unless one is asked for, those for others.
  Result<Done> open() {
    std::vector<int64_t> wanted = {options.number("ranks", 0)};
    for (size_t i = 0; i < wanted.size(); ++i) {
      Result<Artifact> opened =
          Artifact::describe(options.positional()[0], options.value("target"), wanted[i]);
      if (!opened)
        return opened.failure();
      if (!wanted[0] && i == 0)
        for (int64_t ranks : opened->ranks())
          if (ranks != ranksOf(opened->functions()))
            wanted.push_back(ranks);
      programs.push_back({*opened, opened->functions(), {}});
    }
    artifact = programs[0].artifact;
    info = artifact.info();
    return Done{};
  }

  /// All of a program that are for several ranks are for the same.
  static int64_t ranksOf(const std::vector<FunctionView> &functions) {
    int64_t ranks = 1;
    for (const FunctionView &function : functions)
      ranks = std::max(ranks, cli::ranksOf(function));
    return ranks;
  }

  Result<Done> readAt() {
    Result<SymbolValues> sizes = readSymbols(options, "at");
    if (!sizes)
      return sizes.failure();
    at = std::move(*sizes);
    for (const auto &[name, value] : at) {
      bool known = false;
      for (const Program &program : programs)
        for (const FunctionView &function : program.functions)
          for (const std::vector<SymbolSpec> *list :
               {&function.signature.symbols, &function.places})
            for (const SymbolSpec &symbol : *list)
              known |= symbol.name == name;
      if (!known)
        return Failure{
            ExitWrongUsage, "'--at': there is no symbol '" + name + "'", symbolHint(), {}};
    }
    return Done{};
  }

  std::string symbolHint() const {
    std::string names;
    for (const FunctionView &function : programs[0].functions)
      for (const SymbolSpec &symbol : function.signature.symbols)
        if (("," + names + ",").find("," + symbol.name + ",") == std::string::npos)
          names += (names.empty() ? "" : ",") + symbol.name;
    return names.empty() ? "all sizes are fixed" : "the symbols are " + names;
  }

  /// Costs of the functions whose symbols all have a value; with --at there must be one.
  Result<Done> priceAll() {
    for (Program &program : programs)
      if (Result<Done> done = price(program); !done)
        return done;
    return Done{};
  }

  Result<Done> price(Program &program) {
    auto &[own, functions, costs] = program;
    costs.resize(functions.size());
    std::string missing;
    bool any = false;
    for (size_t i = 0; i < functions.size(); ++i) {
      const std::vector<SymbolSpec> &symbols = functions[i].signature.symbols;
      auto isSet = [&](const SymbolSpec &symbol) { return at.count(symbol.name) != 0; };
      auto unset = std::find_if_not(symbols.begin(), symbols.end(), isSet);
      if (unset != symbols.end()) {
        if (missing.empty() && std::any_of(symbols.begin(), symbols.end(), isSet))
          missing = unset->name;
        continue;
      }
      // Without symbols the formulas are numbers.
      if (at.empty())
        continue;
      Result<weft_cost_t> cost = own.cost(functions[i], at);
      if (!cost)
        return cost.failure();
      costs[i] = *cost;
      any |= !symbols.empty();
    }
    if (!at.empty() && !any)
      return Failure{
          ExitWrongUsage, "'--at' gives no value to symbol '" + missing + "'", symbolHint(), {}};
    return Done{};
  }

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

  void report() {
    size_t slash = options.positional()[0].rfind('/');
    std::string name = options.positional()[0].substr(slash == std::string::npos ? 0 : slash + 1);
    std::string hash = hex(info.hash, 32);
    line(console.bold(name) + "  " + info.producer + "  " + info.target + "  " +
         printBytes(static_cast<double>(info.file_size)) + "  sha256 " +
         (console.verbosity() > 0 ? hash : hash.substr(0, 12)));
    reportVariants();
    reportNumerics();
    reportRanks();
    reportFusing();
    for (size_t i = 0; i < programs[0].functions.size(); ++i)
      reportFunction(programs[0].functions[i], programs[0].costs[i]);
    for (size_t p = 1; p < programs.size(); ++p)
      for (size_t i = 0; i < programs[p].functions.size(); ++i)
        reportMesh(programs[p].functions[i], programs[p].costs[i]);
    if (info.weights)
      line("weights  " + std::to_string(info.weights) + ", " +
           printBytes(static_cast<double>(info.weight_bytes)) +
           " (mapped, shared between processes)");
    reportKernels();
  }

  /// The targets of the file, when there are several, or none can run here.
  void reportVariants() {
    std::vector<std::string> items;
    bool canRun = false;
    for (const VariantView &variant : artifact.variants()) {
      if (variant.ranks != ranksOf(programs[0].functions))
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
    for (int64_t ranks : artifact.ranks())
      counts += (counts.empty() ? "" : ", ") + std::to_string(ranks);
    if (artifact.ranks().size() > 1)
      line("ranks    " + counts + "  (each has its program, all share the weights)");
  }

  /// Which exchanges ranks compute beside, of all meshes.
  void reportFusing() {
    std::vector<std::string> how = artifact.listed("fuse_comm"),
                             fused = artifact.listed("fused_exchanges");
    if (fused.empty())
      return;
    if (!how.empty())
      fused.front() += "  (--fuse-comm " + how[0] + ")";
    list("fused", fused);
  }

  void reportNumerics() {
    NumericsView n = artifact.numerics();
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
      symbols += (symbols.empty() ? "" : "    ") + range(symbol);
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
    if (!extraFacts(f).empty())
      list("facts", extraFacts(f));
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

  /// Of which inputs and outputs ranks have parts.
  static std::vector<std::string> partTexts(const FunctionView &f, bool unicode) {
    std::vector<std::string> texts;
    for (const PartSpec &spec : f.inputParts)
      texts.push_back(f.signature.inputs[spec.index].name + " = " + printPart(spec, unicode));
    for (const PartSpec &spec : f.outputParts)
      texts.push_back(f.outputs[spec.index].name + " = " + printPart(spec, unicode));
    return texts;
  }

  void reportParts(const FunctionView &f) {
    if (std::vector<std::string> texts = partTexts(f, console.unicode()); !texts.empty())
      list("local", texts);
  }

  static std::string meshText(const FunctionView &f) {
    std::string ranks = std::to_string(cli::ranksOf(f));
    return "mesh     " + printMesh(f) + "  (" + ranks + " ranks: weft run --ranks " + ranks + ")";
  }

  /// What differs for another number of ranks.
  void reportMesh(const FunctionView &f, const std::optional<weft_cost_t> &cost) {
    line((programs[0].functions.size() > 1 ? console.bold(f.signature.function) + "\n" : "") +
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
    SymbolValues values = at;
    for (const SymbolSpec &symbol : f.places)
      values.emplace(symbol.name, 0);
    if (!f.weightsRead.empty()) {
      auto read = at.empty() ? std::nullopt : evaluateFormula(f.weightsRead, values);
      std::string bytes = read ? std::to_string(*read) : f.weightsRead;
      line("read     " + shown("weights", bytes, "B") + " by one rank");
    }
    const char *label = "sent     over ";
    for (const TrafficSpec &each : f.traffic) {
      std::optional<int64_t> bytes, messages;
      if (!at.empty()) {
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
    std::vector<KernelView> kernels = artifact.kernels();
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
      values +=
          (values.empty() ? "" : "  ") + symbol.name + " = " + std::to_string(at.at(symbol.name));
    if (!values.empty())
      line("at       " + values);
    for (const InputSpec &output : f.outputs) {
      std::string dims;
      for (const std::string &formula : output.dims) {
        std::optional<int64_t> value = evaluateFormula(formula, at);
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

  std::string range(const SymbolSpec &symbol) const {
    const char *le = console.unicode() ? " ≤ " : " <= ";
    std::string text = std::to_string(symbol.min) + le + symbol.name;
    if (symbol.max < INT32_MAX)
      text += le + std::to_string(symbol.max);
    if (symbol.multiple > 1)
      text += " (multiple of " + std::to_string(symbol.multiple) + ")";
    return text;
  }

  /// Facts that the ranges do not already say: those that mention something else than one symbol
  /// and numbers.
  static std::vector<std::string> extraFacts(const FunctionView &f) {
    std::vector<std::string> out;
    for (const std::string &fact : f.facts) {
      bool isRange = false;
      std::vector<SymbolSpec> symbols = f.signature.symbols;
      symbols.insert(symbols.end(), f.places.begin(), f.places.end());
      for (const SymbolSpec &s : symbols)
        isRange |=
            fact == std::to_string(s.min) + " <= " + s.name + " <= " + std::to_string(s.max) ||
            fact == std::to_string(s.min) + " <= " + s.name ||
            fact == s.name + " <= " + std::to_string(s.max) ||
            fact == "mod(" + s.name + ", " + std::to_string(s.multiple) + ") == 0";
      if (!isRange)
        out.push_back(fact);
    }
    return out;
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
    std::vector<KernelView> kernels = artifact.kernels();
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

  void argumentsJson(JsonWriter &json, const char *name, const std::vector<InputSpec> &list) const {
    json.array(name);
    for (const InputSpec &argument : list)
      json.object()
          .field("name", argument.name)
          .field("element", weft_element_name(argument.element))
          .list("dims", argument.dims)
          .end();
    json.end();
  }

  static void ranksJson(JsonWriter &json, const FunctionView &f) {
    json.array("mesh");
    for (const AxisSpec &axis : f.mesh)
      json.object().field("axis", axis.name).field("size", axis.size).end();
    json.end();
    if (std::vector<std::string> texts = partTexts(f, false); !texts.empty())
      json.list("local", texts);
    json.array("sent");
    for (const TrafficSpec &each : f.traffic)
      json.object()
          .field("axes", each.axes)
          .field("bytes", each.bytes)
          .field("messages", each.messages)
          .end();
    json.end();
  }

  void functionJson(JsonWriter &json, const FunctionView &f,
                    const std::optional<weft_cost_t> &cost) const {
    json.object().field("name", f.signature.function);
    argumentsJson(json, "inputs", f.signature.inputs);
    argumentsJson(json, "outputs", f.outputs);
    json.array("symbols");
    for (const SymbolSpec &s : f.signature.symbols)
      json.object()
          .field("name", s.name)
          .field("min", s.min)
          .field("max", s.max)
          .field("multiple", s.multiple)
          .field("input", s.input)
          .field("dim", s.dim)
          .end();
    json.end().array("bound_symbols");
    for (const SymbolSpec &s : f.bound)
      json.object().field("name", s.name).field("max", s.max).end();
    json.end().array("in_place");
    for (const InPlaceSpec &pair : f.inPlace)
      json.object()
          .field("input", f.signature.inputs[pair.input].name)
          .field("output", f.outputs[pair.output].name)
          .field("dim", static_cast<int64_t>(pair.dim))
          .field("room", f.outputs[pair.output].dims[pair.dim])
          .end();
    json.end().list("facts", f.facts).list("checks", f.checks);
    json.object("formulas").field("arena", f.arena).field("scratch_per_worker", f.scratch);
    json.field("flops", f.flops).field("bytes_moved", f.bytesMoved);
    json.list("late", f.late).list("late_scratch_per_worker", f.lateScratch).end();
    if (!f.weightsRead.empty())
      json.field("weights_read", f.weightsRead);
    if (!f.mesh.empty())
      ranksJson(json, f);
    json.array("together");
    for (const std::vector<uint32_t> &region : f.regions)
      json.object().list("kernels", region).end();
    json.end();
    if (cost) {
      json.object("at");
      for (const SymbolSpec &s : f.signature.symbols)
        json.field(s.name, at.at(s.name));
      json.end().object("cost").field("arena", cost->arena);
      json.field("scratch_per_worker", cost->scratch_per_worker).field("outputs", cost->outputs);
      json.field("flops", cost->flops).field("bytes_moved", cost->bytes_moved).end();
    }
    json.end();
  }

  void functionsJson(JsonWriter &json, const Program &program) const {
    json.array("functions");
    for (size_t i = 0; i < program.functions.size(); ++i)
      functionJson(json, program.functions[i], program.costs[i]);
    json.end();
  }

  void numericsJson(JsonWriter &json) const {
    NumericsView n = artifact.numerics();
    json.object("numerics");
    for (const auto &[name, texts] : {std::pair{"accuracy", n.accuracy},
                                      {"activations", n.activations},
                                      {"weights", n.weights},
                                      {"compute", n.compute}})
      if (!texts.empty())
        json.field(name, texts[0]);
    if (!n.keepF32.empty())
      json.list("keep_f32", n.keepF32);
    json.end();
  }

  void fusingJson(JsonWriter &json) const {
    if (std::vector<std::string> how = artifact.listed("fuse_comm"); !how.empty())
      json.field("fuse_comm", how[0]).list("fused_exchanges", artifact.listed("fused_exchanges"));
  }

  void reportJson() {
    JsonWriter json("weft.inspect/1");
    json.field("kind", "artifact").field("file", options.positional()[0]).field("name", info.name);
    json.field("producer", info.producer).field("target", info.target);
    json.field("sha256", hex(info.hash, 32)).field("file_bytes", info.file_size);
    json.field("image_bytes", info.image_size).field("weight_bytes", info.weight_bytes);
    json.field("weights", info.weights).array("variants");
    for (const VariantView &variant : artifact.variants())
      json.object()
          .field("target", variant.target)
          .field("ranks", variant.ranks)
          .field("used", variant.isChosen)
          .field("missing", variant.missing)
          .field("refused", variant.isRefused)
          .list("features", variant.features)
          .end();
    json.end();
    numericsJson(json);
    fusingJson(json);
    functionsJson(json, programs[0]);
    json.array("meshes");
    for (size_t p = 1; p < programs.size(); ++p) {
      json.object().field("ranks", ranksOf(programs[p].functions));
      functionsJson(json, programs[p]);
      json.end();
    }
    json.end().array("kernels");
    for (const KernelView &kernel : artifact.kernels())
      json.object()
          .field("name", kernel.name)
          .field("calls", kernel.calls)
          .list("nodes", kernel.nodes)
          .end();
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  std::vector<Program> programs;
  Artifact artifact; ///< the first one's
  weft_module_info_t info{};
  SymbolValues at;
};

} // namespace

int inspectCommand(const ParsedOptions &options, Console &console) {
  return Inspection(options, console).run();
}

} // namespace weft::cli
