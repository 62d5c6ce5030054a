//===- HardwareData.cpp - Reads what hardware computes in integers ----------------------------===//

#include "compiler/hardware/HardwareData.h"
#include "compiler/import/readers/JsonFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
using nlohmann::json;

namespace weft {
namespace {

constexpr const char *kSchema = "weft.hardware/1";
constexpr JsonLimits kLimits{200'000, 10'000, 8};
constexpr size_t kMostEntries = 256;
constexpr double kMostZero = 1 << 15, kMostMultiple = 1 << 16, kMostProducts = 1 << 20;
constexpr int64_t kLeastBits = 8, kMostBits = 64;
constexpr const char *kElements[] = {"i4",   "ui4", "i8",  "ui8",  "i16",
                                     "ui16", "i32", "f16", "bf16", "f32"};

/// A whole number from `least` to `most`.
bool isWhole(const json &value, double least, double most) {
  return value.is_number() && value.get<double>() >= least && value.get<double>() <= most &&
         value.get<double>() == std::floor(value.get<double>());
}

/// "tensor", "row", "column", "block of 32"
std::optional<ScaleUnit> unitOf(StringRef text) {
  ScaleUnit unit;
  unit.kind = text == "row"      ? ScaleUnit::Row
              : text == "column" ? ScaleUnit::Column
                                 : ScaleUnit::Tensor;
  if (unit.kind != ScaleUnit::Tensor || text == "tensor")
    return unit;
  unit.kind = ScaleUnit::Block;
  bool isBlock = text.consume_front("block of ") && !text.getAsInteger(10, unit.block) &&
                 unit.block > 0 && unit.block <= int64_t(kMostProducts);
  return isBlock ? std::optional(unit) : std::nullopt;
}

/// What all objects of a description have in common.
class PartReader : protected JsonFields {
public:
  const std::string &problem() const { return error; }

protected:
  using JsonFields::JsonFields;

  /// A list of at least one entry.
  const json *listAt(const std::string &key, bool isOptional = false) {
    const json *list = optionalAt(key);
    if (!list && isOptional)
      return nullptr;
    if (list && list->is_array() && !list->empty() && list->size() <= kMostEntries)
      return list;
    refuse("'" + key + "' must be a list of at least one and at most " +
           std::to_string(kMostEntries));
    return nullptr;
  }
  void takeLines(std::vector<std::string> &texts, const std::string &key, bool isOptional = false) {
    if (const json *list = listAt(key, isOptional))
      for (const json &each : *list) {
        if (!each.is_string())
          return refuse("'" + key + "' must be a list of texts");
        texts.push_back(each.get<std::string>());
        checkLine(texts.back(), "each of '" + key + "'");
      }
  }
  /// One of two words; whether it is the second, which a missing field is not.
  bool isSecond(const std::string &key, const std::string &first, const std::string &second) {
    const json *word = optionalAt(key);
    if (!word || *word == first)
      return false;
    if (*word != second)
      refuse("'" + key + "' must be \"" + first + "\" or \"" + second + "\", but is " +
             jsonText(*word));
    return true;
  }
  void takeWhole(int64_t &number, const std::string &key, double least, double most) {
    const json *value = optionalAt(key);
    if (value && isWhole(*value, least, most))
      number = value->get<int64_t>();
    else if (value)
      refuse("'" + key + "' must be a whole number from " + std::to_string(int64_t(least)) +
             " to " + std::to_string(int64_t(most)) + ", but is " + jsonText(*value));
  }
  /// The first problem of a part is the whole's.
  void keepProblem(const PartReader &part) {
    if (error.empty())
      error = part.problem();
  }
};

class TensorReader : public PartReader {
public:
  TensorReader(const json &object, const std::string &place) : PartReader(object, place) {}

  HardwareTensor read(bool isOperand) {
    HardwareTensor tensor;
    takeLines(tensor.elements, "elements");
    for (const std::string &element : tensor.elements)
      if (!is_contained(kElements, element))
        refuse("there are no elements " + quotedText(element) + ", but " +
               join(std::begin(kElements), std::end(kElements), ", "));
    readZeroPoints(tensor.zeroPoints);
    tensor.hasPowersOfTwo = isSecond("scales", "free", "power_of_two");
    readUnits(tensor.scalesPer);
    if (isOperand)
      readFlag(tensor.isConstant, "constant");
    refuseOthers(isOperand ? "of an operand" : "of a result");
    return tensor;
  }

private:
  void readZeroPoints(std::optional<std::vector<int64_t>> &zeros) {
    const json *value = optionalAt("zero_points");
    if (!value || *value == "any")
      return;
    bool isList = value->is_array() && !value->empty() && value->size() <= kMostEntries;
    if (!isList ||
        !all_of(*value, [](const json &each) { return isWhole(each, -kMostZero, kMostZero); }))
      return refuse("'zero_points' must be \"any\" or a list of whole numbers, but is " +
                    jsonText(*value));
    zeros = value->get<std::vector<int64_t>>();
  }

  void readUnits(std::vector<ScaleUnit> &units) {
    std::vector<std::string> words;
    takeLines(words, "scales_per", /*isOptional=*/true);
    if (words.empty())
      return;
    units.clear();
    for (const std::string &word : words) {
      std::optional<ScaleUnit> unit = unitOf(word);
      if (!unit)
        return refuse("nothing has a scale per " + quotedText(word) +
                      ", but tensor, row, column, or block of 32");
      units.push_back(*unit);
    }
  }
};

class SumReader : public PartReader {
public:
  SumReader(const json &object, const std::string &place) : PartReader(object, place) {}

  HardwareSum read() {
    HardwareSum sum;
    takeWhole(sum.products, "products", 1, kMostProducts);
    if (!fields.find("bits"))
      refuse("'bits' is missing, but must be a whole number");
    takeWhole(sum.bits, "bits", kLeastBits, kMostBits);
    sum.isSaturating = isSecond("overflow", "wraps", "saturates");
    refuseOthers("of a sum");
    return sum;
  }
};

class OperatorReader : public PartReader {
public:
  OperatorReader(const json &object, const std::string &place) : PartReader(object, place) {}

  HardwareOperator read(function_ref<bool(StringRef)> isOperator, bool hasPrice) {
    HardwareOperator op;
    takeLines(op.names, "names");
    for (const std::string &name : op.names)
      if (!isOperator(name))
        refuse("there is no operator " + quotedText(name));
    readTensors(op);
    readSums(op.sums);
    takeWhole(op.summedMultiple, "summed_multiple_of", 1, kMostMultiple);
    takeWhole(op.keptMultiple, "kept_multiple_of", 1, kMostMultiple);
    readFlag(op.hasGroups, "groups");
    takeLines(op.features, "requires", /*isOptional=*/true);
    if (hasPrice && fields.find("multiply_adds_per_second"))
      take(op.multiplyAddsPerSecond, "multiply_adds_per_second");
    refuseOthers("of an operator");
    return op;
  }

private:
  void readTensors(HardwareOperator &op) {
    if (const json *list = listAt("operands"))
      for (const json &each : *list) {
        TensorReader reader(each, place + ": operand " + std::to_string(op.operands.size() + 1));
        op.operands.push_back(reader.read(/*isOperand=*/true));
        keepProblem(reader);
      }
    const json *result = optionalAt("result");
    if (!result)
      return refuse("'result' is missing, but must be an object with fields");
    TensorReader reader(*result, place + ": 'result'");
    op.result = reader.read(/*isOperand=*/false);
    keepProblem(reader);
  }

  void readSums(std::vector<HardwareSum> &sums) {
    if (const json *list = listAt("sums", /*isOptional=*/true))
      for (const json &each : *list) {
        SumReader reader(each, place + ": 'sums' " + std::to_string(sums.size() + 1));
        sums.push_back(reader.read());
        keepProblem(reader);
        bool isLast = sums.size() == list->size();
        if (isLast != (sums.back().products == 0))
          refuse("'sums' must end with the one of all products, which alone has no 'products'");
      }
    if (sums.empty())
      sums.emplace_back();
  }
};

class HardwareReader : public PartReader {
public:
  HardwareReader(const json &object, StringRef place) : PartReader(object, place) {}

  Expected<HardwareData> read(function_ref<bool(StringRef)> isOperator) {
    HardwareData data;
    takeSchema(kSchema);
    take(data.name, "name");
    take(data.about, "about");
    if (!optionalAt("price"))
      refuse("'price' is missing, but must be \"measure\" or \"declared\"");
    data.hasDeclaredPrices = isSecond("price", "measure", "declared");
    if (data.hasDeclaredPrices)
      take(data.floatMultiplyAddsPerSecond, "float_multiply_adds_per_second");
    readFloats(data.floats, isOperator);
    if (const json *list = listAt("operators"))
      for (const json &each : *list) {
        OperatorReader reader(each,
                              place + ": 'operators' " + std::to_string(data.operators.size() + 1));
        data.operators.push_back(reader.read(isOperator, data.hasDeclaredPrices));
        keepProblem(reader);
      }
    refuseOthers("of a description");
    if (!error.empty())
      return readError(error);
    return data;
  }

private:
  void readFloats(std::optional<std::set<std::string>> &floats,
                  function_ref<bool(StringRef)> isOperator) {
    const json *value = optionalAt("floats");
    if (value && *value == "all")
      return;
    bool isList = value && value->is_array() && value->size() <= kMostEntries;
    if (!isList || !all_of(*value, [](const json &each) { return each.is_string(); }))
      return refuse("'floats' must be \"all\" or a list of operators");
    floats.emplace();
    for (const json &each : *value) {
      floats->insert(each.get<std::string>());
      if (!isOperator(each.get<std::string>()))
        refuse("'floats': there is no operator " + quotedText(each.get<std::string>()));
    }
  }
};

} // namespace

std::string ScaleUnit::text() const {
  return kind == Block    ? "block of " + std::to_string(block)
         : kind == Row    ? "row"
         : kind == Column ? "column"
                          : "tensor";
}

bool HardwareData::lists(StringRef name) const {
  return any_of(operators,
                [&](const HardwareOperator &op) { return is_contained(op.names, name); });
}

Expected<HardwareData> parseHardware(StringRef text, StringRef place,
                                     function_ref<bool(StringRef)> isOperator) {
  Expected<json> value = parseJson(text, place, kLimits);
  if (!value)
    return value.takeError();
  return HardwareReader(*value, place).read(isOperator);
}

} // namespace weft
