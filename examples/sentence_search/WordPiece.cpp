#include "examples/sentence_search/WordPiece.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "examples/sentence_search/UnicodeText.h"

namespace sentence_search {

// A longer word becomes [UNK], as in the models' training.
static constexpr size_t maxWordCharacters = 100;

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<WordPiece> WordPiece::load(const std::string &path, std::string &error) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> tokens;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    tokens.push_back(std::move(line));
  }
  // Opening a folder works; reading it is what fails.
  if (!file.eof() || file.bad()) {
    error = path + ": cannot read the vocabulary: " + std::strerror(errno ? errno : EIO);
    return std::nullopt;
  }
  std::optional<WordPiece> result = fromTokens(std::move(tokens), error);
  if (!result)
    error = path + ": " + error;
  return result;
}

std::optional<WordPiece> WordPiece::fromTokens(std::vector<std::string> tokens,
                                               std::string &error) {
  WordPiece result;
  result.tokens = std::move(tokens);
  if (!result.index(error))
    return std::nullopt;
  return result;
}

bool WordPiece::index(std::string &error) {
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string_view token = tokens[id];
    bool continues = token.size() > 2 && startsWith(token, "##");
    std::string_view spelling = continues ? token.substr(2) : token;
    (continues ? continuations : starts)[spelling] = int64_t(id);
    longest = std::max(longest, spelling.size());
  }
  for (const char *special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    if (auto found = starts.find(special); found != starts.end())
      specials.push_back(*found);
  auto find = [&](const char *token, int64_t &id) {
    auto found = starts.find(token);
    if (found == starts.end()) {
      error = std::string("the vocabulary has no token '") + token + "'";
      return false;
    }
    id = found->second;
    return true;
  };
  return find("[PAD]", pad) && find("[UNK]", unknown) && find("[CLS]", begin) && find("[SEP]", end);
}

const std::pair<std::string_view, int64_t> *WordPiece::specialAt(std::string_view text) const {
  for (const auto &special : specials)
    if (startsWith(text, special.first))
      return &special;
  return nullptr;
}

/// `size`, or less so that no character is cut.
static size_t characterEnd(std::string_view text, size_t size) {
  if (size >= text.size())
    return text.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    --size;
  return size;
}

void WordPiece::appendPieces(std::string_view word, size_t characters,
                             std::vector<int64_t> &ids) const {
  const size_t before = ids.size();
  if (characters > maxWordCharacters) {
    ids.push_back(unknown);
    return;
  }
  const Pieces *pieces = &starts;
  while (!word.empty()) {
    size_t size = characterEnd(word, longest);
    auto found = pieces->end();
    for (; size > 0; size = characterEnd(word, size - 1))
      if (found = pieces->find(word.substr(0, size)); found != pieces->end())
        break;
    if (found == pieces->end()) {
      // One piece without a token makes the whole word unknown.
      ids.resize(before);
      ids.push_back(unknown);
      return;
    }
    ids.push_back(found->second);
    word.remove_prefix(size);
    pieces = &continuations;
  }
}

std::vector<int64_t> WordPiece::encode(std::string_view text, size_t maxTokens) const {
  const size_t limit = std::max<size_t>(maxTokens, 2) - 1; // leaves room for [SEP]
  std::vector<int64_t> ids = {begin};
  std::string word;
  size_t characters = 0;
  auto endWord = [&] {
    if (characters > 0)
      appendPieces(word, characters, ids);
    word.clear();
    characters = 0;
  };
  auto extendWord = [&](char32_t code) {
    // What is too long stays too long; its letters need not be kept.
    if (++characters <= maxWordCharacters)
      appendUtf8(code, word);
  };
  for (size_t at = 0; at < text.size() && ids.size() < limit;) {
    if (const auto *special = specialAt(text.substr(at))) {
      endWord();
      ids.push_back(special->second);
      at += special->first.size();
      continue;
    }
    char32_t raw = decodeUtf8(text, at);
    const bool alone = isIdeograph(raw);
    for (char32_t code : foldForBert(raw)) {
      const bool separate = alone || isPunctuation(code);
      if (code == ' ' || separate)
        endWord();
      if (code != ' ')
        extendWord(code);
      if (separate)
        endWord();
    }
  }
  endWord();
  if (ids.size() > limit)
    ids.resize(limit);
  ids.push_back(end);
  return ids;
}

} // namespace sentence_search
