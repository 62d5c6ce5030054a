//===- Interface.cpp --------------------------------------------------------------------------===//

#include "compiler/embed/Interface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weft {
namespace {

/// Of C99 and C++, which reads the header too, and what the header itself uses.
constexpr StringRef kTaken[] = {
    "alignas",   "alignof",  "and",      "and_eq",   "asm",      "auto",    "bitand",    "bitor",
    "bool",      "break",    "case",     "catch",    "char",     "class",   "compl",     "const",
    "constexpr", "continue", "decltype", "default",  "delete",   "do",      "double",    "else",
    "enum",      "explicit", "export",   "extern",   "false",    "float",   "for",       "friend",
    "goto",      "if",       "inline",   "int",      "long",     "mutable", "namespace", "new",
    "noexcept",  "not",      "not_eq",   "nullptr",  "operator", "or",      "or_eq",     "private",
    "protected", "public",   "register", "restrict", "return",   "short",   "signed",    "sizeof",
    "static",    "struct",   "switch",   "template", "this",     "throw",   "true",      "try",
    "typedef",   "typename", "union",    "unsigned", "using",    "virtual", "void",      "volatile",
    "wchar_t",   "while",    "xor",      "xor_eq",   "int8_t",   "int16_t", "int32_t",   "int64_t",
    "uint8_t",   "uint16_t", "uint32_t", "uint64_t", "size_t"};

/// Names of one scope. A name that is there already gets a number.
class Names {
public:
  std::string add(StringRef wanted) {
    std::string base = identifierOf(wanted), name = base;
    for (unsigned i = 2; llvm::is_contained(kTaken, StringRef(name)) || !taken.insert(name).second;
         ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

private:
  llvm::StringSet<> taken;
};

EmbeddedFunction describe(const PlannedFunction &planned, bool takesWeights) {
  EmbeddedFunction result;
  result.planned = &planned;
  plan::FuncOp op = planned.function;
  Names names;
  for (const EntrySymbol &symbol : planned.entry.symbols)
    result.symbols.push_back(names.add(symbol.name.getValue()));
  for (unsigned i = 0; i < op.getNumArguments(); ++i) {
    std::string given = inputName(op, i);
    result.inputs.push_back({names.add(given), given, callersInput(op, i), {}, ""});
    result.inputs.back().most = result.inputs.back().type.getDims();
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    std::string given = outputName(op, i);
    SymTensorType type = callersOutput(op, i);
    EmbeddedArgument output{names.add(given), given, type, planned.outputDims[i], ""};
    if (output.most != type.getDims())
      output.dims = names.add(output.name + "_dims");
    result.outputs.push_back(std::move(output));
  }
  if (takesWeights)
    result.weights = names.add("weights");
  result.arena = names.add("arena");
  result.arenaBytes = names.add("arena_bytes");
  return result;
}

} // namespace

std::string identifierOf(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text = "_" + text;
  // Two underscores, or one and a capital, begin names of implementations.
  return text[0] == '_' ? "n" + text : text;
}

StringRef EmbeddedFunction::parameterOf(StringAttr symbol) const {
  const auto &all = planned->entry.symbols;
  auto *found = llvm::find_if(all, [&](const EntrySymbol &each) { return each.name == symbol; });
  return symbols[found - all.begin()];
}

EmbeddedModel interfaceOf(StringRef model, const Program &program, bool takesWeights) {
  EmbeddedModel result{identifierOf(model), {}};
  Names names;
  for (const PlannedFunction &planned : program.functions) {
    result.functions.push_back(describe(planned, takesWeights));
    plan::FuncOp op = planned.function;
    result.functions.back().name = names.add(result.name + "_" + identifierOf(op.getName()));
  }
  return result;
}

} // namespace weft
