//===- MachinePeak.cpp ------------------------------------------------------------------------===//

#include "tools/weft/compile_verbs/MachinePeak.h"
#include "targets/common/Registry.h"
#include "tools/weft/cli/Console.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <vector>

namespace weft::cli {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The code of an object whose functions refer to nothing, executable as long as it is held.
class MappedCode {
public:
  llvm::Error map(const std::string &object) {
    auto file =
        llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "peak loops"));
    if (!file)
      return file.takeError();
    for (const llvm::object::SectionRef &section : (*file)->sections())
      if (section.isText() && section.getSize() > 0)
        if (llvm::Error error = mapSection(section))
          return error;
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      llvm::Expected<uint64_t> address = symbol.getAddress();
      if (!name || !address)
        return llvm::joinErrors(name.takeError(), address.takeError());
      offsets[name->str()] = *address;
    }
    return llvm::Error::success();
  }
  /// Null when there is no such function.
  void *find(const std::string &symbol) const {
    auto found = offsets.find(symbol);
    return memory && found != offsets.end() ? static_cast<char *>(memory.get()) + found->second
                                            : nullptr;
  }
  std::shared_ptr<void> memory;

private:
  std::map<std::string, uint64_t> offsets;
  llvm::Error mapSection(const llvm::object::SectionRef &section) {
    llvm::Expected<llvm::StringRef> bytes = section.getContents();
    if (!bytes)
      return bytes.takeError();
    if (memory || section.relocations().begin() != section.relocations().end())
      return llvm::createStringError("the peak loops are not one piece of code");
    size_t size = bytes->size();
    void *place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
      return llvm::createStringError("no memory for the peak loops");
    memory = std::shared_ptr<void>(place, [size](void *code) { munmap(code, size); });
    memcpy(place, bytes->data(), size);
    if (mprotect(place, size, PROT_READ | PROT_EXEC) != 0)
      return llvm::createStringError("the system forbids code that was just compiled");
    return llvm::Error::success();
  }
};

} // namespace

Result<MachinePeak> MachinePeak::create(const std::string &target) {
  auto failure = [](llvm::Error error) {
    return Failure{ExitMachineLacks, "the peak cannot be measured: " + toString(std::move(error)),
                   "", ""};
  };
  auto targets = findTargets(target);
  if (!targets)
    return Failure{ExitWrongUsage, toString(targets.takeError()), "", "W0301"};
  llvm::Expected<PeakLoops> loops = (*targets)[0].kernels->compilePeakLoops();
  if (!loops)
    return failure(loops.takeError());
  MappedCode mapped;
  if (llvm::Error error = mapped.map(loops->object))
    return failure(std::move(error));
  MachinePeak peak;
  for (auto &[unit, loop] : loops->units)
    peak.units[nameOf(unit).str()] = {reinterpret_cast<Function>(mapped.find(loop.symbol)),
                                      loop.perRound};
  peak.read = {reinterpret_cast<Function>(mapped.find(loops->read.symbol)), loops->read.perRound};
  bool isWhole = peak.read.function != nullptr;
  for (auto &[unit, loop] : peak.units)
    isWhole &= loop.function != nullptr;
  if (!isWhole)
    return failure(llvm::createStringError("the peak loops have no code"));
  peak.code = mapped.memory;
  return peak;
}

double MachinePeak::seconds(const Loop &loop, const float *from, int64_t rounds) const {
  alignas(64) float out[PeakLoops::kLeastBytes / sizeof(float)];
  double begin = now();
  loop.function(from, out, rounds);
  return now() - begin;
}

/// What tiles multiply decides how fast: a unit that toggles many bits is clocked down.
static void fillWithNoise(float *data, size_t bytes) {
  std::minstd_rand numbers;
  std::vector<uint16_t> halves(bytes / sizeof(uint16_t));
  for (uint16_t &half : halves) // a sign, an exponent near that of 1, seven random bits
    half = uint16_t((numbers() & 0x80ff) | 0x3f00);
  memcpy(data, halves.data(), bytes);
}

double MachinePeak::operationsPerSecond(const std::string &unit) const {
  const Loop &loop = units.at(units.count(unit) ? unit : nameOf(Unit::Reals).str());
  alignas(64) float start[PeakLoops::kLeastBytes / sizeof(float)];
  std::fill(std::begin(start), std::end(start), 0.5f); // x = x / 2 + 1 / 2 stays what it is
  if (unit == nameOf(Unit::HalfTiles) || unit == nameOf(Unit::ByteTiles))
    fillWithNoise(start, sizeof start);
  int64_t rounds = 1000;
  while (seconds(loop, start, rounds) < kPieceSeconds && rounds < (int64_t(1) << 40))
    rounds *= 2;
  double best = 1e9;
  for (int i = 0; i < kPieces; ++i)
    best = std::min(best, seconds(loop, start, rounds));
  return double(rounds) * double(loop.perRound) / best;
}

std::vector<std::string> MachinePeak::unitNames() const {
  std::vector<std::string> names;
  for (auto &[unit, loop] : units)
    names.push_back(unit);
  return names;
}

double MachinePeak::bytesPerSecond(int64_t size) {
  constexpr size_t hugePage = 2 << 20; // as weights of artifacts are mapped
  int64_t needed = std::max<int64_t>(size, PeakLoops::kLeastBytes);
  if (needed > dataBytes) {
    size_t room = (size_t(needed) + hugePage - 1) / hugePage * hugePage;
    data.reset(static_cast<float *>(aligned_alloc(hugePage, room)), free);
    if (!data)
      return 0;
    madvise(data.get(), room, MADV_HUGEPAGE);
    std::fill(data.get(), data.get() + room / sizeof(float), 0.5f);
    dataBytes = int64_t(room);
  }
  int64_t rounds = std::max<int64_t>(needed / read.perRound, 1), times = 1;
  auto sample = [&] {
    double total = 0;
    for (int64_t i = 0; i < times; ++i)
      total += seconds(read, data.get(), rounds);
    return total;
  };
  while (sample() < kPieceSeconds && times < (1 << 20))
    times *= 2;
  double best = 1e9;
  for (int i = 0; i < kPieces; ++i)
    best = std::min(best, sample());
  return double(times) * double(rounds) * double(read.perRound) / best;
}

} // namespace weft::cli
