#include "examples/sentence_search/Options.h"

#include <cerrno>
#include <cstdlib>

namespace sentence_search {

const char *const helpText =
    R"(Rank sentences by how close their meaning is to a query.

  sentence_search minilm.weft vocab.txt                        built-in sentences and queries
  sentence_search minilm.weft vocab.txt --query "baking bread"
  sentence_search minilm.weft vocab.txt --file notes.txt --interactive

Usage: sentence_search MODEL.weft VOCAB.txt [options]

Options
      --query TEXT      what to look for; may be given several times
      --file FILE       sentences to search, one per line [a built-in list]
      --top N           how many sentences to print for each query [3]
      --interactive     read queries, one per line
      --max-tokens N    cut longer sentences, 2..512 [256]
      --threads N       threads of the model [as many as the process may use]
  -h, --help

Results go to standard output, times to standard error.
Exit codes: 0 success, 1 a file was refused, 2 wrong usage, 4 the machine lacks something
)";

static std::string parseNumber(const std::string &option, const std::string &text, long min,
                               long max, long &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < min || value > max)
    return option + " is '" + text + "', but a number from " + std::to_string(min) + " to " +
           std::to_string(max) + " is needed";
  return "";
}

static bool isOptionWithValue(const std::string &name) {
  for (const char *known : {"--query", "--file", "--top", "--max-tokens", "--threads"})
    if (name == known)
      return true;
  return false;
}

static std::string setOption(const std::string &name, const std::string &value, Options &options) {
  if (name == "--query")
    options.queries.push_back(value);
  else if (name == "--file")
    options.file = value;
  else if (name == "--top")
    return parseNumber(name, value, 1, 1000000, options.top);
  else if (name == "--max-tokens")
    return parseNumber(name, value, 2, 512, options.maxTokens);
  else if (name == "--threads")
    return parseNumber(name, value, 0, 1024, options.threads);
  return "";
}

static std::string takeFiles(const std::vector<std::string> &files, Options &options) {
  if (files.size() > 2)
    return "unexpected argument '" + files[2] + "'";
  if (files.size() < 2)
    return files.empty() ? "MODEL.weft and VOCAB.txt are missing" : "VOCAB.txt is missing";
  options.model = files[0];
  options.vocabulary = files[1];
  return "";
}

std::string parseOptions(int argc, char **argv, Options &options) {
  std::vector<std::string> files;
  bool onlyFiles = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (onlyFiles || argument.size() < 2 || argument[0] != '-') {
      files.push_back(argument);
    } else if (argument == "--") {
      onlyFiles = true;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
      return "";
    } else if (argument == "--interactive") {
      options.interactive = true;
    } else if (name == "--interactive") {
      return "--interactive takes no value";
    } else if (!isOptionWithValue(name)) {
      return "unknown option '" + name + "'";
    } else if (equals == std::string::npos && i + 1 == argc) {
      return name + " needs a value";
    } else {
      const std::string value =
          equals == std::string::npos ? argv[++i] : argument.substr(equals + 1);
      if (std::string error = setOption(name, value, options); !error.empty())
        return error;
    }
  }
  return takeFiles(files, options);
}

} // namespace sentence_search
