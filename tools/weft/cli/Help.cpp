//===- Help.cpp - Help screens from options.def -----------------------------------------------===//
//
// Examples first, then usage, then the options by group. A screen has at most 40 lines of 100
// columns (test/cli).
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Options.h"

#include <algorithm>
#include <array>

namespace weft::cli {

namespace {

constexpr size_t kColumns = 100;
constexpr std::string_view kPlans = "Plans"; ///< a group with a screen of its own

struct TextRow {
  std::string_view verb, left, right;
};

constexpr TextRow kExamples[] = {
#define EXAMPLE(verb, command, meaning) {#verb, command, meaning},
#include "tools/weft/cli/options.def"
};

constexpr TextRow kOperands[] = {
#define OPERAND(verb, text, meaning) {#verb, text, meaning},
#include "tools/weft/cli/options.def"
};

void capitalise(std::string &text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] -= 'a' - 'A';
}

/// `left`, then `right` from column `indent` on, broken at spaces.
void addRow(std::string &out, std::string left, std::string_view right, size_t indent) {
  left.resize(std::max(left.size() + 2, indent), ' ');
  std::string line = left;
  bool empty = true;
  while (!right.empty()) {
    size_t end = std::min(right.find(' '), right.size());
    if (!empty && line.size() + 1 + end > kColumns) {
      out += line + '\n';
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty)
      line += ' ';
    line += right.substr(0, end);
    empty = false;
    right.remove_prefix(std::min(end + 1, right.size()));
  }
  out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string optionText(const OptionRow &row) {
  std::string text = row.letter ? std::string("  -") + row.letter + ", --" : "      --";
  text += row.name;
  if (!row.argument.empty())
    text += (row.argument[0] == '[' ? "" : " ") + std::string(row.argument);
  return text;
}

void addExamples(std::string &out, std::string_view verb) {
  size_t width = 0;
  for (const TextRow &row : kExamples)
    if (row.verb == verb)
      width = std::max(width, row.left.size());
  for (const TextRow &row : kExamples)
    if (row.verb == verb)
      addRow(out, "  " + std::string(row.left), row.right, width + 5);
}

void addOptions(std::string &out, uint32_t verb) {
  std::string_view group;
  for (const OptionRow &row : optionTable()) {
    if (!(row.verbs & verb) || row.verbs == ~0u || row.group == kPlans)
      continue;
    if (row.group != group) {
      group = row.group;
      out += "\n" + std::string(group) + "\n";
    }
    addRow(out, optionText(row), row.help, 34);
  }
}

void addPlans(std::string &out, uint32_t verb) {
  std::string names;
  for (const OptionRow &row : optionTable())
    if ((row.verbs & verb) && row.group == kPlans)
      names += (names.empty() ? "--" : ", --") + std::string(row.name);
  if (!names.empty())
    out += "'weft help plans': " + names + "\n";
}

/// The overview explains them.
void addCommon(std::string &out) {
  std::string names;
  for (const OptionRow &row : optionTable())
    if (row.verbs == ~0u)
      names += (names.empty() ? "" : ", ") +
               (row.letter ? std::string("-") + row.letter : "--" + std::string(row.name));
  out += "\nOf every verb ('weft help'): " + names + "\n";
}

} // namespace

std::string verbHelp(const VerbRow &verb) {
  std::string summary(verb.summary), out;
  capitalise(summary);
  out += summary + ".\n\n";
  addExamples(out, verb.name);
  out += "\nUsage: weft " + std::string(verb.name) +
         (verb.operands.empty() ? "" : " " + std::string(verb.operands)) + " [options]\n";
  for (const TextRow &row : kOperands)
    if (row.verb == verb.name)
      addRow(out, "  " + std::string(row.left), row.right, 12);
  addOptions(out, verb.bit);
  addCommon(out);
  addPlans(out, verb.bit);
  return out;
}

std::string plansHelp() {
  std::string out =
      "How 'weft compile', 'eval', 'verify', 'tune', 'inspect --why' place a model on ranks "
      "by themselves.\n\n";
  addRow(out, "  weft compile model.onnx --ranks 4", "the mesh and the placements that cost least",
         46);
  addRow(out, "  weft compile model.onnx --mesh tp=2 --plan tp", "column and row pairs", 46);
  addRow(out, "  weft inspect model.onnx --why --ranks 4", "what other placements would cost", 46);
  out += "\nPlans\n";
  uint32_t compiles = 0;
  for (const VerbRow &verb : verbTable())
    if (verb.name == "compile")
      compiles = verb.bit;
  for (const OptionRow &row : optionTable())
    if ((row.verbs & compiles) && row.verbs != ~0u && (row.group == kPlans || row.group == "Ranks"))
      addRow(out, optionText(row), row.help, 34);
  addRow(out, "      --max-memory SIZE", "a plan's limit for weights and values of a rank, too",
         34);
  addRow(out, "      --transport threads|shm",
         "of 'weft tune', whose ranks have the --link: threads or processes [shm]", 34);
  out += "\n";
  for (auto [name, meaning] : std::initializer_list<std::pair<const char *, const char *>>{
           {"  tp", "weights of products by outputs, of the next ones by what they sum"},
           {"  sp", "the same, and inputs by their second size, such as tokens"},
           {"  dp", "inputs by their first size, such as a batch"},
           {"  fsdp", "the same; ranks read parts of weights and gather them before use"},
           {"  2d", "weights in blocks: sums over one axis, outputs over the other"},
           {"  3d", "inputs by their first size over one axis, weights in blocks over two"}})
    addRow(out, name, meaning, 8);
  return out;
}

std::string overview() {
  std::string out = "weft compiles a machine-learning model into one file that answers every "
                    "shape, and runs it.\n\n";
  addRow(out, "  weft compile model.onnx", "write model.weft for this machine", 40);
  addRow(out, "  weft run model.weft", "call it once with generated inputs", 40);
  addRow(out, "  weft inspect model.weft", "what it takes, gives and costs", 40);
  out += "\nUsage: weft VERB [options]\n\nVerbs\n";
  for (const VerbRow &verb : verbTable())
    addRow(out, "  " + std::string(verb.name), verb.summary, 14);
  out += "\nOptions of every verb\n";
  for (const OptionRow &row : optionTable())
    if (row.verbs == ~0u)
      addRow(out, optionText(row), row.help, 34);
  addRow(out, "      --version", "the same as 'weft version'", 34);
  out += "\nExit codes: 0 done, 1 input refused, 2 wrong usage, 3 comparison failed,\n"
         "            4 machine lacks something, 70 internal error, 130 interrupted\n"
         "Environment: WEFT_KERNELS=FOLDER keeps the code of kernels for what is compiled next\n\n"
         "More: weft help VERB\n";
  return out;
}

} // namespace weft::cli
