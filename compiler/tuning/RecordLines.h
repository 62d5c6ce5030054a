//===- RecordLines.h - Files of lines that say everything by themselves -----------------------===//
//
//   weft-tuning 1 | AMD EPYC 9B14 (25/17) | x86:v4 | …
//
// A line has fields between bars, the first of which names its kind and version. Such files are
// merged by putting them together and sorting. Any bytes are read into fields or an error; nothing
// in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_TUNING_RECORDLINES_H
#define WEFT_COMPILER_TUNING_RECORDLINES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// What all lines of a kind of file are like.
struct LineFormat {
  llvm::StringLiteral kind;    ///< "weft-tuning"
  llvm::StringLiteral version; ///< of its lines, the only one that is read: "1"
  llvm::StringLiteral noun;    ///< of a line, for messages: "record"
  size_t fields;
  size_t mostBytes, mostFieldBytes, mostLines;
};

/// The fields of a line, none of which is empty or too long, or begins or ends with a space.
llvm::Expected<llvm::SmallVector<llvm::StringRef>> fieldsOf(llvm::StringRef line,
                                                            const LineFormat &format);
/// Fields as a line.
std::string lineOf(const LineFormat &format, const std::vector<std::string> &fields);

/// Calls `read` with every line that is not empty. Errors get its place: "name: line 3: …".
llvm::Error eachLine(llvm::StringRef text, llvm::StringRef name, const LineFormat &format,
                     llvm::function_ref<llvm::Error(llvm::StringRef)> read);
/// Calls `use` with the bytes of a file that is no larger than such files can be.
llvm::Error withFile(const std::string &path, const LineFormat &format,
                     llvm::function_ref<llvm::Error(llvm::StringRef)> use);
/// As a file has them: sorted, each once.
std::string sortedLines(const std::set<std::string> &lines);

/// One record of every line that is not empty, by `read`.
template <typename Record>
llvm::Expected<std::vector<Record>>
recordsOf(llvm::StringRef text, llvm::StringRef name, const LineFormat &format,
          llvm::function_ref<llvm::Expected<Record>(llvm::StringRef line)> read) {
  std::vector<Record> records;
  llvm::Error error = eachLine(text, name, format, [&](llvm::StringRef line) {
    llvm::Expected<Record> record = read(line);
    if (record)
      records.push_back(std::move(*record));
    return record.takeError();
  });
  if (error)
    return std::move(error);
  return std::move(records);
}
/// What `parse` makes of a file's text; its name is the path.
template <typename Record>
llvm::Expected<std::vector<Record>> recordsOfFile(
    const std::string &path, const LineFormat &format,
    llvm::function_ref<llvm::Expected<std::vector<Record>>(llvm::StringRef, llvm::StringRef)>
        parse) {
  std::vector<Record> records;
  llvm::Error error = withFile(
      path, format, [&](llvm::StringRef text) { return parse(text, path).moveInto(records); });
  if (error)
    return std::move(error);
  return std::move(records);
}
/// The texts of records, as a file has them.
template <typename Record> std::string linesOf(const std::vector<Record> &records) {
  std::set<std::string> lines;
  for (const Record &record : records)
    lines.insert(record.text());
  return sortedLines(lines);
}

/// Decimal, as it is printed: without sign or zeros in front.
std::optional<int64_t> wholeNumber(llvm::StringRef text, int64_t most);
/// Finite and at least 0, in decimal digits.
std::optional<double> realNumber(llvm::StringRef text);
/// So many digits that an f32 is read back as it was.
std::string realText(double number);
/// 16 hexadecimal digits, as what is known by a hash is called.
bool isKey(llvm::StringRef text);

/// `text` as a field of a record: printable ASCII without bars, and not too long.
std::string asField(llvm::StringRef text);

} // namespace weft

#endif // WEFT_COMPILER_TUNING_RECORDLINES_H
