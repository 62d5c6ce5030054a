// What is read of an artifact's manifest, which may be damaged.
#include <catch2/catch.hpp>

#include "tools/weft/cli/Manifest.h"

using namespace weft::cli;

using Texts = std::vector<std::string>;

TEST_CASE("a manifest has texts and lists of texts under names") {
  const char *manifest = R"({"compute":"bf16","facts":["1 <= b"],"keep_f32":["*/a","/b"]})";
  CHECK(manifestTexts(manifest, "compute") == Texts{"bf16"});
  CHECK(manifestTexts(manifest, "keep_f32") == Texts{"*/a", "/b"});
  CHECK(manifestTexts(manifest, "weights").empty());
}

TEST_CASE("what a text quotes is no name") {
  const char *manifest = R"({"keep_f32":["\"weights\":\"f16\"","a\\b"],"model":"m"})";
  CHECK(manifestTexts(manifest, "weights").empty());
  CHECK(manifestTexts(manifest, "keep_f32") == Texts{"\"weights\":\"f16\"", "a\\b"});
}

TEST_CASE("a manifest that ends too early gives what is whole") {
  CHECK(manifestTexts(R"({"keep_f32":["/a","/b)", "keep_f32") == Texts{"/a"});
  CHECK(manifestTexts(R"({"keep_f32":["/a",)", "keep_f32") == Texts{"/a"});
  CHECK(manifestTexts(R"({"keep_f32":)", "keep_f32").empty());
  CHECK(manifestTexts(R"({"keep_f32":7})", "keep_f32").empty());
  CHECK(manifestTexts(R"({"compute":"\)", "compute").empty());
  CHECK(manifestTexts("", "compute").empty());
}
