//===- Header.cpp - Prototypes, sizes and words -----------------------------------------------===//

#include "compiler/embed/Header.h"
#include "compiler/artifact/Descriptor.h"
#include "compiler/embed/EntryPoints.h"
#include "compiler/embed/Formula.h"
#include "compiler/host/HostProgram.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {
namespace {

constexpr StringRef kShared =
    "/* Common to all models of a program. */\n"
    "#ifndef WEFT_EMBEDDED\n"
    "#define WEFT_EMBEDDED\n"
    "/* What a call returns; above 0 it is the number of a check that failed, which "
    "MODEL_FUNCTION_error says in words. */\n"
    "enum {\n"
    "  WEFT_EMBEDDED_OK = 0,\n"
    "  WEFT_EMBEDDED_NULL = -1,      /* a pointer is NULL */\n"
    "  WEFT_EMBEDDED_UNALIGNED = -2, /* arena or weights do not begin at a multiple of "
    "WEFT_EMBEDDED_ALIGN bytes */\n"
    "  WEFT_EMBEDDED_ARENA = -3,     /* the arena is too small for these sizes */\n"
    "  WEFT_EMBEDDED_SIZE = -4,      /* a size is negative or more than 2^31 - 1 */\n"
    "  WEFT_EMBEDDED_FOREIGN = -5    /* the weights are those of another object */\n"
    "};\n"
    "#define WEFT_EMBEDDED_ALIGN 64\n";

/// Names of models may hold anything.
std::string inComment(StringRef text) {
  std::string safe;
  for (char c : text)
    safe += llvm::isPrint(c) ? c : ' ';
  for (size_t at; (at = safe.find("*/")) != std::string::npos;)
    safe.insert(at + 1, " ");
  for (size_t at; (at = safe.find("/*")) != std::string::npos;)
    safe.insert(at + 1, " ");
  return safe;
}

std::string inString(StringRef text) {
  std::string safe;
  for (unsigned char c : text)
    if (c == '"' || c == '\\')
      safe += {'\\', char(c)};
    else if (c == '?') // two of them may begin a trigraph
      safe += "\\?";
    else
      safe += llvm::isPrint(c) ? c : ' ';
  return "\"" + safe + "\"";
}

/// Elements of less than a byte share one, those of a width that C has no floats of are its bits.
std::string cTypeOf(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  int64_t bits = std::max<int64_t>(8, 8 * elementBytes(element, 1));
  bool isSigned = isa<IntegerType>(element) && !element.isUnsignedInteger() &&
                  !element.isInteger(1) && elementBytes(element, 8) >= 8;
  return (isSigned ? "int" : "uint") + std::to_string(bits) + "_t";
}

class HeaderWriter {
public:
  HeaderWriter(const EmbeddedModel &model, uint64_t weightsBytes)
      : model(model), weightsBytes(weightsBytes), os(text) {}

  std::string write(const Variant &variant) {
    std::string guard = StringRef(model.name).upper() + "_EMBEDDED_H";
    os << "/* " << model.name << ": written by " << kProducer << " for "
       << variant.target.kernels->name().str()
       << ", which asks of a processor, and of the system that lets it:\n * "
       << llvm::join(variant.features(), " ") << "\n * Link " << model.name
       << ".o; it needs no library.\n"
       << " * Calls keep nothing: any number may run at once, each with an arena of its own. No "
          "pointer may be NULL. */\n"
       << "#ifndef " << guard << "\n#define " << guard << "\n\n"
       << "#include <stddef.h>\n#include <stdint.h>\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << kShared << kFormulaFunctions << "#endif\n";
    if (weightsBytes)
      os << "\n/* Bytes of " << model.name << ".weights, which a call gets at a multiple of "
         << "WEFT_EMBEDDED_ALIGN bytes. */\n#define " << StringRef(model.name).upper()
         << "_WEIGHTS_BYTES " << weightsBytes << "\n";
    for (const EmbeddedFunction &function : model.functions)
      writeFunction(function);
    os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return text;
  }

private:
  void writeFunction(const EmbeddedFunction &each) {
    function = &each;
    planned = each.planned;
    os << "\n/* " << inComment(signature()) << " */\n";
    for (const auto *list : {&each.inputs, &each.outputs})
      for (const EmbeddedArgument &argument : *list)
        writeSize(argument);
    writeArena();
    writePrototype();
    writeErrors();
  }

  //===-- Sizes -------------------------------------------------------------------------------===//
  StringRef nameOf(StringAttr symbol) const { return function->parameterOf(symbol); }
  std::string formula(SymExpr expr) const {
    return cFormula(expr, [&](StringAttr symbol) { return nameOf(symbol); });
  }
  std::string largest(ArrayRef<SymExpr> exprs) const {
    return cLargest(exprs, [&](StringAttr symbol) { return nameOf(symbol); });
  }

  static std::optional<int64_t> constantLargest(ArrayRef<SymExpr> exprs) {
    int64_t most = 0;
    for (SymExpr expr : exprs) {
      std::optional<int64_t> value = expr.asConstant();
      if (!value)
        return std::nullopt;
      most = std::max(most, *value);
    }
    return most;
  }

  /// A macro where it is constant, else a function of the sizes.
  void define(const std::string &what, std::optional<int64_t> constant, const std::string &text) {
    std::string name = function->name + "_" + what;
    if (constant) {
      os << "#define " << StringRef(name).upper() << " " << *constant << "\n";
      return;
    }
    os << "static inline int64_t " << name << "(" << sizes() << ") {\n";
    for (const std::string &symbol : function->symbols)
      os << "  (void)" << symbol << ";\n";
    os << "  return " << text << ";\n}\n";
  }

  std::string sizes() const {
    std::string list;
    for (const std::string &symbol : function->symbols)
      list += (list.empty() ? "int64_t " : ", int64_t ") + symbol;
    return list.empty() ? "void" : list;
  }

  void writeSize(const EmbeddedArgument &argument) {
    SymExpr count = SymExpr::constant(argument.type.getContext(), 1);
    for (SymExpr dim : argument.most)
      count = count * dim;
    Type element = argument.type.getElementType();
    int64_t bits = elementBytes(element, 8); // of one: bytes of eight
    define(argument.name + "_elements", count.asConstant(), formula(count));
    if (bits < 8) {
      SymExpr bytes = SymExpr::ceildiv(count * bits, 8);
      define(argument.name + "_bytes", bytes.asConstant(), formula(bytes));
    }
  }

  void writeArena() {
    auto lines = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
    std::optional<int64_t> arena = constantLargest(planned->arena),
                           scratch = constantLargest(planned->scratch), total;
    if (arena && scratch)
      total = lines(*arena) + lines(*scratch);
    define("arena_bytes", total,
           "weft_embedded_lines(" + largest(planned->arena) + ") + weft_embedded_lines(" +
               largest(planned->scratch) + ")");
  }

  //===-- Function ----------------------------------------------------------------------------===//
  static std::string dimsText(SymTensorType type) {
    std::string text;
    for (SymExpr dim : type.getDims())
      text += (text.empty() ? "" : ", ") + dim.str();
    return "[" + text + "]";
  }

  static std::string describe(const EmbeddedArgument &argument) {
    std::string element;
    llvm::raw_string_ostream(element) << argument.type.getElementType();
    return argument.given + " " + element + dimsText(argument.type);
  }

  /// "main: x f32[n, 3] -> y f32[n]; 1 <= n"
  std::string signature() const {
    std::string text = plan::FuncOp(planned->function).getName().str() + ":";
    for (const EmbeddedArgument &input : function->inputs)
      text += (&input == function->inputs.data() ? " " : ", ") + describe(input);
    text += " ->";
    for (const EmbeddedArgument &output : function->outputs)
      text += (&output == function->outputs.data() ? " " : ", ") + describe(output);
    for (const std::string &fact : planned->entry.facts)
      text += "; " + fact;
    return text;
  }

  void writePrototype() {
    std::string list;
    auto add = [&](const std::string &parameter) {
      list += (list.empty() ? "" : ", ") + parameter;
    };
    for (const std::string &symbol : function->symbols)
      add("int64_t " + symbol);
    for (const EmbeddedArgument &input : function->inputs)
      add("const " + cTypeOf(input.type.getElementType()) + " *" + input.name);
    for (const EmbeddedArgument &output : function->outputs) {
      add(cTypeOf(output.type.getElementType()) + " *" + output.name);
      if (!output.dims.empty())
        add("int64_t *" + output.dims);
    }
    if (!function->weights.empty())
      add("const void *" + function->weights);
    add("void *" + function->arena);
    add("size_t " + function->arenaBytes);
    for (const EmbeddedArgument &output : function->outputs)
      if (!output.dims.empty())
        os << "/* Data decide the dimensions of " << output.name << ": " << output.dims << " gets "
           << output.type.getRank() << ", at most those that its size is for. */\n";
    os << "int32_t " << function->name << "(" << list << ");\n";
  }

  //===-- Words of checks ---------------------------------------------------------------------===//
  std::string symbolName(unsigned symbol) const {
    return planned->entry.symbols[symbol].name.str();
  }

  std::string wordsOf(const EntryStep &step) const {
    const EntrySymbol *symbol = step.symbol < planned->entry.symbols.size()
                                    ? &planned->entry.symbols[step.symbol]
                                    : nullptr;
    switch (step.check) {
    case WEFT_CHECK_DIM:
    case WEFT_CHECK_SOLVE:
      return ""; // dimensions are computed of the sizes that a call gives
    case WEFT_CHECK_MIN:
      return symbolName(step.symbol) + " must be at least " + std::to_string(symbol->min);
    case WEFT_CHECK_MAX:
      return symbolName(step.symbol) + " must be at most " + std::to_string(symbol->max);
    case WEFT_CHECK_MULTIPLE:
      return symbolName(step.symbol) + " must be a multiple of " + std::to_string(symbol->multiple);
    case WEFT_CHECK_FACT:
      return step.fact->str() + " does not hold";
    case WEFT_CHECK_SIZE:
      return "a tensor or the arena would have more than 2^62 bytes";
    case WEFT_CHECK_ROOM:
    case WEFT_CHECK_DATA:
      break;
    }
    llvm_unreachable("refused, or no step of bind");
  }

  /// In the order of rows: what bind checks, then what run does. Empty for those that hold always.
  std::vector<std::string> checkWords() const {
    const EntryPlan &entry = planned->entry;
    std::vector<std::string> words;
    for (const EntryStep &step : entry.steps)
      if (step.kind == EntryStep::Check)
        words.push_back(wordsOf(step));
    for (StringAttr symbol : entry.boundSymbols)
      words.push_back(symbol.str() + ", which data decide, is out of range");
    for (const SymPred &fact : entry.boundFacts)
      words.push_back(fact.str() + " does not hold");
    for (plan::CheckPositionsOp check : planned->positions)
      words.push_back(check.getNode().str() +
                      (check.getNode().empty() ? "an index" : ": an index") +
                      (check.getOf().empty() ? "" : " of " + check.getOf().str()) + " is outside");
    return words;
  }

  void writeErrors() {
    os << "static inline const char *" << function->name << "_error(int32_t answer) {\n"
       << "  switch (answer) {\n"
       << "  case WEFT_EMBEDDED_OK: return \"no error\";\n"
       << "  case WEFT_EMBEDDED_NULL: return \"a pointer is NULL\";\n"
       << "  case WEFT_EMBEDDED_UNALIGNED: return \"arena or weights are not aligned\";\n"
       << "  case WEFT_EMBEDDED_ARENA: return \"the arena is too small\";\n"
       << "  case WEFT_EMBEDDED_SIZE: return \"a size is negative or more than 2^31 - 1\";\n"
       << "  case WEFT_EMBEDDED_FOREIGN: return \"the weights are those of another object\";\n";
    for (auto [row, words] : llvm::enumerate(checkWords()))
      if (!words.empty())
        os << "  case " << row + 1 << ": return " << inString(words) << ";\n";
    os << "  default: return \"no answer of this function\";\n  }\n}\n";
  }

  const EmbeddedModel &model;
  uint64_t weightsBytes;
  std::string text;
  llvm::raw_string_ostream os;
  const EmbeddedFunction *function = nullptr;
  const PlannedFunction *planned = nullptr;
};

} // namespace

std::string headerOf(const EmbeddedModel &model, const Variant &variant, uint64_t weightsBytes) {
  return HeaderWriter(model, weightsBytes).write(variant);
}

} // namespace weft
