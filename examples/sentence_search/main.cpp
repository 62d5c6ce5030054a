//===- main.cpp - Search sentences by meaning, with nothing but the Weft runtime --------------===//
//
//   sentence_search minilm.weft vocab.txt --query "baking bread"
//
// Text becomes token ids (WordPiece.h), token ids become vectors (Embedder.h), and the sentences
// whose vectors point most in the query's direction are the answer.
//===------------------------------------------------------------------------------------------===//
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

#include "examples/sentence_search/Embedder.h"
#include "examples/sentence_search/Options.h"
#include "examples/sentence_search/Sentences.h"
#include "examples/sentence_search/WordPiece.h"

using namespace sentence_search;

namespace {

class Timer {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// The sentences, their vectors, and what is needed to make vectors of queries.
class Search {
public:
  Search(Embedder embedder, WordPiece tokenizer, size_t maxTokens)
      : embedder(std::move(embedder)), tokenizer(std::move(tokenizer)), maxTokens(maxTokens) {}

  bool add(std::vector<std::string> texts, Failure &failure);
  bool answer(const std::string &query, size_t top, Failure &failure);

private:
  /// One vector for each text; returns the number of tokens, which is at least 1, or 0 on failure.
  size_t embed(const std::vector<std::string> &texts, std::vector<Vector> &vectors,
               Failure &failure);

  Embedder embedder;
  WordPiece tokenizer;
  size_t maxTokens;
  std::vector<std::string> sentences;
  std::vector<Vector> vectors;
};

} // namespace

size_t Search::embed(const std::vector<std::string> &texts, std::vector<Vector> &out,
                     Failure &failure) {
  std::vector<std::vector<int64_t>> ids;
  size_t tokens = 0;
  for (const std::string &text : texts) {
    ids.push_back(tokenizer.encode(text, embedder.tokenLimit(maxTokens)));
    tokens += ids.back().size();
  }
  return embedder.embed(ids, tokenizer.padId(), out, failure) ? tokens : 0;
}

bool Search::add(std::vector<std::string> texts, Failure &failure) {
  sentences = std::move(texts);
  Timer timer;
  const size_t tokens = embed(sentences, vectors, failure);
  if (tokens == 0)
    return false;
  const double ms = timer.milliseconds();
  std::fprintf(stderr, "embed  %zu sentences, %zu tokens in %.1f ms: %.0f tokens/s\n",
               sentences.size(), tokens, ms, double(tokens) / ms * 1000);
  return true;
}

bool Search::answer(const std::string &query, size_t top, Failure &failure) {
  Timer timer;
  std::vector<Vector> queryVector;
  if (embed({query}, queryVector, failure) == 0)
    return false;
  std::vector<float> scores;
  for (const Vector &vector : vectors)
    scores.push_back(dot(vector, queryVector[0]));
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t(0));
  top = std::min(top, order.size());
  std::partial_sort(order.begin(), order.begin() + top, order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  const double ms = timer.milliseconds();

  std::printf("\n%s\n", query.c_str());
  for (size_t i = 0; i < top; ++i)
    std::printf("  %6.3f  %s\n", scores[order[i]], sentences[order[i]].c_str());
  std::fflush(stdout); // before the time, when both streams go to one place
  std::fprintf(stderr, "query  %.1f ms\n", ms);
  return true;
}

/// Moves the next line of `in` that is not blank to `line`.
static bool readLine(std::istream &in, std::string &line) {
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty())
      return true;
  }
  return false;
}

static bool readSentences(const std::string &path, std::vector<std::string> &sentences,
                          Failure &failure) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; readLine(file, line);)
    sentences.push_back(line);
  if (!file.eof() || file.bad()) {
    failure = {1, path + ": cannot read the sentences: " + std::strerror(errno ? errno : EIO), ""};
    return false;
  }
  if (sentences.empty()) {
    failure = {1, path + ": the file has no sentences", "it must hold one sentence per line"};
    return false;
  }
  return true;
}

static bool answerLines(Search &search, size_t top, Failure &failure) {
  const bool isTerminal = isatty(STDIN_FILENO);
  for (std::string line;;) {
    if (isTerminal)
      std::fprintf(stderr, "\nquery (Ctrl-D ends)> ");
    if (!readLine(std::cin, line))
      break;
    if (!search.answer(line, top, failure))
      return false;
  }
  if (isTerminal)
    std::fprintf(stderr, "\n");
  return true;
}

static bool answerAll(Search &search, const Options &options, Failure &failure) {
  std::vector<std::string> queries = options.queries;
  if (queries.empty() && !options.interactive)
    queries.assign(std::begin(builtInQueries), std::end(builtInQueries));
  for (const std::string &query : queries)
    if (!search.answer(query, size_t(options.top), failure))
      return false;
  return !options.interactive || answerLines(search, size_t(options.top), failure);
}

static bool run(const Options &options, Failure &failure) {
  std::vector<std::string> sentences(std::begin(builtInSentences), std::end(builtInSentences));
  if (options.file) {
    sentences.clear();
    if (!readSentences(*options.file, sentences, failure))
      return false;
  }
  std::string error;
  std::optional<WordPiece> tokenizer = WordPiece::load(options.vocabulary, error);
  if (!tokenizer) {
    failure = {1, error, "the vocabulary is the model's vocab.txt"};
    return false;
  }
  Timer timer;
  std::optional<Embedder> embedder = Embedder::open(options.model, int(options.threads), failure);
  if (!embedder)
    return false;
  std::fprintf(stderr, "open   %s in %.1f ms\n", options.model.c_str(), timer.milliseconds());

  Search search(std::move(*embedder), std::move(*tokenizer), size_t(options.maxTokens));
  if (!search.add(std::move(sentences), failure) || !answerAll(search, options, failure))
    return false;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    failure = {4, "cannot write to standard output", ""};
    return false;
  }
  return true;
}

static int report(const Failure &failure) {
  std::fprintf(stderr, "error: %s\n", failure.message.c_str());
  if (!failure.hint.empty())
    std::fprintf(stderr, "  hint: %s\n", failure.hint.c_str());
  return failure.exitCode;
}

int main(int argc, char **argv) {
  Options options;
  if (std::string error = parseOptions(argc, argv, options); !error.empty())
    return report({2, error, "sentence_search --help lists what is accepted"});
  if (options.help) {
    std::fputs(helpText, stdout);
    return 0;
  }
  Failure failure;
  return run(options, failure) ? 0 : report(failure);
}
