//===- SymPrint.cpp - Text of expressions ------------------------------------------------------===//
#include "dialects/symbolic/SymSpelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

/// MLIR's `bare-id`. Words that mean something at a place where a symbol may stand are quoted.
static bool isBareName(StringRef name) {
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return false;
  return name != "true" && name != "false" && name != "or" && llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
         });
}

static void printName(raw_ostream &os, StringRef name) {
  if (isBareName(name)) {
    os << name;
    return;
  }
  os << '"';
  llvm::printEscapedString(name, os);
  os << '"';
}

static void printCall(raw_ostream &os, StringRef function, SymExpr lhs, SymExpr rhs) {
  os << function << '(' << lhs;
  if (rhs)
    os << ", " << rhs;
  os << ')';
}

static void printSpecial(raw_ostream &os, const Piece &piece) {
  StringRef function = piece.spelling == Spelling::Mod       ? "mod"
                       : piece.spelling == Spelling::CeilDiv ? "ceildiv"
                       : piece.spelling == Spelling::Min     ? "min"
                                                             : "max";
  printCall(os, function, piece.lhs, piece.rhs);
}

static void printAtom(raw_ostream &os, SymExpr atom) {
  const SymExprStorage &node = nodeOf(atom);
  if (node.kind == NodeKind::Symbol)
    return printName(os, node.name.getValue());
  Piece ceiling = spellAtom(atom);
  if (ceiling.spelling != Spelling::Plain)
    return printSpecial(os, ceiling);
  StringRef function = node.kind == NodeKind::FloorDiv ? "floordiv"
                       : node.kind == NodeKind::Pos    ? "pos"
                                                       : "bcast";
  printCall(os, function, node.lhs, node.rhs);
}

/// The product without its sign.
static void printMagnitude(raw_ostream &os, const Piece &piece) {
  uint64_t magnitude =
      piece.coefficient < 0 ? 0 - uint64_t(piece.coefficient) : uint64_t(piece.coefficient);
  bool hasFactors = !piece.factors.empty() || piece.spelling != Spelling::Plain;
  StringRef separator = "";
  if (magnitude != 1 || !hasFactors) {
    os << magnitude;
    separator = "*";
  }
  for (const Factor &factor : piece.factors)
    for (unsigned i = 0; i < factor.power; ++i) {
      os << separator;
      printAtom(os, factor.atom);
      separator = "*";
    }
  if (piece.spelling != Spelling::Plain) {
    os << separator;
    printSpecial(os, piece);
  }
}

raw_ostream &weft::operator<<(raw_ostream &os, SymExpr expr) {
  if (!expr)
    return os << "null";
  if (expr.isOverflow())
    return os << "overflow()";
  SmallVector<Piece, 4> pieces = spell(expr);
  if (pieces.empty())
    return os << '0';
  // `n - m` reads better than `-m + n`.
  auto firstPositive =
      llvm::find_if(pieces, [](const Piece &piece) { return piece.coefficient > 0; });
  if (firstPositive != pieces.end())
    std::rotate(pieces.begin(), firstPositive, firstPositive + 1);
  for (const Piece &piece : pieces) {
    if (&piece != pieces.begin())
      os << (piece.coefficient < 0 ? " - " : " + ");
    else if (piece.coefficient < 0)
      os << '-';
    printMagnitude(os, piece);
  }
  return os;
}

std::string SymExpr::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}
