//===- InspectCommand.cpp - weft inspect of an artifact ---------------------------------------===//
//
// Says everything from the descriptor; nothing of the artifact runs.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/verbs/InspectedArtifact.h"

#include <algorithm>

namespace weft::cli {

namespace {

class Inspection {
public:
  Inspection(const ParsedOptions &options, Console &console)
      : options(options), console(console), read{options.positional()[0], {}, {}} {}

  int run() {
    for (const char *option : {"constant", "cache", "dim", "assume"})
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
    console.json() ? console.result(inspectionJson(read)) : printInspection(read, console);
    return console.finish();
  }

private:
  /// The program for the fewest ranks and, unless one is asked for, those for others.
  Result<Done> open() {
    std::vector<int64_t> wanted = {options.number("ranks", 0)};
    for (size_t i = 0; i < wanted.size(); ++i) {
      Result<Artifact> opened = Artifact::describe(read.path, options.value("target"), wanted[i]);
      if (!opened)
        return opened.failure();
      const InspectedProgram &program =
          read.programs.emplace_back(InspectedProgram{*opened, opened->functions(), {}});
      if (!wanted[0] && i == 0)
        for (int64_t ranks : program.artifact.ranks())
          if (ranks != program.ranks())
            wanted.push_back(ranks);
    }
    return Done{};
  }

  Result<Done> readAt() {
    Result<SymbolValues> sizes = readSymbols(options, "at");
    if (!sizes)
      return sizes.failure();
    read.at = std::move(*sizes);
    for (const auto &[name, value] : read.at) {
      bool known = false;
      for (const InspectedProgram &program : read.programs)
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
    for (const FunctionView &function : read.programs[0].functions)
      for (const SymbolSpec &symbol : function.signature.symbols)
        if (("," + names + ",").find("," + symbol.name + ",") == std::string::npos)
          names += (names.empty() ? "" : ",") + symbol.name;
    return names.empty() ? "all sizes are fixed" : "the symbols are " + names;
  }

  /// Costs of the functions whose symbols all have a value; with --at there must be one.
  Result<Done> priceAll() {
    for (InspectedProgram &program : read.programs)
      if (Result<Done> done = price(program); !done)
        return done;
    return Done{};
  }

  Result<Done> price(InspectedProgram &program) {
    auto &[own, functions, costs] = program;
    costs.resize(functions.size());
    std::string missing;
    bool any = false;
    for (size_t i = 0; i < functions.size(); ++i) {
      const std::vector<SymbolSpec> &symbols = functions[i].signature.symbols;
      auto isSet = [&](const SymbolSpec &symbol) { return read.at.count(symbol.name) != 0; };
      auto unset = std::find_if_not(symbols.begin(), symbols.end(), isSet);
      if (unset != symbols.end()) {
        if (missing.empty() && std::any_of(symbols.begin(), symbols.end(), isSet))
          missing = unset->name;
        continue;
      }
      // Without symbols the formulas are numbers.
      if (read.at.empty())
        continue;
      Result<weft_cost_t> cost = own.cost(functions[i], read.at);
      if (!cost)
        return cost.failure();
      costs[i] = *cost;
      any |= !symbols.empty();
    }
    if (!read.at.empty() && !any)
      return Failure{
          ExitWrongUsage, "'--at' gives no value to symbol '" + missing + "'", symbolHint(), {}};
    return Done{};
  }

  const ParsedOptions &options;
  Console &console;
  InspectedArtifact read;
};

} // namespace

std::string InspectedArtifact::hash() const {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : artifact().info().hash)
    text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

std::vector<std::string> partTexts(const FunctionView &function, bool unicode) {
  std::vector<std::string> texts;
  for (const PartSpec &spec : function.inputParts)
    texts.push_back(function.signature.inputs[spec.index].name + " = " + printPart(spec, unicode));
  for (const PartSpec &spec : function.outputParts)
    texts.push_back(function.outputs[spec.index].name + " = " + printPart(spec, unicode));
  return texts;
}

int inspectCommand(const ParsedOptions &options, Console &console) {
  return Inspection(options, console).run();
}

} // namespace weft::cli
