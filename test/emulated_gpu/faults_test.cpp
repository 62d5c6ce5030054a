// Faults that are put into kernels are found, and kernels without faults raise no alarm under any schedule.
#include <catch2/catch.hpp>

#include <sstream>

#include "test/emulated_gpu/faulty_kernels.h"

using namespace weft_test;

namespace {

const sound_kernel &kernel_of(const fault &each) {
  for (const sound_kernel &sound : sound_kernels())
    if (std::string(sound.name) == each.kernel)
      return sound;
  FAIL("no kernel " << each.kernel);
  return sound_kernels()[0];
}

bool has_one_of(const std::string &text, const std::string &alternatives) {
  std::stringstream all(alternatives);
  for (std::string one; std::getline(all, one, '|');)
    if (text.find(one) != text.npos)
      return true;
  return false;
}

} // namespace

TEST_CASE("every fault is found under every order, lazy and eager") {
  REQUIRE(faults().size() >= 40);
  for (const fault &each : faults()) {
    const sound_kernel &sound = kernel_of(each);
    std::string broken = replaced(sound.text, each.from, each.to, each.nth);
    for (const char *options : {"lazy", "eager", "seed=5,lazy,blocks=random"}) {
      gpu device(options);
      std::string told = sound.run(device, broken);
      INFO(each.kernel << ": " << each.what << " (" << options << ")\nexpected: " << each.expected
                       << "\ntold: " << told);
      CHECK(has_one_of(told, each.expected));
    }
  }
}

TEST_CASE("kernels without faults raise no alarm under 1,000 random schedules") {
  size_t runs = 0;
  for (int seed = 0; seed < 200; ++seed) {
    std::string options = "seed=" + std::to_string(seed);
    options += seed % 2 ? ",eager" : ",lazy";
    options += seed % 3 ? ",blocks=random" : "";
    options += seed % 5 == 4 ? ",threads=2" : "";
    gpu device(options);
    for (const sound_kernel &sound : sound_kernels()) {
      INFO(sound.name << " with " << options);
      REQUIRE(sound.run(device, sound.text) == "");
      ++runs;
    }
  }
  REQUIRE(runs >= 1000);
}

TEST_CASE("the checks can be turned off, and the numbers are the same") {
  gpu device("checks=off,counters=off");
  for (const sound_kernel &sound : sound_kernels())
    REQUIRE(sound.run(device, sound.text) == "");
}
