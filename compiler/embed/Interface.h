//===- Interface.h - What C programs see of an embedded model ---------------------------------===//
//
//   EmbeddedModel model = interfaceOf("keywords", program);
//   model.functions[0].name                    // "keywords_main"
//   model.functions[0].inputs[0].name          // "audio_in" for a model's "audio:in"
//
// Names are the model's own where C allows them. No two of a function are alike, and none is a word
// of C.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_INTERFACE_H
#define WEFT_COMPILER_EMBED_INTERFACE_H

#include "compiler/plan/PlannedProgram.h"

namespace weft {

struct EmbeddedArgument {
  std::string name, given; ///< in C, and as the model calls it
  SymTensorType type;
  llvm::SmallVector<SymExpr>
      most;         ///< dimensions at most, where data decide; else those of the type
  std::string dims; ///< of outputs whose dimensions data decide: the parameter that gets them
};

struct EmbeddedFunction {
  std::string name;
  const PlannedFunction *planned;
  std::vector<std::string> symbols; ///< parameters, in the order of the entry's symbols
  std::vector<EmbeddedArgument> inputs, outputs;
  std::string
      weights; ///< the parameter for their address; empty: the object holds them, or there are none
  std::string arena, arenaBytes;

  /// The parameter of a symbol of the signature.
  llvm::StringRef parameterOf(mlir::StringAttr symbol) const;
};

struct EmbeddedModel {
  std::string name;
  std::vector<EmbeddedFunction> functions;
};

/// `program` outlives what it gives.
EmbeddedModel interfaceOf(llvm::StringRef model, const Program &program, bool takesWeights);

/// A name in C that resembles `name`.
std::string identifierOf(llvm::StringRef name);

} // namespace weft

#endif
