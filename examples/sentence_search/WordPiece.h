//===- WordPiece.h - Text to token ids, as BERT's uncased models expect them ------------------===//
//
//   std::string error;
//   std::optional<WordPiece> tokenizer = WordPiece::load("vocab.txt", error);
//   std::vector<int64_t> ids = tokenizer->encode("Hello, world", 256); // [CLS] … [SEP]
//
// Gives the ids of Hugging Face's BertTokenizer with do_lower_case; test/examples compares them.
//===------------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sentence_search {

class WordPiece {
public:
  /// Reads a vocabulary, one token per line; a token's id is its line, counted from 0. On failure
  /// `error` says why in one line.
  static std::optional<WordPiece> load(const std::string &path, std::string &error);
  /// The same for tokens in memory. [PAD], [UNK], [CLS] and [SEP] must be among them.
  static std::optional<WordPiece> fromTokens(std::vector<std::string> tokens, std::string &error);

  WordPiece(WordPiece &&) = default;
  WordPiece &operator=(WordPiece &&) = default;

  /// [CLS], the pieces of `text`, [SEP]: at most `maxTokens` (at least 2) ids; what comes later in
  /// the text is dropped. Special tokens written in the text ("[MASK]") are taken as such. Any
  /// bytes are allowed. Thread safe.
  std::vector<int64_t> encode(std::string_view text, size_t maxTokens) const;

  int64_t padId() const { return pad; }
  size_t size() const { return tokens.size(); }
  /// The token of an id below size().
  const std::string &token(int64_t id) const { return tokens[size_t(id)]; }

private:
  using Pieces = std::unordered_map<std::string_view, int64_t>;

  WordPiece() = default;
  bool index(std::string &error);
  /// The special token that `text` starts with, or null.
  const std::pair<std::string_view, int64_t> *specialAt(std::string_view text) const;
  /// Appends the longest pieces that spell `word`, or [UNK]; `characters` is its length.
  void appendPieces(std::string_view word, size_t characters, std::vector<int64_t> &ids) const;

  std::vector<std::string> tokens;
  // Keys look into `tokens`, whose elements stay where they are when a WordPiece is moved.
  Pieces starts, continuations; ///< continuations without their "##"
  std::vector<std::pair<std::string_view, int64_t>> specials;
  size_t longest = 0; ///< bytes of the longest piece
  int64_t pad = 0, unknown = 0, begin = 0, end = 0;
};

} // namespace sentence_search
