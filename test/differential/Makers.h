//===- Makers.h - The operators of a random program, family by family ------------------------------------===//
//
// A maker looks at the values of a graph and adds an operator, or several that belong together, or declines (returns false). To have a new
// operator generated, write a maker in the file of its family and add it to that file's table.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_DIFFERENTIAL_MAKERS_H
#define WEFT_TEST_DIFFERENTIAL_MAKERS_H

#include "test/differential/Graph.h"

namespace weft::test {

struct Maker {
  const char *name;
  bool (*make)(Graph &);
  unsigned weight = 1; ///< how often, against the others of its family
};

llvm::ArrayRef<Maker> elementwiseMakers(); ///< Elementwise.cpp: functions of scalars
llvm::ArrayRef<Maker> integerMakers();     ///< Integers.cpp: bits, conversions, tests
llvm::ArrayRef<Maker> moveMakers();        ///< Moves.cpp: views, concat, pad, values from nothing
llvm::ArrayRef<Maker> lineMakers();        ///< Lines.cpp: reductions, softmax, orders
llvm::ArrayRef<Maker> indexMakers();       ///< Positions.cpp: gathers and scatters
llvm::ArrayRef<Maker> productMakers();     ///< Products.cpp: contractions, attention
llvm::ArrayRef<Maker> quantizedMakers();   ///< Quantized.cpp: quantised islands, blocks
llvm::ArrayRef<Maker> windowMakers();      ///< Windows.cpp: convolutions, pools, resizing
llvm::ArrayRef<Maker> controlMakers();     ///< Regions.cpp: bind, if, loop

} // namespace weft::test

#endif // WEFT_TEST_DIFFERENTIAL_MAKERS_H
