//===- Answer.cpp - weft bench --answer -------------------------------------------------------===//
//
// Every trial is a process of its own, forked from this one, which loads nothing itself: a
// candidate that crashes or hangs ends that process only. A connection that breaks ends a trial,
// too.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/trials/Answer.h"
#include "tools/weft/cli/Child.h"
#include "tools/weft/trials/FileStore.h"
#include "tools/weft/trials/Message.h"
#include "tools/weft/trials/Samples.h"
#include "weft/device.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <poll.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr double kForever = -1;
constexpr size_t kMostThreads = 4096, kMostSizes = 1000;
constexpr size_t kMostProcessorText = 1 << 20;

Message failed(const std::string &text) { return {"failed", {}, text}; }

std::string wholeFile(const std::string &path, size_t most = kMostPayload) {
  std::ifstream file(path, std::ios::binary);
  std::string content;
  char buffer[1 << 16];
  while (content.size() < most && (file.read(buffer, sizeof buffer) || file.gcount()))
    content.append(buffer, static_cast<size_t>(file.gcount()));
  return content.substr(0, most);
}

/// One trial, as it was asked for.
struct Wanted {
  std::string base, other; ///< paths; without another one, base is timed alone
  TimedSetup setup;
  std::vector<std::string> inputs; ///< paths, by size
};

/// Inputs as the function takes them, in its order.
Result<Inputs> readInputs(const std::string &path, const Signature &signature) {
  Result<std::vector<NamedTensor>> tensors = readTensorFile(path);
  if (!tensors)
    return tensors.failure();
  Inputs inputs;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const std::string name = std::to_string(i);
    auto found = std::find_if(tensors->begin(), tensors->end(),
                              [&](const NamedTensor &tensor) { return tensor.name == name; });
    if (found == tensors->end())
      return Failure{ExitInputRefused, "input " + std::to_string(i + 1) + " is missing", "", ""};
    Result<HostTensor> tensor =
        asElement(found->tensor, signature.inputs[i].element, "input " + std::to_string(i + 1));
    if (!tensor)
      return tensor.failure();
    inputs.tensors.push_back({*tensor, "sent"});
  }
  return inputs;
}

Result<Done> timeAndWrite(TimedModel &base, TimedModel *other, const std::string &report) {
  InterruptGuard guard(nullptr);
  Result<Done> done = other ? timeTogether(base, *other, guard) : timeAlone(base, guard);
  std::vector<NamedTensor> tensors; // outputs are the model's memory
  if (done)
    done = addOutputs(tensors, other ? *other : base);
  if (done)
    done = addSamples(tensors, "base", base);
  if (done && other)
    done = addSamples(tensors, "other", *other);
  OutputFiles files;
  if (done)
    done = files.addNpz(report, tensors);
  return done ? files.commit() : done;
}

/// In a process of its own: times, and writes what it found.
Result<Done> tryIt(Wanted &wanted, const std::string &report) {
  Result<Artifact> artifact = Artifact::open(wanted.base, false);
  if (!artifact)
    return artifact.failure();
  Result<FunctionView> function = artifact->function(wanted.setup.function);
  if (!function)
    return function.failure();
  for (const std::string &path : wanted.inputs) {
    Result<Inputs> inputs = readInputs(path, function->signature);
    if (!inputs)
      return inputs.failure();
    wanted.setup.sizes.push_back(std::move(*inputs));
  }
  Result<std::unique_ptr<TimedModel>> base = TimedModel::open(wanted.base, wanted.setup);
  if (!base)
    return base.failure();
  if (wanted.other.empty())
    return timeAndWrite(**base, nullptr, report);
  Result<std::unique_ptr<TimedModel>> other = TimedModel::open(wanted.other, wanted.setup);
  return other ? timeAndWrite(**base, other->get(), report) : other.failure();
}

class Answer {
public:
  Answer(TemporaryFolder folder, Console &console)
      : folder(folder), store(folder), console(console) {}

  int run() {
    if (Result<Done> done = greet(); !done)
      return console.fail(done.failure());
    while (true) {
      Result<Message> asked = channel.receive(kForever);
      if (!asked)
        return channel.hasEnded() ? ExitOk : console.fail(asked.failure());
      if (Result<Done> done = answer(*asked); !done)
        return console.fail(done.failure());
    }
  }

private:
  Result<Done> greet() {
    if (Result<Done> done = channel.sendLine(
            std::string(kTrialsGreeting) + std::to_string(kTrialsVersion), kForever);
        !done)
      return done;
    utsname system{};
    uname(&system);
    return say({"about",
                {weft_version(), system.machine},
                wholeFile("/proc/cpuinfo", kMostProcessorText)});
  }

  Result<Done> say(const Message &message) { return channel.send(message, kForever); }

  Result<Done> answer(const Message &asked) {
    using Step = Result<Done> (Answer::*)(const Message &);
    static const std::map<std::string, Step> steps = {
        {"features", &Answer::features}, {"file", &Answer::file}, {"piece", &Answer::piece},
        {"end", &Answer::end},           {"drop", &Answer::drop}, {"time", &Answer::time}};
    auto step = steps.find(asked.word);
    return step == steps.end() ? say(failed("there is no request '" + asked.word + "'"))
                               : (this->*step->second)(asked);
  }

  /// Which of these the processor has.
  Result<Done> features(const Message &asked) {
    weft_device_t *device = nullptr;
    weft_error_t why = WEFT_ERROR_INIT;
    if (weft_cpu_open(nullptr, &device, &why))
      return say(failed(why.message));
    Message has{"features", {}, ""};
    for (const std::string &name : asked.arguments) {
      int64_t value = 0;
      if (!device->calls->property(device, ("feature." + name).c_str(), &value) && value)
        has.arguments.push_back(name);
    }
    device->calls->close(device);
    return say(has);
  }

  Result<Done> file(const Message &asked) {
    if (asked.arguments.size() != 2)
      return say(failed("'file' needs a hash and a size"));
    std::optional<size_t> bytes = parseCount(asked.arguments[1], kMostFileBytes);
    if (!bytes)
      return say(failed("'" + asked.arguments[1] + "' is no size"));
    Result<std::string> lacks = store.begin({asked.arguments[0], *bytes, asked.payload});
    return say(lacks ? Message{"lacks", {}, *lacks} : failed(lacks.failure().message));
  }

  /// Not answered: so they follow each other without a pause.
  Result<Done> piece(const Message &asked) {
    std::optional<size_t> index =
        asked.arguments.empty() ? std::nullopt : parseCount(asked.arguments[0], kMostFileBytes);
    store.put(index.value_or(SIZE_MAX), asked.payload);
    return Done{};
  }

  Result<Done> end(const Message &) {
    if (!store.isOpen())
      return say(failed("no file was begun"));
    Result<Done> whole = store.end();
    return say(whole ? Message{"stored", {}, ""} : failed(whole.failure().message));
  }

  Result<Done> drop(const Message &asked) {
    for (const std::string &hash : asked.arguments)
      store.drop(hash);
    return Done{};
  }

  Result<Done> time(const Message &asked) {
    Result<Wanted> wanted = readWanted(asked);
    std::optional<size_t> limit = asked.arguments.size() == 2
                                      ? parseCount(asked.arguments[1], kMostTrialSeconds)
                                      : std::nullopt;
    if (!wanted || !limit)
      return say(failed(wanted ? "'time' needs a limit" : wanted.failure().message));
    std::string report = folder.path() + "/report.npz";
    unlink(report.c_str());
    ChildEnd end = runChild(
        [&](int) {
          Result<Done> done = tryIt(*wanted, report);
          if (!done)
            fprintf(stderr, "%s\n", done.failure().message.c_str());
          return done ? ExitOk : ExitInputRefused;
        },
        double(*limit), folder.path(), isAlone);
    if (end.stopped)
      return Done{};
    if (end.timedOut)
      return say(failed("it takes more than " + std::to_string(*limit) + " s"));
    if (end.signal)
      return say(failed(std::string("it crashes: ") + strsignal(end.signal)));
    if (end.exitCode)
      return say(failed(asLine(end.said)));
    return say({"times", {}, wholeFile(report)});
  }

  /// Lines "base HASH", "other HASH", "inputs HASH" for each size, "function NAME".
  Result<Wanted> readWanted(const Message &asked) const {
    Wanted wanted;
    std::optional<size_t> threads =
        asked.arguments.empty() ? std::nullopt : parseCount(asked.arguments[0], kMostThreads);
    if (!threads || !*threads)
      return Failure{ExitInputRefused, "'time' needs a number of threads", "", ""};
    wanted.setup.threads = int64_t(*threads);
    std::istringstream lines(asked.payload);
    for (std::string line; std::getline(lines, line);) {
      std::string key = line.substr(0, line.find(' ')),
                  value = line.substr(std::min(line.size(), key.size() + 1));
      if (key == "function") {
        wanted.setup.function = value;
        continue;
      }
      std::optional<std::string> path = store.pathOf(value);
      if (!path)
        return Failure{ExitInputRefused, "there is no file '" + asLine(value) + "'", "", ""};
      if (key == "inputs" && wanted.inputs.size() < kMostSizes)
        wanted.inputs.push_back(*path);
      else if (key == "base" || key == "other")
        (key == "base" ? wanted.base : wanted.other) = *path;
      else
        return Failure{ExitInputRefused, "'" + asLine(line) + "' is not of a trial", "", ""};
    }
    if (wanted.base.empty() || wanted.inputs.empty())
      return Failure{ExitInputRefused, "a trial needs a file and inputs", "", ""};
    return wanted;
  }

  /// Whether nobody waits for an answer any more: there is something to read, and it is the end.
  static bool isAlone() {
    pollfd file{0, POLLIN, 0};
    int bytes = 0;
    return interrupted() ||
           (poll(&file, 1, 0) > 0 && (ioctl(0, FIONREAD, &bytes) != 0 || bytes == 0));
  }

  TemporaryFolder folder;
  FileStore store;
  Channel channel{0, 1};
  Console &console;
};

} // namespace

int answerTrials(const ParsedOptions &options, Console &console) {
  if (!options.positional().empty())
    return console.usageError("'--answer' takes no ARTIFACT: 'weft tune --remote' sends them", "");
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return console.fail(folder.failure());
  std::signal(SIGPIPE, SIG_IGN); // what cannot be said ends this in order
  InterruptGuard guard(nullptr);
  return Answer(*folder, console).run();
}

} // namespace weft::cli
