//===- Table.cpp ------------------------------------------------------------------------------===//
#include "tools/weft/cli/Table.h"

#include <algorithm>

namespace weft::cli {

static std::vector<size_t> widthsOf(const Table &table) {
  std::vector<size_t> widths;
  for (const std::string &cell : table.header)
    widths.push_back(cell.size());
  for (const std::vector<std::string> &row : table.rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  return widths;
}

static std::string line(const std::vector<std::string> &cells, const std::vector<size_t> &widths,
                        const char *before, const char *between, const char *after) {
  std::string out = before;
  for (size_t i = 0; i < cells.size(); ++i)
    out += (i ? between : "") + std::string(widths[i] - cells[i].size(), ' ') + cells[i];
  return out + after + "\n";
}

std::string Table::text() const {
  std::vector<size_t> widths = widthsOf(*this);
  std::string out = line(header, widths, "", "  ", "");
  for (const std::vector<std::string> &row : rows)
    out += line(row, widths, "", "  ", "");
  return out;
}

std::string Table::markdown() const {
  std::vector<size_t> widths = widthsOf(*this);
  std::vector<std::string> rules;
  for (size_t width : widths)
    rules.push_back(std::string(width + 1, '-') + ":");
  std::string out = line(header, widths, "| ", " | ", " |") + "|";
  for (const std::string &rule : rules)
    out += rule + "|";
  out += "\n";
  for (const std::vector<std::string> &row : rows)
    out += line(row, widths, "| ", " | ", " |");
  return out;
}

static std::string csvCell(const std::string &cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos)
    return cell;
  std::string out = "\"";
  for (char c : cell)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string Table::csv() const {
  std::string out;
  auto add = [&](const std::vector<std::string> &cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      out += (i ? "," : "") + csvCell(cells[i]);
    out += "\n";
  };
  add(header);
  std::for_each(rows.begin(), rows.end(), add);
  return out;
}

} // namespace weft::cli
