//===- Inputs.cpp -----------------------------------------------------------------------------===//
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Generate.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>

namespace weft::cli {

namespace {

/// What a symbol is assumed to be when nobody says: one batch, sixteen of anything else, as far as
/// that is allowed.
constexpr int64_t kAssumedBatch = 1, kAssumedSize = 16;

Failure wrongUsage(std::string message, std::string hint = {}) {
  return {ExitWrongUsage, std::move(message), std::move(hint), {}};
}

bool startsLikeValue(std::string_view text) {
  return !text.empty() && (text[0] == '[' || text[0] == '-' || text[0] == '.' || text[0] == '+' ||
                           (text[0] >= '0' && text[0] <= '9') || text == "true" ||
                           text == "false" || text == "nan" || text == "inf");
}

Result<InputSource> readSource(const std::string &text) {
  if (text[0] == '@')
    return text.size() > 1 ? Result<InputSource>(InputSource{"", text.substr(1), ""})
                           : wrongUsage("'--input @' names no file");
  size_t equals = text.find('=');
  const char *grammar = "write NAME=@FILE.npy, @FILE.npz, NAME=zeros|ones|rand|range or NAME=[1,2]";
  if (equals == std::string::npos || equals == 0)
    return wrongUsage("'--input " + text + "' is not understood", grammar);
  InputSource source{text.substr(0, equals), "", text.substr(equals + 1)};
  if (source.text.size() > 1 && source.text[0] == '@') {
    source.file = source.text.substr(1);
    source.text.clear();
  } else if (!isGenerator(source.text) && !startsLikeValue(source.text)) {
    return wrongUsage("'--input " + text + "': '" + source.text + "' is not understood", grammar);
  }
  return source;
}

/// Where one input comes from, once names are matched.
struct Choice {
  const InputSource *source = nullptr;
  std::optional<HostTensor> tensor;
  std::string origin;
};

class Preparation {
public:
  Preparation(const Signature &signature, const InputRequest &request)
      : signature(signature), request(request), choices(signature.inputs.size()) {}

  Result<Inputs> run() {
    for (auto step : {&Preparation::checkDims, &Preparation::readSources, &Preparation::findSymbols,
                      &Preparation::generateRest})
      if (Result<Done> done = (this->*step)(); !done)
        return done.failure();
    for (Choice &choice : choices)
      inputs.tensors.push_back({std::move(*choice.tensor), std::move(choice.origin)});
    return std::move(inputs);
  }

private:
  std::string names() const {
    std::string text;
    for (const InputSpec &input : signature.inputs)
      text += (text.empty() ? "" : ", ") + input.name;
    return text;
  }

  Result<Done> checkDims() {
    std::vector<std::string_view> known;
    for (const SymbolSpec &symbol : signature.symbols)
      known.push_back(symbol.name);
    for (const auto &[name, value] : request.dims) {
      if (std::find(known.begin(), known.end(), name) != known.end())
        continue;
      std::string text =
          "'--dim " + name + "=" + std::to_string(value) + "': there is no symbol '" + name + "'";
      std::optional<std::string_view> like = closest(name, known);
      std::string hint = like ? "the closest is '" + std::string(*like) + "'" : "";
      if (!like)
        for (std::string_view symbol : known)
          hint += (hint.empty() ? "the symbols are " : ", ") + std::string(symbol);
      return wrongUsage(text, hint.empty() ? "all sizes of this model are fixed" : hint);
    }
    inputs.symbols = request.dims;
    return Done{};
  }

  Result<Done> claim(const std::string &name, const InputSource &source, Choice **out) {
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      if (signature.inputs[i].name != name)
        continue;
      if (choices[i].source)
        return wrongUsage("input '" + name + "' is given twice");
      choices[i].source = &source;
      *out = &choices[i];
      return Done{};
    }
    std::vector<std::string_view> known;
    for (const InputSpec &input : signature.inputs)
      known.push_back(input.name);
    std::optional<std::string_view> like = closest(name, known);
    return Failure{ExitInputRefused, "there is no input '" + name + "'",
                   like                       ? "the closest is '" + std::string(*like) + "'"
                   : signature.inputs.empty() ? std::string("this function takes no inputs")
                                              : "the inputs are " + names(),
                   "W0402"};
  }

  Result<Done> readSources() {
    for (const InputSource &source : request.sources) {
      Choice *choice = nullptr;
      if (source.file.empty()) {
        if (Result<Done> done = claim(source.name, source, &choice); !done)
          return done;
        continue;
      }
      Result<std::vector<NamedTensor>> tensors = readTensorFile(source.file);
      if (!tensors)
        return forInput(source, tensors.failure());
      for (NamedTensor &tensor : *tensors)
        if (Result<Done> done = takeTensor(source, tensor, tensors->size()); !done)
          return done;
    }
    return Done{};
  }

  /// What is wrong with a file, and which input it was to be, when that can be told.
  Failure forInput(const InputSource &source, Failure failure) const {
    bool isOnly = source.name.empty() && signature.inputs.size() == 1;
    const std::string &name = isOnly ? signature.inputs[0].name : source.name;
    if (!name.empty())
      failure.message = "input '" + name + "': " + failure.message;
    return failure;
  }

  Result<Done> takeTensor(const InputSource &source, NamedTensor &tensor, size_t members) {
    std::string name = source.name;
    if (name.empty()) {
      name = tensor.name;
      if (name.empty() && signature.inputs.size() != 1)
        return wrongUsage("'--input @" + source.file + "' does not say which input it is",
                          "write NAME=@" + source.file + "; the inputs are " + names());
      if (name.empty())
        name = signature.inputs[0].name;
    } else if (!tensor.name.empty() && members != 1) {
      return wrongUsage("'" + source.file + "' holds " + std::to_string(members) +
                            " tensors, so '" + source.name + "=' is ambiguous",
                        "write --input @" + source.file);
    }
    Choice *choice = nullptr;
    if (Result<Done> done = claim(name, source, &choice); !done)
      return done;
    const InputSpec &spec = signature.inputs[static_cast<size_t>(choice - choices.data())];
    Result<HostTensor> converted = asElement(tensor.tensor, spec.element, "input '" + name + "'");
    if (!converted)
      return Failure{converted.failure().exitCode, converted.failure().message,
                     converted.failure().hint.empty()
                         ? source.file + " is " + weft_element_name(tensor.tensor.element()) + " " +
                               printDims(tensor.tensor.dims())
                         : converted.failure().hint,
                     converted.failure().code};
    choice->tensor = *converted;
    choice->origin = source.file;
    return Done{};
  }

  /// Reads literals; then dimensions of given tensors say what the symbols in them are.
  Result<Done> findSymbols() {
    bool fromFile = false;
    for (size_t i = 0; i < choices.size(); ++i) {
      Choice &choice = choices[i];
      const InputSpec &spec = signature.inputs[i];
      if (choice.source && choice.source->file.empty() && !isGenerator(choice.source->text)) {
        Result<HostTensor> tensor = parseTensor(choice.source->text, spec.element);
        if (!tensor)
          return Failure{tensor.failure().exitCode,
                         "input '" + spec.name + "': " + tensor.failure().message,
                         {},
                         tensor.failure().code};
        choice.tensor = *tensor;
        choice.origin = "as written";
      }
      if (!choice.tensor)
        continue;
      fromFile |= !choice.source->file.empty();
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < choices.size(); ++i)
        for (size_t d = 0; choices[i].tensor && d < signature.inputs[i].dims.size() &&
                           d < choices[i].tensor->dims().size();
             ++d)
          if (Result<Done> done = bind(i, d, &progress); !done)
            return done;
    }
    for (size_t i = 0; fromFile && i < choices.size(); ++i)
      if (!choices[i].source)
        return Failure{ExitInputRefused, "input '" + signature.inputs[i].name + "' is missing",
                       "add --input " + signature.inputs[i].name + "=@FILE.npy, or " +
                           signature.inputs[i].name + "=rand to generate it",
                       "W0402"};
    return Done{};
  }

  /// Only --dim can contradict here; two files that do are the entry check's to name.
  Result<Done> bind(size_t input, size_t dim, bool *progress) {
    const std::string &formula = signature.inputs[input].dims[dim];
    int64_t size = choices[input].tensor->dims()[dim];
    std::string unknown;
    for (const std::string &symbol : formulaSymbols(formula)) {
      if (inputs.symbols.count(symbol))
        continue;
      if (!unknown.empty())
        return Done{};
      unknown = symbol;
    }
    if (!unknown.empty()) {
      std::optional<int64_t> value = solveFormula(formula, unknown, size, inputs.symbols);
      *progress |= value.has_value();
      if (value)
        inputs.symbols[unknown] = *value;
      return Done{};
    }
    auto asked = request.dims.find(formula);
    if (asked == request.dims.end() || asked->second == size)
      return Done{};
    return Failure{ExitInputRefused,
                   "input '" + signature.inputs[input].name + "': dimension " +
                       std::to_string(dim) + " is " + std::to_string(size) + ", but --dim says '" +
                       formula + "' is " + std::to_string(asked->second),
                   {},
                   "W0411"};
  }

  void assume(const std::string &name) {
    for (const SymbolSpec &symbol : signature.symbols) {
      if (symbol.name != name)
        continue;
      int64_t step = std::max<int64_t>(symbol.multiple, 1);
      int64_t wanted = symbol.dim == 0 ? kAssumedBatch : kAssumedSize;
      int64_t value = std::min(std::max(wanted, symbol.min), symbol.max) / step * step;
      if (value < symbol.min || value == 0)
        value = value <= symbol.max - step ? value + step : value;
      inputs.symbols[name] = value;
      inputs.assumed.push_back(name + "=" + std::to_string(value));
    }
  }

  std::string describe(const std::string &generator) const {
    return generator == "rand" ? "seed " + std::to_string(request.seed) + ", " : "";
  }

  /// What is not known before the call limits nothing.
  int64_t leastOf(const std::vector<std::string> &formulas) const {
    int64_t least = INT64_MAX;
    for (const std::string &formula : formulas)
      if (std::optional<int64_t> value = evaluateFormula(formula, inputs.symbols))
        least = std::min(least, *value);
    return least;
  }

  Result<Done> generateRest() {
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].tensor)
        continue;
      const InputSpec &spec = signature.inputs[i];
      std::vector<int64_t> dims;
      for (const std::string &formula : spec.dims) {
        for (const std::string &symbol : formulaSymbols(formula))
          if (!inputs.symbols.count(symbol))
            assume(symbol);
        std::optional<int64_t> value = evaluateFormula(formula, inputs.symbols);
        if (!value || *value < 0)
          return Failure{ExitInputRefused,
                         "input '" + spec.name + "': its dimension '" + formula +
                             "' has no value for these sizes",
                         "set every symbol in it with --dim", "W0411"};
        dims.push_back(*value);
      }
      Result<HostTensor> tensor = HostTensor::allocate(spec.element, std::move(dims));
      if (!tensor)
        return Failure{tensor.failure().exitCode,
                       "input '" + spec.name + "': " + tensor.failure().message,
                       {},
                       {}};
      std::string generator = choices[i].source ? choices[i].source->text : "rand";
      choices[i].origin =
          "generated, " + describe(generator) +
          fillTensor(*tensor, generator, static_cast<uint64_t>(request.seed) * 4096 + i,
                     leastOf(spec.below));
      choices[i].tensor = *tensor;
    }
    return Done{};
  }

  const Signature &signature;
  const InputRequest &request;
  std::vector<Choice> choices;
  Inputs inputs;
};

} // namespace

Result<HostTensor> asElement(const HostTensor &tensor, uint32_t element, const std::string &what) {
  if (tensor.element() == element)
    return tensor;
  bool bits = tensor.element() == npyElement(element) ||
              (element == WEFT_F16 && tensor.element() == WEFT_U16);
  if (!bits) {
    Failure failure{ExitInputRefused,
                    what + ": element type is " + weft_element_name(tensor.element()) + ", but " +
                        weft_element_name(element) + " is needed",
                    {},
                    "W0403"};
    if (npyElement(element) != element)
      failure.hint = std::string(weft_element_name(element)) + " travels in .npy files as " +
                     weft_element_name(npyElement(element));
    return failure;
  }
  if (weft_element_bits(element) < 8) {
    Result<HostTensor> packed = packParts(tensor, element);
    if (!packed)
      return Failure{packed.failure().exitCode, what + ": " + packed.failure().message,
                     packed.failure().hint, packed.failure().code};
    return packed;
  }
  return tensor.reinterpreted(element);
}

/// What stands behind every --dim or --at, symbol by symbol.
static std::vector<std::string> symbolTexts(const ParsedOptions &options, std::string_view option) {
  std::vector<std::string> texts;
  for (const std::string &text : options.values(option))
    for (std::string &part : splitSymbols(text))
      texts.push_back(std::move(part));
  return texts;
}

Result<SymbolValues> readSymbols(const ParsedOptions &options, std::string_view option) {
  SymbolValues values;
  const std::string name = "--" + std::string(option);
  for (const std::string &text : symbolTexts(options, option)) {
    auto sizes = parseSizes(text);
    if (!sizes || sizes->second.size() != 1)
      return wrongUsage("'" + name + " " + text + "' must be a symbol and one whole number",
                        "write " + name + " batch=1,seq=128");
    if (!values.emplace(sizes->first, sizes->second[0]).second)
      return wrongUsage("'" + name + " " + sizes->first + "' is given twice");
  }
  return values;
}

Result<std::vector<SymbolValues>> readSizeLists(const ParsedOptions &options, size_t most) {
  std::vector<SymbolValues> sizes = {{}};
  for (const std::string &text : symbolTexts(options, "dim")) {
    auto parsed = parseSizes(text);
    if (!parsed)
      return Failure{ExitWrongUsage,
                     "'--dim " + text + "' must be a symbol and whole numbers",
                     "write --dim seq=32,128",
                     {}};
    if (sizes[0].count(parsed->first))
      return Failure{ExitWrongUsage,
                     "'--dim " + parsed->first + "' is given twice",
                     "write --dim " + parsed->first + "=32,128",
                     {}};
    std::vector<SymbolValues> more;
    for (const SymbolValues &base : sizes)
      for (int64_t value : parsed->second) {
        more.push_back(base);
        more.back()[parsed->first] = value;
      }
    sizes = std::move(more);
    if (sizes.size() > most)
      return Failure{ExitWrongUsage, "more than " + std::to_string(most) + " combinations", {}, {}};
  }
  return sizes;
}

Result<InputRequest> readInputRequest(const ParsedOptions &options, bool readDims) {
  InputRequest request;
  request.seed = options.number("seed", 1);
  for (const std::string &text : options.values("input")) {
    Result<InputSource> source = readSource(text);
    if (!source)
      return source.failure();
    request.sources.push_back(std::move(*source));
  }
  if (readDims) {
    Result<SymbolValues> dims = readSymbols(options, "dim");
    if (!dims)
      return dims.failure();
    request.dims = std::move(*dims);
  }
  return request;
}

Result<Inputs> prepareInputs(const Signature &signature, const InputRequest &request) {
  return Preparation(signature, request).run();
}

void sayAssumed(Console &console, const std::vector<std::string> &assumed,
                const std::string &option) {
  if (assumed.empty())
    return;
  std::string line = "assumed ";
  for (const std::string &symbol : assumed)
    line += " " + symbol;
  console.say(line + "  (set with " + option + ")");
}

} // namespace weft::cli
