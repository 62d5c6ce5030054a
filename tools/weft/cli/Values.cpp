//===- Values.cpp -----------------------------------------------------------------------------===//
//
// Refuses whatever is not wholly understood: '12x' is no number.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Values.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weft::cli {

std::optional<int64_t> parseInteger(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  return value;
}

std::optional<double> parseReal(std::string_view text) {
  std::string copy(text);
  if (copy.empty() || copy.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return std::nullopt;
  char *end = nullptr;
  double value = strtod(copy.c_str(), &end);
  if (*end || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

std::optional<int64_t> parseSize(std::string_view text) {
  size_t digits = text.find_first_not_of("0123456789.");
  std::string_view unit = digits == std::string_view::npos ? "" : text.substr(digits);
  std::optional<double> value = parseReal(text.substr(0, digits));
  if (!value)
    return std::nullopt;
  double scale = 1;
  size_t letter =
      unit.empty() ? std::string_view::npos : std::string_view("KMGTkmgt").find(unit.front());
  if (letter != std::string_view::npos) {
    scale = std::pow(1024.0, static_cast<double>(letter % 4 + 1));
    unit.remove_prefix(1);
  }
  if (!unit.empty() && unit != "B" && unit != "iB")
    return std::nullopt;
  double bytes = std::floor(*value * scale);
  if (!(bytes < 9.2e18))
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::optional<double> parseDuration(std::string_view text) {
  double scale = 1;
  if (!text.empty() && text.back() == 'h')
    scale = 3600;
  else if (!text.empty() && text.back() == 'm')
    scale = 60;
  if (!text.empty() && std::string_view("smh").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::optional<double> value = parseReal(text);
  return value ? std::optional<double>(*value * scale) : std::nullopt;
}

std::optional<std::vector<int64_t>> parseIntegers(std::string_view text) {
  std::vector<int64_t> values;
  for (;;) {
    size_t comma = text.find(',');
    std::optional<int64_t> value = parseInteger(text.substr(0, comma));
    if (!value)
      return std::nullopt;
    values.push_back(*value);
    if (comma == std::string_view::npos)
      return values;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> splitSymbols(std::string_view text) {
  std::vector<std::string> parts;
  bool isNamed = false; // a comma may also stand in a name
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view piece = text.substr(begin, end - begin);
    bool names = piece.find('=') != std::string_view::npos;
    if (begin == 0 || (names && isNamed))
      parts.emplace_back(piece);
    else
      parts.back().append(",").append(piece);
    isNamed |= names;
    begin = end + 1;
  }
  return parts;
}

std::optional<std::pair<std::string, std::vector<int64_t>>> parseSizes(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return std::nullopt;
  std::optional<std::vector<int64_t>> values = parseIntegers(text.substr(equals + 1));
  if (!values)
    return std::nullopt;
  return std::make_pair(std::string(text.substr(0, equals)), std::move(*values));
}

/// `value` with three digits, in the largest unit that keeps it >= 1.
static std::string scaled(double value, double step, const char *const *units, int count) {
  int unit = 0;
  while (unit + 1 < count && std::fabs(value) >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  char text[64];
  double size = std::fabs(value);
  int digits = unit == 0 && value == std::floor(value) ? 0
               : size < 9.995                          ? 2
               : size < 99.95                          ? 1
                                                       : 0;
  snprintf(text, sizeof text, "%.*f%s", digits, value, units[unit]);
  return text;
}

std::string printBytes(double bytes) {
  static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  return scaled(bytes, 1024, units, 6);
}

std::string printCount(double count) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
  if (std::fabs(count) < 10000 && count == std::floor(count))
    return std::to_string(static_cast<long long>(count));
  return scaled(count, 1000, units, 7);
}

std::string printScore(double score) {
  char text[40];
  snprintf(text, sizeof text, "%.12g", score);
  return text;
}

std::string printSeconds(double seconds) {
  static const char *const units[] = {" us", " ms", " s"};
  if (seconds < 1e-6) {
    char text[32];
    snprintf(text, sizeof text, "%.0f ns", seconds * 1e9);
    return text;
  }
  return scaled(seconds * 1e6, 1000, units, 3);
}

std::string shellWord(const std::string &word) {
  bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-./=:,@+") == std::string::npos;
  if (plain)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

} // namespace weft::cli
