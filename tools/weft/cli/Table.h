//===- Table.h - Rows of text as a table ------------------------------------------------------===//
//
//   Table table{{"seq", "median"}, {{"32", "61 ms"}, {"128", "211 ms"}}};
//   console.result(table.text());                   // or markdown(), csv()
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_TABLE_H
#define WEFT_TOOLS_WEFT_CLI_TABLE_H

#include <string>
#include <vector>

namespace weft::cli {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows; ///< each as long as the header

  std::string text() const;     ///< aligned to the right, columns two spaces apart
  std::string markdown() const; ///< aligned, too
  std::string csv() const;      ///< RFC 4180, lines end with a newline only
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_TABLE_H
