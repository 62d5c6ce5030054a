// Delta debugging over anything: which edits are chosen, and how many candidates that takes.
#include "compiler/reduce/Delta.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("all edits but the guilty ones are chosen, with few candidates") {
  size_t tried = 0;
  Edits chosen = chooseEdits(1000,
                             [&](const Edits &edits) {
                               ++tried;
                               return !edits[137] && !edits[640];
                             },
                             {});
  CHECK(std::count(chosen.begin(), chosen.end(), true) == 998);
  CHECK_FALSE(chosen[137]);
  CHECK_FALSE(chosen[640]);
  CHECK(tried < 60);
}

TEST_CASE("nothing to edit is no candidate") {
  auto never = [](const Edits &) -> bool { throw "asked"; };
  CHECK(chooseEdits(0, never, {}).empty());
}

TEST_CASE("edits that only work together are found while they are neighbours") {
  Edits chosen =
      chooseEdits(8, [](const Edits &edits) { return edits[2] == edits[3] && !edits[7]; }, {});
  CHECK(chosen == Edits{true, true, true, true, true, true, true, false});
}

/// Letters of a word; a candidate without vowels does not exist.
static Reduction<std::string> letters() {
  return {"letters", [](const std::string &word) { return word.size(); },
          [](const std::string &word, const Edits &gone) -> std::optional<std::string> {
            std::string left;
            for (size_t i = 0; i < word.size(); ++i)
              if (!gone[i])
                left += word[i];
            if (left.find_first_of("aeiou") == std::string::npos)
              return std::nullopt;
            return left;
          }};
}

TEST_CASE("reductions alternate until none makes the model smaller") {
  // 'b' only becomes superfluous when the word is short.
  auto fails = [](const std::string &word) {
    return word.find('x') != std::string::npos &&
           (word.size() < 4 || word.find('b') != std::string::npos);
  };
  std::vector<std::string> seen;
  ReduceOptions<std::string> options;
  options.smaller = [&](const std::string &what, const std::string &word) {
    CHECK(what == "letters");
    seen.push_back(word);
  };
  std::string small = reduce<std::string>("aabaaxaaoo", {letters()}, fails, options);
  CHECK(small.size() == 2);
  CHECK(small.find('x') != std::string::npos);
  REQUIRE(!seen.empty());
  CHECK(seen.back() == small);
}

TEST_CASE("stopping keeps the best so far") {
  size_t tried = 0;
  ReduceOptions<std::string> options;
  options.stop = [&] { return tried >= 3; };
  std::string small = reduce<std::string>(
      "aaaaaaaax", {letters()},
      [&](const std::string &word) {
        ++tried;
        return word.find('x') != std::string::npos;
      },
      options);
  CHECK(tried == 3);
  CHECK(small.size() < 9);
  CHECK(small.find('x') != std::string::npos);
}
