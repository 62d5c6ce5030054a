//===- Trials.cpp -----------------------------------------------------------------------------===//

#include "tools/weft/reduce/Trials.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <unistd.h>

namespace weft::cli {
namespace {

/// Of `weft reduce` itself.
const std::set<std::string_view> kOwn = {"output", "while",   "verb",  "command", "timeout",
                                         "json",   "verbose", "quiet", "color",   "help"};

/// "--input=x=@x.npy" as its parts; `name` is what stands before the second '='.
struct Flag {
  std::string option, name, value;
};
Flag parts(const std::string &word) {
  size_t first = word.find('='), second = word.find('=', first + 1);
  if (first == std::string::npos)
    return {word, "", ""};
  if (second == std::string::npos)
    return {word.substr(0, first), "", word.substr(first + 1)};
  return {word.substr(0, first), word.substr(first + 1, second - first - 1),
          word.substr(second + 1)};
}

/// The flags that a model with this signature understands. Where a file gives one input, the others
/// must be said to be generated.
std::vector<std::string> fittingFlags(const std::vector<std::string> &flags,
                                      const Signature &signature) {
  std::set<std::string> inputs, symbols;
  for (const InputSpec &input : signature.inputs)
    inputs.insert(input.name);
  for (const SymbolSpec &symbol : signature.symbols)
    symbols.insert(symbol.name);
  std::vector<std::string> fitting;
  bool anyFile = false;
  for (const std::string &word : flags) {
    Flag flag = parts(word);
    if ((flag.option == "--input" && !inputs.count(flag.name)) ||
        (flag.option == "--dim" && !symbols.count(flag.name)))
      continue;
    if (flag.option == "--input") {
      anyFile |= flag.value[0] == '@';
      inputs.erase(flag.name);
    }
    fitting.push_back(word);
  }
  for (const InputSpec &input : signature.inputs)
    if (anyFile && inputs.count(input.name))
      fitting.push_back("--input=" + input.name + "=rand");
  return fitting;
}

/// Nothing when the model is refused: then flags do not matter, or are to blame.
std::optional<Signature> signatureOf(const std::string &model,
                                     const std::vector<std::string> &importFlags) {
  std::vector<const char *> words{model.c_str()};
  for (const std::string &flag : importFlags)
    words.push_back(flag.c_str());
  Result<ImportOptions> import = readImportOptions(parse("check", int(words.size()), words.data()));
  if (!import)
    return std::nullopt;
  weft::Result<Module> module = Compiler().importFile(model, *import);
  if (!module)
    return std::nullopt;
  Result<mlir::FunctionOpInterface> function = findFunction(*module, "");
  Result<Signature> signature = function ? modelSignature(*function) : function.failure();
  return signature ? std::optional<Signature>(*signature) : std::nullopt;
}

void send(int report, const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += word + '\0';
  for (size_t at = 0; at < text.size();) {
    ssize_t length = write(report, text.data() + at, text.size() - at);
    if (length <= 0)
      return;
    at += size_t(length);
  }
}

std::vector<std::string> received(const std::string &text) {
  std::vector<std::string> words;
  for (size_t at = 0, end; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
    words.push_back(text.substr(at, end - at));
  return words;
}

} // namespace

Result<std::vector<std::string>> verbFlags(const ParsedOptions &options, const std::string &verb) {
  std::vector<std::string> flags;
  for (const OptionRow &row : optionTable()) {
    if (!(row.verbs & options.verb().bit) || kOwn.count(row.name))
      continue;
    for (const std::string &value : options.values(row.name)) {
      if (options.has("command"))
        return Failure{ExitWrongUsage,
                       "'--" + std::string(row.name) + "' means nothing to a command of your own",
                       "write it into the command, which gets the model as its last argument", ""};
      if (!hasOption(*findVerb(verb), row.name))
        return Failure{ExitWrongUsage,
                       "'--" + std::string(row.name) + "' means nothing to 'weft " + verb + "'",
                       "--verb says which verb the model fails with", ""};
      if (row.name == "input" && value[0] == '@')
        return Failure{ExitWrongUsage, "'--input " + value + "' gives several inputs at once",
                       "smaller models have other inputs: write --input NAME=@FILE.npy for each",
                       ""};
      flags.push_back("--" + std::string(row.name) + (value.empty() ? "" : "=" + value));
    }
  }
  return flags;
}

/// The caller is a process of its own, which the shell replaces.
static int callShell(const std::string &command, const std::string &model) {
  execl("/bin/sh", "sh", "-c", (command + " \"$@\"").c_str(), "sh", model.c_str(), nullptr);
  perror("error: /bin/sh cannot be run");
  return ExitMachineLacks;
}

int Trials::callVerb(const std::string &model, const std::vector<std::string> &fitting) const {
  if (!shell.empty())
    return callShell(shell, model);
  std::vector<std::string> words = {"weft", verb, model};
  words.insert(words.end(), fitting.begin(), fitting.end());
  if (verb == "compile")
    words.push_back("--output=" + folder.path() + "/model.weft");
  std::vector<const char *> argv;
  for (const std::string &word : words)
    argv.push_back(word.c_str());
  return entry(int(argv.size()), argv.data());
}

Trial Trials::run(const std::string &model, const std::function<void(Trial &)> &fit) {
  ++count;
  ChildEnd end = runChild(
      [&](int report) {
        Trial trial;
        fit(trial);
        send(report, trial.flags);
        return callVerb(model, trial.flags);
      },
      timeout, folder.path(), interrupted);
  lastSeconds = end.seconds;
  return {outcomeOf(end), received(end.report)};
}

Trial Trials::asGiven(const std::string &model) {
  return run(model, [&](Trial &trial) { trial.flags = flags; });
}

Trial Trials::fitting(const std::string &model, const std::set<std::string> &inputs) {
  return run(model, [&](Trial &trial) {
    if (!shell.empty())
      return; // knows nothing of flags
    std::vector<std::string> importing;
    for (const std::string &word : flags) {
      Flag flag = parts(word);
      bool isConstant = flag.option == "--constant";
      if (flag.option == "--op" || (isConstant && inputs.count(flag.name)))
        importing.push_back(word);
      if (!isConstant || inputs.count(flag.name))
        trial.flags.push_back(word);
    }
    if (std::optional<Signature> signature = signatureOf(model, importing))
      trial.flags = fittingFlags(trial.flags, *signature);
  });
}

std::optional<int64_t> Trials::dim(size_t i) const {
  Flag flag = parts(flags[i]);
  return flag.option == "--dim" ? parseInteger(flag.value) : std::nullopt;
}

void Trials::setDim(size_t i, int64_t size) {
  flags[i] = "--dim=" + parts(flags[i]).name + "=" + std::to_string(size);
}

std::string Trials::command(const std::string &model, const std::vector<std::string> &words) const {
  std::string text = (shell.empty() ? "weft " + verb : shell) + " " + shellWord(model);
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    text += " " + word.substr(0, equals);
    if (equals != std::string::npos)
      text += " " + shellWord(word.substr(equals + 1));
  }
  return text;
}

} // namespace weft::cli
