//===- ReduceCommand.cpp - weft reduce --------------------------------------------------------===//
//
// Runs a verb or a command, sees how it fails, and looks for the smallest model that fails the same
// way. Every candidate is a file that is read in a child process.
//===------------------------------------------------------------------------------------------===//

#include "compiler/driver/Import.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/reduce/Reducible.h"
#include "tools/weft/reduce/Trials.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>

extern "C" int weft_tool_main(int argc, const char *const *argv);

namespace weft::cli {
namespace {

/// Seconds for a candidate: as often as long as the model itself took, but never less than the minimum.
constexpr double kTimes = 10, kLeastSeconds = 20, kFirstSeconds = 3600;

class Reduce {
public:
  Reduce(const ParsedOptions &options, Console &console, TemporaryFolder folder,
         std::vector<std::string> flags)
      : options(options), console(console), path(options.positional()[0]), folder(folder),
        trials(verb(options), std::move(flags), folder, weft_tool_main) {
    trials.shell = options.value("command", "");
  }

  static std::string verb(const ParsedOptions &options) { return options.value("verb", "verify"); }

  int run() {
    trials.timeout = double(options.number("timeout", int64_t(kFirstSeconds)));
    Trial first = trials.asGiven(path);
    if (first.outcome.kind == Outcome::Stopped)
      return stopped();
    if (first.outcome.exitCode == ExitWrongUsage) {
      console.say(first.outcome.text.substr(0, first.outcome.text.find_last_not_of('\n') + 1), -1);
      return ExitWrongUsage;
    }
    if (first.outcome.kind == Outcome::Fine || first.outcome.kind == Outcome::TimedOut)
      return noFailure(first);
    Result<Wanted> found = Wanted::of(options.value("while"), first.outcome);
    if (!found)
      return console.fail(found.failure());
    wanted = *found;
    said = first.outcome.describe();
    console.say("fails    " + said);
    if (!options.has("timeout"))
      trials.timeout = std::max(kLeastSeconds, kTimes * trials.lastSeconds);
    return dispatch();
  }

private:
  int noFailure(const Trial &first) {
    bool slow = first.outcome.kind == Outcome::TimedOut;
    bool own = !trials.shell.empty();
    std::string what = own ? "the command" : "'weft " + verb(options) + "'";
    return console.fail(
        {ExitInputRefused,
         path + ": " + what +
             (slow ? " takes longer than " + std::to_string(int64_t(trials.timeout)) + " s"
                   : " does not fail"),
         slow  ? "allow more with --timeout"
         : own ? "it fails when its exit code is not 0"
               : "give the flags it fails with, as to that verb",
         ""});
  }

  int stopped() { return console.fail({ExitInterrupted, "interrupted", "", ""}); }

  int dispatch() {
    Isolate isolate = [this](const std::function<int(int)> &work) {
      return runChild(work, trials.timeout, folder.path(), interrupted);
    };
    Result<ImportOptions> import = readImportOptions(options);
    if (!import)
      return console.fail(import.failure());
    return modelKind(path) == ModelKind::Onnx
               ? search(reducibleOnnx(path, *import, isolate))
               : search(reducibleProgram(path, import->limits, isolate));
  }

  template <typename Model> int search(Result<Reducible<Model>> kind) {
    if (!kind)
      return console.fail(kind.failure());
    output = options.value("output", defaultOutput(kind->extension));
    if (llvm::sys::fs::equivalent(output, path))
      return console.fail(
          {ExitWrongUsage, "'--output " + output + "' is the model itself", "", ""});
    size_t before = kind->count(kind->model);
    Trial copy = tryModel(*kind, kind->model);
    if (!wanted.matches(copy.outcome))
      return copy.outcome.kind == Outcome::Stopped ? stopped() : copyDiffers(copy);
    best = copy.flags;
    reduceDims(*kind, kind->model);
    Model small = reduceParts(*kind);
    reduceDims(*kind, small);
    if (llvm::Error problem = kind->write(small, output))
      return console.fail({ExitMachineLacks, llvm::toString(std::move(problem)), "", ""});
    report(kind->parts, before, kind->count(small));
    int written = console.finish();
    return interrupted() ? stopped() : written;
  }

  int copyDiffers(const Trial &copy) {
    return console.fail({ExitInternalError,
                         path + ": a copy of the model fails otherwise: " + copy.outcome.describe(),
                         "", ""});
  }

  template <typename Model> Trial tryModel(const Reducible<Model> &kind, const Model &model) {
    std::string candidate = folder.path() + "/candidate" + kind.extension;
    if (llvm::Error problem = kind.write(model, candidate)) {
      Trial none;
      none.outcome.kind = Outcome::Error;
      none.outcome.text = llvm::toString(std::move(problem));
      return none;
    }
    return trials.fitting(candidate, kind.constants(model));
  }

  template <typename Model> bool stillFails(const Reducible<Model> &kind, const Model &model) {
    Trial trial = tryModel(kind, model);
    bool fails = wanted.matches(trial.outcome);
    console.say("try      " + std::to_string(kind.count(model)) + " " + kind.parts + ": " +
                    (fails ? "fails the same way" : trial.outcome.describe()),
                1);
    if (fails)
      best = trial.flags;
    return fails;
  }

  template <typename Model> Model reduceParts(const Reducible<Model> &kind) {
    ReduceOptions<Model> reduction;
    std::string last;
    size_t left = kind.count(kind.model);
    auto say = [&] {
      if (!last.empty())
        console.say("reduce   " + last + ": " + std::to_string(left) + " of " +
                    std::to_string(kind.count(kind.model)) + " " + kind.parts + " left, " +
                    std::to_string(trials.count) + " runs");
    };
    reduction.stop = interrupted;
    reduction.smaller = [&](const std::string &what, const Model &model) {
      if (what != last)
        say();
      last = what;
      left = kind.count(model);
    };
    Model small = reduce<Model>(
        kind.model, kind.reductions,
        [&](const Model &candidate) { return stillFails(kind, candidate); }, reduction);
    say();
    return small;
  }

  /// The first of some smaller sizes that fails, too, for each size that was given.
  template <typename Model> void reduceDims(const Reducible<Model> &kind, const Model &model) {
    for (size_t i = 0; i < trials.flagCount(); ++i) {
      std::optional<int64_t> size = trials.dim(i);
      for (int64_t smaller = 1; size && smaller < *size && !interrupted();
           smaller = smaller < 4 ? smaller + 1 : smaller * 2) {
        trials.setDim(i, smaller);
        if (stillFails(kind, model))
          break;
        trials.setDim(i, *size);
      }
    }
  }

  /// MODEL with -small, in the current folder.
  std::string defaultOutput(const std::string &extension) const {
    std::string name = lastName(path);
    if (size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0)
      name.resize(dot);
    return name + "-small" + extension;
  }

  void report(const std::string &parts, size_t before, size_t after) {
    std::string command = trials.command(output, best);
    if (console.json()) {
      JsonWriter json("weft.reduce/1");
      json.field("model", path).field("output", output).field("failure", wanted.name());
      json.field("said", said).field("parts", parts);
      json.field("before", uint64_t(before)).field("after", uint64_t(after));
      json.field("runs", uint64_t(trials.count)).field("interrupted", interrupted());
      json.field("command", command);
      console.result(json.finish());
      return;
    }
    console.result(output + "  " + std::to_string(after) + " of " + std::to_string(before) + " " +
                   parts + ", " + std::to_string(trials.count) + " runs\n");
    console.say("  next: " + command);
  }

  const ParsedOptions &options;
  Console &console;
  const std::string path;
  TemporaryFolder folder;
  Trials trials;
  Wanted wanted;
  std::string said, output;
  std::vector<std::string> best; ///< flags of the last run that failed
};

} // namespace

int reduceCommand(const ParsedOptions &options, Console &console) {
  const std::string &path = options.positional()[0];
  if (modelKind(path) == ModelKind::Missing)
    return console.fail({ExitInputRefused, "cannot read '" + path + "'", "", "W0200"});
  if (options.has("command") && options.has("verb"))
    return console.fail({ExitWrongUsage, "'--command' stands in the place of '--verb'", "", ""});
  Result<std::vector<std::string>> flags = verbFlags(options, Reduce::verb(options));
  if (!flags)
    return console.fail(flags.failure());
  InterruptGuard guard(nullptr); // from the first file on
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return console.fail(folder.failure());
  return Reduce(options, console, *folder, *flags).run();
}

} // namespace weft::cli
