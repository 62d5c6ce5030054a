// Lines of prices: what is written is read, what is none is refused with its line, and files merge by sorting.
#include "compiler/quantize/PriceLines.h"
#include <catch2/catch.hpp>

using namespace weft;

static const std::string kLine =
    "weft-price 3 | AMD EPYC 9B14 (25/17) | x86:v4+vnni | weft 0.1.0 (fedcba9876543210) | "
    "8b1d33a0c2f4e596 | ids=1x128 mask=1x128 | threads=1 | 0.0123 0.0045 -0.0077";

static std::vector<PriceRecord> recordsOf(const std::string &text) {
  llvm::Expected<std::vector<PriceRecord>> records = parsePrices(text, "p");
  std::string error = records ? "" : llvm::toString(records.takeError());
  INFO(error);
  REQUIRE(error.empty());
  return std::move(*records);
}

static std::string refusal(const std::string &text) {
  llvm::Expected<std::vector<PriceRecord>> records = parsePrices(text, "p");
  return records ? "" : llvm::toString(records.takeError());
}

/// kLine with one of its fields replaced.
static std::string with(const std::string &field, const std::string &by) {
  std::string line = kLine;
  return line.replace(line.find(field), field.size(), by);
}

TEST_CASE("a price says everything by itself and is written as it is read") {
  std::vector<PriceRecord> records = recordsOf(kLine + "\n");
  REQUIRE(records.size() == 1);
  const PriceRecord &record = records[0];
  CHECK(record.processor == "AMD EPYC 9B14 (25/17)");
  CHECK(record.target == "x86:v4+vnni");
  CHECK(record.build == "weft 0.1.0 (fedcba9876543210)");
  CHECK(record.programs == "8b1d33a0c2f4e596");
  CHECK(record.sizes == "ids=1x128 mask=1x128");
  CHECK(record.threads == 1);
  CHECK(record.base == 0.0123);
  CHECK(record.other == 0.0045);
  CHECK(record.more == -0.0077);
  CHECK(record.text() == kLine);
}

TEST_CASE("files of prices merge by putting them together: sorted, each once") {
  std::string other = with("AMD", "ABC");
  CHECK(printPrices(recordsOf(kLine + "\n\n" + other + "\n" + kLine)) ==
        other + "\n" + kLine + "\n");
}

TEST_CASE("what is no price is refused with its line") {
  CHECK(refusal("0.5") == "p: line 1: no price: it does not begin with 'weft-price 3'");
  CHECK(refusal(kLine + "\n" + with("price 3", "price 2")) ==
        "p: line 2: the price is of version '2'; this Weft reads version 3");
  CHECK(refusal(with("8b1d", "8B1D")) ==
        "p: line 1: '8B1D33a0c2f4e596' is no key of programs: 16 hexadecimal digits");
  CHECK(refusal(with("threads=1", "threads=0")) ==
        "p: line 1: 'threads=0' is no number of threads such as threads=1");
  CHECK(refusal(with("0.0123 ", "")) ==
        "p: line 1: '0.0045 -0.0077' is no times such as 0.0123 0.0045 -0.0078");
  for (const char *seconds : {"0", "-1", "nan", "inf", "1e9"}) {
    INFO(seconds);
    CHECK(refusal(with("0.0123", seconds)) != "");
  }
  for (const char *more : {"--1", "-", "nan", "-inf", "-1e9"}) {
    INFO(more);
    CHECK(refusal(with("-0.0077", more)) != "");
  }
}
