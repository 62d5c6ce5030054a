#include "runtime/plugins/emulated/device/options.h"

#include <stdexcept>

namespace weft_emulated {

namespace {

uint64_t number_of(const std::string &word, const std::string &value, uint64_t least,
                   uint64_t most) {
  bool is_number = !value.empty() && value.size() < 19 &&
                   value.find_first_not_of("0123456789") == std::string::npos;
  uint64_t number = is_number ? std::stoull(value) : 0;
  if (!is_number || number < least || number > most)
    throw std::invalid_argument("option '" + word + "': a number from " + std::to_string(least) +
                                " to " + std::to_string(most) + " is expected");
  return number;
}

void set_architecture(device_options &options, const std::string &word, std::string value) {
  options.is_architecture_specific = !value.empty() && value.back() == 'a';
  if (options.is_architecture_specific)
    value.pop_back();
  options.architecture = int32_t(number_of(word, value, 80, 90));
  bool is_known = options.architecture == 80 || options.architecture == 86 ||
                  options.architecture == 89 || options.architecture == 90;
  if (!is_known || (options.is_architecture_specific && options.architecture != 90))
    throw std::invalid_argument("option '" + word + "': 80, 86, 89, 90 or 90a is expected");
}

/// False for a word that is no option.
bool set_flag(device_options &options, const std::string &word) {
  if (word == "lazy" || word == "eager")
    options.run.is_lazy = word == "lazy";
  else if (word == "blocks=random" || word == "blocks=ordered")
    options.run.shuffles_blocks = word == "blocks=random";
  else if (word == "checks=off" || word == "checks=on")
    options.run.has_checks = word == "checks=on";
  else if (word == "counters=off" || word == "counters=on")
    options.run.has_counters = word == "counters=on";
  else
    return false;
  return true;
}

void set(device_options &options, const std::string &word) {
  if (set_flag(options, word))
    return;
  size_t place = word.find('=');
  std::string key = word.substr(0, place);
  std::string value = place == word.npos ? "" : word.substr(place + 1);
  if (key == "seed")
    options.run.seed = number_of(word, value, 0, uint64_t(1) << 48);
  else if (key == "sm")
    set_architecture(options, word, value);
  else if (key == "devices")
    options.devices = int32_t(number_of(word, value, 1, 64));
  else if (key == "processors")
    options.run.processors = uint32_t(number_of(word, value, 1, 1024));
  else if (key == "threads")
    options.run.threads = int(number_of(word, value, 1, 256));
  else if (key == "instructions")
    options.run.most_instructions = number_of(word, value, 1, uint64_t(1) << 48);
  else if (key == "memory")
    options.memory_bytes = number_of(word, value, 1, uint64_t(1) << 44);
  else if (key == "code" && !value.empty())
    options.code = value;
  else if (key == "lines" && !value.empty())
    options.run.lines = value;
  else
    throw std::invalid_argument(
        "option '" + word +
        "' is not known: seed=N, lazy, eager, blocks=random, sm=80, sm=90a, devices=N, "
        "processors=N, threads=N, memory=BYTES, instructions=N, code=FOLDER, lines=FOLDER, "
        "checks=off, counters=off");
}

} // namespace

device_options parse_options(const std::string &text) {
  device_options options;
  options.text = text;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    set(options, text.substr(begin, end - begin));
    begin = end + 1;
  }
  options.run.has_peers = options.devices > 1;
  return options;
}

} // namespace weft_emulated
