//===- Values.h - Numbers, sizes and lists as people write them on a command line -------------===//
//
//   parseSize("1.5GiB")                       1610612736
//   parseDuration("5m")                       300
//   parseSizes("seq=32,128")                  {"seq", {32, 128}}
//   printBytes(1610612736)                    "1.50 GiB"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_VALUES_H
#define WEFT_TOOLS_WEFT_CLI_VALUES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cli {

/// A whole number >= 0 that fits int64, digits only.
std::optional<int64_t> parseInteger(std::string_view text);

/// A finite number >= 0, as strtod reads it.
std::optional<double> parseReal(std::string_view text);

/// Bytes: digits, perhaps a fraction, then nothing, K, M, G or T, then nothing, B or iB. Powers of
/// 1024.
std::optional<int64_t> parseSize(std::string_view text);

/// Seconds: a number, then nothing, s, m or h.
std::optional<double> parseDuration(std::string_view text);

/// Whole numbers separated by commas.
std::optional<std::vector<int64_t>> parseIntegers(std::string_view text);

/// `seq=1,8,batch=2` is `seq=1,8` and `batch=2`: a comma in front of another NAME= parts them.
std::vector<std::string> splitSymbols(std::string_view text);

/// NAME=N or NAME=N,N,…
std::optional<std::pair<std::string, std::vector<int64_t>>> parseSizes(std::string_view text);

/// "86.7 MiB", "512 B".
std::string printBytes(double bytes);

/// Three digits and k, M, G or T: "21.2 G". Small whole numbers stay as they are.
std::string printCount(double count);

/// As it was given, in up to 12 digits: "59925856", "0.25".
std::string printScore(double score);

/// "31.4 ms", "840 us".
std::string printSeconds(double seconds);

/// As a shell takes it for one word: quoted where it has to be.
std::string shellWord(const std::string &word);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_VALUES_H
