// Lines of tuning files: what is written is read, what is not a record is refused with its line, and files merge by sorting.
#include "compiler/tuning/Records.h"
#include <catch2/catch.hpp>

using namespace weft;

static const std::string kLine = "weft-tuning 1 | AMD EPYC 9B14 (25/17) | x86:v4+vnni | "
                                 "8b1d33a0c2f4e596 | contraction block=200 rows=7 | "
                                 "batch=1 seq=128 | threads=1 | 4.1 %";

static std::vector<TuningRecord> recordsOf(const std::string &text) {
  llvm::Expected<std::vector<TuningRecord>> records = parseRecords(text, "t");
  std::string error = records ? "" : llvm::toString(records.takeError());
  INFO(error);
  REQUIRE(error.empty());
  return std::move(*records);
}

static std::string refusal(const std::string &text) {
  llvm::Expected<std::vector<TuningRecord>> records = parseRecords(text, "t");
  return records ? "" : llvm::toString(records.takeError());
}

/// kLine with one of its fields replaced.
static std::string with(const std::string &field, const std::string &by) {
  std::string line = kLine;
  return line.replace(line.find(field), field.size(), by);
}

TEST_CASE("a record says everything by itself and is written as it is read") {
  std::vector<TuningRecord> records = recordsOf(kLine + "\n\n" + kLine);
  REQUIRE(records.size() == 2);
  const TuningRecord &record = records[0];
  CHECK(record.processor == "AMD EPYC 9B14 (25/17)");
  CHECK(record.target == "x86:v4+vnni");
  CHECK(record.kernel == "8b1d33a0c2f4e596");
  CHECK(record.picks.schedule == "contraction");
  CHECK(record.picks.values == std::map<std::string, int64_t>{{"rows", 7}, {"block", 200}});
  CHECK(record.sizes == "batch=1 seq=128");
  CHECK(record.threads == 1);
  CHECK(record.gain == 41);
  CHECK(record.text() == kLine);
  CHECK(recordsOf(with("contraction block=200 rows=7", "winograd"))[0].picks.values.empty());
}

TEST_CASE("files merge by putting them together: sorted, each record once") {
  std::string other = with("rows=7", "rows=10"), more = with("AMD", "ABC");
  std::string merged = printRecords(recordsOf(kLine + "\n" + other + "\n" + more + "\n" + kLine));
  CHECK(merged == more + "\n" + other + "\n" + kLine + "\n");
  CHECK(printRecords(recordsOf(merged)) == merged);
  CHECK(printRecords({}) == "");
}

TEST_CASE("what is no record is refused with its line") {
  CHECK(refusal(kLine + "\n<<<<<<< ours\n") ==
        "t: line 2: no record: it does not begin with 'weft-tuning 1'");
  CHECK(refusal(with("tuning 1", "tuning 2")) ==
        "t: line 1: the record is of version '2'; this Weft reads version 1");
  CHECK(refusal(kLine + " | x") == "t: line 1: a record has 8 fields between bars, this has 9");
  CHECK(refusal("weft-tuning 1 | a | b") ==
        "t: line 1: a record has 8 fields between bars, this has 3");
  CHECK(refusal(with("8b1d33a0c2f4e596", "8B1D33A0C2F4E596")) ==
        "t: line 1: '8B1D33A0C2F4E596' is no kernel: 16 hexadecimal digits");
  CHECK(refusal(with("rows=7", "rows=07")) == "t: line 1: 'rows=07' is no pick such as rows=7");
  CHECK(refusal(with("rows=7", "rows=7 rows=7")) == "t: line 1: 'rows' is picked twice");
  CHECK(refusal(with("block=200 rows=7", "rows=7 block=200")) ==
        "t: line 1: picks are sorted by name, but 'block' is not");
  CHECK(refusal(with("threads=1", "threads=0")) ==
        "t: line 1: 'threads=0' is no number of threads such as threads=1");
  CHECK(refusal(with("4.1 %", "-4.1 %")) == "t: line 1: '-4.1 %' is no gain such as 4.1 %");
  CHECK(refusal(with("AMD", "AM\tD")) == "t: line 1: a byte is no printable ASCII character");
  CHECK(refusal(with("AMD", "AM\xc3\xa4")) == "t: line 1: a byte is no printable ASCII character");
  for (const char *pick : {"rows", "rows=", "=7", "rows=-1", "rows=1.5", "Rows=1", "schedule=1",
                           "rows=1000000001", "rows=99999999999999999999", ""})
    CHECK(refusal(with("rows=7", pick)) != "");
  for (const char *gain : {"4 %", "4.1", "4.10 %", ".1 %", "99999999999999999999.1 %", "1e3 %"})
    CHECK(refusal(with("4.1 %", gain)) != "");
}

TEST_CASE("lengths and counts are limited") {
  CHECK(refusal(with("batch=1 seq=128", std::string(2000, 's'))) ==
        "t: line 1: longer than 1000 bytes");
  CHECK(refusal(with("batch=1 seq=128", std::string(301, 's'))) ==
        "t: line 1: a field is empty, begins or ends with a space, or is too long");
  std::string many;
  for (size_t i = 0; i <= kMostRecords; ++i)
    many += kLine + "\n";
  CHECK(refusal(many) == "t: line 100001: more than 100000 records");
}

TEST_CASE("any text becomes a field") {
  CHECK(asField("batch=1") == "batch=1");
  CHECK(asField(" a|b\n") == "a?b?");
  CHECK(asField("") == "-");
  CHECK(asField(std::string(1000, 'x')).size() == 300);
}
