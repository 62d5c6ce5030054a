#include "targets/common/Registry.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace weft;

namespace {

std::vector<std::string> namesOf(const std::string &text, bool exact = false) {
  llvm::Expected<std::vector<FoundTarget>> found = findTargets(text, exact);
  if (!found)
    return {llvm::toString(found.takeError())};
  std::vector<std::string> names;
  for (const FoundTarget &target : *found)
    names.push_back(target.kernels->name().str());
  return names;
}

} // namespace

TEST_CASE("names of targets read back what they print") {
  for (const char *text : {"host", "x86:v3", "x86:host", "x86:v2,v4+vnni", "other:a"}) {
    std::optional<TargetName> name = TargetName::parse(text);
    INFO(text);
    REQUIRE(name);
    CHECK(name->str() == text);
  }
  for (const char *text : {"", "x86", "x86:", ":v3", "x86:v3,", "x86:,v3"}) {
    INFO(text);
    CHECK_FALSE(TargetName::parse(text));
  }
}

TEST_CASE("levels are found once each, the one that needs most first") {
  CHECK(namesOf("arm:v8,v8.6,v8.2") == std::vector<std::string>{"arm:v8.6", "arm:v8.2", "arm:v8"});
  CHECK(namesOf("arm:v9,sve512,v8,sve256,cortex-a76") ==
        std::vector<std::string>{"arm:sve512", "arm:sve256", "arm:v9", "arm:cortex-a76", "arm:v8"});
  CHECK(namesOf("x86:v3,v2,v3") == std::vector<std::string>{"x86:v3", "x86:v2"});
  CHECK(namesOf("host").size() == 1);
}

TEST_CASE(
    "an unknown target is refused with those that there are, an unknown level with its family's") {
  auto refused = [](const char *text, const std::string &first, bool hasOthers) {
    std::string refusal = namesOf(text)[0];
    INFO(refusal);
    CHECK(refusal.find("unknown target '" + std::string(text) + "'; ") == 0);
    CHECK(refusal.find("; known are " + first) != std::string::npos);
    CHECK((refusal.find("arm:v8.2") != std::string::npos) == hasOthers);
    CHECK((refusal.find("'weft targets' lists all") != std::string::npos) != hasOthers);
  };
  for (const char *text : {"x86:v4:exact", "v3", ""})
    refused(text, "host, x86:host, ", true);
  refused("x86:v9", "x86:host, x86:v2, ", false);
  refused("cuda:sm_50", "cuda:sm_80, ", false);
}

TEST_CASE("the target that is spelt most alike is named, if any is") {
  auto hasNearest = [](const char *text, const std::string &nearest) {
    return namesOf(text)[0].find("; the nearest is '" + nearest + "'; ") != std::string::npos;
  };
  CHECK(hasNearest("arm:v8.3", "arm:v8.2"));
  CHECK(hasNearest("armv8", "arm:v8"));
  CHECK(hasNearest("arm:v8,v8.7", "arm:v8.2")); // of what is unknown only
  CHECK(hasNearest("x86:v4+vni", "x86:v4+vnni"));
  CHECK(hasNearest("arm:cortex-a75", "arm:cortex-a72"));
  CHECK(namesOf("riscv:rva23")[0].find("nearest") == std::string::npos);
}

TEST_CASE("code for devices goes beside that of one processor's family, and stands behind it") {
  using Names = std::vector<std::string>;
  CHECK(namesOf("cuda:sm_80,x86:v3,v4") == Names{"x86:v4", "x86:v3", "cuda:sm_80"});
  CHECK(namesOf("x86:v3,cuda:sm_80,sm_90a") == Names{"x86:v3", "cuda:sm_90a", "cuda:sm_80"});
  CHECK(namesOf("cuda:sm_80") == Names{"cuda:sm_80"});
  CHECK(namesOf("cuda:host")[0].find("'cuda:host' is the level of this machine, but that is of ") ==
        0);
}

TEST_CASE("code for several families does not go into one file") {
  for (const char *text : {"x86:v3,arm:v8", "arm:v8,v8.2,x86:host"})
    CHECK(namesOf(text)[0] == "target '" + std::string(text) +
                                  "' names several families of processors: a file is for "
                                  "one, and for devices beside it");
}

TEST_CASE("accuracy is no part of a target's name, and part of what its kernels are known by") {
  auto plain = findTargets("x86:v3"), exact = findTargets("x86:v3", /*exact=*/true);
  REQUIRE(bool(plain));
  REQUIRE(bool(exact));
  CHECK(exact->front().kernels->name().str() == plain->front().kernels->name().str());
  CHECK(plain->front().kernels->scope() == "x86:v3");
  CHECK(exact->front().kernels->scope() == "x86:v3:exact"); // as records of earlier versions say it
}

TEST_CASE("a target measures every unit that it has") {
  auto unitsOf = [](const char *target) {
    auto found = findTargets(target);
    REQUIRE(bool(found));
    llvm::Expected<PeakLoops> loops = found->front().kernels->compilePeakLoops();
    REQUIRE(bool(loops));
    std::vector<std::string> names;
    for (auto &[unit, loop] : loops->units)
      names.push_back(nameOf(unit).str());
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(unitsOf("x86:v3") == Names{"f32", "pairs of i16", "pairs of i8"});
  CHECK(unitsOf("x86:v3+vnni") == Names{"f32", "pairs of i16", "quads of i8"});
  CHECK(unitsOf("x86:v4+bf16") == Names{"f32", "pairs of bf16", "pairs of i16", "quads of i8"});
  CHECK(unitsOf("arm:v8") == Names{"f32", "pairs of i16"});
  CHECK(unitsOf("arm:sve512") == Names{"f32", "pairs of i16", "quads of i8"});
  for (const char *newest : {"arm:v8.6", "arm:neoverse-n2", "arm:sve256"})
    CHECK(unitsOf(newest) ==
          Names{"f32", "pairs of bf16", "pairs of i16", "quads of i8", "matrices of i8"});
  CHECK(unitsOf("arm:v8.2") == Names{"f32", "pairs of i16", "quads of i8"});
  CHECK(unitsOf("x86:v4+amx") ==
        Names{"f32", "pairs of i16", "quads of i8", "tiles of bf16", "tiles of i8"});
}

TEST_CASE("a scope finds the target that it is of, and nothing else does") {
  for (const char *scope : {"x86:v3", "x86:v3:exact", "x86:v4+vnni", "arm:v8.2:exact"}) {
    auto found = findKernelTarget(scope);
    REQUIRE(bool(found));
    CHECK((*found)->scope() == scope);
  }
  for (const char *text : {"", "host", "x86", "x86:host", "x86:v2,v3", "x86:v3:fast", ":exact"}) {
    INFO(text);
    auto found = findKernelTarget(text);
    REQUIRE(!found);
    CHECK(llvm::toString(found.takeError()).find("but for x86:v2, x86:v3") != std::string::npos);
  }
}

TEST_CASE("a processor is named by what its system says of it as it names itself") {
  CHECK(processorIn("arm", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") == "neoverse-n1");
  CHECK(processorIn("x86", "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD  "
                           "EPYC | 9B14\t\n\nprocessor\t: 1\ncpu family\t: 6\n") ==
        "AMD EPYC 9B14 (25/17)");
  for (const char *text : {"", "model\t: 17\n", "cpu family\t: x\nmodel\t: 1\n", ":\n:::\n"})
    CHECK(processorIn("x86", text) == "unknown");
  CHECK(processorIn("none", "cpu family\t: 25\nmodel\t: 17\n") == "unknown");
  std::ifstream file("/proc/cpuinfo");
  std::stringstream text;
  text << file.rdbuf();
  for (const char *family : {"x86", "arm"})
    if (namesOf("host")[0].rfind(std::string(family) + ":", 0) == 0)
      CHECK(processorIn(family, text.str()) == hostProcessor());
}
