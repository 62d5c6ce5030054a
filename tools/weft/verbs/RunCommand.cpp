//===- RunCommand.cpp - weft run --------------------------------------------------------------===//
//
// One call (a second one when it is quick, for its time, unless nobody is told), by as many local ranks as the function is
// for, summaries of the outputs, files, comparison.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/Compare.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/KeptApart.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/TimedCalls.h"
#include "tools/weft/cli/ToldCall.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {

namespace {

/// A call longer than this is not repeated only to be timed.
constexpr double kRepeatBelow = 1.0;

struct Expectation {
  size_t output;
  std::string file;
  HostTensor tensor;
};

struct Compared {
  size_t output;
  std::string trouble; ///< empty when there is a comparison
  Comparison comparison;
};

std::string padded(std::string text, size_t width) {
  // Columns count characters, not bytes of UTF-8.
  size_t shown = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return text + std::string(width > shown ? width - shown : 0, ' ');
}

class Run {
public:
  Run(const ParsedOptions &options, Console &console) : options(options), console(console) {}
  ~Run() {
    for (weft_tensor_t &output : raw)
      weft_tensor_release(context.get(), &output);
  }

  int run() {
    for (auto step : {&Run::open, &Run::readExpectations, &Run::call, &Run::writeFiles}) {
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
      if (interrupted())
        return console.fail({ExitInterrupted, "interrupted", {}, {}});
      if (isDone)
        return ExitOk;
    }
    compare();
    console.json() ? reportJson() : report();
    return finish();
  }

private:
  Result<Done> open() {
    Result<ToldCall> told = readCall(options, options.has("verify"));
    if (!told)
      return told.failure();
    artifact = told->artifact;
    function = told->function;
    inputs = std::move(told->inputs);
    callInputs = std::move(told->callInputs);
    return Done{};
  }

  Result<Done> readExpectations() {
    for (const std::string &text : options.values("expect")) {
      size_t at = text[0] == '@' ? std::string::npos : text.find("=@");
      std::string name = at == std::string::npos ? "" : text.substr(0, at);
      std::string file = at != std::string::npos ? text.substr(at + 2)
                         : text[0] == '@'        ? text.substr(1)
                                                 : text;
      Result<std::vector<NamedTensor>> tensors = readTensorFile(file);
      if (!tensors)
        return tensors.failure();
      for (const NamedTensor &named : *tensors)
        if (Result<Done> done = expect(name.empty() ? named.name : name, file, named.tensor); !done)
          return done;
    }
    return Done{};
  }

  Result<Done> expect(std::string name, const std::string &file, const HostTensor &tensor) {
    if (name.empty() && function.outputs.size() == 1)
      name = function.outputs[0].name;
    std::string names;
    for (size_t i = 0; i < function.outputs.size(); ++i) {
      names += (i ? ", " : "") + function.outputs[i].name;
      if (function.outputs[i].name != name)
        continue;
      for (const Expectation &other : expectations)
        if (other.output == i)
          return Failure{ExitWrongUsage, "output '" + name + "' is expected twice", {}, {}};
      // Bit patterns become values; any other type is compared by value as it is.
      uint32_t element = function.outputs[i].element;
      Result<HostTensor> converted = asElement(tensor, element, "expected '" + name + "'");
      expectations.push_back({i, file, converted ? *converted : tensor});
      return Done{};
    }
    return Failure{ExitInputRefused,
                   name.empty() ? file + " does not say which output it is"
                                : file + ": there is no output '" + name + "'",
                   "the outputs are " + names,
                   {}};
  }

  Result<Done> call() {
    Result<weft_context_options_t> contextWanted = contextOptions(
        options, static_cast<int32_t>(std::min<int64_t>(options.number("threads", 0), 4096)));
    if (!contextWanted)
      return contextWanted.failure();
    raw.assign(function.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
    if (Result<Done> done = function.mesh.empty() ? createContext(*contextWanted) : Done{}; !done)
      return done;
    if (Result<Done> done = checkInputs(); !done)
      return done;
    sayInputs();
    bool isTold = options.verbosity() >= 0 || options.json();
    double repeatBelow = isTold ? kRepeatBelow : 0;
    Result<Done> done =
        function.mesh.empty() ? callAlone(repeatBelow) : callOnRanks(*contextWanted, repeatBelow);
    if (!done || isDone)
      return done;
    for (size_t i = 0; i < raw.size(); ++i) {
      Result<HostTensor> tensor = partOfOutput(function, i) ? joinParts(function, i, parts[i])
                                                            : withoutGaps(raw[i], nullptr);
      if (!tensor)
        return tensor.failure();
      outputs.push_back(std::move(*tensor));
    }
    return Done{};
  }

  Result<Done> createContext(const weft_context_options_t &wanted) {
    Result<Context> created = artifact.createContext(wanted);
    if (!created)
      return created.failure();
    context = *created;
    return Done{};
  }

  Result<Done> callAlone(double repeatBelow) {
    Result<Done> done = timedCall(&firstSeconds);
    return done && firstSeconds < repeatBelow ? timedCall(&secondSeconds) : done;
  }

  Result<Done> callOnRanks(const weft_context_options_t &wanted, double repeatBelow) {
    RankedCall ranked(artifact, function, inputs, repeatBelow);
    LocalRanks ranks = localRanks(options, ranksOf(function));
    Result<Done> done = ranked.run(ranks, wanted, guard, raw, context);
    firstSeconds = ranked.firstSeconds;
    secondSeconds = ranked.secondSeconds;
    isDone = ranks.isElsewhere();
    parts = ranked.partsOfOutputs();
    return done ? done : explain(done.failure());
  }

  /// Refuses what the call would refuse, before anything is said about it.
  Result<Done> checkInputs() {
    std::vector<weft_tensor_t> shapes = raw;
    weft_error_t error = WEFT_ERROR_INIT;
    if (weft_query_outputs(artifact.module(), function.index, callInputs.views.data(),
                           static_cast<uint32_t>(callInputs.views.size()), shapes.data(),
                           static_cast<uint32_t>(shapes.size()), &error))
      return explain(failureOf(error));
    return Done{};
  }

  Result<Done> timedCall(double *seconds) {
    Result<double> taken = timeCalls(guard, context.get(), function.index, callInputs.views, raw);
    if (!taken)
      return explain(taken.failure());
    *seconds = *taken;
    return Done{};
  }

  /// Adds where the named input came from, when the runtime gives no hint.
  Failure explain(Failure failure) const {
    for (size_t i = 0; failure.hint.empty() && i < inputs.tensors.size(); ++i) {
      const std::string &name = function.signature.inputs[i].name;
      const PreparedInput &input = inputs.tensors[i];
      if (failure.message.rfind("input '" + name + "':", 0) == 0)
        failure.hint = "'" + name + "' is " + weft_element_name(input.tensor.element()) + " " +
                       printDims(input.tensor.dims()) + " (" + input.origin + ")";
    }
    return failure;
  }

  Result<Done> writeFiles() {
    std::string folder = options.value("output-dir");
    OutputFiles files;
    Result<Done> done = Done{};
    if (options.has("output-dir"))
      done = files.makeFolder(folder);
    std::vector<NamedTensor> named;
    for (size_t i = 0; done && i < outputs.size(); ++i) {
      std::string name = function.outputs[i].name;
      paths.push_back(folder + "/" + names.take(name));
      if (options.has("output-dir"))
        done = files.addNpy(paths.back(), outputs[i]);
      named.push_back({name, outputs[i]});
    }
    if (done && options.has("output"))
      done = files.addNpz(options.value("output"), named);
    if (done)
      done =
          checkKeptApart(readByCall(options, {"input", "expect"}), writtenAnswers(options, paths));
    return done && !interrupted() ? files.commit() : done;
  }

  void compare() {
    double tolerance = options.has("tol") ? parseReal(options.value("tol")).value_or(0) : -1;
    for (const Expectation &expected : expectations) {
      const HostTensor &got = outputs[expected.output];
      Compared result{expected.output, "", {}};
      if (got.dims() != expected.tensor.dims())
        result.trouble = "its shape is " + printDims(got.dims()) + ", but " +
                         printDims(expected.tensor.dims()) + " is expected";
      else
        result.comparison = compareTensors(got, expected.tensor, tolerance);
      compared.push_back(result);
    }
  }

  static bool isGood(const Compared &c) { return c.trouble.empty() && c.comparison.good; }

  std::string describe(const Compared &c) const {
    std::string text = "output '" + function.outputs[c.output].name + "': ";
    if (!c.trouble.empty())
      return text + c.trouble;
    const Comparison &r = c.comparison;
    char buffer[256];
    snprintf(buffer, sizeof buffer, "worst error %.3g: got %.9g, expected %.9g", r.worst, r.got,
             r.expected);
    if (r.good)
      return text + "as expected, " + (outputs[c.output].count() ? buffer : "no elements");
    return text + std::to_string(r.wrong) + " of " + std::to_string(outputs[c.output].count()) +
           " elements differ, " + buffer + " at " + printDims(r.index);
  }

  void sayInputs() {
    sayAssumed(console, inputs.assumed);
    std::vector<std::string> shapes, labels;
    size_t nameWidth = 0, shapeWidth = 0;
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      const HostTensor &tensor = inputs.tensors[i].tensor;
      shapes.push_back(weft_element_name(tensor.element()) + printDims(tensor.dims()));
      nameWidth = std::max(nameWidth, function.signature.inputs[i].name.size());
      shapeWidth = std::max(shapeWidth, shapes.back().size());
    }
    for (size_t i = 0; i < inputs.tensors.size(); ++i)
      console.say((i ? "         " : "inputs   ") +
                  padded(function.signature.inputs[i].name, nameWidth) + "  " +
                  padded(shapes[i], shapeWidth) + "  " + inputs.tensors[i].origin);
  }

  void report() {
    if (console.verbosity() >= 0) {
      size_t nameWidth = 0, shapeWidth = 0;
      std::vector<std::string> shapes;
      for (size_t i = 0; i < outputs.size(); ++i) {
        shapes.push_back(weft_element_name(outputs[i].element()) + printDims(outputs[i].dims()));
        nameWidth = std::max(nameWidth, function.outputs[i].name.size());
        shapeWidth = std::max(shapeWidth, shapes.back().size());
      }
      for (size_t i = 0; i < outputs.size(); ++i)
        console.result(
            (i ? "         " : "outputs  ") + padded(function.outputs[i].name, nameWidth) + "  " +
            padded(shapes[i], shapeWidth) + "  " + printSummary(summarize(outputs[i])) + "\n");
    }
    console.say(printSeconds(firstSeconds) + " (first call)" +
                (secondSeconds > 0 ? ", " + printSeconds(secondSeconds) + " (second)" : ""));
    if (options.has("output-dir"))
      console.say("wrote " + std::to_string(outputs.size()) + " files to " +
                  options.value("output-dir"));
    for (const std::string &note : names.notes())
      if (options.has("output-dir"))
        console.say("output " + note);
    if (options.has("output"))
      console.say("wrote " + options.value("output"));
    for (const Compared &c : compared)
      if (isGood(c))
        console.say(describe(c));
  }

  void reportJson() {
    JsonWriter json("weft.run/1");
    json.field("artifact", options.positional()[0]).field("function", function.signature.function);
    json.field("seed", options.number("seed", 1)).object("symbols");
    for (const auto &[name, value] : inputs.symbols)
      json.field(name, value);
    json.end().array("inputs");
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      const PreparedInput &input = inputs.tensors[i];
      json.object().field("name", function.signature.inputs[i].name);
      json.field("element", weft_element_name(input.tensor.element()));
      json.list("dims", input.tensor.dims()).field("origin", input.origin).end();
    }
    json.end().array("outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      Summary s = summarize(outputs[i]);
      json.object().field("name", function.outputs[i].name);
      json.field("element", weft_element_name(outputs[i].element()))
          .list("dims", outputs[i].dims());
      json.field("min", s.min).field("mean", s.mean).field("max", s.max).field("nan", s.nans);
      if (options.has("output-dir"))
        json.field("file", paths[i]);
      json.end();
    }
    json.end().field("seconds_first", firstSeconds);
    if (secondSeconds > 0)
      json.field("seconds_second", secondSeconds);
    json.array("comparisons");
    for (const Compared &c : compared) {
      json.object().field("output", function.outputs[c.output].name).field("good", isGood(c));
      if (c.trouble.empty())
        json.field("worst", c.comparison.worst)
            .list("index", c.comparison.index)
            .field("got", c.comparison.got)
            .field("expected", c.comparison.expected)
            .field("wrong", c.comparison.wrong);
      else
        json.field("trouble", c.trouble);
      json.end();
    }
    console.result(json.finish());
  }

  /// Comparisons that failed are said after the report, each in a line.
  int finish() {
    int written = console.finish();
    bool good = true;
    for (const Compared &c : compared)
      if (!isGood(c)) {
        console.say("error: " + describe(c), -1);
        good = false;
      }
    return written ? written : good ? ExitOk : ExitComparisonFailed;
  }

  const ParsedOptions &options;
  Console &console;
  InterruptGuard guard{nullptr};
  Artifact artifact;
  FunctionView function;
  Inputs inputs;
  CallInputs callInputs;
  std::vector<std::vector<HostTensor>> parts; ///< of outputs, by rank
  std::vector<weft_tensor_t> raw;
  Context context;
  std::vector<HostTensor> outputs;
  std::vector<Expectation> expectations;
  std::vector<Compared> compared;
  FileNames names;
  std::vector<std::string> paths;
  double firstSeconds = 0, secondSeconds = 0;
  bool isDone = false; ///< what follows is another process's: it is rank 0
};

} // namespace

int runCommand(const ParsedOptions &options, Console &console) {
  return Run(options, console).run();
}

} // namespace weft::cli
