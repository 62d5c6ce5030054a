// Every operator with an input that is missing or of a rank that it does not take: it is imported or refused, in one clean line.
#include "compiler/import/onnx/operators/Operators.h"
#include "test/compiler/readers/ReaderTest.h"
#include "test/compiler/readers/SampleFiles.h"
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace weft;
using namespace weft::onnx;

namespace {

enum Element { F32 = 1, U8 = 2, I8 = 3, I32 = 6, I64 = 7, Bool = 9 };

/// One input of a node.
struct Operand {
  Element element = F32;
  unsigned rank = 0;
  bool constant = false, missing = false;
};

/// What the inputs of a node are: the first ones, and all behind them.
using Pattern = std::vector<Operand>;
const std::vector<Pattern> kPatterns = {
    {{F32}},
    {{F32}, {I64, 0, true}},
    {{I64}},
    {{F32}, {I64}},
    {{I64, 0, true}},
    {{Bool}, {F32}},
    {{I64, 0, true}, {Bool, 0, true}, {F32}},
    {{F32}, {F32, 0, true}, {U8, 0, true}},
    {{U8}, {F32, 0, true}, {U8, 0, true}},
    {{U8},
     {F32, 0, true},
     {U8, 0, true},
     {U8},
     {F32, 0, true},
     {U8, 0, true},
     {F32, 0, true},
     {U8, 0, true}},
    {{U8}, {U8}, {U8, 0, true}},
    {{I32}, {I32}, {F32, 0, true}},
    {{F32}, {F32}, {I32}},
};

/// A node and what it reads.
struct Node {
  OnnxOperator op;
  int64_t opset = 0;
  bool attributes = false; ///< all that any operator has, or none
  std::vector<Operand> inputs;

  std::string describe() const {
    std::string text = op.domain.str() + ":" + op.name.str() + " (opset " + std::to_string(opset) +
                       (attributes ? ", attributes):" : "):");
    for (const Operand &each : inputs)
      text += each.missing ? " -"
                           : " " + std::to_string(each.element) + (each.constant ? "c" : "r") +
                                 std::to_string(each.rank);
    return text;
  }
};

std::string nameOf(size_t i) { return "x" + std::to_string(i); }

WireWriter bodyOf(size_t inputs, size_t outputs) {
  WireWriter graph = WireWriter().text(2, "body");
  for (size_t i = 0; i < inputs; ++i)
    graph.message(11, WireWriter().text(1, "b" + std::to_string(i)));
  for (size_t i = 0; i < outputs; ++i) {
    std::string from = inputs ? "b" + std::to_string(std::min(i + 1, inputs - 1)) : nameOf(i);
    graph.message(1, simpleNode("Identity", {from}, {"r" + std::to_string(i)}, "inner"));
    graph.message(12, WireWriter().text(1, "r" + std::to_string(i)));
  }
  return graph;
}

/// Operators ask for the attributes that they know; the others are refused in the end, which is late enough.
void addAttributes(WireWriter &node, size_t inputs) {
  const std::pair<const char *, std::vector<int64_t>> lists[] = {{"axes", {0}},
                                                                 {"ends", {1}},
                                                                 {"kernel_shape", {2, 2}},
                                                                 {"pads", {0, 0, 0, 0}},
                                                                 {"output_shape", {2}},
                                                                 {"perm", {0}},
                                                                 {"qkv_hidden_sizes", {2, 2, 2}},
                                                                 {"shape", {2}},
                                                                 {"split", {1, 1}},
                                                                 {"starts", {0}},
                                                                 {"strides", {1, 1}},
                                                                 {"dilations", {1, 1}}};
  const char *numbers[] = {"K",
                           "N",
                           "axis",
                           "batch_axis",
                           "bits",
                           "block_size",
                           "blocksize",
                           "group",
                           "hidden_size",
                           "k",
                           "kv_num_heads",
                           "num_groups",
                           "num_heads",
                           "num_outputs",
                           "num_scan_inputs",
                           "offset_group",
                           "output_height",
                           "output_width",
                           "p",
                           "q_num_heads",
                           "size",
                           "time_axis",
                           "to",
                           "dtype",
                           "output_datatype",
                           "sample_size",
                           "do_rotary"};
  for (auto &[name, values] : lists)
    node.message(5, attributeOf(name, 7).packed(8, values));
  for (const char *name : numbers)
    node.message(5, attributeOf(name, 2).integer(3, llvm::StringRef(name) == "bits" ? 4 : 1));
  node.message(5, attributeOf("equation", 3).text(4, "ij,jk->ik"));
  node.message(5, attributeOf("scales", 6).packedFixed<float>(7, {1, 2}));
  node.message(5, attributeOf("value", 4).message(5, rawTensor("t", 1, {1}, std::string(4, '\1'))));
  node.message(5, attributeOf("body", 5).message(6, bodyOf(inputs, inputs ? inputs - 1 : 0)));
  node.message(5, attributeOf("then_branch", 5).message(6, bodyOf(0, 1)));
  node.message(5, attributeOf("else_branch", 5).message(6, bodyOf(0, 1)));
}

unsigned bytesOf(Element element) {
  return element == I64 ? 8 : element == F32 || element == I32 ? 4 : 1;
}

/// The first dimension of an input is a symbol, the others are 2; a constant is all ones.
void addOperand(WireWriter &graph, const std::string &name, const Operand &operand) {
  if (operand.constant) {
    std::string one(bytesOf(operand.element), '\0'), data;
    operand.element == F32 ? one = WireWriter::fixed(1.0f) : one.replace(0, 1, 1, '\1');
    for (unsigned i = 0; i < (1u << operand.rank); ++i)
      data += one;
    graph.message(5, rawTensor(name, operand.element, std::vector<int64_t>(operand.rank, 2), data));
    return;
  }
  std::vector<std::string> dims(operand.rank, "2");
  if (operand.rank)
    dims[0] = "n";
  graph.message(11, valueInfo(name, tensorType(operand.element, dims)));
}

std::string modelBytes(const Node &node) {
  WireWriter graph;
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back(node.inputs[i].missing ? "" : nameOf(i));
    addOperand(graph, nameOf(i), node.inputs[i]);
  }
  for (unsigned i = 0; i < std::max(1u, std::min(node.op.mostOutputs, 3u)); ++i)
    outputs.push_back("y" + std::to_string(i));
  WireWriter encoded = simpleNode(node.op.name.str(), inputs, outputs, "n");
  if (!node.op.domain.empty())
    encoded.text(7, node.op.domain.str());
  if (node.attributes)
    addAttributes(encoded, node.inputs.size());
  graph.message(1, encoded).message(12, WireWriter().text(1, "y0")).text(2, "g");
  WireWriter model = WireWriter().integer(1, 10).message(7, graph);
  model.message(8, opsetOf("", node.op.domain.empty() ? node.opset : 22));
  if (!node.op.domain.empty())
    model.message(8, opsetOf(node.op.domain.str(), node.opset));
  return model.bytes;
}

/// What a child tells its parent, also when it crashes.
struct Report {
  uint64_t count = 0, bad = 0;
  char current[1000] = "", why[4000] = "";
};

class Trial {
public:
  Trial(Report &report, const std::set<std::string> &crashing)
      : report(report), crashing(crashing) {}

  /// True when the model can be compiled. Whatever else happens, it is said well.
  bool run(const Node &node) {
    std::string text = node.describe();
    if (crashing.count(text))
      return false;
    ++report.count;
    snprintf(report.current, sizeof report.current, "%s", text.c_str());
    std::string path = folder.write("model.onnx", modelBytes(node));
    Compiler compiler;
    Result<Module> module = compiler.importFile(path);
    if (!module)
      return judge(module.diagnostics(), "W02");
    Result<Artifact> plan = compiler.check(*module, {});
    return plan || judge(plan.diagnostics(), "W0300");
  }

private:
  bool judge(const std::vector<Diagnostic> &diagnostics, const std::string &code) {
    bool good = !diagnostics.empty();
    for (const Diagnostic &each : diagnostics)
      good &= each.code.compare(0, code.size(), code) == 0 && !each.text.empty() &&
              (each.where + each.text + each.hint).find('\n') == std::string::npos;
    if (!good && ++report.bad == 1)
      snprintf(report.why, sizeof report.why, "%s: %s", report.current,
               diagnostics.empty() ? "no reason"
                                   : (diagnostics[0].code + " " + diagnostics[0].text).c_str());
    return false;
  }

  Report &report;
  const std::set<std::string> &crashing;
  TemporaryFolder folder;
};

/// Runs trials in a child, and again without what crashed it.
uint64_t runApart(const std::function<void(Trial &)> &trials) {
  void *shared =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  Report &report = *new (shared) Report;
  std::set<std::string> crashing;
  for (int status = 1; status != 0 && crashing.size() < 5;) {
    report = Report();
    pid_t child = fork();
    if (child == 0) {
      {
        Trial trial(report, crashing);
        trials(trial);
      }
      _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    INFO(report.current);
    CHECK(status == 0);
    crashing.insert(report.current);
  }
  INFO(report.why);
  CHECK(report.bad == 0);
  uint64_t count = report.count;
  munmap(shared, sizeof(Report));
  return count;
}

std::vector<Operand> operandsOf(const Pattern &pattern, unsigned rank, size_t count) {
  std::vector<Operand> operands;
  for (size_t i = 0; i < count; ++i) {
    operands.push_back(pattern[std::min(i, pattern.size() - 1)]);
    operands.back().rank = operands.back().constant ? std::min(rank, 1u) : rank;
  }
  return operands;
}

/// A model of the operator that can be compiled, when there is one among the patterns.
Node soundNode(Trial &trial, const OnnxOperator &op, int64_t opset, size_t inputs) {
  Node node{op, opset, false, {}};
  for (bool attributes : {false, true})
    for (unsigned rank : {3, 4, 2, 1, 0})
      for (const Pattern &pattern : kPatterns) {
        node.attributes = attributes;
        node.inputs = operandsOf(pattern, rank, inputs);
        if (trial.run(node))
          return node;
      }
  node.inputs = operandsOf(kPatterns[0], 3, inputs);
  return node;
}

/// With each input left out, and of other ranks.
void change(Trial &trial, const Node &node, std::initializer_list<unsigned> ranks) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Node changed = node;
    changed.inputs[i].missing = true;
    trial.run(changed);
    for (unsigned rank : ranks) {
      changed = node;
      changed.inputs[i].rank = rank;
      trial.run(changed);
    }
  }
}

/// All that are needed, and some of those that may be.
size_t mostInputs(const OnnxOperator &op) {
  return op.mostInputs == kAnyNumber ? std::max(op.leastInputs, 3u) : std::min(op.mostInputs, 9u);
}

/// Whatever the patterns give.
void runAll(Trial &trial, const OnnxOperator &op) {
  for (int64_t opset : {op.since, std::min(op.until, kNewestOpset)})
    for (size_t inputs = op.leastInputs; inputs <= mostInputs(op); ++inputs)
      for (const Pattern &pattern : kPatterns)
        for (bool attributes : {false, true})
          for (unsigned rank = 0; rank <= 4; ++rank) {
            Node node{op, opset, attributes, operandsOf(pattern, rank, inputs)};
            trial.run(node);
            change(trial, node, {0, 5});
          }
}

} // namespace

TEST_CASE("an operator with a missing input, or one of another rank, is imported or refused") {
  uint64_t count = 0;
  for (const OnnxOperator &op : OperatorTable::standard().all())
    count += runApart([&](Trial &trial) {
      for (size_t inputs = op.leastInputs; inputs <= mostInputs(op); ++inputs)
        change(trial, soundNode(trial, op, std::min(op.until, kNewestOpset), inputs), {0, 1, 5});
    });
  CHECK(count > 2000);
}

// Takes many minutes: for whoever changes converters.
TEST_CASE("an operator with any inputs is imported or refused", "[.long]") {
  for (const OnnxOperator &op : OperatorTable::standard().all())
    runApart([&](Trial &trial) { runAll(trial, op); });
}
