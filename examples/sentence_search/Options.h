//===- Options.h - The command line of sentence_search ----------------------------------------===//
//
//   Options options;
//   if (std::string error = parseOptions(argc, argv, options); !error.empty()) return usage(error);
//
//===------------------------------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sentence_search {

struct Options {
  std::string model, vocabulary;
  std::optional<std::string> file;  ///< one sentence per line; else the built-in sentences
  std::vector<std::string> queries; ///< empty: the built-in ones, unless interactive
  long top = 3, maxTokens = 256, threads = 0;
  bool interactive = false, help = false;
};

extern const char *const helpText;

/// Fills `options`; a text that is not empty says what is wrong with the command line.
std::string parseOptions(int argc, char **argv, Options &options);

} // namespace sentence_search
