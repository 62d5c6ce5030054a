//===- Field.cpp --------------------------------------------------------------------------------===//
#include "test/fuzz/Field.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

namespace weft::fuzz {
namespace {

constexpr size_t kMostOfOneKind = 64, kMostFields = 20000, kTextOfField = 256;

size_t below(Random &random, size_t bound) { return bound ? random() % bound : 0; }
bool oneIn(Random &random, unsigned n) { return random() % n == 0; }

/// Ends of ranges, small numbers and neighbours of what is there.
uint64_t otherNumber(uint64_t number, Random &random) {
  static const int64_t corners[] = {0,
                                    1,
                                    2,
                                    3,
                                    -1,
                                    -2,
                                    7,
                                    64,
                                    255,
                                    65536,
                                    std::numeric_limits<int32_t>::max(),
                                    std::numeric_limits<int32_t>::min(),
                                    int64_t(1) << 32,
                                    int64_t(1) << 62,
                                    std::numeric_limits<int64_t>::max(),
                                    std::numeric_limits<int64_t>::min()};
  switch (random() % 6) {
  case 0:
    return number + 1;
  case 1:
    return number - 1;
  case 2:
    return number * 2;
  case 3:
    return random() % 32;
  case 4:
    return number ^ uint64_t(1) << random() % 64;
  default:
    return uint64_t(corners[below(random, sizeof corners / sizeof *corners)]);
  }
}

/// The bytes of a float or double at the edges of its range.
template <typename T> std::string cornerFloat(Random &random) {
  using Limits = std::numeric_limits<T>;
  const T corners[] = {T(0),
                       T(-0.0),
                       T(1),
                       T(-1),
                       Limits::max(),
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::infinity(),
                       Limits::quiet_NaN()};
  T value = corners[below(random, sizeof corners / sizeof *corners)];
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

bool isDecimal(const std::string &text) {
  return !text.empty() && text.size() < 20 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

void changeText(std::string &text, Random &random) {
  if (isDecimal(text) && !oneIn(random, 4)) {
    auto number = int64_t(otherNumber(std::strtoull(text.c_str(), nullptr, 10), random));
    text = std::to_string(number);
  } else if (text.size() == 4 && oneIn(random, 2)) {
    text = cornerFloat<float>(random);
  } else if (text.size() == 8 && oneIn(random, 2)) {
    text = cornerFloat<double>(random);
  } else if (oneIn(random, 8)) {
    text.clear();
  } else if (oneIn(random, 16)) {
    size_t times = 2 + below(random, 300);
    std::string once = text.substr(0, 64);
    while (--times)
      text += once;
  } else {
    mutateBytes(text, random);
  }
}

struct Place {
  Field *field, *parent;
  size_t index;
};

/// Changes of one tree. Places are listed again after each, because it may move fields.
class Mutation {
public:
  Mutation(Field &root, const std::map<unsigned, std::vector<Field>> &pool, Random &random)
      : root(root), pool(pool), random(random) {}

  void once() {
    places.clear();
    list(root, nullptr, 0);
    Place at = places[below(random, places.size())];
    switch (at.parent ? random() % 10 : 3) {
    case 0:
    case 1:
    case 2:
      return exchange(at);
    case 3:
    case 4:
      return changeValue(*at.field);
    case 5:
    case 6:
      at.parent->parts.erase(at.parent->parts.begin() + ptrdiff_t(at.index));
      return;
    case 7:
      return duplicate(at);
    case 8:
      return insert(at);
    default:
      return move(at);
    }
  }

private:
  void list(Field &field, Field *parent, size_t index) {
    if (places.size() >= kMostFields)
      return;
    places.push_back({&field, parent, index});
    for (size_t i = 0; i < field.parts.size(); ++i)
      list(field.parts[i], &field, i);
  }

  /// Another field of this kind: of the tree itself, which nests, or of a seed.
  std::optional<Field> another(const Field &field) {
    auto found = pool.find(field.kind);
    if (found != pool.end() && oneIn(random, 2))
      return found->second[below(random, found->second.size())];
    std::vector<const Field *> same;
    for (const Place &place : places)
      if (place.field->kind == field.kind && place.field->form == field.form &&
          place.field != &field)
        same.push_back(place.field);
    if (same.empty())
      return std::nullopt;
    return *same[below(random, same.size())];
  }

  void exchange(const Place &at) {
    std::optional<Field> other = another(*at.field);
    if (!other || !fits(*other))
      return changeValue(*at.field);
    at.field->number = other->number;
    at.field->text = std::move(other->text);
    at.field->parts = std::move(other->parts);
  }

  void changeValue(Field &field) {
    if (field.form == Field::Number)
      field.number = otherNumber(field.number, random);
    else if (field.form == Field::Text)
      changeText(field.text, random);
    else if (!field.parts.empty())
      changeValue(field.parts[below(random, field.parts.size())]);
  }

  static size_t sizeOf(const Field &field) {
    size_t sum = 1 + field.text.size() / kTextOfField;
    for (const Field &part : field.parts)
      sum += sizeOf(part);
    return sum;
  }

  /// Whether the tree stays small with `copies` more of it.
  bool fits(const Field &field, size_t copies = 1) const {
    return sizeOf(root) + copies * sizeOf(field) <= kMostFields;
  }

  void duplicate(const Place &at) {
    size_t copies = oneIn(random, 8) ? 1 + below(random, 50) : 1;
    if (!fits(*at.field, copies))
      return;
    Field copy = *at.field;
    std::vector<Field> &parts = at.parent->parts;
    size_t to = oneIn(random, 2) ? at.index : below(random, parts.size() + 1);
    parts.insert(parts.begin() + ptrdiff_t(to), copies, copy);
  }

  /// A part that such a group has elsewhere.
  void insert(const Place &at) {
    std::optional<Field> other = another(*at.parent);
    if (!other || other->parts.empty())
      return duplicate(at);
    Field part = other->parts[below(random, other->parts.size())];
    if (!fits(part))
      return;
    at.parent->parts.insert(at.parent->parts.begin() + ptrdiff_t(at.index), std::move(part));
  }

  void move(const Place &at) {
    std::vector<Field> &parts = at.parent->parts;
    std::swap(parts[at.index], parts[below(random, parts.size())]);
  }

  Field &root;
  const std::map<unsigned, std::vector<Field>> &pool;
  Random &random;
  std::vector<Place> places;
};

/// Makes one number wrong that follows from the rest.
void spoil(Written &file, Random &random) {
  if (file.derived.empty())
    return;
  auto [at, size] = file.derived[below(random, file.derived.size())];
  if (at + size > file.bytes.size() || size == 0)
    return;
  uint64_t value = 0;
  std::memcpy(&value, &file.bytes[at], std::min<size_t>(size, 8));
  value = otherNumber(value, random);
  std::memcpy(&file.bytes[at], &value, std::min<size_t>(size, 8));
}

/// The letters and digits around a place.
std::pair<size_t, size_t> wordAt(const std::string &data, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && std::isalnum(static_cast<unsigned char>(data[begin - 1])))
    --begin;
  while (end < data.size() && std::isalnum(static_cast<unsigned char>(data[end])))
    ++end;
  return {begin, end};
}

/// Bytes that readers tend to stumble over: ends of ranges, wire tags, brackets.
char interestingByte(Random &random) {
  static const char bytes[] = "\x00\x01\x7f\x80\xff\xfe\x0a\x12\x2a\x3a\x08{}[]\",:0-e\\/.<>()";
  return oneIn(random, 2) ? bytes[below(random, sizeof bytes - 1)] : static_cast<char>(random());
}

} // namespace

void mutateBytes(std::string &bytes, Random &random) {
  size_t at = below(random, bytes.size());
  size_t length = below(random, std::min<size_t>(bytes.size() - at, 32)) + 1;
  switch (bytes.empty() ? 2 : random() % 9) {
  case 0:
    bytes[at] ^= static_cast<char>(1 << random() % 8);
    break;
  case 1:
    bytes[at] = interestingByte(random);
    break;
  case 2:
    bytes.insert(at, 1 + (oneIn(random, 8) ? below(random, 100) : 0), interestingByte(random));
    break;
  case 3:
    bytes.erase(at, length);
    break;
  case 4:
    bytes.insert(below(random, bytes.size()), bytes.substr(at, length));
    break;
  case 5:
    bytes.replace(below(random, bytes.size()), length, bytes.substr(at, length));
    break;
  case 6:
    if (oneIn(random, 4))
      bytes.resize(at);
    break;
  default: { // a word takes the place of another
    auto [begin, end] = wordAt(bytes, at);
    auto [from, to] = wordAt(bytes, below(random, bytes.size()));
    std::string word = bytes.substr(from, to - from);
    bytes.replace(begin, end - begin, word);
  }
  }
}

Mutator::Mutator(const Format *format, const std::vector<std::string> &seeds) : format(format) {
  for (const std::string &seed : seeds)
    if (std::optional<Field> root = format ? format->split(seed) : std::nullopt)
      collect(*root, pool);
}

void Mutator::collect(const Field &field, Pool &pool) {
  std::vector<Field> &same = pool[field.kind];
  auto isSame = [&](const Field &other) {
    return field.form != Field::Group && other.form == field.form && other.text == field.text &&
           other.number == field.number;
  };
  if (std::none_of(same.begin(), same.end(), isSame)) {
    if (same.size() < kMostOfOneKind)
      same.push_back(field);
    else // which ones stay depends on the seeds alone
      same[std::hash<std::string>()(field.text) % same.size()] = field;
  }
  for (const Field &part : field.parts)
    collect(part, pool);
}

std::string Mutator::change(const std::string &input, const Pool &from, unsigned changes,
                            Random &random, size_t most) const {
  std::optional<Field> root = format && !oneIn(random, 10) ? format->split(input) : std::nullopt;
  std::string result = input;
  if (root) {
    Mutation mutation(*root, from, random);
    for (; changes; --changes)
      mutation.once();
    Written file = format->join(*root);
    if (oneIn(random, 8))
      spoil(file, random);
    if (file.bytes.size() <= most)
      return file.bytes;
  }
  for (; changes; --changes)
    mutateBytes(result, random);
  result.resize(std::min(result.size(), most));
  return result;
}

std::string Mutator::mutate(const std::string &input, Random &random, size_t most) const {
  return change(input, pool, 1 + unsigned(random() % 8 % (1 + random() % 8)), random, most);
}

std::string Mutator::cross(const std::string &input, const std::string &other, Random &random,
                           size_t most) const {
  Pool donor;
  if (std::optional<Field> root = format ? format->split(other) : std::nullopt)
    collect(*root, donor);
  return change(input, donor.empty() ? pool : donor, 1 + unsigned(random() % 4), random, most);
}

} // namespace weft::fuzz
