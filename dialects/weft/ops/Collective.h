//===- Collective.h - The operators over ranks; few files know them -----------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H
#define WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H

#include "dialects/weft/Mesh.h"

#define GET_OP_CLASSES
#include "dialects/weft/CollectiveOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H
