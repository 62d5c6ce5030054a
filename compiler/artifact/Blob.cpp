//===- Blob.cpp - Descriptor memory and formula code --------------------------------------------------------===//

#include "compiler/artifact/Blob.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {

uint32_t Blob::append(const void *data, size_t size, size_t align) {
  bytes.resize(llvm::alignTo(bytes.size(), align));
  uint32_t offset = bytes.size();
  if (data)
    bytes.append(static_cast<const char *>(data), size);
  else
    bytes.append(size, '\0');
  return offset;
}

weft_list_t Blob::text(StringRef text) {
  weft_list_t list{append(text.data() ? text.data() : "", text.size(), 1), uint32_t(text.size()),
                   1};
  bytes.push_back('\0');
  return list;
}

weft_list_t Blob::texts(ArrayRef<std::string> list) {
  std::vector<weft_list_t> entries;
  for (const std::string &each : list)
    entries.push_back(text(each));
  return this->list(entries);
}

weft_formula_v1 Blob::formula(ArrayRef<SymExpr> maximands, ArrayRef<StringAttr> symbols) {
  std::string code, text;
  for (auto [i, expr] : llvm::enumerate(maximands)) {
    code += expressionCode(expr, symbols);
    if (i > 0)
      code.push_back(WEFT_CODE_MAX);
    text += (i > 0 ? ", " : "") + expr.str();
  }
  if (maximands.empty()) {
    code = {char(WEFT_CODE_CONST), 0};
    text = "0";
  }
  if (maximands.size() > 1)
    text = "max(" + text + ")";
  return {{append(code.data(), code.size(), 1), uint32_t(code.size()), 1}, this->text(text)};
}

namespace {

class CodeWriter {
public:
  explicit CodeWriter(ArrayRef<StringAttr> symbols) : symbols(symbols) {}

  void write(SymExpr expr) {
    bool first = true;
    for (const SymTerm &term : expr.terms()) {
      bool started = false;
      if (term.coefficient != 1 || term.factors.empty()) {
        number(term.coefficient);
        started = true;
      }
      for (auto [atom, power] : term.factors)
        for (unsigned i = 0; i < power; ++i) {
          writeAtom(atom);
          if (started)
            code.push_back(WEFT_CODE_MUL);
          started = true;
        }
      if (!first)
        code.push_back(WEFT_CODE_ADD);
      first = false;
    }
    if (first)
      number(0);
  }

  std::string code;

private:
  void leb(uint64_t value) {
    do {
      uint8_t byte = value & 127;
      value >>= 7;
      code.push_back(char(value ? byte | 128 : byte));
    } while (value);
  }

  void number(int64_t value) {
    code.push_back(WEFT_CODE_CONST);
    leb((uint64_t(value) << 1) ^ uint64_t(value >> 63));
  }

  void writeAtom(SymExpr atom) {
    SmallVector<SymExpr, 2> operands = atom.atomOperands();
    for (SymExpr operand : operands)
      write(operand);
    switch (*atom.asAtom()) {
    case AtomKind::Symbol:
      code.push_back(WEFT_CODE_SYMBOL);
      leb(llvm::find(symbols, atom.asSymbol()) - symbols.begin());
      break;
    case AtomKind::FloorDiv:
      code.push_back(WEFT_CODE_FLOORDIV);
      break;
    case AtomKind::Pos:
      code.push_back(WEFT_CODE_POS);
      break;
    case AtomKind::BCast:
      code.push_back(WEFT_CODE_BCAST);
      break;
    }
  }

  ArrayRef<StringAttr> symbols;
};

} // namespace

std::string expressionCode(SymExpr expr, ArrayRef<StringAttr> symbols) {
  CodeWriter writer(symbols);
  writer.write(expr);
  return std::move(writer.code);
}

} // namespace weft
