//===- ArtifactFormat.cpp - Descriptors as trees, and edits of the rest of the file --------------===//
//
// A descriptor's structs and lists become fields by the schema below and are laid out anew, with every offset and count right.
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/ArtifactInput.h"
#include "test/fuzz/Formats.h"
#include "weft/artifact.h"

namespace weft::fuzz {
namespace {

/// What a tree holds, in bytes of the descriptor: lists of a damaged one overlap, and each text could be all of it.
constexpr size_t kMostBytes = 1 << 19;

/// The members of a struct of artifact.h in order: '2' '4' '8' numbers of so many bytes, '.' 4 bytes of padding, 'K' 16 bytes, 'R' the
/// count of the list two further as 2 bytes, 'T' a text, 'C' code, 'd' a formula, 'D' a list of them, other letters lists of the struct of that letter.
constexpr std::string_view schemaOf(char letter) {
  switch (letter) {
  case 'm':
    return "TTTfkwt.8T4";
  case 'f':
    return "Taastc44ddddlrpqxngevd";
  case 'a':
    return "T2R4D";
  case 's':
    return "T.88844";
  case 'c':
    return "4444dTT";
  case 'w':
    return "TT2R4i.88";
  case 'k':
    return "TtK4444dd44";
  case 'l':
    return "d4";
  case 'p':
    return "4444";
  case 'q':
    return "TT4444d";
  case 'x':
    return "T4";
  case 'e':
    return "T222244";
  case 'v':
    return "Tdd";
  case 'g':
  case 'r':
    return "n";
  case 'n':
    return "4";
  case 'd':
    return "CT";
  case 't':
    return "T";
  default: // 'i'
    return "8";
  }
}

char elementOf(char letter) { return letter == 'D' ? 'd' : letter; }
constexpr size_t widthOf(char letter) {
  switch (letter) {
  case '2':
  case 'R':
    return 2;
  case '4':
  case '.':
    return 4;
  case '8':
    return 8;
  case 'K':
    return 16;
  case 'd':
    return 2 * sizeof(weft_list_t);
  default:
    return sizeof(weft_list_t);
  }
}

constexpr size_t rowBytes(char letter) {
  size_t size = 0;
  for (char member : schemaOf(letter))
    size += widthOf(member);
  return size;
}

static_assert(
    rowBytes('m') == sizeof(weft_module_v1) && rowBytes('f') == sizeof(weft_function_v1) &&
        rowBytes('a') == sizeof(weft_argument_v1) && rowBytes('s') == sizeof(weft_symbol_v1) &&
        rowBytes('c') == sizeof(weft_check_v1) && rowBytes('w') == sizeof(weft_weight_v1) &&
        rowBytes('k') == sizeof(weft_kernel_v1) && rowBytes('l') == sizeof(weft_late_block_v1) &&
        rowBytes('p') == sizeof(weft_in_place_v1) && rowBytes('d') == sizeof(weft_formula_v1) &&
        rowBytes('q') == sizeof(weft_positions_v1) && rowBytes('r') == sizeof(weft_region_v1) &&
        rowBytes('x') == sizeof(weft_axis_v1) && rowBytes('g') == sizeof(weft_axes_v1) &&
        rowBytes('e') == sizeof(weft_exchange_v1) && rowBytes('v') == sizeof(weft_traffic_v1),
    "the schema is that of artifact.h");

unsigned kindOf(char letter) { return 0x500 + static_cast<unsigned char>(letter); }

class DescriptorSplitter {
public:
  explicit DescriptorSplitter(std::string_view bytes) : bytes(bytes) {}

  bool row(uint64_t at, char letter, Field &into) {
    into.kind = kindOf(letter) + 0x100;
    if (at > bytes.size() || rowBytes(letter) > bytes.size() - at || !take(rowBytes(letter)))
      return false;
    for (char member : schemaOf(letter)) {
      Field field;
      if (!this->member(at, member, field))
        return false;
      at += widthOf(member);
      into.parts.push_back(std::move(field));
    }
    return true;
  }

private:
  bool take(size_t size) { return (taken += size) <= kMostBytes; }

  bool member(uint64_t at, char letter, Field &field) {
    field.kind = kindOf(letter);
    field.head = letter;
    size_t width = widthOf(letter);
    if (letter == 'd')
      return row(at, 'd', field) && (field.kind = kindOf('d'));
    if (width <= 8 || letter == '.') {
      field.form = Field::Number;
      field.number = fixedNumber(bytes.substr(at, width));
      return true;
    }
    if (letter == 'K') {
      field.form = Field::Text;
      field.text = bytes.substr(at, width);
      return true;
    }
    uint64_t offset = fixedNumber(bytes.substr(at, 4)),
             count = fixedNumber(bytes.substr(at + 4, 4)),
             step = fixedNumber(bytes.substr(at + 8, 4));
    if (letter == 'T' || letter == 'C') {
      field.form = Field::Text;
      field.text = offset <= bytes.size() ? bytes.substr(offset, count) : std::string_view();
      return take(field.text.size());
    }
    for (uint64_t i = 0; i < count; ++i) {
      Field part;
      if (!row(offset + i * step, elementOf(letter), part))
        return false;
      field.parts.push_back(std::move(part));
    }
    return true;
  }

  std::string_view bytes;
  size_t taken = 0;
};

/// Lays out rows in front of what they refer to.
class DescriptorWriter {
public:
  void root(const std::vector<const Field *> &variants) {
    file.bytes.resize(variants.size() * rowBytes('m'));
    for (size_t i = 0; i < variants.size(); ++i) {
      Written row = compose(*variants[i]);
      place(row, i * rowBytes('m'));
    }
  }
  Written file;

private:
  void place(const Written &row, size_t at) {
    file.bytes.replace(at, row.bytes.size(), row.bytes);
    for (auto [position, size] : row.derived)
      file.derived.push_back({at + position, size});
  }

  /// Members in the order of the schema, whatever parts a mutation has left.
  Written compose(const Field &row) {
    Written out;
    auto letter = static_cast<char>(row.kind - kindOf(0) - 0x100);
    size_t i = 0;
    for (char member : schemaOf(letter)) {
      append(member, partOf(row, i), partOf(row, i + 2), out);
      ++i;
    }
    return out;
  }

  static const Field &partOf(const Field &row, size_t index) {
    static const Field nothing;
    return index < row.parts.size() ? row.parts[index] : nothing;
  }

  /// `counted`: the list whose count 'R' is.
  void append(char member, const Field &field, const Field &counted, Written &out) {
    size_t width = widthOf(member);
    if (member == 'R') {
      out.derived.push_back({out.bytes.size(), 2});
      out.bytes += fixedBytes(counted.parts.size(), 2);
    } else if (width <= 8) {
      out.bytes += fixedBytes(field.number, width);
    } else if (member == 'K') {
      out.bytes += (field.text + std::string(width, '\0')).substr(0, width);
    } else if (member == 'd') {
      append('C', partOf(field, 0), field, out);
      append('T', partOf(field, 1), field, out);
    } else {
      for (size_t i = 0; i < 3; ++i)
        out.derived.push_back({out.bytes.size() + 4 * i, 4});
      out.bytes += list(member, field);
    }
  }

  /// Writes what a list holds and gives the list.
  std::string list(char member, const Field &field) {
    uint64_t offset, count, step = 1;
    if (member == 'T' || member == 'C') {
      offset = file.bytes.size();
      count = field.text.size();
      file.bytes += field.text + (member == 'T' ? std::string(1, '\0') : "");
    } else {
      std::vector<Written> rows;
      for (const Field &row : field.parts)
        rows.push_back(compose(row));
      file.bytes.resize((file.bytes.size() + 7) / 8 * 8);
      offset = file.bytes.size();
      count = rows.size();
      step = rowBytes(elementOf(member));
      file.bytes.resize(offset + count * step);
      for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i].bytes.size() == step)
          place(rows[i], offset + i * step);
    }
    return fixedBytes(offset, 4) + fixedBytes(count, 4) + fixedBytes(step, 4);
  }
};

Field numberField(unsigned kind, uint64_t number) {
  Field field;
  field.form = Field::Number;
  field.kind = kind;
  field.number = number;
  return field;
}

class ArtifactFormat : public Format {
  enum Kind : unsigned { Edit = 0x700, Position, Width, Value, Whole, Root };

  std::optional<Field> split(std::string_view bytes) const override {
    if (bytes.size() < 2)
      return std::nullopt;
    Field root;
    root.head = bytes.substr(0, 1);
    auto mode = static_cast<unsigned char>(bytes[0]);
    root.kind = Root + mode;
    if (mode == WholeFile) {
      root.parts.resize(1);
      root.parts[0].form = Field::Text;
      root.parts[0].kind = Whole;
      root.parts[0].text = bytes.substr(1);
    } else if (mode == Descriptor) {
      DescriptorSplitter splitter(bytes.substr(2));
      size_t variants = static_cast<unsigned char>(bytes[1]) % (WEFT_MAX_VARIANTS + 1);
      root.parts.resize(variants);
      for (size_t i = 0; i < variants; ++i)
        if (!splitter.row(i * rowBytes('m'), 'm', root.parts[i]))
          return std::nullopt;
    } else {
      for (size_t at = 1; at + kEditBytes <= bytes.size(); at += kEditBytes) {
        Field edit;
        edit.kind = Edit;
        edit.parts = {numberField(Position, fixedNumber(bytes.substr(at, 3))),
                      numberField(Width, fixedNumber(bytes.substr(at + 3, 1))),
                      numberField(Value, fixedNumber(bytes.substr(at + 4, 8)))};
        root.parts.push_back(std::move(edit));
      }
    }
    return root;
  }

  Written join(const Field &root) const override {
    Written file;
    auto mode = static_cast<unsigned char>(root.head[0]);
    if (mode == Descriptor) {
      std::vector<const Field *> variants;
      for (const Field &part : root.parts)
        if (variants.size() < WEFT_MAX_VARIANTS)
          variants.push_back(&part);
      DescriptorWriter writer;
      writer.root(variants);
      file.bytes = root.head + static_cast<char>(variants.size()) + writer.file.bytes;
      for (auto [at, size] : writer.file.derived)
        file.derived.push_back({at + 2, size});
      return file;
    }
    file.bytes = root.head;
    for (const Field &part : root.parts) {
      uint64_t numbers[3] = {0, 0, 0};
      for (const Field &number : part.parts)
        if (number.kind >= Position && number.kind <= Value)
          numbers[number.kind - Position] = number.number;
      file.bytes += part.kind == Edit ? fixedBytes(numbers[0], 3) + fixedBytes(numbers[1], 1) +
                                            fixedBytes(numbers[2], 8)
                                      : part.text;
    }
    return file;
  }
};

} // namespace

const Format &artifactFormat() {
  static const ArtifactFormat format;
  return format;
}

} // namespace weft::fuzz
