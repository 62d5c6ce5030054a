//===- StrategyFile.cpp -----------------------------------------------------------------------===//

#include "compiler/quantize/StrategyFile.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/quantize/RoundedWeights.h"
#include "compiler/quantize/StrategyLines.h"
#include "compiler/tuning/Tuning.h"
#include "passes/quant/BlockWeight.h"
#include "passes/quant/ByteTables.h"
#include "passes/quant/ValueProducts.h"

using namespace mlir;

namespace weft {
namespace {

/// What a strategy decides about: layers, then tables, then products of two values.
struct Decided {
  explicit Decided(func::FuncOp function)
      : layers(integerLayers(function)), tables(byteTables(function)),
        values(valueProducts(function)) {}
  size_t size() const { return layers.size() + tables.size() + values.size(); }
  std::optional<size_t> table(size_t i) const {
    bool isOne = i >= layers.size() && i - layers.size() < tables.size();
    return isOne ? std::optional(i - layers.size()) : std::nullopt;
  }
  std::optional<size_t> group(size_t i) const {
    size_t before = layers.size() + tables.size();
    return i >= before ? std::optional(i - before) : std::nullopt;
  }
  Operation *op(size_t i) const {
    if (std::optional<size_t> at = group(i))
      return values[*at].first();
    std::optional<size_t> at = table(i);
    return at ? tables[*at].read.getOperation() : layers[i].op;
  }
  /// Null: it has none.
  ConstantOp weight(size_t i) const {
    if (group(i))
      return {};
    std::optional<size_t> at = table(i);
    return at ? tables[*at].table : layers[i].weight;
  }

  std::vector<IntegerLayer> layers;
  std::vector<ByteTable> tables;
  std::vector<ValueProducts> values;
};

/// All of them without their decisions.
std::vector<StrategyLine> undecided(const Module &module, const Decided &decided) {
  auto bytes = [&](StringRef name) { return module.get().weightBytes(name); };
  std::vector<StrategyLine> lines;
  for (size_t i = 0; i < decided.size(); ++i) {
    std::string identity;
    llvm::raw_string_ostream os(identity);
    std::vector<float> elements;
    if (ConstantOp weight = decided.weight(i)) {
      elements = floatsOf(weight, bytes);
      os << weight.getResult().getType() << '\n';
    } else
      llvm::interleaveComma(decided.op(i)->getOperandTypes(), os);
    os.flush();
    identity.append(reinterpret_cast<const char *>(elements.data()),
                    elements.size() * sizeof(float));
    StrategyLine &line = lines.emplace_back();
    line.layer = int64_t(i);
    line.node = asField(nodeNameOf(decided.op(i)));
    line.weight = keyOf(identity);
  }
  return lines;
}

/// What choices are in lines but for what also depends on other things: static ones and bytes.
struct FormInLines {
  LayerChoice::Form form;
  StrategyLine::Form inLine;
  int64_t bits = kBlockBits; ///< of blocks
};
constexpr FormInLines kForms[] = {
    {LayerChoice::Rows, StrategyLine::Rows},
    {LayerChoice::WideRows, StrategyLine::WideRows},
    {LayerChoice::Blocks, StrategyLine::Blocks},
    {LayerChoice::ByteBlocks, StrategyLine::ByteBlocks},
    {LayerChoice::ByteBlocks, StrategyLine::ByteBlocks5, 5},
    {LayerChoice::ByteBlocks, StrategyLine::ByteBlocks6, 6},
    {LayerChoice::Half, StrategyLine::Half},
};

FormInLines formOf(const StrategyLine &line) {
  for (const FormInLines &each : kForms)
    if (each.inLine == line.form)
      return each;
  return {LayerChoice::Static, line.form};
}

const char *lackOf(LayerChoice::Form form) {
  switch (form) {
  case LayerChoice::Static:
    return "no scale";
  case LayerChoice::Rows:
  case LayerChoice::WideRows:
    return "no rows with scales of their own";
  case LayerChoice::Blocks:
    return "no blocks of 32";
  case LayerChoice::ByteBlocks:
    return "no rows of whole blocks of 32";
  case LayerChoice::Half:
    return "groups, which are not multiplied in bf16";
  }
  return "";
}

/// Success where the decision is for that layer.
llvm::Error checkDecision(const StrategyLine &decision, const StrategyLine &own,
                          const Decided &decided) {
  if (decision.layer != own.layer || decision.node != own.node)
    return readError("layer " + Twine(own.layer) + " of the model is '" + own.node + "', not '" +
                     decision.node + "'");
  if (decision.weight != own.weight)
    return readError("layer '" + own.node + "' has other weights");
  bool isBytes = decision.form == StrategyLine::Bytes;
  if (decision.form == StrategyLine::F32)
    return llvm::Error::success();
  if (decided.group(size_t(own.layer)))
    return decision.form == StrategyLine::Half
               ? llvm::Error::success()
               : readError("'" + own.node + "' multiplies two values, which are f32 or bf16");
  if (decided.table(size_t(own.layer)))
    return isBytes ? llvm::Error::success()
                   : readError("'" + own.node + "' is a table, which is f32 or bytes");
  if (isBytes)
    return readError("'" + own.node + "' is a layer, which has no form 'bytes'");
  const IntegerLayer &layer = decided.layers[size_t(own.layer)];
  LayerChoice::Form form = formOf(decision).form;
  if (!canHave(layer, form))
    return readError("layer '" + own.node + "' has " + lackOf(form));
  for (const StrategyLine::Result &result : decision.results)
    if (!valueGivenBehind(layer.op, unsigned(result.behind)))
      return readError("layer '" + own.node + "' has no result " + Twine(result.behind) +
                       " operators behind it");
  std::optional<int64_t> channels;
  if (layer.inputChannel)
    channels = cast<SymTensorType>(layer.input.getType()).getDim(*layer.inputChannel).asConstant();
  if (!decision.factors.empty() && int64_t(decision.factors.size()) != channels.value_or(0))
    return readError("layer '" + own.node + "' has no " + Twine(decision.factors.size()) +
                     " channels");
  return llvm::Error::success();
}

EdgeChoice choiceOf(const StrategyLine &line) {
  EdgeChoice choice;
  FormInLines form = formOf(line);
  choice.choice.form = form.form;
  choice.choice.bits = form.bits;
  choice.choice.everywhere = line.form == StrategyLine::Everywhere;
  choice.choice.scale = line.scale;
  choice.choice.zero = line.zero;
  choice.choice.rounding = line.rounding;
  choice.choice.factors = line.factors;
  return choice;
}

/// What a line knows the numbers by.
std::string numbersKey(const PackedBlocks &weight) {
  std::string bytes(reinterpret_cast<const char *>(weight.numbers.data()), weight.numbers.size());
  bytes.append(reinterpret_cast<const char *>(weight.scales.data()),
               weight.scales.size() * sizeof(float));
  bytes.append(reinterpret_cast<const char *>(weight.zeros.data()), weight.zeros.size());
  return keyOf(bytes);
}

/// The numbers that lines name, out of the file beside a strategy; nothing where they name none.
llvm::Expected<RoundedWeights> roundedBeside(const std::string &path,
                                             const std::vector<StrategyLine> &lines) {
  if (llvm::all_of(lines, [](const StrategyLine &line) { return line.rounded.empty(); }))
    return RoundedWeights();
  llvm::Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return readRounded(*file);
}

/// Numbers and zero points, stored as those of so many bits are.
bool haveBits(const PackedBlocks &weight, int64_t bits) {
  int64_t stored = bits > kBlockBits ? 8 : kBlockBits;
  auto fit = [&](ArrayRef<int8_t> numbers) {
    return llvm::all_of(numbers, [&](int8_t each) { return uint8_t(each) >> bits == 0; });
  };
  return int64_t(weight.numbers.size()) * 8 ==
             int64_t(weight.scales.size()) * kWeightBlock * stored &&
         (stored < 8 || (fit(weight.numbers) && fit(weight.zeros)));
}

/// Success where numbers are those that a line names, of a layer that has so many blocks.
llvm::Error checkRounded(const StrategyLine &line, const IntegerLayer &layer,
                         const RoundedWeights &rounded) {
  auto found = rounded.find(line.layer);
  if (found == rounded.end())
    return readError("there are no numbers of layer '" + line.node + "'");
  WeightGrid grid = gridOf(layer, formOf(line).bits);
  const PackedBlocks &weight = *found->second;
  if (weight.scales.size() != size_t(grid.blocks() * grid.columns) ||
      !haveBits(weight, grid.bits) || numbersKey(weight) != line.rounded)
    return readError("the numbers of layer '" + line.node +
                     "' are not those that the strategy names");
  return llvm::Error::success();
}

} // namespace

StrategyLine::Form formOf(const Decision &decision, const EdgeChoice &choice) {
  if (decision.table)
    return StrategyLine::Bytes;
  for (auto [form, inLine, bits] : kForms)
    if (form == choice.choice.form && bits == choice.choice.bits)
      return inLine;
  return choice.choice.everywhere ? StrategyLine::Everywhere : StrategyLine::Static;
}

StrategyFiles strategyFiles(const Module &module, const std::vector<Decision> &decisions,
                            const Strategy &strategy) {
  Result<func::FuncOp> function = calledFunction(module);
  Decided decided(*function);
  std::vector<StrategyLine> lines = undecided(module, decided);
  RoundedWeights rounded;
  for (auto [decision, chosen] : llvm::zip_equal(decisions, strategy)) {
    if (chosen == 0)
      continue;
    const EdgeChoice &choice = decision.choices[chosen - 1];
    StrategyLine::Form form = formOf(decision, choice);
    if (decision.table)
      lines[decided.layers.size() + *decision.table].form = form;
    if (decision.values)
      lines[decided.layers.size() + decided.tables.size() + *decision.values].form = form;
    for (size_t layer : decision.layers) {
      StrategyLine &line = lines[layer];
      line.form = form;
      line.scale = choice.choice.scale;
      line.zero = choice.choice.zero;
      line.rounding = choice.choice.rounding;
      line.strength = choice.strength;
      line.factors = choice.choice.factors;
      for (const RoundedResult &result : choice.resultsOf(layer))
        line.results.push_back({result.scale, result.zero, int64_t(result.behind)});
      if (auto found = choice.rounded.find(layer); found != choice.rounded.end()) {
        line.rounded = numbersKey(*found->second);
        rounded.insert({int64_t(layer), found->second});
      }
    }
  }
  return {printStrategy(lines), rounded.empty() ? "" : writeRounded(rounded)};
}

std::string strategyWeights(const std::string &path) { return path + ".safetensors"; }

Result<Module> applyStrategy(const Module &module, const std::string &path) {
  llvm::Expected<std::vector<StrategyLine>> lines = readStrategy(path);
  if (!lines)
    return quantizeError("W0324", llvm::toString(lines.takeError()));
  auto refused = [&](const std::string &why) {
    return quantizeError("W0324", "the strategy is for another model: " + why, path);
  };
  Result<func::FuncOp> function = calledFunction(module);
  if (!function)
    return function.diagnostics();
  Decided decided(*function);
  // What lines leave out at the end stays as it is.
  if (lines->size() != decided.size() && lines->size() != decided.layers.size() &&
      lines->size() != decided.layers.size() + decided.tables.size())
    return refused("it decides " + std::to_string(lines->size()) + " layers, and the model has " +
                   std::to_string(decided.size()));
  std::string beside = strategyWeights(path);
  llvm::Expected<RoundedWeights> rounded = roundedBeside(beside, *lines);
  if (!rounded)
    return quantizeError("W0324", llvm::toString(rounded.takeError()), "",
                         "it is written beside the strategy, and belongs to it");
  std::vector<StrategyLine> own = undecided(module, decided);
  std::vector<Decision> decisions;
  Strategy strategy;
  for (auto [i, line] : llvm::enumerate(*lines)) {
    if (llvm::Error why = checkDecision(line, own[i], decided))
      return refused(llvm::toString(std::move(why)));
    decisions.push_back({{}, {choiceOf(line)}, decided.table(i), decided.group(i)});
    for (const StrategyLine::Result &result : line.results)
      decisions.back().choices[0].results[i].push_back(
          {unsigned(result.behind), result.scale, result.zero});
    if (!line.rounded.empty()) {
      if (llvm::Error why = checkRounded(line, decided.layers[i], *rounded))
        return quantizeError("W0324", llvm::toString(std::move(why)), beside);
      decisions.back().choices[0].rounded[i] = rounded->at(line.layer);
    }
    if (i < decided.layers.size())
      decisions.back().layers = {i};
    if (line.form == StrategyLine::F32)
      decisions.back().choices.clear();
    strategy.push_back(line.form == StrategyLine::F32 ? 0 : 1);
  }
  return realised(module, decisions, strategy);
}

} // namespace weft
