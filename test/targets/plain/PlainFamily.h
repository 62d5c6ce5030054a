//===- PlainFamily.h - Levels of x86-64 whose special instructions are written out in plain vector code -===//
//
//   #include "test/targets/plain/PlainFamily.h"
//   Program program(text, "plain:v4+bf16");        // runs wherever v3 does
//
// Schedules see the machine of the level; what only some processors multiply at once is computed with
// shifts, multiplications and additions. So their loops are tested on every machine.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_TARGETS_PLAIN_PLAINFAMILY_H
#define WEFT_TEST_TARGETS_PLAIN_PLAINFAMILY_H

#include "targets/common/Registry.h"

namespace weft::test {

/// plain:v3+vnni, plain:v4+vnni, plain:v4+bf16, plain:v4+amx.
const TargetFamily &plainFamily();

inline const bool kPlainFamilyIsKnown = (addFamily(plainFamily()), true);

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_PLAIN_PLAINFAMILY_H
