//===- RemoteTrials.cpp -------------------------------------------------------------------------===//

#include "tools/weft/tune/RemoteTrials.h"
#include "targets/common/Registry.h"
#include "tools/weft/trials/Samples.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr int kConnects = 3;          ///< that are tried before a remote is given up
constexpr double kPauseSeconds = 0.5; ///< before the first of them, then twice as long each time
constexpr int kTrialsOfOne = 2;
constexpr double kSlack = 4; ///< how much longer than the estimates a candidate may take

} // namespace

class RemoteTrials::RemoteCandidate : public Candidate {
public:
  RemoteCandidate(RemoteTrials &trials, Artifact described, SentFile file, const TimedSetup &setup)
      : trials(trials), described(std::move(described)), file(std::move(file)), setup(setup) {
    ++trials.owners[this->file.pieces.hash];
  }
  ~RemoteCandidate() override {
    unlink(file.path.c_str());
    trials.forget(file.pieces.hash);
  }
  const Artifact &artifact() const override { return described; }
  const TimedSamples &samples(size_t size) const override { return taken.sizes[size]; }
  Result<std::vector<HostTensor>> outputs(size_t size) const override { return given[size]; }
  double turnSeconds() const override { return taken.turnSeconds; }

  ExpectedSamples expected(const FunctionView &function) const {
    ExpectedSamples expected{setup.sizes.size(), described.info().kernels, {}};
    for (const InputSpec &output : function.outputs)
      expected.outputs.push_back(output.element);
    return expected;
  }

  RemoteTrials &trials;
  const Artifact described;
  const SentFile file;
  const TimedSetup &setup;
  TakenSamples taken;
  std::vector<std::vector<HostTensor>> given; ///< by size
};

Result<std::unique_ptr<RemoteTrials>> RemoteTrials::connect(const std::string &command,
                                                            double silence, Console &console) {
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.failure();
  std::unique_ptr<RemoteTrials> trials(new RemoteTrials(command, silence, console, *folder));
  Result<std::unique_ptr<RemoteConnection>> connection = RemoteConnection::open(command, silence);
  if (!connection)
    return connection.failure();
  trials->connection = std::move(*connection);
  trials->machineName = trials->connection->machine();
  return trials;
}

/// Somebody may be restarting the board: a few times, each after a longer pause.
Result<Done> RemoteTrials::connectAgain() {
  double pause = kPauseSeconds;
  Result<std::unique_ptr<RemoteConnection>> made = Failure{ExitMachineLacks, "", "", ""};
  for (int i = 0; i < kConnects && !interrupted(); ++i, pause *= 2) {
    usleep(static_cast<useconds_t>(1e6 * pause));
    made = RemoteConnection::open(command, silence);
    if (!made)
      continue;
    if ((*made)->machine() != machineName)
      return Failure{ExitMachineLacks, "the remote '" + command + "' is another machine now", "",
                     ""};
    connection = std::move(*made);
    return Done{};
  }
  return interrupted() ? Failure{ExitInterrupted, "interrupted", "", ""} : made.failure();
}

//===-- What it is ------------------------------------------------------------------------------===//

Result<std::vector<std::string>> RemoteTrials::having(const std::vector<std::string> &features) {
  Result<Message> answer = connection->ask({"features", features, ""}, "features");
  if (!answer)
    return answer.failure();
  if (answer->word == "failed")
    return Failure{ExitMachineLacks, "the remote '" + command + "': " + asLine(answer->payload), "",
                   ""};
  return answer->arguments;
}

Result<std::string> RemoteTrials::targetFor(const std::string &asked) {
  std::vector<std::unique_ptr<KernelTarget>> all = allKernelTargets();
  std::vector<std::string> names;
  for (const auto &target : all)
    for (const std::string &feature : target->features())
      if (!std::count(names.begin(), names.end(), feature))
        names.push_back(feature);
  Result<std::vector<std::string>> has = having(names);
  if (!has)
    return has.failure();
  auto missing = [&](const KernelTarget &target) {
    for (const std::string &feature : target.features())
      if (!std::count(has->begin(), has->end(), feature))
        return feature;
    return std::string();
  };
  const KernelTarget *most =
      nullptr; // of several that ask the same, the first: others are for one core
  for (const auto &target : all)
    if (!target->isForDevice() && missing(*target).empty() &&
        (!most || target->features().size() > most->features().size()))
      most = target.get();
  if (!most)
    return Failure{ExitMachineLacks,
                   "the remote '" + command + "' (" + machineName + ") runs no target of weft", "",
                   ""};
  TargetName best = most->name();
  processorName = processorIn(best.family, connection->processorText());
  if (asked == TargetName::kHost || asked == TargetName{best.family, {TargetName::kHost}}.str())
    return best.str();
  llvm::Expected<std::vector<FoundTarget>> found = findTargets(asked);
  if (!found)
    return Failure{ExitWrongUsage, llvm::toString(found.takeError()), "", "W0301"};
  const KernelTarget &wanted = *found->front().kernels;
  if (wanted.isForDevice())
    return Failure{ExitWrongUsage,
                   "kernels for " + wanted.name().str() +
                       " are tuned on the machine that has it, not on a remote",
                   "", ""};
  std::string lacks = missing(wanted);
  if (lacks.empty())
    return wanted.name().str();
  return Failure{ExitMachineLacks,
                 "the remote '" + command + "' (" + machineName + ") lacks '" + lacks +
                     "', which " + wanted.name().str() + " needs",
                 "--target " + best.str() + " is the most that it has", ""};
}

//===-- Files -----------------------------------------------------------------------------------===//

Result<std::unique_ptr<Candidate>> RemoteTrials::open(const std::string &path,
                                                      const TimedSetup &setup) {
  if (Result<Done> done = prepareInputFiles(setup); !done)
    return done.failure();
  std::string kept = folder.path() + "/" + std::to_string(++made) + ".weft";
  if (rename(path.c_str(), kept.c_str()) != 0)
    return Failure{ExitMachineLacks, kept + ": " + strerror(errno), "", ""};
  Result<Pieces> pieces = piecesOf(kept);
  if (!pieces)
    return pieces.failure();
  Result<Artifact> described = Artifact::describe(kept);
  if (!described)
    return described.failure();
  return std::unique_ptr<Candidate>(new RemoteCandidate(*this, *described, {kept, *pieces}, setup));
}

/// Every candidate gets the same.
Result<Done> RemoteTrials::prepareInputFiles(const TimedSetup &setup) {
  while (inputs.size() < setup.sizes.size()) {
    std::vector<NamedTensor> tensors;
    for (const PreparedInput &input : setup.sizes[inputs.size()].tensors)
      tensors.push_back({std::to_string(tensors.size()), input.tensor});
    std::string path = folder.path() + "/inputs-" + std::to_string(inputs.size()) + ".npz";
    OutputFiles files;
    Result<Done> done = files.addNpz(path, tensors);
    if (done)
      done = files.commit();
    if (!done)
      return done;
    Result<Pieces> pieces = piecesOf(path);
    if (!pieces)
      return pieces.failure();
    inputs.push_back({path, *pieces});
  }
  return Done{};
}

void RemoteTrials::forget(const std::string &hash) {
  if (--owners[hash] > 0)
    return;
  owners.erase(hash);
  if (connection)
    connection->drop(hash);
}

//===-- Trials ----------------------------------------------------------------------------------===//

Result<Tried> RemoteTrials::timeAlone(Candidate &candidate, double seconds) {
  return trial(static_cast<RemoteCandidate &>(candidate), nullptr, seconds);
}

Result<Tried> RemoteTrials::timeTogether(Candidate &base, Candidate &other) {
  double expected = togetherSeconds(2 * base.turnSeconds());
  return trial(static_cast<RemoteCandidate &>(base), &static_cast<RemoteCandidate &>(other),
               kSlack * expected + silence);
}

Result<Tried> RemoteTrials::trial(RemoteCandidate &base, RemoteCandidate *other, double seconds) {
  std::string last;
  for (int i = 0; i < kTrialsOfOne; ++i) {
    if (!connection)
      if (Result<Done> done = connectAgain(); !done)
        return done.failure();
    Result<Tried> tried = trialOnce(base, other, std::min(seconds, kMostTrialSeconds - 1.0));
    if (tried || tried.failure().exitCode == ExitInterrupted)
      return tried;
    last = tried.failure().message;
    bool isLost = connection->isLost();
    connection.reset();
    if (!isLost)
      break;
    console.say("  " + last);
  }
  return Tried{last};
}

Result<Tried> RemoteTrials::trialOnce(RemoteCandidate &base, RemoteCandidate *other,
                                      double seconds) {
  std::vector<std::pair<std::string, const SentFile *>> files = {{"base", &base.file}};
  if (other)
    files.push_back({"other", &other->file});
  for (const SentFile &input : inputs)
    files.push_back({"inputs", &input});
  Message asked{
      "time", {std::to_string(base.setup.threads), std::to_string(long(seconds) + 1)}, ""};
  for (const auto &[role, file] : files) {
    if (Result<Done> done = connection->give(file->path, file->pieces); !done)
      return done.failure();
    asked.payload += role + " " + file->pieces.hash + "\n";
  }
  asked.payload += "function " + base.setup.function + "\n";
  Result<Message> answer = connection->ask(asked, "times", seconds);
  if (!answer)
    return answer.failure();
  if (answer->word == "failed")
    return Tried{asLine(answer->payload)};
  if (Result<Done> done = take(*answer, base, other); !done)
    return Failure{done.failure().exitCode,
                   "the remote '" + command + "' answers wrongly: " + done.failure().message, "",
                   ""};
  return Tried{};
}

/// All of it or nothing.
Result<Done> RemoteTrials::take(const Message &times, RemoteCandidate &base,
                                RemoteCandidate *other) {
  auto bytes = std::make_shared<std::string>(times.payload);
  Result<std::vector<NamedTensor>> tensors =
      readTensorBytes(reinterpret_cast<uint8_t *>(bytes->data()), bytes->size(), bytes);
  if (!tensors)
    return tensors.failure();
  RemoteCandidate &tried = other ? *other : base;
  Result<FunctionView> function = tried.described.function(tried.setup.function);
  if (!function)
    return function.failure();
  Result<TakenSamples> ofBase = samplesIn(*tensors, "base", base.expected(*function));
  if (!ofBase)
    return ofBase.failure();
  Result<TakenSamples> ofOther =
      other ? samplesIn(*tensors, "other", other->expected(*function)) : ofBase;
  if (!ofOther)
    return ofOther.failure();
  Result<std::vector<std::vector<HostTensor>>> outputs =
      outputsIn(*tensors, tried.expected(*function));
  if (!outputs)
    return outputs.failure();
  base.taken = std::move(*ofBase);
  if (other)
    other->taken = std::move(*ofOther);
  tried.given = std::move(*outputs);
  return Done{};
}

} // namespace weft::cli
